"""Plan of a run: its collected test cases, their evaluators and their chunks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_evalstudio.asking.answers import AnswerCache, digest_of
from pytest_evalstudio.asking.runs import AskingRun, RunInputs, continuation_line, file_digests
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.record.revision import revision
from pytest_evalstudio.run.project import Project
from pytest_evalstudio.scoring.answering import requests_of
from pytest_evalstudio.scoring.identifiers import safe_identifier
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator, Plan
from pytest_evalstudio.scoring.tasks import EvalTask

CaseOfModel = tuple[str, str, str]
"""File, key and model of an item, as the identities of a comparison have them."""


@dataclass(frozen=True, slots=True, eq=False)
class PlannedFile:
    """A collected file of test cases.

    Attributes:
        nodeid: its name in the record.
        kind: "suite", "lab" or "dataset".
        config: of its folder.
        plan: evaluators of the configuration.
    """

    nodeid: str
    path: Path
    kind: str
    title: str
    description: str
    config: Configuration
    plan: Plan


@dataclass(frozen=True, slots=True, eq=False)
class PlannedItem:
    """A test case of a file, put to one model.

    Attributes:
        host_fixture: name of the fixture that answers for the model, "" for none.
        is_isolated: whether a fixture is set up for it anew, so that it is evaluated by itself.
    """

    nodeid: str
    file: PlannedFile
    task: EvalTask
    host_fixture: str = ""
    is_isolated: bool = False

    @property
    def evaluators(self) -> tuple[ConfiguredEvaluator, ...]:
        """Return the evaluators of the case: its own, or those of the configuration."""
        return self.file.plan.selected if self.task.chosen is None else self.task.chosen

    @property
    def family(self) -> str:
        """Return the name of the test cases that are in one shard: an original with its perturbations."""
        task = self.task
        ids = {id(task)}
        while task.source is not None and id(task.source) not in ids:  # a circle ends where it began
            task = task.source
            ids.add(id(task))
        return f"{self.file.nodeid}\0{task.key}"

    @property
    def cases_of_models(self) -> Iterator[CaseOfModel]:
        """Yield file, key and model; two where the model has a label besides its key."""
        model = self.task.model
        key = safe_identifier(self.task.key)
        for name in dict.fromkeys((model.label, model.key)):
            yield self.file.nodeid, key, name


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """Plan of what a process runs, made when all files are collected.

    It holds no tasks: an item releases its own when it has finished, so that the memory of a run is that of
    its open chunks.

    Attributes:
        chunks: node id to the name of the chunk, which one process evaluates.
        evaluators: used by the items, in the order of the run.
        inputs: of the run; None where it asks no model.
        questions: number of questions that the run asks at least.
    """

    chunks: Mapping[str, str]
    evaluators: tuple[ConfiguredEvaluator, ...]
    inputs: RunInputs | None
    questions: int


def run_wide(project: Project, plan: RunPlan | None) -> dict[str, ConfiguredEvaluator]:
    """Return the evaluators of the record's header, as the run's own configuration defines them.

    An evaluator that only other folders use is taken from the first collected item that uses it, which is the
    same one in every worker.
    """
    evaluators = {selected.id: selected for selected in project.plan(project.settings.session).selected}
    for selected in plan.evaluators if plan is not None else ():
        evaluators.setdefault(selected.id, selected)
    return evaluators


def run_inputs(project: Project, items: Sequence[PlannedItem], others: Iterable[Path]) -> RunInputs | None:
    """Return the inputs of a run; None if it asks no model.

    Args:
        items: test cases; those with answers in their file ask nothing.
        others: files of other items that ask: pairs of an arena, steps of workflows, tests in Python.
    """
    paths = dict.fromkeys([*(item.file.path for item in items if not item.task.answered), *others])
    if not paths:
        return None
    configurations = [project.configuration(folder) for folder in sorted({path.parent for path in paths})]
    content = [config.model_dump(mode="json", exclude={"run"}) for config in dict.fromkeys(configurations)]
    root = project.settings.command_line.root
    return RunInputs(
        configuration=digest_of(content),
        files=file_digests(sorted(paths), root),
        commit=revision(root).commit,
    )


def question_count(items: Iterable[PlannedItem]) -> int:
    """Return the number of questions that the items ask at least."""
    return sum(len(requests_of(item.task)) for item in items if not item.task.answered)


def announcement(run: AskingRun, cache: Path, questions: int) -> str:
    """Return the line that announces a continuation, "" for a new run and where no answer is stored.

    Args:
        run: the run that asks.
        cache: folder of stored answers.
        questions: number of questions that the run asks at least.
    """
    if not run.is_continuation:
        return ""
    with AnswerCache(cache, read_only=True) as answers:
        stored = answers.count(run.id)
    return f"evalstudio: {continuation_line(run, stored, questions)}" if stored else ""


def check_gates(project: Project, labels: Collection[str]) -> None:
    """Refuse gates that name a model or metric which the run has not got.

    Args:
        labels: of the models that play in an arena.

    Raises:
        ConfigurationError: for the first such gate.
    """
    from pytest_evalstudio.analysis.gates import check_gate, check_named_gates, parse_gate

    gates = [parse_gate(text) for text in project.settings.gates()]
    has_arena = bool(labels) or any(config.arena is not None for config in project.plans)
    check_named_gates(gates, labels or None, is_configured=has_arena)
    names = {
        selected.id: selected.spec.metrics for plan in project.plans.values() for selected in plan.made()
    }
    for gate in gates:
        check_gate(gate, names)


def check_tables(project: Project, fixtures: Collection[str]) -> None:
    """Refuse tables of evaluators that nothing uses, unless the command line chooses the evaluators.

    Args:
        fixtures: ids of the evaluators that Python tests use.

    Raises:
        ConfigurationError: naming each of them.
    """
    if project.settings.chooses_evaluators:
        return
    messages: list[str] = []
    for config, plan in project.plans.items():
        used = {*fixtures, *(selected.id for selected in plan.made())}
        if used.issuperset(config.evaluator):
            continue
        from pytest_evalstudio.formats.unused_tables import unused_tables  # most runs have no such table

        messages += unused_tables(config, used)
    if messages:
        raise ConfigurationError("\n".join(messages))
