"""Turns of a conversation as cases of their own, and the outcome of the worst turn."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct, structs

from pytest_evalstudio.asking.dialogues import messages_of
from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.conversations import PlannedTurn
from pytest_evalstudio.core.judging import Judging
from pytest_evalstudio.core.outcomes import Outcome, TurnOutcome
from pytest_evalstudio.scoring.expectations import EXPECTATIONS, expectations_read
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator
from pytest_evalstudio.scoring.step_selection import DecidingStep, step_cases
from pytest_evalstudio.scoring.verdicts import repeat_states

WHOLE = 0
"""Number of the conversation as a whole, in place of that of a turn."""
_NO_EXPECTATIONS = PlannedTurn(prompt="")
_OF_TURNS = (*EXPECTATIONS, "accepted_outputs", "condition_on", "expects")
"""Fields of a case that each turn has of its own."""


class TurnUnit(Struct, frozen=True, kw_only=True):
    """Part of a case that an evaluator scores by itself.

    Attributes:
        turn: number of the turn from 1, `WHOLE` for the case as a whole.
        place: of the step, where the evaluator is pointed at steps, e.g. "step 3, search"; "" else.
    """

    turn: int
    case: Case
    place: str = ""


def units_of(selected: ConfiguredEvaluator, case: Case) -> list[TurnUnit]:
    """Return what an evaluator scores of a case.

    A case without a conversation is one unit. Of a conversation it is each turn (the last one alone where
    that decides) with the expectations of the turn, and the whole with those of the case. Evaluators of
    conversations score the whole alone; others score it where they compare answers with expectations. An
    evaluator that is pointed at steps scores those of each turn.

    Args:
        case: answered, or in error.
    """
    units = _turns_of(selected, case)
    # An answer in error stays whole, so that its error is the outcome.
    if selected.on is None or case.answer.error:
        return units
    return [
        TurnUnit(turn=unit.turn, case=step, place=place)
        for unit in units
        # The steps of the whole conversation are those of its turns, which are scored already.
        if unit.turn != WHOLE or not case.answer.turns
        for place, step in step_cases(unit.case, selected.on)
    ]


def _turns_of(selected: ConfiguredEvaluator, case: Case) -> list[TurnUnit]:
    if case.plan is None or not case.answer.turns:
        return [TurnUnit(turn=WHOLE, case=case)]
    numbers = range(1, len(case.answer.turns) + 1)
    judged = numbers if case.plan.judge == "worst" else numbers[-1:]
    units = [
        TurnUnit(turn=number, case=turn_case(case, number))
        for number in judged
        if scores_turn(selected, case, number)
    ]
    if selected.spec.judges_conversations or (
        expectations_read(selected) & set(EXPECTATIONS) and _has_expectations(case)
    ):
        units.append(TurnUnit(turn=WHOLE, case=_whole(case)))
    return units


def scores_turn(selected: ConfiguredEvaluator, case: Case, number: int) -> bool:
    """Return True if an evaluator scores a turn: it scores more than the whole, and the turn allows it."""
    names = _planned(case, number).evaluators
    if selected.spec.judges_conversations:
        return False
    if names is None or selected.id in names:
        return True
    from pytest_evalstudio.core.guide_names import own_evaluator

    return selected.id in map(own_evaluator, names)


def refusing_turns(case: Case) -> list[int]:
    """Return the numbers of the judged turns that expect a refusal, and were reached."""
    count = len(case.answer.turns)
    first = count if case.plan is not None and case.plan.judge == "last" else 1
    return [number for number in range(first, count + 1) if _planned(case, number).expects == "refusal"]


def turn_case(case: Case, number: int) -> Case:
    """Return a turn of a conversation as a case: its message, its answer and its expectations.

    Args:
        number: of the turn, from 1.
    """
    turns = case.answer.turns
    planned = _planned(case, number)
    return structs.replace(
        case,
        plan=None,
        question=turns[number - 1].prompt,
        conversation=(*case.conversation, *messages_of(turns[: number - 1])),
        attachments=turns[number - 1].attachments,
        answer=turns[number - 1].answer,
        # A model of unknown kind may retrieve in one turn only.
        is_rag=case.is_rag or bool(turns[number - 1].answer.context),
        **{name: getattr(planned, name) for name in _OF_TURNS},
    )


def worst_outcome(
    selected: ConfiguredEvaluator, units: Sequence[TurnUnit], outcomes: Sequence[Outcome]
) -> Outcome:
    """Return the outcome that decides a case: that of its worst turn.

    An error comes before an empty answer, this before a failing score, and among equals the worst value of
    the primary metric, then the first turn. Marks in the text are kept of the last turn only, which is the
    text of the case.

    Args:
        units: of one case.
        outcomes: one per unit.
    """
    if not units:
        if selected.on is not None:
            return Outcome.not_applicable(f"the answer has no step with a text: {selected.on}")
        return Outcome.not_applicable("no turn is to be scored by this evaluator")
    if selected.on is not None and any(unit.place for unit in units):
        units, outcomes = _deciding_steps(selected, selected.on.decides, units, outcomes)
    if len(units) == 1 and units[0].turn == WHOLE:
        return outcomes[0]
    states = repeat_states(selected, outcomes)
    position = min(
        range(len(units)), key=lambda index: (*_rank(selected, outcomes[index], states[index]), index)
    )
    outcome, turn = outcomes[position], units[position].turn
    # Marks hold positions in the text of one turn; in that of the case, the last turn, others point nowhere.
    is_of_last_text = turn in (WHOLE, max(unit.turn for unit in units))
    return structs.replace(
        outcome,
        turn=turn,
        reason=_named(turn, outcome.reason),
        fragments=outcome.fragments if is_of_last_text else (),
        findings=tuple(finding for each in outcomes for finding in each.findings),
        judging=_judging(outcomes),
        turns=tuple(
            TurnOutcome(turn=unit.turn, outcome=each, passed=state)
            for unit, each, state in zip(units, outcomes, states, strict=True)
            if unit.turn != WHOLE or each.status != "not_applicable"
        ),
    )


def _deciding_steps(
    selected: ConfiguredEvaluator,
    decides: DecidingStep,
    units: Sequence[TurnUnit],
    outcomes: Sequence[Outcome],
) -> tuple[list[TurnUnit], list[Outcome]]:
    """Return for each turn the outcome of the step that decides it; steps that cannot be scored do not."""
    by_turn: dict[int, list[int]] = {}
    for index, unit in enumerate(units):
        by_turn.setdefault(unit.turn, []).append(index)
    states = repeat_states(selected, outcomes)
    turns, deciding = [], []
    for turn, indices in by_turn.items():
        # Where no step can be scored, the first reason is better than none.
        scored = [index for index in indices if outcomes[index].status != "not_applicable"] or indices
        ranked = sorted(scored, key=lambda index: _rank(selected, outcomes[index], states[index]))
        position = {"worst": ranked[0], "best": ranked[-1], "first": scored[0], "last": scored[-1]}[decides]
        outcome, place = outcomes[position], units[position].place
        named = f"{place}: {outcome.reason}" if outcome.reason and place else outcome.reason or place
        turns.append(TurnUnit(turn=turn, case=units[position].case))
        deciding.append(
            structs.replace(
                outcome,
                reason=named,
                fragments=(),  # they mark the text of the step, which is not that of the answer
                findings=tuple(finding for index in indices for finding in outcomes[index].findings),
                judging=_judging([outcomes[index] for index in indices]),
            )
        )
    return turns, deciding


def _named(turn: int, reason: str) -> str:
    """Return a reason that names the turn."""
    if turn == WHOLE:
        return reason
    return f"turn {turn}: {reason}" if reason else f"turn {turn}"


def _rank(selected: ConfiguredEvaluator, outcome: Outcome, passed: bool | None) -> tuple[int, float]:
    """Return a key by which the worst outcome comes first."""
    if outcome.status == "error":
        return (0, 0.0)
    if outcome.status == "not_applicable":
        return (1 if outcome.code == OutcomeCode.ANSWER_EMPTY else 4, 0.0)
    primary = selected.spec.primary
    value = outcome.scores.get(primary.key)
    # An evaluator that only measures may have no primary value: it is never the worst.
    ordered = math.inf
    if value is not None:
        ordered = value if primary.better == "higher" else -value
    return (2 if passed is False else 3, ordered)


def _judging(outcomes: Sequence[Outcome]) -> Judging | None:
    """Return the calls of a judge for all units together."""
    usages = [outcome.judging for outcome in outcomes if outcome.judging is not None]
    return sum(usages, Judging()) if usages else None


def _planned(case: Case, number: int) -> PlannedTurn:
    """Return the expectations of a turn; those of a simulated user's turns are empty."""
    planned = case.plan.turns if case.plan is not None else ()
    return planned[number - 1] if number <= len(planned) else _NO_EXPECTATIONS


def _whole(case: Case) -> Case:
    """Return a conversation as a case: the last message, the turns before it, and the calls of all turns."""
    turns = case.answer.turns
    return structs.replace(
        case,
        question=turns[-1].prompt,
        conversation=(*case.conversation, *messages_of(turns[:-1])),
        attachments=turns[-1].attachments,
    )


def _has_expectations(case: Case) -> bool:
    """Return True if a case expects something of the whole conversation, be it that no tool is called."""
    return case.expected_tool_calls is not None or any(getattr(case, name) for name in _OF_TURNS)
