"""Weak points of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_evalstudio.stats.types import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class CellEffect:
    """Size of the difference between a cell and all other cases, with its 95 % interval."""

    name: str
    value: float
    interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class WeaknessCell:
    """The cases of a category, or of a pair of categories of two dimensions.

    Attributes:
        by: dimension to category.
        mean, least, greatest: of the cases' scores.
        quartiles: first quartile, median and third quartile.
        pass_share: share of the cases that meet the threshold; None without a threshold.
        p_value, p_adjusted: of the one-sided test; None if the cell is not tested.
        difference: mean less the mean of all other cases, positive where the cell is better; None if the
            cell is not tested.
        weak: True if the cell scores lower than all other cases.
        note: the reason why the cell is not tested, "" otherwise.
    """

    by: Mapping[str, str]
    cases: int
    mean: float
    quartiles: tuple[float, float, float]
    least: float
    greatest: float
    pass_share: float | None
    p_value: float | None = None
    p_adjusted: float | None = None
    difference: float | None = None
    effect: CellEffect | None = None
    weak: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricWeaknesses:
    """All categories compared under one metric.

    Attributes:
        metric: `evaluator.metric`.
        better: "higher" or "lower".
        threshold: None without a finite one.
        model: whose scores count; None for all.
        cases: number of cases compared.
        left_out: number of answers that do not count, by reason.
        by: dimensions.
        test, correction: names of the statistical methods.
        tests: number of cells that were tested.
        mean: of all cases.
        weak: number of weak cells.
    """

    metric: str
    better: str
    threshold: float | None
    model: str | None
    cases: int
    left_out: Mapping[str, int]
    by: tuple[str, ...]
    test: str
    correction: str
    tests: int
    alpha: float
    min_cases: int
    mean: float
    cells: tuple[WeaknessCell, ...]
    weak: int

    @property
    def weak_cells(self) -> tuple[WeaknessCell, ...]:
        """Return the weak cells in order."""
        return tuple(cell for cell in self.cells if cell.weak)


@dataclass(frozen=True, slots=True, kw_only=True)
class WeaknessResults:
    """Results of the step.

    Attributes:
        weak: by metric, the categories of each weak cell.
        tests: number of cells that were tested, over all metrics.
        note: data that was left out, "" for none.
    """

    weak: Mapping[str, tuple[Mapping[str, str], ...]]
    tests: int
    note: str
