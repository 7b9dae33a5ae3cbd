"""Validity of test cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pytest_evalstudio.stats.types import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationMetric:
    """A metric with the distribution of its scores; the latter is None without scores.

    Attributes:
        method: measurement, for people.
        note: the reason for a fallback method, "" for none.
        cutoff: minimum score of a valid case.
        cases: number of cases with a score.
        q1, q3: first and third quartile.
    """

    method: str
    note: str
    cutoff: float
    cases: int
    min: float | None
    q1: float | None
    median: float | None
    q3: float | None
    max: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidatedCase:
    """A test case with its scores.

    Attributes:
        reasons: for the rejection, () of a valid case.
        scores: by metric; None where the metric does not apply.
        outliers: metrics whose score is an outlier.
    """

    key: str
    verdict: Literal["valid", "rejected"]
    reasons: tuple[str, ...]
    scores: Mapping[str, float | None]
    outliers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultDetection:
    """Share of test cases with a planted fault that validation rejects.

    Attributes:
        planted: number of copies with the fault.
        detected: number of them that are rejected.
        interval: 95 % interval of the share; None without copies.
    """

    planted: int
    detected: int
    interval: Interval | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationPower:
    """Result of validating copies of the valid cases with planted faults.

    Attributes:
        faults: by name.
        detection_rate: share of all planted faults that are detected; None if none could be planted.
        false_rejections: share of the generated cases, which are presumed right, that are rejected.
        meets_goal: True if at least 80 % are detected and at most 10 % rejected falsely.
    """

    faults: Mapping[str, FaultDetection]
    detection_rate: float | None
    false_rejections: float
    meets_goal: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationResults:
    """Results of the step.

    Attributes:
        cases: number of test cases.
        valid: number of valid ones.
        rejected: reasons by key of the test case.
        metrics: by name.
        left_out: metrics that are not available, with the reason.
        power: detection of planted faults.
        edited: keys of the cases that people have edited after generation.
        added: keys of the cases that people have added.
    """

    cases: int
    valid: int
    rejected: Mapping[str, tuple[str, ...]]
    metrics: Mapping[str, ValidationMetric]
    left_out: Mapping[str, str]
    power: ValidationPower
    edited: tuple[str, ...]
    added: tuple[str, ...]
