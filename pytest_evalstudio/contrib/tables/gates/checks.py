"""Gates over a scored table: a check per gate and model, and per group, from the aggregates alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_evalstudio.analysis.comparison.metrics import ROUNDING
from pytest_evalstudio.analysis.gates import Gate, check_gate, parse_gate
from pytest_evalstudio.contrib.tables.figures.estimates import Figure, mean_of, pass_share_of, percentile_of
from pytest_evalstudio.contrib.tables.gates.access import NO_ACCESS, TableAccess
from pytest_evalstudio.contrib.tables.scored_record import MetricAggregate, ScoredManifest
from pytest_evalstudio.contrib.tables.scores_file import ScoresBaseline, ScoresFile
from pytest_evalstudio.contrib.tables.table.reader import ScoredTable
from pytest_evalstudio.core.errors import ConfigurationError, DataError, unknown_name
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.stats.types import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class GateCheck:
    """A gate, or a comparison with the baseline, for one model.

    Attributes:
        name: unique in its file.
        gate: its term is the figure; of a comparison its sign and limit have no meaning.
        metric: of the term.
        group, group_value: column and value; "" for all answers of the model.
        earlier: name of the model in the baseline, "" for a gate.
    """

    name: str
    gate: Gate
    metric: Metric
    model: str
    group: str = ""
    group_value: str = ""
    earlier: str = ""

    @property
    def term(self) -> str:
        """Return the term of the gate as text."""
        name = f"{self.gate.evaluator}.{self.metric.key}"
        if self.gate.function == "pass_rate":
            return f"pass_rate({self.gate.evaluator})"
        return f"p{self.gate.percent}({name})" if self.gate.function == "percentile" else name

    @property
    def better(self) -> str:
        """Return the direction of the figure."""
        return "higher" if self.gate.function == "pass_rate" else self.metric.better

    @property
    def subject(self) -> str:
        """Return the model, with the group."""
        return f"{self.model}, {self.group} {self.group_value}" if self.group else self.model


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineChange:
    """Difference of a figure from the baseline.

    Attributes:
        base: figure of the baseline.
        difference: new less base.
        interval: 95 % interval of the difference; None where either figure has none.
    """

    base: Figure
    difference: float
    interval: Interval | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """Result of a check.

    Attributes:
        change: of a comparison with the baseline; None for a gate.
    """

    met: bool
    figure: Figure
    change: BaselineChange | None = None


class GatedTable:
    """The tables of a file with gates, and its checks.

    Attributes:
        table: the scored table.
        baseline: the table that it is compared with.
        checks: in the order of the file.
    """

    def __init__(
        self,
        file: ScoresFile,
        folder: Path,
        *,
        access: TableAccess = NO_ACCESS,
        is_wanted: Callable[[str], bool] = lambda model: True,
    ) -> None:
        """Open the tables and make the checks.

        Args:
            folder: of the file.
            access: tables outside of the folder that the file may name.
            is_wanted: returns whether a model is checked.

        Raises:
            ConfigurationError: if a gate, group or model is not in the table.
            DataError: if a table is missing, incomplete or none, or the one that is checked has no answers.
        """
        self.file = file
        self.table = opened(file.table, folder, "table", access)
        if not self.table.manifest.models:
            raise DataError(
                f"table {file.table!r} has no answers, so that no gate can be checked; look at the source"
                " that it was scored from"
            )
        self.baseline = opened(file.baseline.table, folder, "baseline", access) if file.baseline else None
        self.models = [entry.key for entry in self.table.manifest.models if is_wanted(entry.key)]
        self.checks = [*self._gates(), *self._comparisons()]

    def result(self, check: GateCheck) -> CheckResult:
        """Return the result of a check."""
        figure = figure_of(self.table.manifest, check, check.model)
        if not check.earlier:
            return CheckResult(met=check.gate.meets(figure.value), figure=figure)
        assert self.baseline is not None
        assert self.file.baseline is not None
        change = change_of(figure_of(self.baseline.manifest, check, check.earlier), figure)
        met = not _is_worse(change, check.better, self.file.baseline.allowed_drop)
        return CheckResult(met=met, figure=figure, change=change)

    def _gates(self) -> Iterator[GateCheck]:
        manifest = self.table.manifest
        for group in self.file.groups:
            _check_group(group, manifest)
        # A gate that is given twice would be two items of the same name.
        for text in dict.fromkeys(self.file.gates):
            gate = parse_gate(text)
            metric = metric_of(gate, manifest)
            for model in self.models:
                yield GateCheck(name=f"gate[{model}: {gate.text}]", gate=gate, metric=metric, model=model)
                for group, value in self._groups(gate, metric, model):
                    yield GateCheck(
                        name=f"gate[{model}, {group}={value}: {gate.text}]",
                        gate=gate,
                        metric=metric,
                        model=model,
                        group=group,
                        group_value=value,
                    )

    def _groups(self, gate: Gate, metric: Metric, model: str) -> Iterator[tuple[str, str]]:
        for entry in segments_of(self.table.manifest, gate.evaluator, metric.key, model):
            if entry.group in self.file.groups and entry.scored >= self.file.min_answers:
                yield entry.group, entry.group_value

    def _comparisons(self) -> Iterator[GateCheck]:
        # The user may deselect all models; that is no fault of the baseline.
        if self.baseline is None or self.file.baseline is None or not self.models:
            return
        earlier = _earlier_names(self.models, self.baseline.manifest, self.file.baseline)
        for term in self.file.baseline.terms or _primary_terms(self.table.manifest, self.baseline.manifest):
            gate = _term(term)
            metric = metric_of(gate, self.table.manifest)
            # Only for its error: the baseline must have the metric, too.
            metric_of(gate, self.baseline.manifest, "baseline")
            for model in self.models:
                if model in earlier:
                    yield GateCheck(
                        name=f"baseline[{model}: {term}]",
                        gate=gate,
                        metric=metric,
                        model=model,
                        earlier=earlier[model],
                    )


def opened(table: str, folder: Path, key: str, access: TableAccess) -> ScoredTable:
    """Open a scored table that a file names.

    Raises:
        DataError: if the file may not name it, or it is missing, incomplete or none; the message names the
            key of the file.
    """
    try:
        # A redirect could lead to a private host after the address was checked.
        return ScoredTable.open(access.location(table, folder), redirects=False)
    except DataError as exc:
        raise DataError(f"{key} {table!r} {exc.message}") from None


def metric_of(gate: Gate, manifest: ScoredManifest, kind: str = "table") -> Metric:
    """Return the metric of a gate.

    Raises:
        ConfigurationError: if the table has no such evaluator or metric.
    """
    metrics = {entry.id: entry.metrics for entry in manifest.evaluators}
    try:
        check_gate(gate, metrics)
    except ConfigurationError as exc:
        if gate.evaluator in metrics:
            raise ConfigurationError(f"baseline: {exc}" if kind == "baseline" else str(exc)) from None
        fault = unknown_name(
            f"evaluator in the {kind}",
            gate.evaluator,
            metrics,
            f"Change the gate, or score the {kind} again with -e {gate.evaluator}.",
        )
        raise ConfigurationError(f"gate {gate.text!r}: {fault}") from None
    entry = manifest.evaluator(gate.evaluator)
    assert entry is not None
    return next(
        metric
        for metric in entry.metrics
        if metric.key == gate.metric or (not gate.metric and metric.primary)
    )


def figure_of(
    manifest: ScoredManifest,
    check: GateCheck,
    model: str,
    group: str | None = None,
    group_value: str = "",
) -> Figure:
    """Return the figure of a check's term for a model, in its group or in the given one."""
    part = (check.group, check.group_value) if group is None else (group, group_value)
    aggregate = manifest.aggregate(check.gate.evaluator, check.metric.key, model, *part)
    return (
        Figure(n=0, value=None, interval=None) if aggregate is None else _figure(manifest, check, aggregate)
    )


def segments_of(manifest: ScoredManifest, evaluator: str, metric: str, model: str) -> list[MetricAggregate]:
    """Return the aggregates of a metric and model over groups, as far as they have scored answers."""
    column = (evaluator, metric, model)
    return [
        entry
        for entry in manifest.aggregates
        if entry.group and entry.scored and entry.identity[:3] == column
    ]


def worst_segments(
    manifest: ScoredManifest, check: GateCheck, count: int
) -> list[tuple[MetricAggregate, Figure]]:
    """Return the groups of a check's model with the worst figures of its term; none for a group's check."""
    if check.group:
        return []
    sign = 1.0 if check.better == "higher" else -1.0
    figures = [
        (entry, _figure(manifest, check, entry))
        for entry in segments_of(manifest, check.gate.evaluator, check.metric.key, check.model)
    ]
    valued = [(sign * figure.value, entry, figure) for entry, figure in figures if figure.value is not None]
    valued.sort(key=lambda ranked: (ranked[0], -ranked[2].n, ranked[1].group_value))
    return [(entry, figure) for _, entry, figure in valued[:count]]


def change_of(base: Figure, new: Figure) -> BaselineChange | None:
    """Return the difference of two figures of independent groups; None where either has no value.

    Source: Zou and Donner, 2008 (Statistics in Medicine 27, 1693–1702): the interval of a difference from the
    intervals of its two parts.
    """
    if base.value is None or new.value is None:
        return None
    difference = new.value - base.value
    if base.interval is None or new.interval is None:
        return BaselineChange(base=base, difference=difference, interval=None)
    low = math.hypot(new.value - new.interval[0], base.interval[1] - base.value)
    high = math.hypot(new.interval[1] - new.value, base.value - base.interval[0])
    return BaselineChange(base=base, difference=difference, interval=(difference - low, difference + high))


def _figure(manifest: ScoredManifest, check: GateCheck, aggregate: MetricAggregate) -> Figure:
    if check.gate.function == "pass_rate":
        return pass_share_of(aggregate, manifest.sampling)
    if check.gate.function == "percentile":
        return percentile_of(aggregate, check.gate.percent / 100, manifest.sampling)
    return mean_of(aggregate, manifest.sampling, check.metric.range)


def _is_worse(change: BaselineChange | None, better: str, allowed_drop: float) -> bool:
    """Return True if the whole interval of the difference is beyond the allowed drop, on the worse side."""
    # A figure that cannot be compared must not pass.
    if change is None:
        return True
    low, high = change.interval or (change.difference, change.difference)
    return (-high if better == "higher" else low) > allowed_drop + ROUNDING


def _term(text: str) -> Gate:
    try:
        # Terms have no parser of their own. A gate with the limit -inf passes all checks of a limit.
        return replace(parse_gate(f"{text} >= 0"), limit=-math.inf)
    except ConfigurationError:
        raise ConfigurationError(
            f"baseline term {text!r}: write ID[.METRIC], pass_rate(ID) or p95(ID[.METRIC])"
        ) from None


def _primary_terms(manifest: ScoredManifest, baseline: ScoredManifest) -> list[str]:
    """Return the primary metrics of the evaluators that both tables have.

    Raises:
        ConfigurationError: if there is none.
    """
    terms = [
        f"{entry.id}.{metric.key}"
        for entry in manifest.evaluators
        if (other := baseline.evaluator(entry.id)) is not None
        for metric in entry.metrics
        if metric.primary and any(metric.key == other_metric.key for other_metric in other.metrics)
    ]
    if not terms:
        raise ConfigurationError(
            "baseline: the tables have no evaluator in common; score one of them again with the same -e"
        )
    return terms


def _earlier_names(models: Sequence[str], baseline: ScoredManifest, table: ScoresBaseline) -> dict[str, str]:
    """Return the name in the baseline of each model that is compared.

    A single model is compared with the single model of the baseline, whatever their names are.

    Raises:
        ConfigurationError: if no model is in both tables, or a given name is in none.
    """
    baseline_keys = [entry.key for entry in baseline.models]
    for old in table.models:
        if old not in baseline_keys:
            raise unknown_name(
                "model in the baseline", old, baseline_keys, f"It has: {', '.join(baseline_keys)}."
            )
    new_names = {new: old for old, new in table.models.items()}
    for new in new_names:
        if new not in models:
            raise unknown_name("model in the table", new, models, f"It has: {', '.join(models)}.")
    names = {
        model: new_names.get(model, model) for model in models if model in new_names or model in baseline_keys
    }
    if not names and len(models) == len(baseline_keys) == 1:
        return {models[0]: baseline_keys[0]}
    if not names:
        raise ConfigurationError(
            f"baseline: no model is in both tables: {', '.join(models)} here, {', '.join(baseline_keys)}"
            " there; name them in [baseline.models] as OLD = NEW"
        )
    return names


def _check_group(group: str, manifest: ScoredManifest) -> None:
    if group in manifest.groups and group not in manifest.ungrouped:
        return
    if group in manifest.ungrouped:
        raise ConfigurationError(
            f"groups: column {group!r} has too many different values to report each one; choose"
            " another column"
        )
    shared = [name for name in manifest.groups if name not in manifest.ungrouped]
    remedy = f"It keeps: {', '.join(shared)}." if shared else "It keeps none."
    fault = unknown_name(
        "column in the table", group, shared, f"{remedy} Score it again with --keep {group}."
    )
    raise ConfigurationError(f"groups: {fault}")
