"""Verdicts from outcomes: thresholds, repeats, flips, and texts of failures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pytest_evalstudio.core.cases import NOTHING
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.outcomes import Metric, Outcome, Status
from pytest_evalstudio.engine.origins import Origin
from pytest_evalstudio.engine.scoring.calibrated import conformal_set, uncertain_words
from pytest_evalstudio.engine.scoring.plan import ConfiguredEvaluator
from pytest_evalstudio.engine.scoring.tasks import EvalTask

Direction = Literal["pass_to_fail", "fail_to_pass"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Verdict of one evaluator on one task, over all its repeats.

    Attributes:
        passed: None where nothing was scored, or no threshold decides.
        scores: mean over the repeats; None where a metric was never scored.
        missed: asserted metrics beyond their threshold.
        code: of the outcome that decided, with `reason` in words.
        least: least value over the repeats, only with several.
        conformal_set: labels (1 good, 0 bad) that people may give, of an evaluator with a calibration: both,
            or none, is uncertain.
        pass_k: 1.0 if every repeat passes on its own, else 0.0; None without repeats (pass^k, Yao et al.,
            2024).
    """

    status: Status
    passed: bool | None = None
    scores: Mapping[str, float | None] = field(default_factory=lambda: NOTHING)
    missed: tuple[str, ...] = ()
    code: OutcomeCode = OutcomeCode.NONE
    reason: str = ""
    least: Mapping[str, float] = field(default_factory=lambda: NOTHING)
    pass_k: float | None = None
    conformal_set: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """A metric whose pass state differs between an original and its perturbation."""

    evaluator: str
    metric: str
    direction: Direction
    source: str
    source_score: float
    score: float
    threshold: float
    perturbators: tuple[str, ...]
    meaning_kept: bool
    fails: bool


def verdict(selected: ConfiguredEvaluator, outcomes: Sequence[Outcome]) -> Verdict:
    """Return the verdict of one evaluator on the repeats of one task.

    If one repeat is in error, the verdict is an error; repeats that are not applicable do not count.
    """
    wrong = next((outcome for outcome in outcomes if outcome.status == "error"), None)
    if wrong is not None:
        return Verdict(status="error", code=wrong.code, reason=wrong.reason)
    scored = [outcome for outcome in outcomes if outcome.status == "score"]
    if not scored:
        return Verdict(status="not_applicable", code=outcomes[0].code, reason=outcomes[0].reason)
    if len(scored) == 1 and len(outcomes) == 1:
        scores = scored[0].scores
        missed = _missed(selected, scores)
        return Verdict(
            status="score",
            passed=_passed(selected, scores, missed),
            scores=scores,
            missed=missed,
            code=scored[0].code,
            reason=scored[0].reason,
            conformal_set=conformal_set(selected, scores),
        )
    scores = _means(scored)
    missed = _missed(selected, scores)
    return Verdict(
        status="score",
        passed=_passed(selected, scores, missed),
        scores=scores,
        missed=missed,
        code=next((outcome.code for outcome in scored if outcome.code), OutcomeCode.NONE),
        reason=next((outcome.reason for outcome in scored if outcome.reason), ""),
        least=_least(scored),
        pass_k=float(not any(_missed(selected, outcome.scores) for outcome in scored)),
        conformal_set=conformal_set(selected, scores),
    )


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
    for selected, own in verdicts.items():
        before = _same(selected, original)
        if before is None or own.status != "score" or before.status != "score":
            continue
        for metric in flipping_metrics(selected):
            old, new, threshold = (
                before.scores.get(metric.key),
                own.scores.get(metric.key),
                selected.thresholds[metric.key],
            )
            if old is None or new is None or metric.passes(old, threshold) == metric.passes(new, threshold):
                continue
            direction: Direction = "fail_to_pass" if metric.passes(new, threshold) else "pass_to_fail"
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
                )
            )
    return flips_of_task


def _same(selected: ConfiguredEvaluator, original: Mapping[ConfiguredEvaluator, Verdict]) -> Verdict | None:
    """Return the original's verdict by the same evaluator, regardless of a case's own threshold."""
    if selected in original:
        return original[selected]
    return next(
        (
            own
            for other, own in original.items()
            if other.id == selected.id and other.parameters == selected.parameters
        ),
        None,
    )


def flipping_metrics(selected: ConfiguredEvaluator) -> list[Metric]:
    """Return the metrics that are checked for flips: those with a finite threshold.

    Of complementary metrics, only the primary one is checked.
    """
    if selected.spec.boolean or selected.spec.domain == "classification":
        return [selected.spec.primary]
    return [metric for metric in selected.spec.metrics if math.isfinite(selected.thresholds[metric.key])]


def missed_lines(selected: ConfiguredEvaluator, own: Verdict) -> list[str]:
    """Return a line for each metric that missed its threshold; the first line has the reason."""
    lines: list[str] = []
    for key in own.missed:
        metric = selected.spec.metric(key)
        value = own.scores[key]
        if metric is not None and value is not None:
            sign = "<" if metric.better == "higher" else ">"
            repeats = f" (mean; least {number(own.least[key])})" if own.least else ""
            doubt = uncertain_words(selected, own.conformal_set) if metric.primary else ""
            because = f" ({doubt})" if doubt else ""
            because += f": {own.reason}" if own.reason and not lines else ""
            lines.append(
                f"{selected.id}: {key} {number(value)} {sign}"
                f" {number(selected.thresholds[key])}{repeats}{because}"
            )
    return lines


def number(value: float) -> str:
    """Return a score for people: at most four digits after the point.

    >>> number(0.5), number(1 / 3), number(1.0)
    ('0.5', '0.3333', '1')
    """
    return f"{value:.4f}".rstrip("0").rstrip(".") if math.isfinite(value) else str(value)


def _missed(selected: ConfiguredEvaluator, scores: Mapping[str, float | None]) -> tuple[str, ...]:
    missed = []
    for metric in selected.spec.metrics:
        value, threshold = scores.get(metric.key), selected.thresholds[metric.key]
        if (
            metric.key in selected.asserted
            and value is not None
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
    return {
        key: math.fsum(values) / len(values) if values else None for key, values in _values(scored).items()
    }


def _least(scored: Sequence[Outcome]) -> dict[str, float]:
    return {key: min(values) for key, values in _values(scored).items() if values}


def _values(scored: Sequence[Outcome]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for outcome in scored:
        for key, value in outcome.scores.items():
            together = found.setdefault(key, [])
            if value is not None:
                together.append(value)
    return found
