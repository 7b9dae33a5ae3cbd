"""The judges that say pass or fail: BYOP, contact information, language mismatch, sexism, stereotypes,
summaries.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.judging import PLACEHOLDERS
from support.judging import ScriptedJudge, outcome, unfenced

ROW = {
    "input": "Who fixes it?",
    "actual_output": "The fitter does.",
    "expected_output": "A fitter.",
    "context": ["Fitters fix it.", "They are busy."],
}
WORDS = {
    "contact_information": ("absent", "present"),
    "language_mismatch": ("same", "different"),
    "sexism": ("absent", "present"),
    "stereotypes": ("absent", "present"),
    "summarization_judge": ("good", "bad"),
}
WITH_CONTEXT = [id for id in WORDS if id != "summarization_judge"]


def says(word: str, reason: str = "so it is") -> Mapping[str, Any]:
    return {"Decide whether": {"reason": reason, "verdict": word}}


@pytest.mark.parametrize(("id", "words"), WORDS.items())
def test_a_verdict_passes_or_fails_the_case(id: str, words: tuple[str, str]) -> None:
    good, bad = (outcome(id, says(word), ROW) for word in words)
    assert good.scores == {
        "model_passes": 1.0,
        "model_failures": 0.0,
        "model_retrieval_failures": None,
        "model_generation_failures": 0.0,
        "model_parse_failures": 0.0,
    }
    assert (
        bad.scores["model_passes"],
        bad.scores["model_failures"],
        bad.scores["model_generation_failures"],
    ) == (0.0, 1.0, 1.0)
    assert "so it is" in bad.reason
    assert bad.judging.calls == 1


@pytest.mark.parametrize("id", WORDS)
def test_a_reply_that_cannot_be_read_is_an_error_that_counts_as_a_parse_failure(id: str) -> None:
    actual = outcome(id, {"": "Hard to say."}, ROW)
    assert actual.status == "error"
    assert actual.scores == {"model_parse_failures": 1.0}


@pytest.mark.parametrize("id", WITH_CONTEXT)
def test_the_context_is_judged_where_that_is_wanted(id: str) -> None:
    good, bad = WORDS[id]

    def judge(prompt: str) -> str:
        return f'{{"reason": "look there", "verdict": "{bad if "They are busy." in prompt else good}"}}'

    actual = outcome(id, judge, ROW, options={"evaluate_retrieved_context": True})
    assert (
        actual.scores["model_passes"],
        actual.scores["model_retrieval_failures"],
        actual.scores["model_generation_failures"],
    ) == (0.0, 1.0, 0.0)
    assert actual.reason == "context: look there"
    assert actual.judging.calls == 2


@pytest.mark.parametrize("id", WORDS)
def test_of_an_empty_answer_nobody_is_asked(id: str) -> None:
    judge = ScriptedJudge({})
    actual = outcome(id, judge, {**ROW, "actual_output": " "})
    assert (actual.status, actual.code) == ("not_applicable", OutcomeCode.ANSWER_EMPTY)
    assert not judge.prompts


def test_contact_information_is_a_privacy_problem_that_repeats_none_of_it() -> None:
    actual = outcome(
        "contact_information",
        says("present", "it tells anna@bank.example's number"),
        {**ROW, "actual_output": "Mail anna@bank.example"},
    )
    [finding] = actual.findings
    assert (finding.problem_type, finding.severity, finding.avid) == ("privacy", "high", "P0300")
    assert "anna" not in finding.description
    assert "anna@" not in actual.reason


def test_byop_passes_where_the_judge_says_true() -> None:
    for word, passes in (("true", 1.0), ("false", 0.0), ("True.", 1.0)):
        actual = outcome(
            "byop",
            {"fit?": {"reason": "", "verdict": word}},
            ROW,
            options={"prompt": "Is {actual_output} fit?"},
        )
        assert actual.scores["model_passes"] == passes


def test_byop_accepts_the_bare_word() -> None:
    assert (
        outcome("byop", {"fit?": "true"}, ROW, options={"prompt": "Is {actual_output} fit?"}).scores[
            "model_passes"
        ]
        == 1.0
    )


def test_untrue_is_not_true() -> None:
    assert (
        outcome("byop", {"fit?": "untrue"}, ROW, options={"prompt": "Is {actual_output} fit?"}).status
        == "error"
    )


@pytest.mark.parametrize("name", PLACEHOLDERS)
def test_byop_shows_what_its_prompt_names_and_nothing_else(name: str) -> None:
    judge = ScriptedJudge({"Look at": "true"})
    outcome("byop", judge, ROW, options={"prompt": f"Look at {{{name}}}. Braces {{stay}}."})
    [prompt] = judge.prompts
    fields = {
        key: value if isinstance(value, str) else value[0]
        for key, value in zip(
            ("question", "actual_output", "expected_output", "context"), ROW.values(), strict=True
        )
    }
    for key, value in fields.items():
        assert (value in prompt) == (key == PLACEHOLDERS[name])
        assert value not in unfenced(prompt)
    assert "Braces {stay}." in prompt


def test_byop_needs_only_what_its_prompt_names() -> None:
    row = {"input": "Q?", "actual_output": "A."}
    assert (
        outcome("byop", {"Is": "true"}, row, options={"prompt": "Is {actual_output} fit?"}).status == "score"
    )
    actual = outcome(
        "byop", {"Is": "true"}, row, options={"prompt": "Is {actual_output} like {expected_output}?"}
    )
    assert (actual.status, actual.reason) == ("not_applicable", "no expected output")


def test_byop_on_the_question_alone_does_not_mind_an_empty_answer() -> None:
    assert (
        outcome(
            "byop",
            {"Is": "true"},
            {"input": "Q?", "actual_output": ""},
            options={"prompt": "Is {question} polite?"},
        ).scores["model_passes"]
        == 1.0
    )


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        pytest.param("", "needs its option prompt", id="no prompt"),
        pytest.param("Is it good?", "contains no text to judge", id="a prompt about nothing"),
        pytest.param("Is {actual_ouput} good?", "Did you mean 'actual_output'", id="a misspelt text"),
    ],
)
def test_a_prompt_that_cannot_work_is_a_usage_error(prompt: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        outcome("byop", {"": "true"}, ROW, options={"prompt": prompt})


def test_several_prompts_are_several_evaluators() -> None:
    from pytest_evalstudio.api.evaluate import evaluate
    from pytest_evalstudio.formats.dataset import LlmDataset

    dataset = LlmDataset()
    dataset.add_input("Q?", key="a", actual_output="A.")
    judge = ScriptedJudge({"polite": "true", "short": "false"})
    config = {
        "judge": {"host": "python", "target": judge},
        "evaluator": {
            "polite": {"type": "byop", "prompt": "Is {actual_output} polite?"},
            "short": {"type": "byop", "prompt": "Is {actual_output} short?"},
        },
    }
    [result] = evaluate(dataset, ["polite", "short"], config=config)
    assert {
        selected.id: outcome.scores["model_passes"] for selected, outcome in result.outcomes[0].items()
    } == {"polite": 1.0, "short": 0.0}


def test_byop_on_the_answer_does_not_apply_to_an_empty_one() -> None:
    judge = ScriptedJudge({})
    actual = outcome(
        "byop", judge, {**ROW, "actual_output": " \n"}, options={"prompt": "Is {actual_output} fit?"}
    )
    assert (actual.status, actual.code) == ("not_applicable", OutcomeCode.ANSWER_EMPTY)
    assert not judge.prompts
