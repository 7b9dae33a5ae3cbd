"""Pass rates corrected for the errors of their judge, as judge-check measured them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_evalstudio.analysis.samples import ScoreAggregator
from pytest_evalstudio.record.judge_checks import JudgeCheckEntry, ShareEntry
from pytest_evalstudio.record.schema import EvaluatorEntry
from pytest_evalstudio.stats.clustered import ClusteredShare, clustered_share
from pytest_evalstudio.stats.rogan_gladen import JudgeErrors, Uncorrectable, corrected_share
from pytest_evalstudio.stats.types import Interval

_REASONS: Mapping[Uncorrectable, str] = {
    Uncorrectable.TOO_FEW_LABELS: "judge-check has good or bad answers to one question at most; label more",
    Uncorrectable.NOT_DISCRIMINATING: (
        "the labels of judge-check do not show that the judge tells good answers from bad ones; label more,"
        " or take another judge"
    ),
    Uncorrectable.OUT_OF_RANGE: (
        "the judge passes fewer or more answers than with the errors that judge-check measured; the labelled"
        " answers differ from these"
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedRate:
    """Share of good answers, by the verdicts of a judge with known errors.

    Attributes:
        value: 0.0 to 1.0; None if it cannot be computed.
        interval: 95 %, clustered by question; it contains the uncertainty of the judge's errors.
        reason: why there is no value, "" if there is one.
    """

    value: float | None = None
    interval: Interval | None = None
    reason: str = ""


def corrected_rate(
    info: EvaluatorEntry, scores: ScoreAggregator, originals: Sequence[int]
) -> CorrectedRate | None:
    """Return the corrected pass rate of a model; None without judge-check or verdicts.

    Args:
        scores: of the model by the evaluator.
        originals: number of the original of each case; see `CaseBook.originals`.
    """
    check = info.judge_check
    if check is None or not scores.judged:
        return None
    if reason := _obstacle(check, info, scores):
        return CorrectedRate(reason=reason)
    totals: Counter[int] = Counter()
    passes: Counter[int] = Counter()
    for case, passed in zip(scores.verdict_cases, scores.verdict_passes, strict=True):
        totals[originals[case]] += 1
        passes[originals[case]] += passed
    share = clustered_share([passes[case] for case in totals], list(totals.values()))
    errors = JudgeErrors(
        sensitivity=_share(check.sensitivity),
        specificity=_share(check.specificity),
        covariance=check.covariance,
    )
    result = corrected_share(share, errors)
    return CorrectedRate(value=result.value, interval=result.interval, reason=_REASONS.get(result.reason, ""))


def _obstacle(check: JudgeCheckEntry, info: EvaluatorEntry, scores: ScoreAggregator) -> str:
    """Return why the measured errors do not hold for the verdicts, "" if they do."""
    if check.differences:
        return f"judge-check measured another judge ({'; '.join(check.differences)}); run it again"
    if any(limit != check.threshold for limit in scores.limits.get(info.primary.key, ())):
        return "cases have thresholds of their own, for which the judge was not measured"
    if scores.has_repeats:
        return "verdicts on several repeats were not measured; judge-check measures single answers"
    if len(scores.verdict_cases) != scores.judged:
        return "the record does not have all verdicts"
    return ""


def _share(entry: ShareEntry) -> ClusteredShare:
    return ClusteredShare(
        successes=entry.successes,
        total=entry.total,
        clusters=entry.clusters,
        effective=entry.effective,
    )
