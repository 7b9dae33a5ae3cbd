"""Cases of a suite by what they say about models, and a smaller suite that stands for all of them."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from pytest_evalstudio.analysis.comparison.sides import model_labels, original_key
from pytest_evalstudio.contrib.planning.planning import repeat_passes
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.text import excerpt
from pytest_evalstudio.record.schema import Item, Run
from pytest_evalstudio.stats.types import Booleans, Floats, Integers
from pytest_evalstudio.text.figures import counted, figure

MAX_CASES = 5_000
"""Cases that are compared with each other; their table of common words takes some 100 MB."""
NEAR_DUPLICATE = 0.8
"""Share of common words from which on two questions are nearly the same."""
MIN_MODELS = 3
"""Models below which neither discrimination nor a validation says anything."""
_ALPHA = 0.05
_MIN_SHARE = 0.9  # of the cases; a model with fewer has no pass rate of the whole suite
_QUESTION_CHARS = 80
_WORD_COLUMNS = 2_048
_TOLERANCE = 1e-9


class CaseFigures(Struct, frozen=True, kw_only=True):
    """Figures of a case over all models.

    Attributes:
        difficulty: share of answers that fail.
        discrimination: correlation of its verdicts with the pass rate of the other cases, over models and
            runs; None with too few of them, or where its verdict is always the same.
        favours_worse: True where it is below 0 beyond chance, at 5 % over all cases: better models fail the
            case more often.
        constant: "passes" or "fails" where it does so always, else "".
        duplicate_of: key of an earlier case with nearly the same words and the same verdicts, else "".
        weight: cases that it stands for, itself included; 0 where it is left out.
    """

    file: str
    key: str
    question: str
    difficulty: float
    discrimination: float | None
    favours_worse: bool = False
    constant: str
    duplicate_of: str
    labels: tuple[str, ...]
    weight: int = 0


class SelectionCheck(Struct, frozen=True, kw_only=True):
    """Cross-validation: the pass rate of each model, from cases that are selected by the other models.

    Attributes:
        models: number of models with an estimate.
        without_estimate: names of the models that have an answer to none of their selected cases.
        correlation: rank correlation of estimates and pass rates of all cases; None where all are equal.
        error: mean absolute error of the estimates; None without one.
    """

    models: int
    without_estimate: tuple[str, ...] = ()
    correlation: float | None
    error: float | None


class Selection(Struct, frozen=True, kw_only=True):
    """Figures of all cases, and the smaller suite.

    Attributes:
        labels, covered: documents and categories of all cases, and of the selected ones.
        check: None with fewer than three models that answered all cases, but for a tenth.
    """

    columns: int
    models: int
    cases: tuple[CaseFigures, ...]
    labels: int
    covered: int
    check: SelectionCheck | None


@dataclass(slots=True)
class _Case:
    question: str
    labels: tuple[str, ...]
    passes: dict[int, list[float]] = field(default_factory=dict)


class CaseTable:
    """Verdicts of cases by model and run; runs are added one at a time."""

    def __init__(self) -> None:
        self._cases: dict[tuple[str, str], _Case] = {}
        self._columns: list[str] = []

    def add(self, run: Run, items: Iterable[Item]) -> None:
        """Add the items of a run; perturbations and repeats belong to their case."""
        labels = model_labels(run)
        columns: dict[str, int] = {}
        for item in items:
            passes = repeat_passes(item)
            if not passes or not item.rows:
                continue
            label = labels.get(item.model_key, item.model_key)
            if label not in columns:
                columns[label] = len(self._columns)
                self._columns.append(label)
            row = item.rows[0]
            key = item.file, original_key(row, item.key)
            tags = (*row.corpus, *(name for name in row.categories if not name.startswith("perturbed")))
            case = self._cases.setdefault(key, _Case(row.question, tags))
            if item.key == key[1]:  # an original may come after its perturbations
                case.question, case.labels = row.question, tags
            case.passes.setdefault(columns[label], []).extend(passes)

    def selection(self, budget: int) -> Selection:
        """Return figures of the cases and the selection of some of them.

        Raises:
            ConfigurationError: if there are too few or too many cases.
        """
        if budget < 1:
            raise ConfigurationError(f"--budget {budget}: expected a number of cases from 1")
        if not 0 < len(self._cases) <= MAX_CASES:
            raise ConfigurationError(
                f"the runs have {counted(len(self._cases), 'case')}; expected 1 to {MAX_CASES:,}"
            )
        verdicts = self._verdicts()
        duplicates = self._duplicates(verdicts)
        labels = [frozenset(case.labels) for case in self._cases.values()]
        selected = select(verdicts, labels, duplicates >= 0, budget)
        return Selection(
            columns=len(self._columns),
            models=len(set(self._columns)),
            cases=tuple(self._figures(verdicts, duplicates, selected)),
            labels=len(frozenset().union(*labels)),
            covered=len(frozenset().union(*(labels[index] for index in selected))),
            check=self._checked(verdicts, labels, duplicates >= 0, budget),
        )

    def _verdicts(self) -> Floats:
        """Return the share of answers that pass by case and column; NaN where a case was not run."""
        verdicts = np.full((len(self._cases), len(self._columns)), np.nan)
        for index, case in enumerate(self._cases.values()):
            for column, passes in case.passes.items():
                verdicts[index, column] = sum(passes) / len(passes)
        return verdicts

    def _duplicates(self, verdicts: Floats) -> Integers:
        """Return for each case the first one with nearly its words and its verdicts; -1 for none."""
        words = [frozenset(case.question.lower().split()) for case in self._cases.values()]
        similarity = _word_similarity(words)
        duplicates = np.full(len(verdicts), -1)
        for index, row in enumerate(verdicts):
            for other in np.flatnonzero(similarity[index, :index] >= NEAR_DUPLICATE):
                # Different words may have one checksum, so that the words decide.
                shared = len(words[index] & words[other]) / max(1, len(words[index] | words[other]))
                if shared >= NEAR_DUPLICATE and np.array_equal(row, verdicts[other], equal_nan=True):
                    duplicates[index] = other
                    break
        return duplicates

    def _figures(
        self, verdicts: Floats, duplicates: Integers, selected: Mapping[int, int]
    ) -> Iterator[CaseFigures]:
        keys = list(self._cases)
        means = np.nanmean(verdicts, axis=1)
        correlations = [_discrimination(verdicts, index) for index in range(len(verdicts))]
        tests = max(1, sum(correlation is not None for correlation in correlations))
        for index, (key, case) in enumerate(self._cases.items()):
            correlation = correlations[index]
            yield CaseFigures(
                file=key[0],
                key=key[1],
                question=excerpt(case.question, _QUESTION_CHARS),
                difficulty=1 - float(means[index]),
                discrimination=correlation,
                favours_worse=correlation is not None
                and _is_negative(correlation, int(np.isfinite(verdicts[index]).sum()), tests),
                constant={0.0: "fails", 1.0: "passes"}.get(float(means[index]), ""),
                duplicate_of=keys[duplicates[index]][1] if duplicates[index] >= 0 else "",
                labels=case.labels,
                weight=selected.get(index, 0),
            )

    def _checked(
        self, verdicts: Floats, labels: Sequence[frozenset[str]], redundant: Booleans, budget: int
    ) -> SelectionCheck | None:
        answered = np.isfinite(verdicts).mean(axis=0) >= _MIN_SHARE
        # A model may have several runs, each with a column.
        models = list(dict.fromkeys(np.asarray(self._columns)[answered].tolist()))
        if len(models) < MIN_MODELS:
            return None
        truths, estimates, without_estimate = [], [], []
        for model in models:
            # With all its runs, which are alike.
            left_out = np.asarray([name == model for name in self._columns])
            seen = verdicts[:, ~left_out]
            selected = list(select(seen, labels, redundant, budget))
            of_selected = verdicts[selected][:, left_out]
            if not np.isfinite(of_selected).any():
                without_estimate.append(str(model))
                continue
            truths.append(float(np.nanmean(verdicts[:, left_out])))
            estimates.append(float(np.nanmean(of_selected)))
        first, second = _mean_ranks(truths), _mean_ranks(estimates)
        varies = len(truths) > 1 and np.ptp(first) > 0 and np.ptp(second) > 0
        return SelectionCheck(
            models=len(truths),
            without_estimate=tuple(without_estimate),
            correlation=float(np.corrcoef(first, second)[0, 1]) if varies else None,
            error=float(np.abs(np.subtract(truths, estimates)).mean()) if truths else None,
        )


def select(
    verdicts: Floats, labels: Sequence[frozenset[str]], redundant: Booleans, budget: int
) -> dict[int, int]:
    """Return the selected cases, the easiest first, with the number of cases that each stands for.

    The cases are ordered by difficulty and cut into as many blocks of nearly equal size as the budget has
    cases. Of each block one is taken: not a redundant one, if there are others; then one with the most
    documents and categories that are not yet covered; then the one in the middle. Verdicts decide the block
    only, so that the pass rate of the smaller suite is not drawn to what chance did in the runs.

    Args:
        verdicts: shape (cases, models), shares of answers that pass; NaN where a case was not run.
        labels: documents and categories of each case.
        redundant: whether a case repeats another one.
        budget: cases to select.

    Source: stratified sampling of one unit per stratum (Cochran, 1977, chapter 5).

    >>> verdicts = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0], [0.0, 1.0]])
    >>> select(verdicts, [frozenset()] * 4, np.zeros(4, dtype=bool), 2)
    {1: 2, 3: 2}
    """
    means = [float(np.nanmean(row)) if np.isfinite(row).any() else 0.0 for row in verdicts]
    order = sorted(range(len(means)), key=lambda index: (-means[index], index))
    count = min(budget, len(order))
    selected: dict[int, int] = {}
    covered: set[str] = set()
    for number in range(count):
        block = order[number * len(order) // count : (number + 1) * len(order) // count]
        middle = (len(block) - 1) / 2
        position = min(
            range(len(block)),
            key=lambda place: (
                redundant[block[place]],
                -len(labels[block[place]] - covered),
                abs(place - middle),
            ),
        )
        selected[block[position]] = len(block)
        covered |= labels[block[position]]
    return selected


def _word_similarity(texts: Sequence[frozenset[str]]) -> npt.NDArray[np.float32]:
    """Return the Jaccard index of sets of words, by their checksums."""
    table = np.zeros((len(texts), _WORD_COLUMNS), dtype=np.float32)
    for index, words in enumerate(texts):
        # A checksum, since `hash` of a text differs between processes.
        table[index, [zlib.crc32(word.encode()) % _WORD_COLUMNS for word in words]] = 1.0
    shared = table @ table.T
    sizes = table.sum(axis=1)
    similarity: npt.NDArray[np.float32] = shared / np.maximum(
        sizes[:, None] + sizes - shared, np.float32(1.0)
    )
    return similarity


def _discrimination(verdicts: Floats, index: int) -> float | None:
    """Return the correlation of a case with the mean of the others over columns (corrected item-total)."""
    others: Booleans = np.arange(len(verdicts)) != index
    if not others.any():
        return None
    row, rest = verdicts[index], verdicts[others]
    complete = np.isfinite(row) & np.isfinite(rest).any(axis=0)
    if complete.sum() < MIN_MODELS:
        return None
    values, means = row[complete], np.nanmean(rest[:, complete], axis=0)
    # Means of floats differ by rounding.
    if np.ptp(values) == 0 or np.ptp(means) < _TOLERANCE:
        return None
    return float(np.corrcoef(values, means)[0, 1])


def _is_negative(correlation: float, columns: int, tests: int) -> bool:
    """Report whether a correlation is below 0 beyond chance, by a one-sided test at 5 % over all cases.

    Over all orders of the columns it has the mean 0 and the variance 1 / (columns - 1), which bounds what a
    few models can show.

    Source: Pitman, 1937 (permutation test of a correlation); Bonferroni.
    """
    return correlation * math.sqrt(columns - 1) < NormalDist().inv_cdf(_ALPHA / tests)


def _mean_ranks(values: Sequence[float]) -> Floats:
    # Values that differ by rounding have one rank.
    _, inverse, counts = np.unique(np.round(values, 9), return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[inverse])


def selection_lines(selection: Selection) -> Iterator[str]:
    """Yield a selection for a terminal: the suite as a whole, then the selected cases, the easiest first."""
    cases = selection.cases
    yield (
        f"{counted(len(cases), 'case')}, {counted(selection.models, 'model')},"
        f" {counted(selection.columns, 'model run')}"
    )
    for word in ("passes", "fails"):
        constant = [case for case in cases if case.constant == word]
        if constant:
            yield f"always {word}: {counted(len(constant), 'case')}: {_keys(constant)}"
    twins = [case for case in cases if case.duplicate_of]
    if twins:
        yield f"redundant (words and verdicts of another case): {counted(len(twins), 'case')}: {_keys(twins)}"
    against = [case for case in cases if case.favours_worse]
    if against:
        yield f"better models fail more often: {counted(len(against), 'case')}: {_keys(against)}"
    selected = [case for case in cases if case.weight]
    covered = f" with {selection.covered} of {selection.labels} documents and categories"
    yield f"selected: {counted(len(selected), 'case')}{covered if selection.labels else ''}"
    for case in sorted(selected, key=lambda case: (case.difficulty, case.key)):
        yield (
            f"  {case.key} (stands for {case.weight}): difficulty {figure(case.difficulty)}, discrimination"
            f" {figure(case.discrimination)}: {case.question}"
        )
    check = selection.check
    if check is None:
        yield f"not validated: it takes {MIN_MODELS} models that answered all cases; add runs of other models"
        return
    if check.without_estimate:
        names = ", ".join(check.without_estimate)
        yield f"no estimate of {names}: no answer to a selected case; select more cases"
    if check.error is not None:
        correlation = "not defined" if check.correlation is None else figure(check.correlation)
        yield (
            f"left out one at a time, {counted(check.models, 'model')}: rank correlation with the whole suite"
            f" {correlation}, mean error of the pass rate {figure(check.error)}"
        )


def _keys(cases: Sequence[CaseFigures]) -> str:
    names = ", ".join(case.key for case in cases[:5])
    return names if len(cases) <= 5 else f"{names} …"
