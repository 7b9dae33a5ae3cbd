"""The best of several accepted answers decides; judges that can read all of them are asked once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.judging import Judging
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.scoring.accepted_outputs import best_outcome
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator, Plan
from support.judging import ScriptedJudge, outcome

ROW: dict[str, Any] = {
    "input": "Fee?",
    "actual_output": "Fifteen dollars.",
    "context": ["The fee is 15 USD."],
    "expected_output": ["15 EUR", "15 USD"],
}


@pytest.fixture
def rouge() -> ConfiguredEvaluator:
    return Plan(Registry(), Configuration()).get("rouge")


def scored(value: float, *, calls: int = 0) -> Outcome:
    scores = dict.fromkeys(("rouge_1", "rouge_2", "rouge_l"), value)
    return Outcome(scores=scores, judging=Judging(calls=calls) if calls else None)


ERROR = Outcome.error("the judge gave no reply", OutcomeCode.JUDGE_FAILED)
NOTHING = Outcome.not_applicable("no words")


@pytest.mark.parametrize(
    ("outcomes", "number", "status"),
    [
        ((scored(0.2), scored(1.0), scored(1.0)), 2, "score"),
        ((scored(0.2), NOTHING, scored(0.1)), 1, "score"),
        ((ERROR, scored(1.0)), 2, "score"),
        ((ERROR, scored(0.1)), 0, "error"),
        ((NOTHING, ERROR), 0, "error"),
        ((NOTHING, NOTHING), 0, "not_applicable"),
    ],
)
def test_the_best_outcome_decides_and_an_error_only_where_no_other_passes(
    rouge: ConfiguredEvaluator, outcomes: tuple[Outcome, ...], number: int, status: str
) -> None:
    best = best_outcome(rouge, outcomes)
    assert (best.accepted_output, best.status) == (number, status)


def test_the_judge_calls_of_all_comparisons_are_counted(rouge: ConfiguredEvaluator) -> None:
    best = best_outcome(rouge, (scored(0.2, calls=2), scored(1.0, calls=3), NOTHING))
    assert best.judging == Judging(calls=5)


def test_a_judge_that_reads_all_accepted_answers_is_asked_once() -> None:
    judge = ScriptedJudge({"": json.dumps({"rationale": "it is right", "rating": "yes"})})
    result = outcome("correctness_judge", judge, ROW)
    assert (len(judge.prompts), result.accepted_output) == (1, 0)
    assert "1. 15 EUR\n2. 15 USD" in judge.prompts[0]


def test_a_judge_of_sentences_is_asked_for_each_accepted_answer() -> None:
    def judge(prompt: str) -> str:
        is_right = "15 USD" in prompt.partition("<sentence")[2] or "15 EUR" not in prompt
        verdict = {"sentence": 1, "reason": "so it is", "verdict": "yes" if is_right else "no"}
        return json.dumps({"verdicts": [verdict]})

    result = outcome("context_recall", judge, ROW)
    assert (result.scores, result.accepted_output) == ({"context_recall": 1.0}, 2)
    assert result.judging is not None
    assert result.judging.calls == 2
