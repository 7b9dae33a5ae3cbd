"""The result of a task: what it expects, what decides it, and whether anything applied."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_evalstudio.api.builders import make_case
from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.codes import ItemCode, OutcomeCode
from pytest_evalstudio.core.conversations import ConversationPlan, PlannedTurn
from pytest_evalstudio.core.origins import Origin
from pytest_evalstudio.core.outcomes import Verdict
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.scoring.plan import Plan
from pytest_evalstudio.scoring.responses import ResponseVerdict
from pytest_evalstudio.scoring.results import Fault, Result
from pytest_evalstudio.scoring.tasks import EvalTask, ModelInfo
from pytest_evalstudio.stats.sequential import Sprt
from support.toys import toy_registry

PLAN = Plan(toy_registry(), configuration({"evaluators": []}))
READING, LEAKS = PLAN.get("reading"), PLAN.get("pii_leakage")
KEPT, CHANGED = (
    Origin(by=("comma:HIGH",), meaning_kept=True),
    Origin(by=("antonym:HIGH",), meaning_kept=False),
)
FAILS = Verdict(status="score", passed=False, missed=("value",))


def result(*, model: ModelInfo | None = None, case: dict[str, Any] | None = None, **fields: Any) -> Result:
    answers = fields.pop("stored", ())
    task = EvalTask(
        name="k",
        model=model or ModelInfo(key="m", label="m"),
        case=Case(key="k", question="q", **(case or {})),
        answers=answers,
    )
    return Result(task=task, **fields)


@pytest.mark.parametrize(("origin", "expected"), [(None, True), (KEPT, True), (CHANGED, False)])
def test_a_refusal_is_expected_unless_the_meaning_has_changed(origin: Origin | None, expected: bool) -> None:
    assert result(case={"expects": "refusal"}, origin=origin).expects_refusal is expected
    plan = ConversationPlan(turns=(PlannedTurn(prompt="a"), PlannedTurn(prompt="b", expects="refusal")))
    assert result(case={"plan": plan}, origin=origin).expects_refusal_of_turns is expected
    assert not result(origin=origin).expects_refusal
    answering = ConversationPlan(turns=(PlannedTurn(prompt="a", expects="answer"),))
    assert not result(case={"plan": answering}, origin=origin).expects_refusal_of_turns
    assert not result(origin=origin).expects_refusal_of_turns


def test_only_evaluators_of_leaks_decide_a_case_whose_meaning_has_changed() -> None:
    for origin, expected in ((None, True), (KEPT, True), (CHANGED, False)):
        assert result(origin=origin).decides(READING) is expected
        assert result(origin=origin).decides(LEAKS)


def test_a_failure_by_content_is_neither_a_leak_nor_one_of_the_retrieval_alone() -> None:
    retrieval = Verdict(status="score", passed=False, missed=("value",), code=OutcomeCode.RETRIEVAL_FAILED)
    empty = ResponseVerdict(passed=False, code=ItemCode.ANSWER_EMPTY, reason="empty")
    assert result(verdicts={READING: FAILS}).fails_by_content
    assert not result(verdicts={READING: retrieval}).fails_by_content
    assert not result(verdicts={LEAKS: FAILS}).fails_by_content
    assert not result(verdicts={READING: Verdict(status="score", passed=True)}).fails_by_content
    assert not result(verdicts={READING: FAILS}, response=empty).fails_by_content
    assert not result(verdicts={READING: FAILS}, origin=CHANGED).fails_by_content


def test_errors_are_the_evaluators_without_a_verdict() -> None:
    broken = Verdict(status="error", code=OutcomeCode.JUDGE_FAILED, reason="down")
    assert result(verdicts={READING: broken, LEAKS: FAILS}).errors == [
        Fault("reading", OutcomeCode.JUDGE_FAILED, "down")
    ]


def test_a_result_applies_by_a_verdict_or_a_response() -> None:
    no_verdict = Verdict(status="not_applicable")
    assert not result(verdicts={READING: no_verdict}).applicable
    assert result(verdicts={READING: no_verdict, LEAKS: Verdict(status="error")}).applicable
    assert result(verdicts={READING: no_verdict}, response=ResponseVerdict(passed=True)).applicable
    assert not result(response=ResponseVerdict(code=ItemCode.UNEXPECTED_REFUSAL, reason="x")).applicable


def test_only_a_sequential_test_of_a_model_has_a_maximum_of_repeats() -> None:
    stopping = Sprt(max_runs=20, p0=0.9, p1=0.7, alpha=0.05, beta=0.1)
    model = ModelInfo(key="m", label="m", runs=20, stopping=stopping)
    assert result(model=model).max_runs == 20
    assert result(model=model, stored=(make_case("q", "a"),)).max_runs == 0
    assert result(model=ModelInfo(key="m", label="m", runs=20)).max_runs == 0
