"""Permutation tests of all cells of all metrics, by chunks of the documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from pytest_evalstudio.contrib.validation.methods.weaknesses.scored import Identity, ScoredCase
from pytest_evalstudio.stats.max_t import LabelledUnits, lower_cells
from pytest_evalstudio.stats.types import Floats, Integers

Categories = tuple[tuple[str, str], ...]
"""Dimension and category: of one dimension, or of two."""
Table = tuple[Sequence[ScoredCase], Sequence[str], Sequence[Categories], float]
"""Cases, dimensions and tested cells of a metric, and 1.0 or −1.0 for the direction of its scores."""


class CellPValues(NamedTuple):
    """p of a cell by itself, and adjusted for all cells of all metrics."""

    alone: float
    adjusted: float


SINGLE_SHARE = 0.9
"""Share of the level for single categories. Pairs are many more cells: in proportion to cells they take most
of the level, and weak topics are hardly found (see `tests/benchmarks/mrm_power.py`).
"""


class _Family(NamedTuple):
    """The single categories, or the pairs, that are tested by permuting one dimension."""

    dimension: str
    pairs: bool
    cells: list[tuple[int, Categories]]


def permutation_p_values(
    tables: Sequence[Table], groups: Mapping[str, str], *, seed: int
) -> list[dict[Categories, CellPValues]]:
    """Return p of each tested cell of each metric.

    The categories of a dimension, and its pairs with others, form families that share permutations. Families
    divide the level (weighted Bonferroni): those of single categories have most of it, and families of one
    sort divide their part in proportion to their cells and to the cases of a unit that is permuted. Cells of
    whole chunks are estimated from fewer independent units, and need more of the level for the same power.

    Args:
        tables: of the metrics.
        groups: chunk by key of the case.
        seed: of the permutations.
    """
    keys = list(dict.fromkeys(case.identity for cases, *_ in tables for case in cases))
    cases = {case.identity: case for members, *_ in reversed(tables) for case in members}
    families = _families(tables, cases, groups)
    units_of = [_units(family, tables, keys, cases, groups) for family in families]
    weights = [
        len(family.cells) * len(keys) / len(units.labels)
        for family, units in zip(families, units_of, strict=True)
    ]
    results: list[dict[Categories, CellPValues]] = [{} for _ in tables]
    for number, (family, units) in enumerate(zip(families, units_of, strict=True)):
        alone, adjusted = lower_cells(units, seed=seed + number)
        share = _share(number, families, weights)
        for (table, categories), p_value, corrected in zip(family.cells, alone, adjusted, strict=True):
            results[table][categories] = CellPValues(p_value, min(1.0, corrected / share))
    return [{cell: results[at][cell] for cell in tested} for at, (_, _, tested, _) in enumerate(tables)]


def _share(number: int, families: Sequence[_Family], weights: Sequence[float]) -> float:
    """Return the share of the level that a family has."""
    is_pairs = families[number].pairs
    alike = sum(weight for family, weight in zip(families, weights, strict=True) if family.pairs == is_pairs)
    has_both = len({family.pairs for family in families}) > 1
    of_its_sort = 1.0
    if has_both:
        of_its_sort = 1 - SINGLE_SHARE if is_pairs else SINGLE_SHARE
    return of_its_sort * weights[number] / alike


def _families(
    tables: Sequence[Table], cases: Mapping[Identity, ScoredCase], groups: Mapping[str, str]
) -> list[_Family]:
    """Divide the cells by the dimension that is permuted: for a pair the one that is fixed within chunks."""
    dimensions = list(
        dict.fromkeys(dimension for _, categories_of_key, _, _ in tables for dimension in categories_of_key)
    )
    fixed = {dimension for dimension in dimensions if _is_fixed(dimension, cases, groups)}
    order = sorted(dimensions, key=lambda dimension: (dimension not in fixed, dimensions.index(dimension)))
    families: dict[tuple[bool, str], _Family] = {}
    for at, (_, _, tested, _) in enumerate(tables):
        for categories in tested:
            permuted = min((dimension for dimension, _ in categories), key=order.index)
            key = len(categories) > 1, permuted
            families.setdefault(key, _Family(permuted, key[0], [])).cells.append((at, categories))
    return list(families.values())


def _is_fixed(dimension: str, cases: Mapping[Identity, ScoredCase], groups: Mapping[str, str]) -> bool:
    """Report whether all cases of a chunk have the same categories of a dimension."""
    numbers: dict[str, frozenset[str]] = {}
    for key, case in cases.items():
        values = frozenset(case.categories.get(dimension, ()))
        if numbers.setdefault(_unit_name(key, groups), values) != values:
            return False
    return True


def _units(
    family: _Family,
    tables: Sequence[Table],
    keys: Sequence[Identity],
    cases: Mapping[Identity, ScoredCase],
    groups: Mapping[str, str],
) -> LabelledUnits:
    fixed = _is_fixed(family.dimension, cases, groups)
    # Cases of a chunk depend on each other. Where they share the category, only whole chunks can exchange
    # theirs; else cases exchange theirs within their chunk (`_strata`).
    unit_names = [_unit_name(key, groups if fixed else {}) for key in keys]
    unit_of = np.unique(unit_names, return_inverse=True)[1]
    first: dict[int, Identity] = {}
    for key, unit in zip(keys, unit_of.tolist(), strict=True):
        first.setdefault(unit, key)
    count = len(first)
    values = sorted({value for key in keys for value in cases[key].categories.get(family.dimension, ())})
    labels = np.array(
        [
            [value in cases[first[unit]].categories.get(family.dimension, ()) for value in values]
            for unit in range(count)
        ],
        dtype=np.float64,
    )
    columns: dict[tuple[int, tuple[str, str] | None], int] = {}
    cells = []
    for table, categories in family.cells:
        value = next(text for dimension, text in categories if dimension == family.dimension)
        other = next((part for part in categories if part[0] != family.dimension), None)
        column = columns.setdefault((table, other), len(columns))
        cells.append((values.index(value), column))
    sums: Floats = np.zeros((count, len(columns)))
    counts: Floats = np.zeros((count, len(columns)))
    means: Floats = np.zeros(len(columns))
    scores_of = [{case.identity: case.value for case in members} for members, *_ in tables]
    within = [without_shared_part(scores, groups) for scores in scores_of]
    position = dict(zip(keys, unit_of.tolist(), strict=True))
    for (table, other), column in columns.items():
        members, _, _, sign = tables[table]
        cell_cases = [
            case for case in members if other is None or other[1] in case.categories.get(other[0], ())
        ]
        # Pairs are compared without the part of a score that its chunk explains: see `without_shared_part`.
        by_key = scores_of[table] if other is None else within[table]
        scores = sign * np.array([by_key[case.identity] for case in cell_cases])
        at = np.array([position[case.identity] for case in cell_cases], dtype=np.int64)
        means[column] = scores.mean()
        np.add.at(sums[:, column], at, scores - means[column])
        np.add.at(counts[:, column], at, 1.0)
    return LabelledUnits(
        labels=labels,
        sums=sums,
        counts=counts,
        strata=_strata(fixed, first, groups),
        means=means,
        pools=_pools(list(columns)),
        cells=cells,
    )


def _pools(columns: Sequence[tuple[int, tuple[str, str] | None]]) -> Integers:
    """Return the pool of each column: the columns of a metric that are of the same other dimension."""
    pools: dict[tuple[int, str], int] = {}
    names = [(table, other[0] if other is not None else "") for table, other in columns]
    return np.array([pools.setdefault(name, len(pools)) for name in names], dtype=np.int64)


def _unit_name(identity: Identity, groups: Mapping[str, str]) -> str:
    """Return the chunk of a case, else a name that no other case has."""
    file, key = identity
    return groups.get(key, f"case {file}\n{key}")


def without_shared_part(scores: Mapping[Identity, float], groups: Mapping[str, str]) -> dict[Identity, float]:
    """Subtract from each score the part that it shares with its chunk, predicted from the chunk's others.

    The prediction is the mean deviation of the other cases of the chunk, shrunk by their number and the
    intraclass correlation, which the analysis of variance estimates. A pair of categories is compared more
    sharply so, because a hard chunk makes all of its cases hard.

    Args:
        scores: by file and key of the case.
        groups: chunk by key of the case.

    Source: Searle, Casella and McCulloch, 1992 (Variance Components, chapters 3 and 7: ANOVA, BLUP).
    """
    keys = list(scores)
    values = np.array([scores[key] for key in keys])
    chunks = np.unique([_unit_name(key, groups) for key in keys], return_inverse=True)[1]
    sizes = np.bincount(chunks)
    # Without several chunks, or without chunks of several cases, there is nothing to estimate it from.
    if len(sizes) in (1, len(keys)):
        return dict(scores)
    centred = values - values.mean()
    sums = np.bincount(chunks, weights=centred)
    between = float((sums**2 / sizes).sum()) / (len(sizes) - 1)
    inside = float(((centred - (sums / sizes)[chunks]) ** 2).sum()) / (len(keys) - len(sizes))
    typical = (len(keys) - float((sizes**2).sum()) / len(keys)) / (len(sizes) - 1)
    total = between + (typical - 1) * inside
    shared = min(max((between - inside) / total, 0.0), 0.95) if total > 0 else 0.0
    others = sizes[chunks] - 1
    mean_of_others = (sums[chunks] - centred) / np.maximum(others, 1)
    shrinkage = others * shared / (1 + (others - 1) * shared)
    residuals = values - np.where(others > 0, shrinkage * mean_of_others, 0.0)
    return dict(zip(keys, residuals.tolist(), strict=True))


def _strata(fixed: bool, first: Mapping[int, Identity], groups: Mapping[str, str]) -> Integers:
    """Return the stratum of each unit: one for whole chunks, else the chunk, and one for single cases."""
    if fixed:
        return np.zeros(len(first), dtype=np.int64)
    names = [groups.get(first[unit][1], "") for unit in range(len(first))]
    codes, sizes = np.unique(names, return_inverse=True, return_counts=True)[1:]
    return np.where(sizes[codes] > 1, codes + 1, 0).astype(np.int64)
