"""Verdicts from outcomes: thresholds, repeats, flips, and texts of failures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.codes import OF_RETRIEVAL, OutcomeCode
from pytest_evalstudio.core.flips import Direction, Flip
from pytest_evalstudio.core.origins import Origin
from pytest_evalstudio.core.outcomes import Metric, Outcome, Stopped, Verdict
from pytest_evalstudio.core.repeats import BY_MEAN, MEAN, PassPolicy
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator
from pytest_evalstudio.scoring.tasks import EvalTask
from pytest_evalstudio.scoring.violations import is_violation, violations
from pytest_evalstudio.stats.sequential import Sprt
from pytest_evalstudio.text.figures import figure, unequal


def verdict(
    selected: ConfiguredEvaluator,
    outcomes: Sequence[Outcome],
    policy: PassPolicy = BY_MEAN,
    stopping: Sprt | None = None,
) -> Verdict:
    """Return the verdict of one evaluator on the repeats of one task.

    If one repeat is in error, the verdict is an error; repeats that are not applicable do not count.

    Args:
        selected: the evaluator.
        outcomes: one per repeat.
        policy: reaches the verdict from several repeats.
        stopping: sequential test that ended the asking; where it has not decided, the policy does.
    """
    wrong = next((outcome for outcome in outcomes if outcome.status == "error"), None)
    if wrong is not None:
        return Verdict(status="error", code=wrong.code, reason=wrong.reason)
    scored = [outcome for outcome in outcomes if outcome.status == "score"]
    if not scored:
        return Verdict(status="not_applicable", code=outcomes[0].code, reason=outcomes[0].reason)
    # A single repeat has no counts, means or least values that a report could show.
    if len(scored) == 1 and len(outcomes) == 1:
        scores = scored[0].scores
        missed = _missed(selected, scores)
        passed = _passed(selected, scores, missed)
        return Verdict(
            status="score",
            passed=passed,
            violations=int(is_violation(selected, scored[0], passed)),
            scores=scores,
            missed=missed,
            code=scored[0].code,
            reason=scored[0].reason,
            **_conformal(selected, scores),
        )
    scores = _means(scored)
    repeats = repeat_states(selected, outcomes)
    decision = _decision(repeats, stopping)
    by_repeats = counted_verdict(repeats, policy, stopping)
    metric_passes = _metric_passes(selected, outcomes, policy, stopping)
    violating = violations(selected, outcomes, repeats)
    # A violation of e.g. safety in one repeat fails the case, whatever policy, mean or test say.
    if violating:
        by_repeats = False
        decision = decision and "fail"  # "" stays where no sequential test took part
        metric_passes |= dict.fromkeys(
            _missed_in_repeats(selected, [outcomes[at] for at in violating]), False
        )
    if by_repeats is None:
        missed = _missed(selected, scores)
        passed = _passed(selected, scores, missed)
    else:
        missed = () if by_repeats else _missed_in_repeats(selected, scored)
        passed = by_repeats
    return Verdict(
        status="score",
        passed=passed,
        scores=scores,
        missed=missed,
        repeats=repeats,
        policy=policy.text,
        stopped=decision,
        metric_passes=metric_passes,
        violations=len(violating),
        code=_code_of_repeats(outcomes, repeats),
        reason=_reason(outcomes, repeats, is_failed=passed is False),
        min=_least(scored),
        pass_k=float(not any(_missed(selected, outcome.scores) for outcome in scored)),
        **_conformal(selected, scores),
    )


def _conformal(selected: ConfiguredEvaluator, scores: Mapping[str, float | None]) -> dict[str, Any]:
    """Return the fields of a verdict that a calibration fills."""
    labels = selected.attached.conformal_set(scores) if selected.attached is not None else None
    if labels is None:
        return {}
    return {"conformal_set": labels.labels, "uncertain": labels.is_uncertain, "doubt": labels.doubt}


def flips(
    task: EvalTask,
    verdicts: Mapping[ConfiguredEvaluator, Verdict],
    original: Mapping[ConfiguredEvaluator, Verdict],
    origin: Origin,
    *,
    strict: bool,
) -> list[Flip]:
    """Return the metrics that pass on either the original or the perturbation and fail on the other.

    Args:
        origin: origin of the perturbation.
        strict: whether a pass-to-fail flip of an asserted metric fails the perturbed case.
    """
    if task.source is None:
        return []
    flips_of_task = []
    turn = perturbed_turn(task.case, task.source.case)
    for selected, reached in verdicts.items():
        before = _same(selected, original)
        if before is None or reached.status != "score" or before.status != "score":
            continue
        for metric in flipping_metrics(selected):
            old, new, threshold = (
                before.scores.get(metric.key),
                reached.scores.get(metric.key),
                selected.thresholds[metric.key],
            )
            if old is None or new is None:
                continue
            # By `metric_passed`, not the mean: a policy may have counted the repeats of this metric.
            passes = reached.metric_passed(metric, new, threshold)
            if before.metric_passed(metric, old, threshold) == passes:
                continue
            direction: Direction = "fail_to_pass" if passes else "pass_to_fail"
            flips_of_task.append(
                Flip(
                    evaluator=selected.id,
                    metric=metric.key,
                    direction=direction,
                    source=task.source.key,
                    source_score=old,
                    score=new,
                    threshold=threshold,
                    perturbators=origin.by,
                    meaning_kept=origin.meaning_kept,
                    fails=strict
                    and origin.meaning_kept
                    and direction == "pass_to_fail"
                    and metric.key in selected.asserted,
                    turn=turn,
                )
            )
    return flips_of_task


def perturbed_turn(case: Case, original: Case) -> int:
    """Return the number of the first turn in which a conversation differs from its original; 0 for none."""
    if case.plan is None or original.plan is None:
        return 0
    # A perturbed conversation may end earlier or later than its original.
    pairs = zip(case.plan.messages, original.plan.messages, strict=False)
    return next((number for number, (one, other) in enumerate(pairs, 1) if one != other), 0)


def _same(selected: ConfiguredEvaluator, original: Mapping[ConfiguredEvaluator, Verdict]) -> Verdict | None:
    """Return the original's verdict by the same evaluator, regardless of a case's own threshold."""
    if selected in original:
        return original[selected]
    return next(
        (
            reached
            for other, reached in original.items()
            if other.id == selected.id and other.parameters == selected.parameters
        ),
        None,
    )


def flipping_metrics(selected: ConfiguredEvaluator) -> list[Metric]:
    """Return the metrics that are checked for flips: those with a finite threshold.

    Of complementary metrics, only the primary one is checked, unless `flips = "all"` asks for more.
    """
    complementary = selected.spec.boolean or selected.spec.domain == "classification"
    if complementary and not selected.all_flips:
        return [selected.spec.primary]
    return [metric for metric in selected.spec.metrics if math.isfinite(selected.thresholds[metric.key])]


def missed_lines(selected: ConfiguredEvaluator, reached: Verdict) -> list[str]:
    """Return a line for each metric that missed its threshold; the first line has the reason.

    A failure of the retrieved context alone begins with "retrieval".
    """
    part = "retrieval: " if reached.code in OF_RETRIEVAL else ""
    # Some repeats pass: figures of a mean would not show why the case fails.
    if reached.missed and reached.violations and True in reached.repeats:
        because = f": {reached.reason}" if reached.reason else ""
        count = f"violated in {reached.violations} of {len(reached.repeats)} repeats, and one decides"
        return [f"{part}{selected.id}: {count}{because}"]
    # Counted repeats decided, not the mean: "mean < threshold" could be untrue of the printed figures.
    if reached.missed and (reached.stopped in ("pass", "fail") or reached.policy != MEAN):
        return [part + _repeats_line(selected, reached)]
    lines: list[str] = []
    for key in reached.missed:
        metric = selected.spec.metric(key)
        value = reached.scores[key]
        if metric is not None and value is not None:
            sign = "<" if metric.better == "higher" else ">"
            repeats = f" (mean{_minimum(metric, reached)})" if reached.min else ""
            doubt = f" ({reached.doubt})" if metric.primary and reached.doubt else ""
            reason = reached.reason if not lines else ""
            text = f"{key} {f' {sign} '.join(unequal(value, selected.thresholds[key]))}{repeats}{doubt}"
            if _is_plain_no(metric, value, reached):
                text = f"{reason or 'failed'}{doubt}"  # the reason says more than 0 < 0.5
            elif reason:
                text += f": {reason}"
            lines.append(f"{part}{selected.id}: {text}")
    return lines


def _minimum(metric: Metric, reached: Verdict) -> str:
    """Return the lowest score of the repeats in words; "" where low scores are good."""
    return f"; least {figure(reached.min[metric.key])}" if metric.better == "higher" else ""


def _is_plain_no(metric: Metric, value: float, reached: Verdict) -> bool:
    return metric.boolean and metric.primary and value in (0, 1) and bool(reached.reason)


def brief_lines(selected: ConfiguredEvaluator, reached: Verdict) -> list[str]:
    """Return the lines of `missed_lines`; a plain no is its reason, then the evaluator, and nothing else."""
    primary = selected.spec.primary
    value = reached.scores.get(primary.key)
    # The same condition as in `missed_lines`, whose other forms have counts that must not be left out.
    is_mean = reached.policy == MEAN and reached.stopped not in ("pass", "fail")
    is_alone = reached.missed == (primary.key,) and is_mean and not reached.doubt
    if is_alone and value is not None and _is_plain_no(primary, value, reached):
        part = "retrieval: " if reached.code in OF_RETRIEVAL else ""
        reason = reached.reason
        for place in ("context",) if part else ("answer", "answer and context"):
            reason = reason.removeprefix(f"{place}: ")
        return [f"{part}{reason} ({selected.id})"]
    return missed_lines(selected, reached)


def repeat_states(selected: ConfiguredEvaluator, outcomes: Sequence[Outcome]) -> tuple[bool | None, ...]:
    """Return for each repeat whether it passes on its own; None where no threshold decides."""
    return tuple(
        _passed(selected, outcome.scores, _missed(selected, outcome.scores))
        if outcome.status == "score"
        else None
        for outcome in outcomes
    )


def _code_of_repeats(outcomes: Sequence[Outcome], repeats: Sequence[bool | None]) -> OutcomeCode:
    """Return the code that all failing repeats share; without a failing one, the first code of a score."""
    failing = {outcome.code for outcome, state in zip(outcomes, repeats, strict=True) if state is False}
    if failing:
        # Different causes have no common code; reports that group by code must not pick one of them.
        return failing.pop() if len(failing) == 1 else OutcomeCode.NONE
    return next(
        (outcome.code for outcome in outcomes if outcome.status == "score" and outcome.code), OutcomeCode.NONE
    )


def _reason(outcomes: Sequence[Outcome], repeats: Sequence[bool | None], *, is_failed: bool) -> str:
    """Return the first reason of a repeat; of one that fails, where the case does."""
    failing = [
        outcome for outcome, state in zip(outcomes, repeats, strict=True) if is_failed and state is False
    ]
    return next(
        (outcome.reason for outcome in (*failing, *outcomes) if outcome.status == "score" and outcome.reason),
        "",
    )


def _decision(repeats: Sequence[bool | None], stopping: Sprt | None) -> Stopped:
    passed, failed = repeats.count(True), repeats.count(False)
    if stopping is None or not passed + failed:
        return ""
    decision = stopping.decision(passed, failed)
    # It is asked only after the last repeat: a test that is still open then has not decided.
    return "inconclusive" if decision == "open" else decision


def counted_verdict(repeats: Sequence[bool | None], policy: PassPolicy, stopping: Sprt | None) -> bool | None:
    """Return the verdict on counted repeats, None where the mean score decides."""
    passed, failed = repeats.count(True), repeats.count(False)
    if not passed + failed:
        return None
    decision = _decision(repeats, stopping)
    if decision in ("pass", "fail"):
        return decision == "pass"
    return policy.holds(passed, passed + failed) if policy.counts else None


def _metric_passes(
    selected: ConfiguredEvaluator, outcomes: Sequence[Outcome], policy: PassPolicy, stopping: Sprt | None
) -> dict[str, bool]:
    if stopping is None and not policy.counts:
        return {}
    passes = {}
    for metric in flipping_metrics(selected):
        values = [outcome.scores.get(metric.key) for outcome in outcomes if outcome.status == "score"]
        threshold = selected.thresholds[metric.key]
        states = [None if value is None else metric.passes(value, threshold) for value in values]
        by_repeats = counted_verdict(states, policy, stopping)
        if by_repeats is not None:
            passes[metric.key] = by_repeats
    return passes


def _missed_in_repeats(selected: ConfiguredEvaluator, scored: Sequence[Outcome]) -> tuple[str, ...]:
    """Return the metrics that a repeat misses, in the evaluator's order."""
    missed = {key for outcome in scored for key in _missed(selected, outcome.scores)}
    return tuple(metric.key for metric in selected.spec.metrics if metric.key in missed)


def _repeats_line(selected: ConfiguredEvaluator, reached: Verdict) -> str:
    passed, total = reached.repeats.count(True), len(reached.repeats) - reached.repeats.count(None)
    rule = "sequential test" if reached.stopped == "fail" else f'pass = "{reached.policy}"'
    means = []
    for key in reached.missed:
        metric, value = selected.spec.metric(key), reached.scores.get(key)
        if metric is not None and value is not None:
            minimum = _minimum(metric, reached).replace(";", ",")
            means.append(f"{key} mean {figure(value)}{minimum}, threshold {figure(selected.thresholds[key])}")
    because = f": {reached.reason}" if reached.reason else ""
    return f"{selected.id}: {passed} of {total} repeats pass ({rule}; {', '.join(means)}){because}"


def _missed(selected: ConfiguredEvaluator, scores: Mapping[str, float | None]) -> tuple[str, ...]:
    missed = []
    for metric in selected.spec.metrics:
        value, threshold = scores.get(metric.key), selected.thresholds[metric.key]
        if (
            metric.key in selected.asserted
            and value is not None
            # An infinite threshold is how a user or metric says that the metric decides nothing.
            and math.isfinite(threshold)
            and not metric.passes(value, threshold)
        ):
            missed.append(metric.key)
    return tuple(missed)


def _passed(
    selected: ConfiguredEvaluator, scores: Mapping[str, float | None], missed: Sequence[str]
) -> bool | None:
    decided = any(
        scores.get(key) is not None and math.isfinite(selected.thresholds[key]) for key in selected.asserted
    )
    return not missed if decided else None


def _means(scored: Sequence[Outcome]) -> dict[str, float | None]:
    # fsum: the plain sum of ten times 0.1 is below 1.0, and would miss a threshold that each repeat meets.
    return {
        key: math.fsum(values) / len(values) if values else None for key, values in _values(scored).items()
    }


def _least(scored: Sequence[Outcome]) -> dict[str, float]:
    return {key: min(values) for key, values in _values(scored).items() if values}


def _values(scored: Sequence[Outcome]) -> dict[str, list[float]]:
    values: dict[str, list[float]] = {}
    for outcome in scored:
        for key, value in outcome.scores.items():
            together = values.setdefault(key, [])
            if value is not None:
                together.append(value)
    return values
