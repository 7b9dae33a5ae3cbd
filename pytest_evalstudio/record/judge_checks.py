"""Types of a judge's measured errors in a run's record."""

from __future__ import annotations

from msgspec import Struct


class ShareEntry(Struct, frozen=True, kw_only=True):
    """A share of labelled answers; see `stats.clustered.ClusteredShare`.

    Attributes:
        clusters: questions.
        effective: independent answers that would say as much.
    """

    successes: int
    total: int
    clusters: int
    effective: float


class JudgeCheckEntry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of judge-check that a configuration names for an evaluator.

    Attributes:
        file: as the configuration names it.
        sha256: of its content.
        created: ISO 8601.
        threshold: from which on an answer passed.
        sensitivity: good answers that pass.
        specificity: bad answers that fail.
        covariance: of the two.
        agreement: with people; None without verdicts.
        kappa: Cohen's; None where it is not defined.
        differences: between the measured judge and that of this run, in words; pass rates are corrected only
            where there are none.
    """

    file: str
    sha256: str
    created: str
    threshold: float
    sensitivity: ShareEntry
    specificity: ShareEntry
    covariance: float = 0.0
    agreement: float | None = None
    kappa: float | None = None
    differences: tuple[str, ...] = ()
