"""Shares of values that come in clusters, such as several answers to one question."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from pytest_evalstudio.stats.intervals import wilson_interval
from pytest_evalstudio.stats.types import LEVEL, Interval


class ClusteredShare(Struct, frozen=True, kw_only=True):
    """Successes of trials that come in clusters.

    Attributes:
        successes: 0 to `total`.
        total: number of trials.
        clusters: number of clusters with trials.
        effective: number of independent trials that would give the same variance, at most `total`.
    """

    successes: int
    total: int
    clusters: int
    effective: float

    @property
    def value(self) -> float | None:
        """Return the share, 0.0 to 1.0; None without trials."""
        return self.successes / self.total if self.total else None

    def interval(self, *, level: float = LEVEL) -> Interval | None:
        """Return Wilson's interval for the effective number of trials; None without trials.

        Source: Saha, Miller and Wang, 2016 (International Journal of Biostatistics 12).
        """
        if not self.total:
            return None
        scale = self.effective / self.total
        return wilson_interval(self.successes * scale, self.effective, level=level)


def clustered_share(successes: Sequence[int], totals: Sequence[int]) -> ClusteredShare:
    """Return the share of successes over all clusters.

    The effective number of trials is their number divided by the design effect, the ratio of the variance of
    the share between clusters and that of independent trials. A design effect below 1 counts as 1. Where all
    trials or none succeed, the variance says nothing, and each cluster counts as one trial.

    Args:
        successes: one number per cluster.
        totals: one number of trials per cluster; clusters without trials do not count.

    Source: Rao and Scott, 1992 (Biometrics 48, 577–585).

    >>> clustered_share([1, 0, 1], [1, 1, 1]).effective
    3.0
    >>> round(clustered_share([4, 0, 4, 0], [4, 4, 4, 4]).effective, 6)
    3.0
    """
    filled = [(count, total) for count, total in zip(successes, totals, strict=True) if total]
    passed, trials = sum(count for count, _ in filled), sum(total for _, total in filled)
    clusters = len(filled)
    effective = float(trials)
    if clusters < trials:
        effective = float(clusters)
        share = passed / trials
        squares = math.fsum((count - share * total) ** 2 for count, total in filled)
        variance = squares / trials**2 * clusters / (clusters - 1) if clusters > 1 else 0.0
        if variance > 0:
            effective = min(float(trials), max(1.0, share * (1 - share) / variance))
    return ClusteredShare(successes=passed, total=trials, clusters=clusters, effective=effective)
