"""Answers to be damaged: those of a run, a lab or data set, or the expected ones of a suite."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_evalstudio.api.rescore import lab_of_items
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.judging import JUDGE
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.tool_calls import ExpectedToolCall, ToolCall
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.formats.dataset import LlmDataset, Row
from pytest_evalstudio.formats.files import read
from pytest_evalstudio.formats.kinds import read_source
from pytest_evalstudio.formats.lab import TestLab
from pytest_evalstudio.formats.matchers import matcher_of
from pytest_evalstudio.formats.suite import TestCase, TestSuite
from pytest_evalstudio.record.reader import RecordReader, record_path
from pytest_evalstudio.record.schema import Item
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator, Plan

EXPECTED = "expected output"
"""Name of the model whose answers are a suite's expected ones."""
_RECORD = b'{"kind":"run"'
"""First bytes of a record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """An answer that is damaged.

    Attributes:
        row: question, answer and expectations; `evaluators` are those that judge it.
        file: that the case is from.
        model: name of the model.
        retrieves: whether its context is judged as well.
        is_judged: whether an evaluator judges what the answer says; not where leaks and loops alone are
            looked for, or the others are left out.
    """

    row: Row
    file: str
    model: str
    retrieves: bool = False
    is_judged: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectGroup:
    """Answers under one configuration.

    Attributes:
        folder: where paths of the rows start.
    """

    answers: Sequence[Subject]
    config: Configuration
    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Subjects:
    """All answers.

    Attributes:
        not_asked: evaluators that are left out, and why.
    """

    groups: Sequence[SubjectGroup]
    not_asked: Mapping[str, str]


FindConfiguration = Callable[[Path], Configuration]
"""Returns the configuration of a file."""


def read_subjects(
    path: Path, configuration_of: FindConfiguration, registry: Registry, *, allow_calls: bool = False
) -> Subjects:
    """Read the answers of a run, lab, data set or suite; conversations and perturbed copies are left out.

    Args:
        path: record or report folder, lab, data set or suite. The files of a run are looked for from the
            current folder upwards, for the options that their test cases give to evaluators.
        configuration_of: gives the evaluators of labs and suites, and the options of all.
        allow_calls: whether evaluators that ask a judge take part.

    Raises:
        ConfigurationError: if no evaluator remains.
        DataError: if there is no answer.
    """
    not_asked: dict[str, str] = {}
    if is_run(path):
        groups = list(_groups_of_run(path, configuration_of, registry, not_asked, allow_calls))
    else:
        file = read(read_source(path, str(path)))
        if file.errors:
            raise DataError("\n".join(map(str, file.errors)))
        config = configuration_of(path)
        chooser = _Chooser(Plan(registry, config), not_asked, allow_calls=allow_calls)
        answers = list(_of_file(file.content, path.name, chooser))
        groups = [SubjectGroup(answers=answers, config=config, folder=path.absolute().parent)]
    answers = [subject for group in groups for subject in group.answers]
    if not answers:
        raise DataError(f"{path}: has no answers to damage: {_why_no_answers(path)}")
    if not any(subject.row.evaluators for subject in answers):
        reasons = "; ".join(f"{id}: {reason}" for id, reason in not_asked.items())
        raise ConfigurationError(
            f"{path}: no evaluator remains ({reasons}); name others in the configuration"
        )
    return Subjects(groups=groups, not_asked=not_asked)


def _why_no_answers(path: Path) -> str:
    """Return why a run or file has no answers that can be damaged."""
    if not is_run(path):
        return "no expected outputs, or none of single questions"
    verdicts = [item.verdict for item in RecordReader(record_path(path)).items() if item.rows]
    if any(verdict in ("passed", "xpassed") for verdict in verdicts):
        return "only conversations and perturbed copies pass"
    return f"none of its answers ({len(verdicts):,}) passes; mend the application or the suite first"


def is_run(path: Path) -> bool:
    """Return True for a record and for the folder of a report."""
    if not path.is_file():
        return path.is_dir()
    with path.open("rb") as file:
        return file.read(len(_RECORD)) == _RECORD


class _Chooser:
    """Chooses the evaluators of single answers.

    Args:
        not_asked: takes those that are left out, and why.
    """

    def __init__(self, plan: Plan, not_asked: dict[str, str], *, allow_calls: bool) -> None:
        self.not_asked = not_asked
        self._plan = plan
        self._allow_calls = allow_calls

    def of_plan(self) -> dict[str, dict[str, object]]:
        return {selected.id: {} for selected in self._plan.selected if self._takes(selected)}

    def of(self, choice: Mapping[str, Mapping[str, object]]) -> dict[str, dict[str, object]]:
        evaluators: dict[str, dict[str, object]] = {}
        for id, options in choice.items():
            try:
                selected = self._plan.get(id, options)
            # A run may have evaluators of a plugin that is not there now: they are left out, and named.
            except ConfigurationError as exc:
                self.not_asked[id] = str(exc)
                continue
            if self._takes(selected):
                evaluators[id] = dict(options)
        return evaluators

    def judges(self, choice: Mapping[str, Mapping[str, object]]) -> bool:
        """Return True if one of the evaluators judges what an answer says."""
        return any(not self._plan.get(id, options).spec.detector for id, options in choice.items())

    def _takes(self, selected: ConfiguredEvaluator) -> bool:
        reason = ""
        if JUDGE in selected.requires and not self._allow_calls:
            reason = "it asks a judge; allow it with --allow-calls"
        elif selected.spec.scope != "row" or selected.spec.compares:
            reason = "it compares several answers"
        if reason:
            self.not_asked[selected.id] = reason
        return not reason


def _groups_of_run(
    path: Path,
    configuration_of: FindConfiguration,
    registry: Registry,
    not_asked: dict[str, str],
    allow_calls: bool,
) -> Iterator[SubjectGroup]:
    """Yield the passing answers of a run by the file of their cases."""
    reader = RecordReader(record_path(path))
    by_file: dict[str, list[Item]] = {}
    for item in reader.items():
        if item.verdict in ("passed", "xpassed") and item.rows and _is_single(item):
            by_file.setdefault(item.file, []).append(item)
    for name, items in by_file.items():
        file = _file_of_run(name)
        choices = {} if file is None else _choices_in(file)
        # The file of a run's cases may be missing here.
        config = configuration_of(file or record_path(path))
        chooser = _Chooser(Plan(registry, config), not_asked, allow_calls=allow_calls)
        answers = [_recorded(item, reader, chooser, choices.get(item.key)) for item in items]
        yield SubjectGroup(
            answers=answers, config=config, folder=(file or record_path(path)).absolute().parent
        )


def _file_of_run(name: str) -> Path | None:
    """Return a file of a run, whose name is relative to pytest's root: the current folder or one above it."""
    folder = Path.cwd()
    return next((path for base in (folder, *folder.parents) if (path := base / name).is_file()), None)


def _choices_in(file: Path) -> dict[str, Mapping[str, Mapping[str, object]]]:
    """Return the evaluators that test cases choose, by key; {} for a file that is none of test cases."""
    # Test functions name their evaluators in code.
    if file.suffix == ".py":
        return {}
    content = read(read_source(file, str(file))).content
    if isinstance(content, TestSuite):
        return {case.key: case.evaluators for _, case in content.cases() if case.evaluators is not None}
    rows = content.dataset.inputs if isinstance(content, TestLab) else content.inputs
    return {row.key: row.evaluators for row in rows if row.evaluators is not None}


def _recorded(
    item: Item,
    reader: RecordReader,
    chooser: _Chooser,
    choice: Mapping[str, Mapping[str, object]] | None,
) -> Subject:
    """Return a recorded answer with the evaluators that gave it a verdict, with the options of its case."""
    # Of several repeats, the first stands for the item.
    row = lab_of_items([item]).dataset.inputs[0]
    options = choice or {}
    # Without options of its case, the thresholds of the run count, not those of today's configuration.
    row.evaluators = chooser.of(
        {
            id: options.get(id, {"thresholds": dict(verdict.thresholds)} if verdict.thresholds else {})
            for id, verdict in item.verdicts.items()
            if verdict.passed is not None
        }
    )
    return Subject(
        row=row,
        file=item.file,
        model=reader.run.model_name(item.model_key),
        retrieves=item.rows[0].is_rag,
        is_judged=chooser.judges(row.evaluators),
    )


def _is_single(item: Item) -> bool:
    row = item.rows[0]
    return not (row.answer.turns or row.relationships or row.answer.error)


def _of_file(content: TestSuite | TestLab | LlmDataset, name: str, chooser: _Chooser) -> Iterator[Subject]:
    if isinstance(content, TestSuite):
        for _, case in content.cases():
            if not (case.turns or case.user or case.relationships or case.skip or case.xfail):
                row = _expected_row(case)
                if row.actual_output or row.tool_calls:
                    yield _subject(row, case.evaluators, chooser, name, EXPECTED)
        return
    models = {model.key: model for model in content.models} if isinstance(content, TestLab) else {}
    rows = content.dataset.inputs if isinstance(content, TestLab) else content.inputs
    for row in rows:
        if row.turns or row.relationships or row.error or row.skip or row.xfail:
            continue
        model = models.get(row.model_key)
        retrieves = bool(row.context) if model is None else bool(model.is_rag() or row.context)
        label = (model.name or model.key) if model is not None else row.model_key
        yield _subject(row, row.evaluators, chooser, name, label, retrieves=retrieves)


def _subject(
    row: Row,
    choice: Mapping[str, Mapping[str, object]] | None,
    chooser: _Chooser,
    file: str,
    model: str,
    *,
    retrieves: bool = False,
) -> Subject:
    evaluators = chooser.of_plan() if choice is None else chooser.of(choice)
    return Subject(
        row=row.model_copy(update={"evaluators": evaluators}),
        file=file,
        model=model,
        retrieves=retrieves,
        is_judged=chooser.judges(evaluators),
    )


def _expected_row(case: TestCase) -> Row:
    return Row(
        key=case.key,
        input=case.prompt,
        actual_output=case.expected_output,
        expected_output=case.expected_output,
        output_condition=case.condition_text(),
        # An expected answer has no context, in which the condition would have to hold as well.
        condition_on="answer" if case.condition_on != "context" else case.condition_on,
        expects=case.expects,
        conversation=case.conversation,
        expected_facts=case.expected_facts,
        guidelines=case.guidelines,
        expected_tool_calls=case.expected_tool_calls,
        tool_calls=list(_literal_calls(case.expected_tool_calls or ())),
    )


def _literal_calls(expected: Iterable[ExpectedToolCall]) -> Iterator[ToolCall]:
    """Yield the calls that meet expectations without matchers; none where one has a matcher."""
    calls = list(expected)
    if any(matcher_of(value) for call in calls for value in call.arguments.values()):
        return
    for call in calls:
        yield ToolCall(name=call.name, arguments=call.arguments)
