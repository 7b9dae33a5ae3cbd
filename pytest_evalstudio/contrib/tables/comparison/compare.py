"""Comparison of scored tables: paired by key where both have keys, otherwise as independent groups."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from statistics import NormalDist
from typing import NamedTuple

import msgspec

from pytest_evalstudio.analysis.comparison.changed_tests import digest_bytes
from pytest_evalstudio.analysis.comparison.compare import compare
from pytest_evalstudio.analysis.comparison.intervals import independent_gain_interval
from pytest_evalstudio.analysis.comparison.metrics import ComparisonLimits, overall
from pytest_evalstudio.analysis.comparison.results import ITEM_CLASSES, Comparison, MetricComparison, Verdict
from pytest_evalstudio.analysis.comparison.sample_size import ALPHA, POWER
from pytest_evalstudio.analysis.comparison.sides import Identity, MetricName, Side, SideItem
from pytest_evalstudio.contrib.tables.figures.estimates import Figure, mean_of
from pytest_evalstudio.contrib.tables.gates.checks import BaselineChange, change_of
from pytest_evalstudio.contrib.tables.pages.excerpt import run_of
from pytest_evalstudio.contrib.tables.pages.population import deciding_metrics
from pytest_evalstudio.contrib.tables.scored_record import ScoredManifest
from pytest_evalstudio.contrib.tables.table.columns import DIGESTS, ROW_ID
from pytest_evalstudio.contrib.tables.table.reader import ScoredTable
from pytest_evalstudio.contrib.tables.table.storage import EXTRA, PURPOSE
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.extras import import_extra
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.record.schema import CaseDigest
from pytest_evalstudio.stats.comparison import holm
from pytest_evalstudio.stats.types import Interval

MAX_ANSWERS = 50_000
"""Answers of each table that are compared in pairs; of more, those with the least hash of their key."""
_HASH_BYTES = 8
_NO_END = b"\xff" * (_HASH_BYTES + 1)
"""Greater than all hashes."""
_Z = 1.959964  # normal quantile of a 95 % interval
_NORMAL = NormalDist()


class _Keyed(NamedTuple):
    """An answer with the hash of its key, by which answers are drawn.

    Attributes:
        case, context: digests.
    """

    digest: bytes
    key: str
    model: str
    row: int
    case: int
    context: int


def compare_tables(
    base: ScoredTable,
    new: ScoredTable,
    *,
    models: Mapping[str, str] | None = None,
    limits: ComparisonLimits | None = None,
) -> Comparison:
    """Return the comparison of two scored tables.

    Args:
        base: the table that is compared with.
        new: the table that may be worse.
        models: name of a model in the base table to its name in the new one, where they differ.
        limits: of the verdicts on metrics.

    Raises:
        ConfigurationError: if the tables have no model or metric in common.
    """
    renamed, used = models or {}, limits or ComparisonLimits()
    if _has_keys(base) and _has_keys(new):
        (first, first_end), (second, second_end) = _drawn(base), _drawn(new)
        # A table that was cut has no keys from its end on. Both sides end where the shorter cut does, so that
        # no key is missing on one side only.
        end = min(first_end, second_end)
        sides = (
            _side(base, [row for row in first if row.digest < end], renamed),
            _side(new, [row for row in second if row.digest < end], {}),
        )
        if not sides[0].items.keys().isdisjoint(sides[1].items):
            return _with_notes(compare(*sides, limits=used), base, new)
    return _independent(base, new, renamed, used)


def side_of(table: ScoredTable) -> Side:
    """Return the answers of a table, for the comparison of two of its models.

    Raises:
        ConfigurationError: if the table has no keys.
    """
    if not _has_keys(table):
        raise ConfigurationError(
            f"{table.location.name}: has no keys to pair the answers of two models; score it again"
            " with --map key=COLUMN and --texts all"
        )
    return _side(table, _drawn(table)[0], {})


def _has_keys(table: ScoredTable) -> bool:
    return "key" in table.manifest.mapping and table.manifest.texts == "all"


def _drawn(table: ScoredTable) -> tuple[list[_Keyed], bytes]:
    """Return the answers with the least hashes of their keys, ordered by them, and the end of the hashes.

    Answers with the same key are all drawn or none is, in every table. Memory is bounded.
    """
    smallest: list[_Keyed] = []
    end = _NO_END
    names = ["key", "model", ROW_ID, *DIGESTS]
    for batch in table.answers(names):
        for key, *values in zip(*(batch[name].to_pylist() for name in names), strict=True):
            digest = blake2b((key or "").encode("utf-8", "replace"), digest_size=_HASH_BYTES).digest()
            if key and digest < end:
                smallest.append(_Keyed(digest, key, *values))
        # Sort only when the list has doubled, not after each batch.
        if len(smallest) > 2 * MAX_ANSWERS:
            smallest, end = _least(smallest, end)
    return _least(smallest, end)


def _least(rows: list[_Keyed], end: bytes) -> tuple[list[_Keyed], bytes]:
    # The digests of case and context may be None, which cannot be compared.
    ordered = sorted(rows, key=lambda row: row[:4])
    if len(ordered) > MAX_ANSWERS:
        # Not in the middle of a key, whose other answers would be missing.
        end = ordered[MAX_ANSWERS].digest
        ordered = [row for row in ordered if row.digest < end]
    return ordered, end


def _side(table: ScoredTable, rows: Sequence[_Keyed], renamed: Mapping[str, str]) -> Side:
    """Return the scores of some answers as a side of a comparison."""
    deciding = set(deciding_metrics(table.manifest.evaluators))
    dataset = import_extra("pyarrow.dataset", PURPOSE, extra=EXTRA)
    scores: dict[int, dict[MetricName, float | None]] = {row.row: {} for row in rows}
    outcomes: dict[int, str] = {}
    passing: dict[int, set[str]] = defaultdict(set)
    failing: dict[int, set[str]] = defaultdict(set)
    columns = [ROW_ID, "evaluator", "metric", "value", "status"]
    for batch in table.scores(columns, dataset.field(ROW_ID).isin(list(scores))):
        for row, evaluator, metric, value, status in zip(
            *(batch[name].to_pylist() for name in columns), strict=True
        ):
            name = (evaluator, metric)
            scores[row][name] = value
            outcomes[row] = _outcome(outcomes.get(row, "skipped"), status, decides=name in deciding)
            if name in deciding and status in ("passed", "failed"):
                (passing if status == "passed" else failing)[row].add(evaluator)
    side = Side(run_of(table))
    parts: dict[tuple[str, str], int] = {}
    thresholds = _thresholds(table)
    # In the order of rows, so that the repeats of a key get the same part numbers in both tables.
    for entry in sorted(rows, key=lambda entry: entry.row):
        part = parts[entry.key, entry.model] = parts.get((entry.key, entry.model), -1) + 1
        identity: Identity = ("", entry.key, renamed.get(entry.model, entry.model), part)
        side.items[identity] = SideItem(
            nodeid=f"{entry.key} [{entry.model}]",
            outcome=outcomes.get(entry.row, "skipped"),
            cluster=("", entry.key),
            flaky=False,
            scores=scores[entry.row],
            case=entry.case,
            context=entry.context,
            documents=(),
            reason="",
            answer="",
            passing=frozenset(passing[entry.row] - failing[entry.row]),
            failing=frozenset(failing[entry.row]),
            digest=_digest(entry, thresholds),
        )
    return side


def _thresholds(table: ScoredTable) -> dict[str, str]:
    """Return the thresholds that decide the answers of a table, by evaluator."""
    return {
        entry.id: repr([(each.key, each.threshold) for each in entry.metrics if each.primary or each.decides])
        for entry in table.manifest.evaluators
    }


def _digest(entry: _Keyed, thresholds: dict[str, str]) -> bytes:
    """Return the digest of the case of an answer."""
    parts = {"question or expectation": f"{entry.case:x}"}
    return digest_bytes(CaseDigest(parts=parts, thresholds=thresholds))


def _outcome(evidence: str, status: str, *, decides: bool) -> str:
    """Return the outcome of an answer from that of its earlier metrics and the status of another one."""
    if "error" in (evidence, status):
        return "error"
    if evidence == "failed" or status == "no_answer" or (status == "failed" and decides):
        return "failed"
    # A metric that decides nothing still shows that the answer was scored.
    return evidence if status == "not_applicable" else "passed"


def _with_notes(comparison: Comparison, base: ScoredTable, new: ScoredTable) -> Comparison:
    notes = list(comparison.notes)
    compared = comparison.new.items
    if compared < new.manifest.answers or comparison.base.items < base.manifest.answers:
        notes.append(
            f"pairs are drawn by a hash of their keys: {comparison.base.items:,} of"
            f" {base.manifest.answers:,} answers of the base table, {compared:,} of"
            f" {new.manifest.answers:,} of the new one"
        )
    return msgspec.structs.replace(comparison, notes=tuple(notes))


def _independent(
    base: ScoredTable, new: ScoredTable, renamed: Mapping[str, str], limits: ComparisonLimits
) -> Comparison:
    """Compare the means of all answers, from the aggregates alone."""
    earlier = {renamed.get(entry.key, entry.key): entry.key for entry in base.manifest.models}
    pairs = [
        (entry.id, metric, model.key)
        for model in new.manifest.models
        if model.key in earlier
        for entry in new.manifest.evaluators
        for metric in entry.metrics
    ]
    columns = []
    for evaluator, metric, model in pairs:
        figures = (
            _mean(base.manifest, evaluator, metric, earlier[model]),
            _mean(new.manifest, evaluator, metric, model),
        )
        if all(figure.value is not None for figure in figures):
            columns.append((evaluator, metric, model, *figures))
    if not columns:
        raise ConfigurationError(
            "the tables have no metric of a model in common; score both by the same evaluators, and name"
            " renamed models as OLD=NEW"
        )
    changes = [_Change.of(metric, first, second) for _, metric, _, first, second in columns]
    deciding = [number for number, column in enumerate(columns) if column[1].primary or column[1].decides]
    # Only metrics that decide count as tests: more of the others must not make the deciding ones harder to
    # see.
    adjusted = dict(zip(deciding, holm([changes[number].p for number in deciding]), strict=True))
    metrics = tuple(
        changes[number].compared(
            evaluator, model, adjusted.get(number), tests=len(deciding) or 1, limits=limits
        )
        for number, (evaluator, _, model, _, _) in enumerate(columns)
    )
    labels = [
        msgspec.structs.replace(Side(run_of(table)).label, items=table.manifest.answers)
        for table in (base, new)
    ]
    return Comparison(
        verdict=overall(metrics),
        base=labels[0],
        new=labels[1],
        items=dict.fromkeys(ITEM_CLASSES, 0),
        metrics=metrics,
        notes=(
            "answers are not paired, since the tables have no keys in common: all answers of both are"
            " compared as independent groups, and small changes of the same questions are harder to see",
        ),
    )


def _mean(manifest: ScoredManifest, evaluator: str, metric: Metric, model: str) -> Figure:
    aggregate = manifest.aggregate(evaluator, metric.key, model)
    if aggregate is None:
        return Figure(n=0, value=None, interval=None)
    return mean_of(aggregate, manifest.sampling, metric.range)


class _Change(NamedTuple):
    """Difference of two means of independent groups.

    Attributes:
        new: mean of the new table.
        change: of the mean since the base table.
        error: standard error of the difference, from the intervals of the means; infinite without them.
        p: one-sided, of the normal test that the new mean is worse, and at least that of a permutation test
            of groups that do not overlap.
    """

    metric: Metric
    new: Figure
    change: BaselineChange
    error: float
    p: float

    @classmethod
    def of(cls, metric: Metric, base: Figure, new: Figure) -> _Change:
        change = change_of(base, new)
        assert change is not None
        sign = 1.0 if metric.better == "higher" else -1.0
        error = math.inf
        if change.interval is not None:
            error = (change.interval[1] - change.interval[0]) / (2 * _Z)
        p = _p_of_drop(sign * change.difference, error, base.n, new.n)
        return cls(metric, new, change, error, p)

    def compared(
        self, evaluator: str, model: str, p_adjusted: float | None, *, tests: int, limits: ComparisonLimits
    ) -> MetricComparison:
        """Return the comparison of the metric, with its verdict."""
        factor = _NORMAL.inv_cdf(1 - ALPHA / tests) + _NORMAL.inv_cdf(POWER)
        base = self.change.base
        assert base.value is not None
        assert self.new.value is not None
        p = self.p if p_adjusted is None else p_adjusted
        interval = self._gain_interval(is_drop=p <= ALPHA)
        # Adding 0.0 turns -0.0 into 0.0.
        ends = sorted(0.0 + self._sign * end for end in interval) if interval is not None else (None, None)
        return MetricComparison(
            evaluator=evaluator,
            metric=self.metric.key,
            model=model,
            n=min(base.n, self.new.n),
            base=base.value,
            new=self.new.value,
            difference=self.change.difference,
            low=ends[0],
            high=ends[1],
            p=self.p,
            p_adjusted=p,
            smallest_detectable=factor * self.error if 0 < self.error < math.inf else None,
            verdict=self._verdict(interval, p, limits),
            decides=p_adjusted is not None,
            better=self.metric.better,
            unit=self._unit,
        )

    @property
    def _sign(self) -> float:
        return 1.0 if self.metric.better == "higher" else -1.0

    @property
    def _unit(self) -> float:
        width = self.metric.range[1] - self.metric.range[0]
        return width if math.isfinite(width) else abs(self.change.base.value or 0.0)

    def _gain_interval(self, *, is_drop: bool) -> Interval | None:
        if self.change.interval is None or self._unit <= 0:
            return None
        low, high = sorted(self._sign * end for end in self.change.interval)
        return independent_gain_interval(
            (low, high),
            self._sign * self.change.difference,
            cases=min(self.change.base.n, self.new.n),
            extreme=self._unit,
            is_drop=is_drop,
        )

    def _verdict(self, interval: Interval | None, p: float, limits: ComparisonLimits) -> Verdict:
        if p <= ALPHA and limits.are_exceeded(-self._sign * self.change.difference, self._unit):
            return "worse"
        if interval is not None and interval[0] > -limits.tolerance * self._unit:
            return "not worse"
        return "inconclusive"


def _p_of_drop(gain: float, error: float, size: int, other_size: int) -> float:
    """Return p of the normal test, but never less than a permutation test of so few answers can give."""
    if gain >= 0:
        return _NORMAL.cdf(gain / error) if error and gain else 1.0
    # Logarithm of the number of ways to split the answers into groups of these sizes; the number itself
    # overflows.
    ways = math.lgamma(size + other_size + 1) - math.lgamma(size + 1) - math.lgamma(other_size + 1)
    least = math.exp(-ways)
    return max(_NORMAL.cdf(gain / error), least) if error else least
