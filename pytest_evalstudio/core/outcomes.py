"""Outcome of an evaluator for a case, and its verdict on all repeats of a case."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from msgspec import Struct
from msgspec.structs import force_setattr

from pytest_evalstudio.core.cases import NOTHING
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.judging import Judging
from pytest_evalstudio.core.kept import Kept
from pytest_evalstudio.core.repeats import MEAN

Better = Literal["higher", "lower"]
Status = Literal["score", "not_applicable", "error"]
Severity = Literal["high", "medium", "low"]
Stopped = Literal["", "pass", "fail", "inconclusive"]
"""Decision of a sequential test, "" without one."""
SEVERITIES: tuple[Severity, ...] = ("high", "medium", "low")


class Metric(Struct, frozen=True, omit_defaults=True):
    """Metric of an evaluator, with its direction, range and threshold.

    Attributes:
        key: machine name in every export.
        better: the direction of "better".
        range: least and greatest value; either end may be infinite.
        threshold: default; an infinite one never decides.
        primary: the metric of its evaluator that decides an item, and by which models are ranked.
        description: a sentence for the report.
        decides: its threshold decides an item as well, unless the user sets it to infinity. In a record:
            whether its threshold decides the items of the run.
        boolean: its value is 1.0 for yes and 0.0 for no; the judges of a panel vote on it.
    """

    key: str
    name: str = ""
    better: Better = "higher"
    range: tuple[float, float] = (0.0, 1.0)
    threshold: float = 0.75
    primary: bool = False
    description: str = ""
    boolean: bool = False
    decides: bool = False

    def passes(self, value: float, threshold: float | None = None) -> bool:
        """Return True if a value meets the threshold; equality passes."""
        limit = self.threshold if threshold is None else threshold
        return value >= limit if self.better == "higher" else value <= limit

    @property
    def worst(self) -> float:
        return self.range[0] if self.better == "higher" else self.range[1]

    @property
    def can_decide(self) -> bool:
        """Report whether a value of the metric can miss the threshold."""
        return math.isfinite(self.threshold) and self.threshold != self.worst


def out_of_range(key: str, limit: float, bounds: tuple[float, float]) -> str:
    """Describe a limit that no value of a metric can reach; "" for one in the range.

    Args:
        key: name of the metric, for the text.
        limit: threshold or limit of a gate; an infinite one is no limit.
        bounds: smallest and largest value of the metric; either may be infinite.

    >>> out_of_range("pass rate", 95, (0.0, 1.0))
    '95 is outside the range of pass rate, 0 to 1; write 0.95 for 95 %'
    """
    low, high = bounds
    if math.isinf(limit) or low <= limit <= high:
        return ""
    if math.isinf(high):
        return f"{limit:g} is outside the range of {key}, {low:g} or more"
    remedy = f"; write {limit / 100:g} for {limit:g} %" if bounds == (0.0, 1.0) and 1 < limit <= 100 else ""
    return f"{limit:g} is outside the range of {key}, {low:g} to {high:g}{remedy}"


class Fragment(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A stretch of a text that a score or a finding is about.

    Attributes:
        start, end: characters, `text[start:end]`.
        part: which text: "answer", or "context:<i>" for chunk i (0-based).
        scores: metric values of this stretch.
        message: description of the fault; must not repeat secrets.
    """

    start: int
    end: int
    part: Annotated[str, Kept.PLAIN] = "answer"
    scores: Annotated[Mapping[str, float], Kept.PLAIN] = {}
    message: str = ""


class Finding(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A problem of one case that deserves a line of its own in the report (a leak, a broken artifact)."""

    description: str
    severity: Severity = "medium"
    problem_type: Annotated[str, Kept.PLAIN] = "accuracy"
    avid: Annotated[str, Kept.PLAIN] = "P0200"
    actions: Annotated[str, Kept.PLAIN] = ""


class Outcome(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Result of one evaluator for one case.

    All of it is checked. A value outside the range of its metric, a missing value of the primary metric, a
    part of another type, or details that JSON cannot hold are an error of the case (`outcome_invalid`).
    Numbers and arrays of numpy become Python's.

    Attributes:
        status: score, not_applicable or error.
        code: reason for a missing score, or meaning of the score; programs decide by it, never by `reason`.
        scores: metric key to value, for status "score"; None where that metric alone is not applicable.
        reason: why not applicable, what went wrong, or, for a score, what made it low. Shown to people, so
            without secrets.
        fragments: stretches of answer or context that explain the score; empty for the whole text.
        findings: problems to list one by one.
        sketch: what model-wide figures need of this row, in a form of the evaluator's own; kept short.
        details: JSON-ready particulars by name for the exports, e.g. the rating and rationale of each chunk.
        judging: judge calls and their cost, None if no judge was asked.
        accepted_output: number of the accepted answer that the score is of, from 1, as the engine sets it; 0
            where there is one alone.
        turn: turn of a conversation that the score is of, from 1; 0 for the conversation as a whole, and for
            a single question.
        turns: outcomes of the turns that were scored, and of the whole; () for a single question.
    """

    status: Status = "score"
    code: OutcomeCode = OutcomeCode.NONE
    scores: Annotated[Mapping[str, float | None], Kept.PLAIN] = {}
    reason: str = ""
    fragments: tuple[Fragment, ...] = ()
    findings: tuple[Finding, ...] = ()
    sketch: Annotated[str, Kept.PLAIN] = ""
    details: Mapping[str, Any] = {}
    judging: Judging | None = None
    accepted_output: int = 0
    turn: int = 0
    turns: tuple[TurnOutcome, ...] = ()

    def __post_init__(self) -> None:
        if self.scores.__class__ is not dict and not isinstance(self.scores, Mapping):
            return  # said where outcomes are checked
        for key, value in self.scores.items():
            if value != value:  # NaN, of any kind of number
                force_setattr(self, "status", "error")
                force_setattr(self, "code", OutcomeCode.NOT_A_NUMBER)
                force_setattr(self, "scores", NOTHING)
                force_setattr(self, "reason", f"metric {key!r} is not a number")
                return

    @classmethod
    def score(
        cls,
        scores: Mapping[str, float | None],
        *,
        reason: str = "",
        fragments: tuple[Fragment, ...] = (),
        findings: tuple[Finding, ...] = (),
        sketch: str = "",
        details: Mapping[str, Any] = NOTHING,
        code: OutcomeCode = OutcomeCode.NONE,
    ) -> Outcome:
        """Return a scored outcome; a NaN among the scores makes it an error."""
        return cls(
            scores=scores,
            reason=reason,
            fragments=fragments,
            findings=findings,
            sketch=sketch,
            details=details,
            code=code,
        )

    @classmethod
    def worst(
        cls, metrics: Iterable[Metric], reason: str, *, code: OutcomeCode = OutcomeCode.NONE
    ) -> Outcome:
        """Return the outcome with the worst value of each metric that has a finite one."""
        scores = {metric.key: metric.worst if math.isfinite(metric.worst) else None for metric in metrics}
        return cls(scores=scores, reason=reason, code=code)

    @classmethod
    def not_applicable(cls, reason: str, code: OutcomeCode = OutcomeCode.NOTHING_TO_SCORE) -> Outcome:
        """Return the outcome of a case that has nothing for this evaluator to score.

        Args:
            reason: a sentence without secrets, for people.
        """
        return cls(status="not_applicable", reason=reason, code=code)

    @classmethod
    def error(cls, reason: str, code: OutcomeCode = OutcomeCode.EVALUATOR_FAILED) -> Outcome:
        """Return the outcome of a case that could not be scored: a host, judge, model or evaluator failed.

        Args:
            reason: a sentence without secrets, for people.
        """
        return cls(status="error", reason=reason, code=code)


class TurnOutcome(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Outcome of one turn of a conversation.

    Attributes:
        turn: its number from 1; 0 for the conversation as a whole.
        outcome: in a record, its status, scores and reason alone.
        passed: None where no threshold decides.
    """

    turn: int
    outcome: Outcome
    passed: bool | None = None


class Verdict(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Verdict of one evaluator on a case, over all its repeats.

    Attributes:
        passed: None where nothing was scored, or no threshold decides.
        scores: mean over the repeats; None where a metric was never scored.
        missed: metrics that decide the case and miss their threshold.
        code: of the outcome that decided, with `reason` in words.
        min: least value over the repeats, only with several.
        pass_k: 1.0 if every repeat passes on its own, else 0.0; None without repeats (pass^k, Yao et al.,
            2024).
        repeats: whether each repeat passes on its own, None where it does not say; () without repeats.
        policy: rule for the verdict on the repeats: "mean", "all", "any", or a share like "8/10".
        stopped: decision of the sequential test.
        conformal_set: labels (1 good, 0 bad) that people may give; None of an evaluator without a
            calibration.
        uncertain: whether the conformal set leaves the verdict open; `doubt` says why.
        thresholds: metric key to threshold, where the case has one of its own; filled for the record.
        metric_passes: whether each metric passes by its repeats; empty where its mean decides.
        violations: number of repeats that violate a hard rule; one decides.
    """

    status: Status = "score"
    passed: bool | None = None
    scores: Annotated[Mapping[str, float | None], Kept.PLAIN] = {}
    missed: Annotated[tuple[str, ...], Kept.PLAIN] = ()
    code: OutcomeCode = OutcomeCode.NONE
    reason: str = ""
    min: Annotated[Mapping[str, float], Kept.PLAIN] = {}
    pass_k: float | None = None
    repeats: tuple[bool | None, ...] = ()
    policy: Annotated[str, Kept.PLAIN] = MEAN
    stopped: Stopped = ""
    conformal_set: tuple[int, ...] | None = None
    uncertain: bool | None = None
    doubt: Annotated[str, Kept.NOT] = ""
    thresholds: Annotated[Mapping[str, float], Kept.PLAIN] = {}
    metric_passes: Annotated[Mapping[str, bool], Kept.NOT] = {}
    violations: Annotated[int, Kept.NOT] = 0

    def metric_passed(self, metric: Metric, score: float, threshold: float) -> bool:
        """Return True if a metric passes, by its repeats or by its mean."""
        by_repeats = self.metric_passes.get(metric.key)
        return metric.passes(score, threshold) if by_repeats is None else by_repeats
