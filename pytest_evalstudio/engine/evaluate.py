"""Evaluation without pytest: a lab and evaluators in, results and a record out."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.engine.outputs import OutputFolder
from pytest_evalstudio.engine.pipeline import Pipeline
from pytest_evalstudio.engine.recording import (
    ItemHead,
    evaluator_entry,
    file_entry,
    finished_run,
    item_entry,
    model_entry,
    new_run,
)
from pytest_evalstudio.engine.scoring.chunks import cut
from pytest_evalstudio.engine.scoring.masking import masked
from pytest_evalstudio.engine.scoring.messages import misses
from pytest_evalstudio.engine.scoring.model_provider import ModelProvider, left_out
from pytest_evalstudio.engine.scoring.plan import Plan
from pytest_evalstudio.engine.scoring.results import Result
from pytest_evalstudio.engine.scoring.tasks import EvalTask, tasks
from pytest_evalstudio.formats.config import Configuration, configuration
from pytest_evalstudio.formats.dataset import LlmDataset, complete_row_keys
from pytest_evalstudio.formats.files import EvalFile
from pytest_evalstudio.formats.lab import TestLab, check_models
from pytest_evalstudio.record.schema import Tables, VerdictWord
from pytest_evalstudio.record.writer import FILE, RecordWriter


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """Results of evaluators for a lab.

    Attributes:
        items: one result per case and model, in the order of the lab.
    """

    items: tuple[Result, ...]
    plan: Plan
    config: Configuration
    source: EvalFile

    def __iter__(self) -> Iterator[Result]:
        return iter(self.items)

    def verdicts(self) -> dict[str, str]:
        """Name of each case and model to passed, failed, error or skipped."""
        return {result.task.name: verdict_word(result) for result in self.items}

    def write_record(self, folder: str | Path) -> Path:
        """Write the record of a run, from which `report.build.build_report` makes the report.

        Raises:
            ConfigurationError: if the folder holds a record that no earlier run wrote.
        """
        output = OutputFolder(Path(folder))
        output.check([FILE])
        writer = RecordWriter(Path(folder), new_run(self.config, gates=self.config.gate))
        name = masked(str(getattr(self.source.content, "name", "") or "lab"))
        description = str(getattr(self.source.content, "description", "") or "")
        run_wide = {selected.id: selected for result in self.items for selected in result.verdicts} | {
            selected.id: selected for selected in self.plan.selected
        }
        for index, result in enumerate(self.items):
            task = result.task
            writer.extend(
                Tables(
                    files={name: file_entry(name, self.source.kind, name, description)},
                    models={task.model.key: model_entry(task.model)},
                    evaluators={
                        selected.id: evaluator_entry(run_wide[selected.id]) for selected in result.verdicts
                    },
                )
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
            )
            writer.append_item(item_entry(head, result, run_wide))
        path = writer.finish(finished_run(writer.run, interrupted=False, exit_status=0))
        output.list_files([*output.owned(), FILE])
        return path


def evaluate(
    lab: TestLab | LlmDataset,
    evaluators: Sequence[str] | None = None,
    *,
    config: Mapping[str, object] | None = None,
    registry: Registry | None = None,
    folder: str | Path = ".",
) -> Results:
    """Put the answers of a lab or data set to evaluators; rows without a key get theirs.

    Args:
        evaluators: ids; the configuration's, else the default choice, where not given.
        config: configuration keys, e.g. {"evaluator": {"rouge": {"threshold": 0.3}}}.
        registry: registry of plugins; by default a new one.
        folder: where relative paths of the rows and of the configuration start.

    Raises:
        ConfigurationError: for an unknown name or option, or an evaluator that lacks its model or
            extra.
        DataError: for a row of a model that the lab does not have.

    >>> dataset = LlmDataset()
    >>> _ = dataset.add_input("Capital of France?", key="fr", actual_output="It is Paris.", output_condition='"Paris"')
    >>> evaluate(dataset, ["text_matching"]).verdicts()
    {'fr[dataset]': 'passed'}
    """  # noqa: E501
    chosen = {"evaluators": list(evaluators)} if evaluators is not None else {}
    base = Path(folder).absolute()
    settings = configuration({**(config or {}), **chosen}, folder=base)
    known = registry or Registry()
    provider = ModelProvider(cache=base / settings.cache if settings.cache else None, registry=known)
    try:
        return evaluate_lab(lab, settings, registry=known, provider=provider, folder=base)
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
) -> Results:
    """Evaluate a lab under a parsed configuration, with models that stay open; see `evaluate`.

    Args:
        thresholds: `ID` or `ID.METRIC` to threshold; they win over the configuration's.
    """
    plan = Plan(registry, config, thresholds=thresholds, lacks=functools.partial(provider.lacks, config))
    if plan.left_out:
        warnings.warn(left_out(plan.left_out, plan.broad_choice), UserWarning, stacklevel=3)
    if isinstance(lab, TestLab):
        check_models(lab)
    complete_row_keys(lab.dataset.inputs if isinstance(lab, TestLab) else lab.inputs)
    file = EvalFile("lab" if isinstance(lab, TestLab) else "dataset", lab)
    evaluated_tasks = tasks(file, folder)
    pipeline = Pipeline.under(config, plan, provider)
    used = dict.fromkeys(selected for task in evaluated_tasks for selected in pipeline.selected_for(task))
    grouped = any(selected.spec.scope == "group" for selected in used)
    provider.open(config, used)
    by_task = {
        id(result.task): result
        for chunk in cut(evaluated_tasks, _itself, place_of=lambda task: 0, by_question=grouped)
        for result in pipeline.evaluate(chunk)
    }
    return Results(tuple(by_task[id(task)] for task in evaluated_tasks), plan, config, file)


def verdict_word(result: Result) -> VerdictWord:
    """Return the record's word for the verdict of a result."""
    if result.errors:
        return "error"
    if not result.applicable:
        return "skipped"
    if misses(result):
        return "xfailed" if result.task.xfail else "failed"
    return "xpassed" if result.task.xfail else "passed"


def _itself(task: EvalTask) -> EvalTask:
    return task
