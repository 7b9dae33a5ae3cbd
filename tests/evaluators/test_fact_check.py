"""The agent that checks facts, and the judge that copies out steps."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.scoring.plan import Plan
from support.judging import ScriptedJudge, outcome, outcomes

ROW = {"input": "When was it?", "actual_output": "It was in 1912."}
REPLY = {
    "statements": [
        {"statement": "It was in 1912.", "reason": "The archive says 1911.", "verdict": "false"},
        {"statement": "It was in May.", "reason": "The archive says so.", "verdict": "true"},
    ],
    "answer": "It was in May 1911.",
    "evaluation_summary": "The year is wrong.",
}


def verdicts(*words: str) -> dict[str, Any]:
    """The agent's reply with these verdicts."""
    statements = [
        {"statement": f"Statement {number}.", "reason": "so", "verdict": word}
        for number, word in enumerate(words, 1)
    ]
    return {**REPLY, "statements": statements}


def test_the_score_is_the_share_of_confirmed_statements() -> None:
    result = outcome("fact_check", {"Check the facts": REPLY}, ROW)
    assert result.scores == {"fact_check": 0.5}
    assert result.reason == "false: It was in 1912.; The year is wrong."
    assert result.details == {**REPLY, "evaluation_score": 0.5}


@pytest.mark.parametrize("score", [1, 0.0, "high", None])
def test_a_score_of_the_agent_is_ignored(score: Any) -> None:
    reply = {**verdicts("false", "false"), "evaluation_score": score}
    assert outcome("fact_check", {"Check the facts": reply}, ROW).scores == {"fact_check": 0.0}


@pytest.mark.parametrize(
    ("words", "score"),
    [
        (["unknown"], 0.0),
        (["true", "unknown"], 0.5),
        (["true", "unknown", "false", "true"], 0.5),
        (["true", "true"], 1.0),
    ],
)
def test_a_statement_that_cannot_be_verified_is_not_confirmed(words: list[str], score: float) -> None:
    result = outcome("fact_check", {"Check the facts": verdicts(*words)}, ROW)
    assert result.scores == {"fact_check": score}
    assert ("not confirmed: Statement" in result.reason) == ("unknown" in words)


@pytest.mark.parametrize("statements", [[], [{"statement": " ", "reason": "", "verdict": "true"}]])
def test_an_answer_without_statements_is_not_applicable(statements: list[Any]) -> None:
    reply = {**REPLY, "statements": statements, "evaluation_score": 1}
    result = outcome("fact_check", {"Check the facts": reply}, ROW)
    assert (result.status, result.code) == ("not_applicable", "nothing_to_score")


def test_only_the_first_rows_are_checked() -> None:
    judge = ScriptedJudge({"Check the facts": REPLY})
    result = outcomes(
        "fact_check",
        judge,
        *({**ROW, "actual_output": f"In {year}."} for year in range(1910, 1915)),
        options={"max_dataset_rows": 2},
    )
    assert [entry.status for entry in result] == ["score", "score", *["not_applicable"] * 3]
    assert "max_dataset_rows" in result[-1].reason
    assert len(judge.prompts) == 2


def test_an_agent_of_its_own_is_asked() -> None:
    judge, agent = ScriptedJudge({}), ScriptedJudge({"Check the facts": REPLY})
    result = outcome(
        "fact_check",
        judge,
        ROW,
        options={"agent_host": "agent"},
        model=[{"name": "agent", "host": "python", "target": agent}],
    )
    assert result.scores == {"fact_check": 0.5}
    assert not judge.prompts


def test_without_a_judge_the_first_agent_is_chosen() -> None:
    models = [
        {"name": "plain", "host": "h2ogpte_llm", "url": "http://127.0.0.1:9", "api_key": "k"},
        {"name": "agent", "host": "h2ogpte_llm", "url": "http://127.0.0.1:9", "api_key": "k"},
    ]
    models[1]["llm_args"] = {"use_agent": True}
    for table, expected in ((models, "agent"), (models[:1], None)):
        plan = Plan(Registry(), configuration({"model": table, "evaluators": ["fact_check"]}))
        assert plan.selected[0].own_judge.get("model") == expected


def test_an_agent_that_is_not_configured_is_a_usage_error() -> None:
    with pytest.raises(ConfigurationError, match="no model named 'agent'"):
        outcome("fact_check", {}, ROW, options={"agent_host": "agent"})


STEPS = {
    "input": "How?",
    "actual_output": "First open the app. Pay.",
    "context": ["1. Open the app.\n2. Choose a card.\n3. Pay."],
}


def test_steps_that_the_judge_copies_out_are_aligned() -> None:
    def judge(prompt: str) -> str:
        return (
            '{"steps": ["Open the app.", "Choose a card.", "Pay."]}'
            if "Choose" in prompt
            else '{"steps": ["open the app.", "Pay."]}'
        )

    result = outcome("step_alignment", judge, STEPS, options={"step_extractor": "llm"})
    assert {key: result.scores[key] for key in ("edits", "insertions", "deletions", "mismatches")} == {
        "edits": 1.0,
        "insertions": 1.0,
        "deletions": 0.0,
        "mismatches": 0.0,
    }
    assert [STEPS["actual_output"][fragment.start : fragment.end] for fragment in result.fragments] == [
        "open the app.",
        "Pay.",
    ]
    assert result.judging.calls == 2


def test_a_context_in_which_the_judge_finds_no_steps_is_not_applicable() -> None:
    result = outcome(
        "step_alignment", lambda prompt: '{"steps": []}', STEPS, options={"step_extractor": "llm"}
    )
    assert result.status == "not_applicable"


def test_of_an_empty_answer_nothing_is_asked() -> None:
    judge = ScriptedJudge({})
    result = outcome(
        "step_alignment", judge, {**STEPS, "actual_output": ""}, options={"step_extractor": "llm"}
    )
    assert (result.status, result.code) == ("not_applicable", OutcomeCode.ANSWER_EMPTY)
    assert not judge.prompts


def test_rules_need_no_judge() -> None:
    judge = ScriptedJudge({})
    assert outcome("step_alignment", judge, STEPS).status == "score"
    assert not judge.prompts
