"""Turns of a conversation: which of them an evaluator scores, and which outcome decides the case."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from pytest_evalstudio.core.cases import Answer, Case, Exchange, Turn
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.conversations import ConversationPlan, JudgedTurns, PlannedTurn
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.scoring.plan import Plan
from pytest_evalstudio.scoring.turns import (
    WHOLE,
    TurnUnit,
    refusing_turns,
    turn_case,
    units_of,
    worst_outcome,
)
from support.toys import toy_registry

TOYS = Plan(toy_registry(), configuration({"evaluators": []}))
PLAN = Plan(Registry(), configuration({"evaluators": []}))
READING = TOYS.get("reading")
PLANNED = (
    PlannedTurn(prompt="a", expected_output="A"),
    PlannedTurn(prompt="b", expects="refusal", evaluators=("pii_leakage",)),
    PlannedTurn(prompt="c", expects="refusal", condition='"C"'),
)


def conversation(judge: JudgedTurns = "worst", turns: int = 3, **fields: Any) -> Case:
    """A conversation whose second answer has a context."""
    exchanges = tuple(
        Exchange(prompt=text, answer=Answer(text=text.upper(), context=("x",) if text == "b" else ()))
        for text in "abcd"[:turns]
    )
    return Case(
        key="k",
        question="c",
        plan=ConversationPlan(turns=PLANNED, judge=judge),
        answer=Answer(text=exchanges[-1].answer.text, turns=exchanges),
        conversation=(Turn(role="user", content="Hello"),),
        **fields,
    )


def numbers(id: str, case: Case) -> list[int]:
    return [unit.turn for unit in units_of(PLAN.get(id), case)]


def test_evaluators_score_the_turns_that_allow_them_and_the_whole_where_it_has_expectations() -> None:
    assert numbers("pii_leakage", conversation()) == [1, 2, 3]
    assert numbers("rouge", conversation()) == [1, 3]
    assert numbers("rouge", conversation(expected_output="e")) == [1, 3, WHOLE]
    assert numbers("pii_leakage", conversation(expected_output="e")) == [1, 2, 3]
    assert numbers("fact_retention", conversation()) == [WHOLE]


def test_only_the_last_turn_is_scored_where_it_decides() -> None:
    assert numbers("pii_leakage", conversation("last")) == [3]
    assert numbers("rouge", conversation("last", turns=2)) == []


def test_a_case_without_turns_is_one_unit() -> None:
    for case in (replace(conversation(), plan=None), replace(conversation(), answer=Answer(error="down"))):
        assert units_of(READING, case) == [TurnUnit(turn=WHOLE, case=case)]


def test_turns_that_expect_a_refusal_are_those_that_were_reached() -> None:
    assert refusing_turns(conversation()) == [2, 3]
    assert refusing_turns(conversation(turns=2)) == [2]
    assert refusing_turns(conversation("last")) == [3]
    assert refusing_turns(conversation("last", turns=1)) == []
    assert refusing_turns(conversation(turns=4)) == [2, 3]


def test_a_turn_is_a_case_with_the_turns_before_it_and_its_own_expectations() -> None:
    case = conversation(expected_output="of the whole")
    first, second, third = (turn_case(case, number) for number in (1, 2, 3))
    assert [(each.question, each.actual_output) for each in (first, second)] == [("a", "A"), ("b", "B")]
    assert [turn.content for turn in third.conversation] == ["Hello", "a", "A", "b", "B"]
    assert [each.expected_output for each in (first, second)] == ["A", ""]
    assert (second.expects, third.condition, second.plan) == ("refusal", '"C"', None)
    assert [each.is_rag for each in (first, second, third)] == [False, True, False]
    assert turn_case(conversation(turns=4), 4).expects == ""


def scored(value: float | None, **fields: Any) -> Outcome:
    return Outcome.score({"value": value, "size": 1.0, "free": 1.0}, **fields)


def worst(*outcomes: Outcome, turns: tuple[int, ...] = (1, 2, 3)) -> Outcome:
    case = Case(key="k", question="q")
    units = [TurnUnit(turn=turn, case=case) for turn, _ in zip(turns, outcomes, strict=False)]
    return worst_outcome(READING, units, outcomes)


EMPTY = Outcome.not_applicable("empty", OutcomeCode.ANSWER_EMPTY)
NOTHING = Outcome.not_applicable("nothing")


@pytest.mark.parametrize(
    ("outcomes", "turn"),
    [
        pytest.param((scored(0.9), scored(0.6), scored(0.7)), 2, id="the lowest score"),
        pytest.param((scored(0.7), scored(0.7), scored(0.9)), 1, id="the first of equals"),
        pytest.param((scored(0.1), EMPTY, scored(0.0)), 2, id="an empty answer before a failure"),
        pytest.param((EMPTY, Outcome.error("down"), scored(0.0)), 2, id="an error before all"),
        pytest.param((NOTHING, scored(1.0), scored(None)), 2, id="nothing to score is no outcome"),
        pytest.param((scored(None), NOTHING, NOTHING), 1, id="not even a score without a value"),
    ],
)
def test_the_worst_turn_decides(outcomes: tuple[Outcome, ...], turn: int) -> None:
    assert worst(*outcomes).turn == turn


def test_a_metric_of_which_less_is_better_is_worst_where_it_is_most() -> None:
    selected = PLAN.get("perplexity")
    assert selected.spec.primary.better == "lower"
    case = Case(key="k", question="q")
    units = [TurnUnit(turn=turn, case=case) for turn in (1, 2)]
    outcomes = [Outcome.score({"perplexity": value}) for value in (10.0, 20.0)]
    assert worst_outcome(selected, units, outcomes).turn == 2


def test_the_reason_names_the_turn() -> None:
    assert worst(scored(0.9), scored(0.1, reason="so")).reason == "turn 2: so"
    assert worst(scored(0.1), scored(0.9)).reason == "turn 1"
    assert worst(scored(0.9), scored(0.1, reason="so"), turns=(1, WHOLE)).reason == "so"


def test_each_turn_keeps_its_outcome_and_the_whole_where_it_applies() -> None:
    outcome = worst(scored(0.9), NOTHING, NOTHING, turns=(1, 2, WHOLE))
    assert [(each.turn, each.passed) for each in outcome.turns] == [(1, True), (2, None)]
    outcome = worst(scored(0.9), scored(0.1), turns=(1, WHOLE))
    assert [(each.turn, each.passed) for each in outcome.turns] == [(1, True), (WHOLE, False)]


def test_a_single_case_keeps_its_outcome_as_it_is() -> None:
    outcome = scored(0.1, reason="so")
    assert worst(outcome, turns=(WHOLE,)) is outcome


def test_without_a_turn_nothing_is_scored() -> None:
    assert worst().reason == "no turn is to be scored by this evaluator"
