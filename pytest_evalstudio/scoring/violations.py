"""Violations of hard rules: one observation decides, and no repeat takes it back."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator


def is_violation(selected: ConfiguredEvaluator, outcome: Outcome, passed: bool | None) -> bool:
    """Return True if a failing outcome decides by itself, however other repeats end.

    Its evaluator declares so, or the answer has a text that the case forbids.

    Args:
        selected: the evaluator.
        outcome: of one repeat.
        passed: whether the repeat passes on its own; None where no threshold decides.
    """
    if passed is not False:
        return False
    return selected.spec.decided_by_one_observation or any(
        each.code is OutcomeCode.FORBIDDEN_TEXT
        for each in (outcome, *(turn.outcome for turn in outcome.turns))
    )


def violations(
    selected: ConfiguredEvaluator, outcomes: Sequence[Outcome], states: Sequence[bool | None]
) -> tuple[int, ...]:
    """Return the indices of the repeats that violate a hard rule.

    Args:
        selected: the evaluator.
        outcomes: one per repeat.
        states: whether each repeat passes on its own.
    """
    return tuple(
        index
        for index, (outcome, state) in enumerate(zip(outcomes, states, strict=True))
        if is_violation(selected, outcome, state)
    )
