"""Evaluation without pytest: a lab and evaluators in, results and a record out."""

from __future__ import annotations

import functools
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.analysis.aggregates import aggregates_of
from pytest_evalstudio.api import result_views
from pytest_evalstudio.asking.resolve import Progress
from pytest_evalstudio.core.errors import ConfigurationError, unknown_name
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import Configuration, configuration
from pytest_evalstudio.formats.dataset import LlmDataset, complete_row_keys
from pytest_evalstudio.formats.files import EvalFile
from pytest_evalstudio.formats.lab import TestLab, check_models
from pytest_evalstudio.record.items import ItemHead
from pytest_evalstudio.record.outputs import OutputFolder
from pytest_evalstudio.record.schema import NO_TABLES, EvaluatorSpan, Item, Tables, VerdictWord
from pytest_evalstudio.record.writer import FILE, RecordWriter
from pytest_evalstudio.scoring.chunks import cut
from pytest_evalstudio.scoring.masking import masked
from pytest_evalstudio.scoring.messages import has_misses, skip_reason
from pytest_evalstudio.scoring.model_provider import ModelProvider, left_out
from pytest_evalstudio.scoring.pipeline import Pipeline
from pytest_evalstudio.scoring.plan import Plan
from pytest_evalstudio.scoring.recording import item_entry
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.scoring.run_header import (
    evaluator_entry,
    file_entry,
    finished_run,
    model_entry,
    new_run,
)
from pytest_evalstudio.scoring.spans import EvaluatorSpans
from pytest_evalstudio.scoring.tasks import EvalTask, tasks
from pytest_evalstudio.text.unicode import valid_data

if TYPE_CHECKING:
    import pandas as pd

    from pytest_evalstudio.analysis.leaderboards import Leaderboard
    from pytest_evalstudio.plots.pictures import Pictures


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Results:
    """Results of evaluators for a lab.

    Its text and its HTML, which notebooks show, are a table of the primary metrics.

    Attributes:
        items: one result per case and model, in the order of the lab.
        spans: evaluator id to the time in which it scored.
    """

    items: tuple[Result, ...]
    plan: Plan
    config: Configuration
    source: EvalFile
    registry: Registry
    spans: Mapping[str, EvaluatorSpan] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Result]:
        return iter(self.items)

    def verdicts(self) -> dict[str, str]:
        """Name of each case and model to passed, failed, error or skipped."""
        return {result.task.name: verdict_word(result) for result in self.items}

    def __repr__(self) -> str:
        return result_views.text_table(self.leaderboards(), self._counts())

    def _repr_html_(self) -> str:
        """Return the table that notebooks show."""
        return result_views.html_table(self.leaderboards(), self._counts())

    def leaderboards(self) -> dict[str, Leaderboard]:
        """Return the leaderboard of each evaluator by its id."""
        from pytest_evalstudio.analysis.leaderboards import leaderboards

        run = new_run(self.config, gates=self.config.gate)
        items = []
        for tables, item in self._entries():
            run.evaluators.update(tables.evaluators)
            run.models.update(tables.models)
            items.append(item)
        return leaderboards(run, items, aggregates_of(run, self.registry))

    def leaderboard_frame(self) -> pd.DataFrame:
        """Return a pandas frame with a row per evaluator, model and metric.

        Its columns are evaluator, model, metric, value, low and high (95 % interval), n, rank, threshold,
        passes, and pass_rate, the share of the model's cases that passed the evaluator.
        """
        return result_views.leaderboard_frame(self.leaderboards())

    def plot(self, evaluator: str = "") -> Pictures:
        """Return a picture per evaluator: the primary metric of each model, its 95 % interval, the threshold.

        A notebook shows them; `save(folder)` writes them as SVG.

        Args:
            evaluator: id of one evaluator; all where not given.

        Raises:
            ConfigurationError: if the evaluator is not among the results.
        """
        boards = self.leaderboards()
        if evaluator and evaluator not in boards:
            raise unknown_name("evaluator", evaluator, boards, f"The results have: {', '.join(boards)}.")
        return result_views.pictures_of({evaluator: boards[evaluator]} if evaluator else boards)

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas frame with a row per answer: key, model, run, verdict, texts, a column per metric.

        Personal data and secrets in the texts are masked, as in a record.
        """
        names = {result.task.model.key: result.task.model.label for result in self.items}
        return result_views.item_frame([item for _, item in self._entries()], names)

    def write_record(self, folder: str | Path, more: Tables = NO_TABLES) -> Path:
        """Write the record of a run, from which `report.build.build_report` makes the report.

        Args:
            folder: of the record.
            more: further entries of its header.

        Raises:
            ConfigurationError: if the folder holds a record that no earlier run wrote.
        """
        output = OutputFolder(Path(folder))
        output.check([FILE])
        writer = RecordWriter(Path(folder), new_run(self.config, gates=self.config.gate))
        for tables, item in self._entries():
            writer.extend(tables)
            writer.append_item(item)
        writer.extend(Tables(spans=dict(self.spans)))
        writer.extend(more)
        path = writer.finish(finished_run(writer.run, interrupted=False, exit_status=0))
        output.list_files([*output.owned(), FILE])
        return path

    def _counts(self) -> Counter[str]:
        return Counter(map(verdict_word, self.items))

    def _entries(self) -> Iterator[tuple[Tables, Item]]:
        """Return the entries of each item for a record: additions to the header, and the item."""
        name = masked(str(getattr(self.source.content, "name", "") or "lab"))
        description = str(getattr(self.source.content, "description", "") or "")
        # The run's evaluators win over those that a case configures under the same id.
        run_wide = {selected.id: selected for result in self.items for selected in result.verdicts} | {
            selected.id: selected for selected in self.plan.selected
        }
        for index, result in enumerate(self.items):
            task = result.task
            evaluators = {id: evaluator_entry(run_wide[id]) for id in (each.id for each in result.verdicts)}
            tables = Tables(
                files={name: file_entry(name, self.source.kind, name, description)},
                models={task.model.key: model_entry(task.model)},
                evaluators=evaluators,
            )
            head = ItemHead(
                index=index,
                nodeid=f"{name}::{task.name}",
                verdict=verdict_word(result),
                duration_s=result.seconds,
                file=name,
                key=task.key,
                test_key=task.case.test_key,
                model_key=task.model.key,
                xfail=task.xfail,
                reason="",
            )
            yield tables, item_entry(head, result, run_wide)


def evaluate(
    lab: TestLab | LlmDataset,
    evaluators: Sequence[str] | None = None,
    *,
    config: Mapping[str, object] | None = None,
    registry: Registry | None = None,
    folder: str | Path = ".",
    progress: Progress | None = None,
) -> Results:
    """Evaluate the answers of a lab or data set; rows without a key get one.

    Args:
        evaluators: ids; the configuration's, else the default choice, where not given.
        config: configuration keys, e.g. {"evaluator": {"rouge": {"threshold": 0.3}}}.
        registry: registry of plugins; by default a new one.
        folder: where relative paths of the rows and of the configuration start.
        progress: called with the number of evaluated answers and their total, after each chunk.

    Raises:
        ConfigurationError: for an unknown name or option, or an evaluator that lacks its model or
            extra.
        DataError: for a row of a model that the lab does not have.

    >>> dataset = LlmDataset()
    >>> _ = dataset.add_input(
    ...     "Capital of France?", key="fr", actual_output="It is Paris.", output_condition='"Paris"'
    ... )
    >>> evaluate(dataset, ["text_matching"]).verdicts()
    {'fr[dataset]': 'passed'}
    """
    if not isinstance(lab, TestLab | LlmDataset):
        raise ConfigurationError(
            f"evaluate: expected a TestLab or LlmDataset, found {type(lab).__name__}; of a data frame,"
            " LlmDataset.from_frame(frame) makes one"
        )
    selection = {"evaluators": list(evaluators)} if evaluators is not None else {}
    base = Path(folder).absolute()
    settings = configuration({**(config or {}), **selection}, folder=base)
    plugins = registry or Registry()
    provider = ModelProvider(cache=base / settings.cache if settings.cache else None, registry=plugins)
    try:
        return evaluate_lab(
            lab, settings, registry=plugins, provider=provider, folder=base, progress=progress
        )
    finally:
        provider.close()


def evaluate_lab(
    lab: TestLab | LlmDataset,
    config: Configuration,
    *,
    registry: Registry,
    provider: ModelProvider,
    folder: Path,
    thresholds: Mapping[str, float] | None = None,
    progress: Progress | None = None,
) -> Results:
    """Evaluate a lab under a parsed configuration, with models that stay open; see `evaluate`.

    Args:
        thresholds: `ID` or `ID.METRIC` to threshold; they take precedence over the configuration's.
        progress: called with the number of evaluated answers and their total, after each chunk.
    """
    plan = Plan(registry, config, thresholds=thresholds, lacks=functools.partial(provider.lacks, config))
    if plan.left_out:
        warnings.warn(left_out(plan.left_out, plan.broad_choice), UserWarning, stacklevel=3)
    for note in (*config.notes, *plan.notes()):
        warnings.warn(note, UserWarning, stacklevel=3)
    if isinstance(lab, TestLab):
        check_models(lab)
    complete_row_keys(lab.dataset.inputs if isinstance(lab, TestLab) else lab.inputs)
    file = EvalFile("lab" if isinstance(lab, TestLab) else "dataset", lab)
    evaluated_tasks = tasks(file, folder)
    for task in evaluated_tasks:  # of content by hand; files have valid texts
        task.case, task.answers = valid_data(task.case), valid_data(task.answers)
    spans = EvaluatorSpans()
    pipeline = Pipeline.under(config, plan, provider, spans=spans, reports_unchecked=True)
    used = dict.fromkeys(selected for task in evaluated_tasks for selected in pipeline.selected_for(task))
    # Such evaluators compare the repeats of a question, which must not be cut apart.
    grouped = any(selected.spec.scope == "group" for selected in used)
    # Before the first chunk, so that a missing model stops the evaluation at once.
    provider.open(config, used)
    by_task = {}
    for chunk in cut(evaluated_tasks, _itself, place_of=lambda task: 0, by_question=grouped):
        by_task.update({id(result.task): result for result in pipeline.evaluate(chunk)})
        if progress is not None:
            progress(len(by_task), len(evaluated_tasks))
    results = tuple(by_task[id(task)] for task in evaluated_tasks)
    return Results(results, plan, config, file, registry, spans.take())


def verdict_word(result: Result) -> VerdictWord:
    """Return the record's word for the verdict of a result."""
    if result.errors:
        return "error"
    if skip_reason(result):
        return "skipped"
    if has_misses(result):
        return "xfailed" if result.task.xfail else "failed"
    return "xpassed" if result.task.xfail else "passed"


def _itself(task: EvalTask) -> EvalTask:
    return task
