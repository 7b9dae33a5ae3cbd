"""Judges put to work: repairs, panels, budgets, replies that are stored, all through the engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio import Registry
from pytest_evalstudio.asking.answers import AnswerCache
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.judges.budget import BudgetLimits
from support.judging import Replies, ScriptedJudge, outcome, outcomes, verdicts

ROW = {
    "actual_output": "It is Paris.",
    "expected_output": "Paris",
    "context": ["Paris is the capital of France."],
}
BYOP = {"prompt": "Is {actual_output} right?"}
YES, NO = {"reason": "so", "verdict": "true"}, {"reason": "not so", "verdict": "false"}


class JsonOf:
    """A judge that replies what a function returns, as JSON."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def __call__(self, prompt: str) -> str:
        return json.dumps(self._function(prompt))


def byop(script: Any, row: Any = ROW, **more: Any) -> Any:
    return outcome("byop", script, row, options=BYOP, **more)


def test_a_reply_that_cannot_be_read_is_asked_for_once_more() -> None:
    judge = ScriptedJudge({"cannot be used": YES, "right?": "I think so."})
    result = byop(judge)
    assert result.scores["model_passes"] == 1.0
    assert (result.judging.calls, result.judging.repairs, result.judging.unparsable) == (2, 1, 0)
    assert "there is no JSON object in it" in judge.prompts[1]
    assert "I think so." in judge.prompts[1]


def test_a_repair_that_cannot_be_read_either_is_an_error_with_the_reply() -> None:
    result = byop({"right?": "I think so."})
    assert result.status == "error"
    assert "could not be read" in result.reason
    assert result.details["raw_reply"] == "I think so."
    assert result.scores == {"model_parse_failures": 1.0}
    assert result.judging.unparsable == 1


def test_a_judge_that_fails_is_an_error_of_its_case_alone() -> None:
    def judge(prompt: str) -> str:
        if "London" in prompt:
            raise RuntimeError("out of order")
        return '{"reason": "so", "verdict": "true"}'

    good, bad = outcomes("byop", judge, ROW, {**ROW, "actual_output": "It is London."}, options=BYOP)
    assert good.scores["model_passes"] == 1.0
    assert bad.status == "error"
    assert "out of order" in bad.reason
    assert "judge" in bad.reason


def test_the_same_question_is_put_once() -> None:
    judge = ScriptedJudge({"right?": YES})
    outcomes("byop", judge, ROW, ROW, {**ROW, "actual_output": "Other."}, options=BYOP)
    assert len(judge.prompts) == 2


def test_replies_are_stored_and_nobody_is_asked_again(tmp_path: Path) -> None:
    judge = ScriptedJudge({"right?": YES})
    for _ in range(2):
        result = byop(judge, judge={"cache": True}, cache=str(tmp_path))
        assert result.judging.calls == 1, (
            "what a verdict takes does not depend on whether its replies were stored"
        )
    assert len(judge.prompts) == 1


def test_a_reply_that_could_not_be_read_is_not_stored(tmp_path: Path) -> None:
    judge = ScriptedJudge({"right?": Replies(["hm", "hm", YES])})
    assert byop(judge, judge={"cache": True}, cache=str(tmp_path)).status == "error"
    assert byop(judge, judge={"cache": True}, cache=str(tmp_path)).scores["model_passes"] == 1.0


def test_a_changed_prompt_is_asked_anew(tmp_path: Path) -> None:
    judge = ScriptedJudge({"right?": YES, "Count": YES})
    byop(judge, judge={"cache": True}, cache=str(tmp_path / "cache"))
    folder = tmp_path / "prompts"
    folder.mkdir()
    (folder / "byop.j2").write_text("Count.", encoding="utf-8")
    byop(judge, judge={"cache": True, "templates": str(folder)}, cache=str(tmp_path / "cache"))
    assert len(judge.prompts) == 2


def panel(
    *scripts: Any, vote: str = "majority", id: str = "byop", options: Any = BYOP, row: Any = ROW
) -> Any:
    members = [
        {
            "host": "python",
            "target": ScriptedJudge({"You judge": script}),
            "llm_model_name": f"judge-{number}",
        }
        for number, script in enumerate(scripts, 1)
    ]
    return outcome(
        id, {}, row, options=options, judge={"host": None, "target": None, "panel": members, "vote": vote}
    )


@pytest.mark.parametrize(
    ("verdicts", "passes"),
    [
        pytest.param([YES, YES, NO], 1.0, id="two of three"),
        pytest.param([NO, YES, NO], 0.0, id="one of three"),
        pytest.param([YES, NO], 0.0, id="a tie fails"),
        pytest.param([YES, YES, "no verdict"], 1.0, id="one without a vote"),
    ],
)
def test_a_panel_votes(verdicts: list[Any], passes: float) -> None:
    result = panel(*verdicts)
    assert result.scores["model_passes"] == passes
    assert result.scores["model_failures"] == 1.0 - passes
    assert [vote["judge"] for vote in result.details["panel"]] == [
        f"judge-{number}" for number in range(1, len(verdicts) + 1)
    ]
    assert "judge-1:" in result.reason


def test_a_panel_of_which_half_has_no_verdict_has_none() -> None:
    result = panel(YES, "no verdict")
    assert result.status == "error"


def test_a_panel_may_average() -> None:
    assert panel(YES, YES, NO, vote="mean").scores["model_passes"] == pytest.approx(2 / 3)


def test_scores_that_are_no_votes_are_averaged() -> None:
    statement = {"statement": "It is.", "reason": "so"}
    replies = [
        {
            "statements": [{**statement, "verdict": word} for word in words],
            "answer": "",
            "evaluation_summary": "s",
        }
        for words in (["true"], ["true", "false"], ["false"] * 3)
    ]
    result = panel(*replies, id="fact_check", options={})
    assert result.scores["fact_check"] == pytest.approx(0.5)
    assert result.judging.calls == 3


def test_shares_that_happen_to_be_0_and_1_are_averaged() -> None:
    claims = {"claims": ["It is Paris."]}
    scripts = [
        lambda prompt, word=word: claims if "claims that it makes" in prompt else verdicts("claim", [word])
        for word in ("yes", "yes", "no")
    ]
    members = [{"host": "python", "target": JsonOf(script), "llm_model_name": "m"} for script in scripts]
    result = outcome("faithfulness", {}, ROW, judge={"host": None, "target": None, "panel": members})
    assert result.scores["faithfulness"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("vote", "score", "rating"), [("mean", 0.5, "yes"), ("majority", 0.0, "no")], ids=["mean", "majority"]
)
def test_a_tie_is_the_same_in_score_verdict_and_details(vote: str, score: float, rating: str) -> None:
    replies = [{"rationale": "so", "rating": word} for word in ("yes", "no")]
    result = panel(*replies, vote=vote, id="relevance_to_query_judge", options=None)
    metric = Registry().evaluators.spec("relevance_to_query_judge").primary
    assert (result.scores["rating"], result.details["rating"]) == (score, rating)
    assert metric.passes(result.scores["rating"]) == (rating == "yes")


def test_a_budget_of_calls_stops_the_asking_and_says_so() -> None:
    judge = ScriptedJudge({"right?": YES})
    result = outcomes(
        "byop",
        judge,
        *({**ROW, "actual_output": f"It is {number}."} for number in range(5)),
        options=BYOP,
        judge={"max_calls": 3},
    )
    assert len(judge.prompts) == 3
    refused = [entry for entry in result if entry.status == "error"]
    assert len(refused) == 2
    assert all("judge.max_calls" in entry.reason and entry.judging.over_budget == 1 for entry in refused)


def test_a_budget_of_money_cannot_be_held_where_nobody_says_the_price() -> None:
    judge = ScriptedJudge({"right?": YES})
    rows = [{**ROW, "actual_output": f"It is {number}."} for number in range(20)]
    result = outcomes("byop", judge, *rows, options=BYOP, judge={"max_cost": 1.0, "concurrency": 1})
    assert result[0].status == "score"
    assert "does not say what a call costs" in result[-1].reason


def test_a_budget_of_money_is_held_where_the_price_is_known() -> None:
    def judge(prompt: str) -> dict[str, Any]:
        return {"answer": '{"reason": "so", "verdict": "true"}', "cost_usd": 0.25}

    rows = [{**ROW, "actual_output": f"It is {number}."} for number in range(10)]
    result = outcomes("byop", judge, *rows, options=BYOP, judge={"max_cost": 1.0, "concurrency": 1})
    assert [entry.status for entry in result].count("score") == 4
    assert sum(entry.judging.cost_usd for entry in result) == 1.0
    assert "judge.max_cost" in result[-1].reason


def test_workers_without_a_common_purse_divide_a_budget() -> None:
    limits = BudgetLimits(max_calls=3, max_cost_usd=1.0, max_tokens=10)
    parts = [limits.share(4, index) for index in range(4)]
    assert [part.max_calls for part in parts] == [1, 1, 1, 0]
    assert [part.max_tokens for part in parts] == [3, 3, 2, 2]
    assert {part.max_cost_usd for part in parts} == {0.25}


def test_an_evaluator_may_have_a_judge_of_its_own() -> None:
    general, local_judge = ScriptedJudge({"right?": NO}), ScriptedJudge({"right?": YES})
    result = outcome(
        "byop", general, ROW, options={**BYOP, "judge": {"host": "python", "target": local_judge}}
    )
    assert result.scores["model_passes"] == 1.0
    assert not general.prompts


def test_a_judge_may_be_a_configured_model() -> None:
    judge = ScriptedJudge({"right?": YES})
    result = outcome(
        "byop",
        {},
        ROW,
        options=BYOP,
        judge={"host": None, "target": None, "model": "m"},
        model=[{"name": "m", "host": "python", "target": judge}],
    )
    assert result.scores["model_passes"] == 1.0


@pytest.mark.parametrize(
    ("judge", "message"),
    [
        pytest.param(
            {"host": None, "target": None}, "none is configured: add a table .judge.", id="only limits"
        ),
        pytest.param(
            {"host": None, "target": None, "model": "nobody"},
            "no model named 'nobody'",
            id="a model that is not there",
        ),
        pytest.param({"model": "m"}, "give host or model, not both", id="host and model"),
        pytest.param({"panel": [{"host": "python", "target": "a:b"}]}, "not both", id="host and panel"),
        pytest.param(
            {"template_versions": {"byop": "1"}}, "calibrated with '1'; run judge-check again", id="a version"
        ),
        pytest.param({"vote": "loudest"}, "judge.vote", id="a vote nobody knows"),
        pytest.param({"tempreature": 0.5}, "tempreature: unknown option", id="a misspelt parameter"),
    ],
)
def test_a_wrong_table_is_a_usage_error(judge: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        byop({"right?": YES}, judge=judge)


def test_a_limit_of_the_run_is_none_of_an_evaluator() -> None:
    with pytest.raises(ConfigurationError, match="limit of the whole run"):
        outcome("byop", {"right?": YES}, ROW, options={**BYOP, "judge": {"max_calls": 3}})


def test_no_judge_is_a_usage_error_that_says_how_to_get_one() -> None:
    from pytest_evalstudio.api.evaluate import evaluate
    from pytest_evalstudio.formats.dataset import LlmDataset

    dataset = LlmDataset()
    dataset.add_input("Why?", key="a", actual_output="So.")
    with pytest.raises(
        ConfigurationError,
        match=r"evaluator sexism: asks a judge, and none is configured: add a table \[judge\]",
    ):
        evaluate(dataset, ["sexism"])


def test_questions_that_a_dead_judge_is_spared_are_no_calls() -> None:
    rows = [{**ROW, "actual_output": f"It is {number}."} for number in range(20)]
    dead = {
        "host": "scripted",
        "target": None,
        "fail_first": 1_000,
        "retries": 0,
        "concurrency": 1,
        "breaker": 3,
    }
    result = outcomes("byop", {}, *rows, options=BYOP, judge=dead)
    assert [entry.judging.calls for entry in result] == [1] * 3 + [0] * 17
    assert {entry.status for entry in result} == {"error"}
    assert not any(entry.judging.over_budget for entry in result)


def test_a_service_that_replied_garbage_is_asked_again_when_it_is_healed(tmp_path: Path) -> None:
    replies = ["{" * 600 + "}" * 600, '{"reason": "so", "verdict": NaN}', YES]
    judge = ScriptedJudge({"right?": Replies(replies)})
    assert byop(judge, judge={"cache": True}, cache=str(tmp_path)).status == "error"
    assert byop(judge, judge={"cache": True}, cache=str(tmp_path)).scores["model_passes"] == 1.0
    assert len(judge.prompts) == 3


def test_a_reply_whose_repair_failed_is_not_stored(tmp_path: Path) -> None:
    def judge(prompt: str) -> str:
        if "cannot be used" in prompt:
            raise RuntimeError("down")
        return "hm"

    assert byop(judge, judge={"cache": True}, cache=str(tmp_path)).status == "error"
    healed = ScriptedJudge({"right?": YES})
    with AnswerCache(tmp_path) as cache:
        assert not cache.store.rows("SELECT key FROM answers")
    assert byop(healed, judge={"cache": True}, cache=str(tmp_path)).scores["model_passes"] == 1.0


def test_a_reply_with_its_repair_is_stored(tmp_path: Path) -> None:
    judge = ScriptedJudge({"cannot be used": YES, "right?": "I think so."})
    for _ in range(2):
        assert byop(judge, judge={"cache": True}, cache=str(tmp_path)).scores["model_passes"] == 1.0
    assert len(judge.prompts) == 2


def test_a_reply_of_more_than_a_megabyte_is_cut_and_not_stored(tmp_path: Path) -> None:
    long = '{"reason": "so", "verdict": "true"}' + " " * 1_000_001
    judge = ScriptedJudge({"right?": long})
    for count in (1, 2):
        assert byop(judge, judge={"cache": True}, cache=str(tmp_path)).scores["model_passes"] == 1.0
        assert len(judge.prompts) == count
