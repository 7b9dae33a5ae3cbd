"""A few bytes per finished item: its case, model, verdict, and what each evaluator said in numbers."""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Mapping
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from pytest_evalstudio.analysis.aggregators import visible_categories
from pytest_evalstudio.analysis.comparison.results import Comparison, ItemClass
from pytest_evalstudio.core.origins import SOURCE
from pytest_evalstudio.core.outcomes import Metric, Verdict
from pytest_evalstudio.core.text import EXCERPT_CHARS, excerpt
from pytest_evalstudio.record.schema import VERDICTS, EvaluatorEntry, Item, Run
from pytest_evalstudio.report.data.parts import PartAggregator

State = Literal["none", "passed", "failed", "error", "not_applicable", "scored"]
STATES: tuple[State, ...] = get_args(State)
"""States of an evaluator's result for an item, by code; "scored" is a score without a threshold."""
_STATE_OF_SCORE = {
    True: STATES.index("passed"),
    False: STATES.index("failed"),
    None: STATES.index("scored"),
}
"""Index of the state of a score, by whether it passes."""

VERDICT_CODES: Mapping[str, int] = {verdict: code for code, verdict in enumerate(VERDICTS)}
PASSING = frozenset(VERDICT_CODES[verdict] for verdict in ("passed", "skipped", "not_run"))
MISSED, BROKEN, FLIPPED = 1, 2, 4
"""Bits of an item: an evaluator's threshold was missed; an evaluator, or the host, could not answer; a metric
flipped.
"""
CHANGE_BITS: Mapping[ItemClass, int] = {"regressed": 8, "error_now": 8, "fixed": 16, "new": 32}
"""Bits of an item that changed since the baseline."""
REGRESSED = CHANGE_BITS["regressed"]
NOTABLE = MISSED | BROKEN | FLIPPED | REGRESSED

# The largest number that the column of 16 bits holds; further sets of thresholds share it.
MAX_LIMIT_SETS = 65_535

Integers = npt.NDArray[np.int64]


class Judgements(Struct):
    """Verdicts and scores of one evaluator and the items it judged; a missing score is NaN.

    Attributes:
        limits: index in `limit_sets` for each item; 0 for the run's thresholds.
        limit_sets: thresholds of items that have their own, by metric; None for the run's threshold.
        flipped: items with a flip of this evaluator under a perturbation that keeps the meaning.
    """

    metrics: tuple[Metric, ...]
    items: array[int] = field(default_factory=lambda: array("L"))
    states: array[int] = field(default_factory=lambda: array("B"))
    limits: array[int] = field(default_factory=lambda: array("H"))
    limit_sets: dict[tuple[float | None, ...], int] = field(default_factory=dict)
    flipped: array[int] = field(default_factory=lambda: array("L"))
    scores: list[array[float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.scores += [array("d") for _ in self.metrics]
        self.limit_sets[tuple(None for _ in self.metrics)] = 0

    def threshold(self, row: int, metric: int) -> float:
        """Return the threshold of an item's score.

        Args:
            row: index in `items`.
            metric: index among the evaluator's metrics.
        """
        case_limit = list(self.limit_sets)[self.limits[row]][metric]
        return self.metrics[metric].threshold if case_limit is None else case_limit


class CaseLine(Struct, frozen=True):
    """A distinct test case: enough to list it and to look for it."""

    key: str
    file: int
    question: str
    categories: tuple[str, ...]
    source: str


class Columns:
    """Columns of the items of a record; each item takes a fixed size, except for distinct cases.

    Attributes:
        cases: distinct test cases as they came.
        nodeids: item to its node id, where that is not `file::key[model]`.
        parts: how full and how varied the parts of the cases are.
    """

    def __init__(
        self, run: Run, evaluators: Mapping[str, EvaluatorEntry], comparison: Comparison | None = None
    ) -> None:
        self.cases: list[CaseLine] = []
        self.files: dict[str, int] = {}
        self.models: dict[str, int] = {}
        self.nodeids: dict[int, str] = {}
        self.parts = PartAggregator()
        self.judgements = {id: Judgements(info.metrics) for id, info in evaluators.items()}
        self._case = array("L")
        self._model = array("H")
        self._verdict = array("B")
        self._flags = array("B")
        self._changes = {
            change.nodeid: CHANGE_BITS[change.item_class]
            for change in (comparison.changes if comparison else ())
            if change.item_class in CHANGE_BITS
        }
        self._run = run
        self._numbers: defaultdict[int, dict[str, int]] = defaultdict(dict)
        self._categories: dict[tuple[str, ...], tuple[str, ...]] = {}

    def __len__(self) -> int:
        return len(self._case)

    def add(self, item: Item) -> None:
        """Take one item of the record."""
        row = len(self._case)
        model, case = item.model_key, self._number(item)
        number = self.models.setdefault(model, len(self.models))
        self._case.append(case)
        self._model.append(number)
        self._verdict.append(VERDICT_CODES[item.verdict])
        if item.nodeid != f"{item.file}::{item.key}[{self._run.model_name(model)}]":
            self.nodeids[row] = item.nodeid
        flags = self._changes.get(item.nodeid, 0)
        if item.verdict == "error":
            flags |= BROKEN
        if item.flips:
            flags |= FLIPPED
            self._note_flips(row, item)
        for id, verdict in item.verdicts.items():
            if id in self.judgements:
                flags |= _note(self.judgements[id], row, verdict)
        self._flags.append(flags)

    def _note_flips(self, row: int, item: Item) -> None:
        flips = [flip for flip in item.flips if flip.meaning_kept]
        for id in dict.fromkeys(flip.evaluator for flip in flips):
            if id in self.judgements:
                self.judgements[id].flipped.append(row)

    def notable(self, row: int) -> bool:
        """Return True for items to show first: failed, broken, expected to fail, or flipped."""
        return self._verdict[row] not in PASSING or bool(self._flags[row] & NOTABLE)

    def selection(self, limit: int) -> Integers:
        """Return the items that a page holds, in the order of the run.

        Passing items are left out first, the last of them before the others.
        """
        count = len(self)
        if count <= limit:
            return np.arange(count)
        passing = np.isin(self.verdicts, list(PASSING)) & (self.flags & NOTABLE == 0)
        order = np.argsort(passing, kind="stable")
        return np.sort(order[:limit])

    @property
    def case_numbers(self) -> Integers:
        return np.array(self._case, dtype=np.int64)

    @property
    def model_numbers(self) -> Integers:
        return np.array(self._model, dtype=np.int64)

    @property
    def verdicts(self) -> npt.NDArray[np.uint8]:
        return np.array(self._verdict, dtype=np.uint8)

    @property
    def flags(self) -> npt.NDArray[np.uint8]:
        return np.array(self._flags, dtype=np.uint8)

    def lowest(self, info: EvaluatorEntry, metric: int, count: int) -> list[tuple[int, float, float]]:
        """Return the items with the worst scores on a metric, the worst first, with score and threshold.

        Ties are in the order of the run.

        Args:
            metric: index among the evaluator's metrics.
        """
        judgements = self.judgements[info.id]
        scores = np.array(judgements.scores[metric], dtype=np.float64)
        finite = np.flatnonzero(~np.isnan(scores))
        badness = scores[finite] if info.metrics[metric].better == "higher" else -scores[finite]
        worst = finite[np.argsort(badness, kind="stable")[:count]]
        return [
            (judgements.items[row], float(scores[row]), judgements.threshold(row, metric)) for row in worst
        ]

    def failed(self) -> list[int]:
        """Return the items that failed or broke, in the order of the run, without expected failures."""
        codes = [VERDICT_CODES["failed"], VERDICT_CODES["error"]]
        return [int(row) for row in np.flatnonzero(np.isin(self.verdicts, codes))]

    def line(self, row: int) -> tuple[CaseLine, int]:
        """Return the case of an item, and the number of its model."""
        return self.cases[self._case[row]], self._model[row]

    def nodeid(self, row: int) -> str:
        """Return the pytest node id of an item."""
        if row in self.nodeids:
            return self.nodeids[row]
        case, model = self.line(row)
        key = list(self.models)[model]
        return f"{list(self.files)[case.file]}::{case.key}[{self._run.model_name(key)}]"

    def _number(self, item: Item) -> int:
        file = self.files.setdefault(item.file, len(self.files))
        number = self._numbers[file].get(item.key)
        if number is None:
            number = self._numbers[file][item.key] = len(self.cases)
            first = item.rows[0] if item.rows else None
            self.parts.add(item.key, first)
            links = first.relationships if first is not None else ()
            categories = tuple(visible_categories(first.categories)) if first is not None else ()
            self.cases.append(
                CaseLine(
                    key=item.key,
                    file=file,
                    question=excerpt(first.question, EXCERPT_CHARS) if first is not None else "",
                    categories=self._categories.setdefault(categories, categories),
                    source=next((link.target for link in links if link.type == SOURCE), ""),
                )
            )
        return number


def _note(judgements: Judgements, row: int, verdict: Verdict) -> int:
    """Keep what an evaluator decided, and return the bits that it adds to the item's."""
    judgements.items.append(row)
    judgements.limits.append(_limit_set(judgements, verdict.thresholds) if verdict.thresholds else 0)
    for metric, column in zip(judgements.metrics, judgements.scores, strict=True):
        value = verdict.scores.get(metric.key)
        column.append(math.nan if value is None else value)
    if verdict.status == "score":
        judgements.states.append(_STATE_OF_SCORE[verdict.passed])
        return MISSED if verdict.passed is False else 0
    broken = verdict.status == "error"
    judgements.states.append(STATES.index("error" if broken else "not_applicable"))
    return BROKEN if broken else 0


def _limit_set(judgements: Judgements, thresholds: Mapping[str, float]) -> int:
    limits = tuple(thresholds.get(metric.key) for metric in judgements.metrics)
    return judgements.limit_sets.setdefault(limits, min(len(judgements.limit_sets), MAX_LIMIT_SETS))
