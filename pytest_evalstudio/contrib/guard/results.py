"""Requests to a guard, and its verdicts."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

GuardWord = Literal["reliable", "unreliable", "uncertain"]
MAX_CHUNKS = 200
MAX_CHECKS = 100
"""Answers in one request."""


class CheckRequest(BaseModel):
    """An answer to check.

    Attributes:
        question: the question that was answered.
        context: retrieved chunks that the answer rests on.
        answer: the answer.
    """

    model_config = ConfigDict(extra="forbid")

    question: str = ""
    context: list[str] = Field(default_factory=list, max_length=MAX_CHUNKS)
    answer: str


class BatchRequest(BaseModel):
    """Several answers to check."""

    model_config = ConfigDict(extra="forbid")

    checks: list[CheckRequest] = Field(min_length=1, max_length=MAX_CHECKS)


class MetricCheck(BaseModel):
    """One metric of an answer.

    Attributes:
        evaluator: its id.
        metric: its key.
        score: value; None where it is not applicable or went wrong.
        threshold: in force; None for a metric without one.
        passed: whether the score meets the threshold; None without a score or threshold.
        conformal_set: labels that people may give, 1 good and 0 bad; None without a calibration.
        uncalibrated: whether nobody has calibrated the threshold by people's labels; False for a metric that
            is yes or no, and for one without a threshold.
    """

    evaluator: str
    metric: str
    score: float | None
    threshold: float | None
    passed: bool | None
    conformal_set: list[int] | None = None
    uncalibrated: bool = False


class GuardVerdict(BaseModel):
    """Verdict on an answer.

    Attributes:
        verdict: "unreliable" if the answer is empty or a metric surely fails; else "uncertain" if a metric
            went wrong, does not apply and is not optional, or may be good or bad by its calibration; else
            "reliable".
        metrics: each metric that was checked.
        reasons: why the answer is not reliable, secrets and personal data masked.
        uncalibrated: whether a metric with a threshold that nobody has calibrated took part in the verdict.
    """

    verdict: GuardWord
    metrics: list[MetricCheck]
    reasons: list[str] = Field(default_factory=list)
    uncalibrated: bool = False


class BatchVerdicts(BaseModel):
    """Verdicts in the order of the request."""

    results: list[GuardVerdict]
