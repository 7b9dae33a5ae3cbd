"""Cases with several accepted answers: each is compared with the model's answer, and the best one decides."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.judging import Judging
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.scoring.expectations import expectations_read
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator


def compares_each(selected: ConfiguredEvaluator, cases: Sequence[Case]) -> bool:
    """Return True if an evaluator scores a case once for each of its accepted answers, and some have several.

    Evaluators of groups look at several answers of the application at a time.
    """
    return (
        any(case.accepted_outputs for case in cases)
        and selected.spec.scope != "group"
        and not selected.spec.reads_all_outputs
        and "expected_output" in expectations_read(selected)
    )


def alternatives(case: Case) -> tuple[Case, ...]:
    """Return a case once for each of its accepted answers, with that one alone."""
    if not case.accepted_outputs:
        return (case,)
    return tuple(
        structs.replace(case, expected_output=output, accepted_outputs=()) for output in case.all_outputs
    )


def best_outcome(selected: ConfiguredEvaluator, outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome of the accepted answer that is nearest to the model's.

    That is one that meets the thresholds, if there is one, with the best value of the primary metric; the
    first of equals. An error is the outcome only where no other accepted answer meets the thresholds: the
    one that could not be compared may have been met.

    Args:
        outcomes: one for each accepted answer of a case, in order.
    """
    if len(outcomes) == 1:
        return outcomes[0]
    judging = _together(outcomes)
    candidates = [
        (_meets(selected, outcome), _goodness(selected, outcome), -number, outcome)
        for number, outcome in enumerate(outcomes, 1)
        if outcome.status == "score"
    ]
    best = max(candidates, key=lambda entry: entry[:3], default=None)
    failed = next((outcome for outcome in outcomes if outcome.status == "error"), None)
    if failed is not None and (best is None or not best[0]):
        return structs.replace(failed, judging=judging)
    if best is None:
        return structs.replace(outcomes[0], judging=judging)
    meets, goodness, order, outcome = best
    number = -order
    if not meets and all(entry[1] == goodness for entry in candidates):
        comparison = f"none of {len(outcomes)} accepted answers scores better"
    else:
        comparison = f"compared with accepted answer {number} of {len(outcomes)}"
    reason = f"{outcome.reason}; {comparison}" if outcome.reason else comparison
    return structs.replace(outcome, reason=reason, judging=judging, accepted_output=number)


def _meets(selected: ConfiguredEvaluator, outcome: Outcome) -> bool:
    if selected.attached is not None:  # the probability that decides is computed of the best outcome
        return False
    return all(
        metric.passes(value, selected.thresholds[metric.key])
        for metric in selected.spec.metrics
        if metric.key in selected.asserted and (value := outcome.scores.get(metric.key)) is not None
    )


def _goodness(selected: ConfiguredEvaluator, outcome: Outcome) -> float:
    """Return the value of the primary metric, or its negative where lower is better."""
    primary = selected.evaluator.__evalstudio__.primary  # without that of a calibration
    value = outcome.scores.get(primary.key)
    if value is None:
        return float("-inf")
    return value if primary.better == "higher" else -value


def _together(outcomes: Sequence[Outcome]) -> Judging | None:
    """Return the judge calls of all outcomes."""
    parts = [outcome.judging for outcome in outcomes if outcome.judging is not None]
    return sum(parts, Judging()) if parts else None
