"""Conformal sets: the labels that people may give to an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

from msgspec import Struct

from pytest_evalstudio.scoring.calibration.curve import level_probabilities
from pytest_evalstudio.scoring.calibration.file import Conformal, Curve, Logistic, Softmax
from pytest_evalstudio.stats.ordinal import ordinal_nonconformity
from pytest_evalstudio.text.figures import figure


class ConformalSet(Struct, frozen=True, kw_only=True):
    """The labels that people may give to an answer.

    Attributes:
        labels: 1 good, 0 bad.
        alpha: share of sets that may not contain people's label.
        levels: the levels that people may give; None without a calibration of levels.
    """

    labels: tuple[int, ...]
    alpha: float
    levels: tuple[int, ...] | None = None

    @property
    def is_uncertain(self) -> bool:
        """Return True if the set leaves the verdict open: it has both labels, or none."""
        return len(self.labels) != 1

    @property
    def doubt(self) -> str:
        """Return why the set leaves a verdict uncertain, or "" if it does not.

        >>> ConformalSet(labels=(0, 1), alpha=0.1).doubt, ConformalSet(labels=(1,), alpha=0.1).doubt
        ('uncertain: both good and bad are in the 0.9 prediction set', '')
        """
        if not self.is_uncertain:
            return ""
        either = "both good and bad are" if self.labels else "neither good nor bad is"
        return f"uncertain: {either} in the {figure(1 - self.alpha)} prediction set"


def conformal_set(
    conformal: Conformal, likelihood: float, curve: Curve | None = None, scores: Sequence[float] = ()
) -> ConformalSet:
    """Return the conformal set of an answer.

    Args:
        conformal: quantiles of a calibration.
        likelihood: calibrated probability of a good label.
        curve: of the calibration; None where levels are of no interest, or scores are not available.
        scores: of the answer, finite, in the order of the calibration's metrics; used with a curve.

    >>> conformal_set(Conformal(alpha=0.1, quantile=0.3, labels=20), 0.9).labels
    (1,)
    """
    return ConformalSet(
        labels=prediction_set(likelihood, *conformal.limits),
        alpha=conformal.alpha,
        levels=None if curve is None else _levels(conformal.levels, curve, scores),
    )


def prediction_set(chance: float, quantile: float, quantile_good: float | None = None) -> tuple[int, ...]:
    """Return the labels (0 bad, 1 good) with |label − chance| ≤ quantile.

    (0,) and (1,) are decisive; both labels, or none, mean that a person should decide.

    Args:
        chance: probability of a good label, 0.0 to 1.0.
        quantile: of the nonconformity, 0.0 to 1.0.
        quantile_good: of good labels, where `quantile` is that of bad ones.

    Source: Sudjianto et al., 2024 (HCAT), section 5.2, step 3; Vovk, 2012 (class-conditional quantiles).

    >>> prediction_set(0.9, 0.3), prediction_set(0.5, 0.6), prediction_set(0.5, 0.4)
    ((1,), (0, 1), ())
    >>> prediction_set(0.5, 0.4, 0.6)
    (1,)
    """
    limits = (quantile, quantile if quantile_good is None else quantile_good)
    return tuple(label for label, distance in ((0, chance), (1, 1 - chance)) if distance <= limits[label])


def _levels(
    quantiles: dict[int, float] | None, curve: Curve, scores: Sequence[float]
) -> tuple[int, ...] | None:
    if quantiles is None or not has_levels(curve):
        return None
    distances = level_distances(curve, scores, min(quantiles))
    return tuple(
        level for level, quantile in sorted(quantiles.items()) if distances.get(level, 1.0) <= quantile
    )


def has_levels(curve: object) -> TypeGuard[Logistic | Softmax]:
    """Return True for an ordinal or multinomial curve."""
    return isinstance(curve, Softmax) or (isinstance(curve, Logistic) and curve.cuts is not None)


def level_distances(curve: Logistic | Softmax, scores: Sequence[float], lowest: int) -> dict[int, float]:
    """Return the nonconformity of each level by an ordinal or a multinomial curve.

    That of a multinomial curve, which does not use the order of the levels, is 1 − probability.

    Args:
        curve: an ordinal one has `cuts`.
        scores: finite, in the order of the calibration's metrics.
        lowest: the level below all cuts of an ordinal curve.

    Source: Lu, Angelopoulos and Pomerantz, 2022 (ordinal); Sadinle, Lei and Wasserman, 2019 (multinomial).
    """
    shares = level_probabilities(curve, scores, lowest)
    if isinstance(curve, Softmax):
        return {level: 1 - share for level, share in shares.items()}
    return dict(zip(shares, ordinal_nonconformity([*shares.values()]), strict=True))
