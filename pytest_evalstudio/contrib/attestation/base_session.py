"""Process that collects the cases of a protected revision by pytest, and scores stored answers.

It runs in a folder with the files of the revision, so that suites, configuration, conftest.py and evaluators
are all its own. No test is run and no application is asked.

Usage: python -P -E -m pytest_evalstudio.contrib.attestation.base_session REQUEST RESULT
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import structs

from pytest_evalstudio.contrib.attestation.exchange import (
    BaseCase,
    BaseRun,
    CaseStatus,
    Question,
    ScoringRequest,
    read,
    write,
)
from pytest_evalstudio.contrib.attestation.matching import AnswerIndex, CaseIdentity, Match
from pytest_evalstudio.core.cases import Answer, Case
from pytest_evalstudio.core.errors import EvalStudioError
from pytest_evalstudio.core.expected import Expected
from pytest_evalstudio.core.judging import JUDGE
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.plugin.collecting import EvalFileCollector
from pytest_evalstudio.plugin.items import EvalItem, RecordedItem
from pytest_evalstudio.plugin.late_fixtures import evaluates
from pytest_evalstudio.record.reader import RecordReader
from pytest_evalstudio.record.schema import EvaluatorEntry, ModelEntry, RecordRow
from pytest_evalstudio.run.planning import PlannedFile
from pytest_evalstudio.run.project import Project
from pytest_evalstudio.scoring.masking import masked
from pytest_evalstudio.scoring.messages import has_misses, headline, skip_reason
from pytest_evalstudio.scoring.model_provider import ModelProvider
from pytest_evalstudio.scoring.pipeline import Pipeline
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator
from pytest_evalstudio.scoring.recorded import recorded
from pytest_evalstudio.scoring.recording import row_entry
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.scoring.run_header import evaluator_entry, model_entry, new_run
from pytest_evalstudio.scoring.tasks import EvalTask, ModelInfo

_MASK = b"***"
"""In every text that a record holds in place of personal data and secrets."""
_MASKED_TYPES = ("privacy", "security")
"""Problem types of evaluators that see masked texts here: their stored verdicts count as well."""
_OPTIONS = ("--collect-only", "-q", "--no-header", "-p", "no:cacheprovider")


class BaseSession:
    """Plugin of pytest that scores where a session would run its tests.

    Attributes:
        result: of the session.
    """

    def __init__(self, request: ScoringRequest) -> None:
        self._request = request
        self._faults: list[str] = []
        self.result = BaseRun(faults=("pytest collected nothing",))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note what cannot be collected."""
        if report.failed:
            self._faults.append(f"{report.nodeid}: {str(report.longrepr).strip().splitlines()[-1]}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Score the stored answers in place of the tests."""
        items = [item for item in session.items if isinstance(item, EvalItem)]
        others = [item for item in session.items if isinstance(item, RecordedItem) or evaluates(item)]
        scoring = _Scoring(items, self._request)
        cases = tuple(scoring.cases())
        imports = foreign_imports(Path(self._request.foreign), Path.cwd())
        self.result = BaseRun(
            cases=cases,
            evaluators=scoring.evaluators,
            models=scoring.models,
            questions=tuple(scoring.questions()),
            python_tests=tuple(item.nodeid for item in others),
            gates=scoring.gates(),
            faults=(*self._faults, *imports),
            notes=tuple(scoring.notes),
            search_path=tuple(
                os.path.relpath(path, Path.cwd()) for path in session.config.getini("pythonpath")
            ),
        )
        return True


def foreign_imports(folder: Path, base: Path) -> Iterator[str]:
    """Yield a fault for each module that was imported from the tree under test."""
    prefixes = tuple(Path(each).resolve() for each in (sys.prefix, sys.base_prefix, base))
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not file or name.partition(".")[0] == "pytest_evalstudio":
            continue
        path = Path(file).resolve()
        if path.is_relative_to(folder) and not any(map(path.is_relative_to, prefixes)):
            yield (
                f"module {name} was imported from the tree under test ({path}), not from the protected"
                " revision; verify in an environment where the project is not installed as editable"
            )
            return


def _project(item: EvalItem) -> Project:
    collector = item.parent
    assert isinstance(collector, EvalFileCollector)
    return collector.project


class _Scoring:
    """Verdicts of a revision on stored answers.

    Args:
        items: that the revision would run.
        request: the stored answers.
    """

    def __init__(self, items: Sequence[EvalItem], request: ScoringRequest) -> None:
        self._request = request
        self._items = [item for item in items if not _is_skipped(item)]
        names = _model_names([item.task.model for item in self._items])
        self._identities = {id(item): _identity(item, names[id(item.task.model)]) for item in self._items}
        self._index = AnswerIndex(request.answers, tuple(self._identities.values()))
        self._matches: dict[int, Match | None] = {
            key: self._index.match(identity) for key, identity in self._identities.items()
        }
        self._trusted: dict[int, list[ConfiguredEvaluator]] = {}
        self._judge_budget = request.judge_budget
        self._failed_before = _failures(self._baseline())
        self.evaluators: dict[str, EvaluatorEntry] = {}
        self.models: dict[str, ModelEntry] = {}
        self.notes: list[str] = []

    def _baseline(self) -> Path:
        """Return the baseline of the revision: the configured one, else that of the usual name."""
        configured = _project(self._items[0]).settings.baseline() if self._items else None
        return configured or Path(self._request.baseline)

    def gates(self) -> tuple[str, ...]:
        """Return the gates of the configurations."""
        return tuple(dict.fromkeys(gate for item in self._items for gate in item.planned.file.config.gate))

    def questions(self) -> Iterator[Question]:
        """Yield the questions for the applications."""
        for item in self._items:
            task = item.task
            models = _project(item).models
            try:
                table = models.of(task.model).table
            except KeyError:  # of a lab, whose answers are given
                continue
            case = structs.replace(task.case, answer=Answer(), counterpart=None, **Expected().expectations)
            yield Question(
                nodeid=item.nodeid,
                file=item.planned.file.nodeid,
                is_perturbed=task.source is not None,
                case=_plain_case(case),
                model=self._identities[id(item)].model,
                settings=msgspec.to_builtins(dict(table.settings)),
                folder=os.path.relpath(item.planned.file.config.folder, Path.cwd()),
                runs=task.model.first_runs,
            )

    def cases(self) -> Iterator[BaseCase]:
        """Yield the cases with their verdicts."""
        by_file: dict[int, tuple[PlannedFile, Project, list[EvalItem]]] = {}
        for item in self._items:
            file = item.planned.file
            by_file.setdefault(id(file), (file, _project(item), []))[2].append(item)
        for file, project, items in by_file.values():
            yield from self._cases_of(file, project, items)

    def _cases_of(self, file: PlannedFile, project: Project, items: Sequence[EvalItem]) -> Iterator[BaseCase]:
        provider = ModelProvider(cache=None, registry=project.registry)
        try:
            pipeline = Pipeline.under(file.config, file.plan, provider)
            for selected in file.plan.selected:
                # Before those that cases configure under the same id.
                self.evaluators.setdefault(selected.id, evaluator_entry(selected))
            chosen: dict[int, tuple[ConfiguredEvaluator, ...]] = {}
            answered: list[EvalItem] = []
            for item in items:
                chosen[id(item)] = pipeline.selected_for(item.task)
                if self._take_answers(item, chosen[id(item)], file, project, provider):
                    answered.append(item)
            used = dict.fromkeys(
                selected for item in answered for selected in pipeline.selected_for(item.task)
            )
            if used:
                provider.open(file.config, used)
            results = pipeline.evaluate([item.task for item in answered]) if answered else []
            by_item = {id(item): result for item, result in zip(answered, results, strict=True)}
            for item in items:
                yield self._case(item, chosen[id(item)], by_item.get(id(item)))
        finally:
            provider.close()

    def _take_answers(
        self,
        item: EvalItem,
        chosen: Sequence[ConfiguredEvaluator],
        file: PlannedFile,
        project: Project,
        provider: ModelProvider,
    ) -> bool:
        """Give a task its stored answers; False where there are none."""
        match = self._matches[id(item)]
        if match is None or not match.is_same_question or not match.answers.rows:
            return False
        task = item.task
        task.answers = tuple(_answered(task, row) for row in match.answers.rows)
        trusted = [selected for selected in chosen if not self._is_scored(selected, file, project, provider)]
        if self._judge_budget and any(JUDGE in selected.requires for selected in trusted):
            # A judge is asked about the first cases of the budget.
            self._judge_budget -= 1
            trusted = [selected for selected in trusted if JUDGE not in selected.requires]
        self._trusted[id(item)] = trusted
        task.chosen = tuple(selected for selected in chosen if selected not in trusted)
        return True

    def _is_scored(
        self, selected: ConfiguredEvaluator, file: PlannedFile, project: Project, provider: ModelProvider
    ) -> bool:
        """Return whether an evaluator scores here without a call that costs money."""
        if JUDGE in selected.requires:
            hosts = [str(model.get("host", "")) for model in selected.judge.get("models", ())]
            specs = [project.registry.hosts.spec(host) for host in hosts if host in project.registry.hosts]
            return bool(specs) and all(spec.runs_user_code or spec.deterministic for spec in specs)
        return not provider.lacks(file.config, selected)

    def _case(self, item: EvalItem, chosen: Sequence[ConfiguredEvaluator], result: Result | None) -> BaseCase:
        identity, match, task = self._identities[id(item)], self._matches[id(item)], item.task
        for selected in chosen:
            self.evaluators.setdefault(selected.id, evaluator_entry(selected))
        self.models.setdefault(identity.model, model_entry(task.model))
        stored = match.answers if match is not None else None
        trusted = self._trusted.get(id(item), [])
        status, reason = self._status(match, result, trusted)
        if status == "failed" and _is_expected_to_fail(item):
            status = "passed"
        return BaseCase(
            nodeid=item.nodeid,
            file=identity.file,
            key=identity.key,
            model=identity.model,
            row=identity.row,
            evaluators={
                each.id: {key: each.thresholds[key] for key in sorted(each.asserted)} for each in chosen
            },
            status=status,
            reason=reason,
            matched=stored.nodeid if stored is not None else "",
            trusted=tuple(each.id for each in trusted),
            runs=task.model.first_runs if task.model.stopping is None else 1,
            is_xfail=_is_expected_to_fail(item),
            known=(identity.key, identity.model) in self._failed_before,
        )

    def _status(
        self, match: Match | None, result: Result | None, trusted: Sequence[ConfiguredEvaluator]
    ) -> tuple[CaseStatus, str]:
        if match is None:
            return "missing", "the record has no such case"
        if not match.is_same_question:
            return "edited", "another question was asked under its key"
        if result is None:
            return "missing", f"{match.answers.verdict}, without an answer"
        stored = match.answers.verdicts
        of_masked = [each for each in result.verdicts if each.spec.problem_type in _MASKED_TYPES]
        claimed = [
            each.id
            for each in (*trusted, *of_masked)
            if each.id in stored and stored[each.id].passed is False
        ]
        if result.errors or result.not_run:
            return "error", headline(result)
        if has_misses(result) or claimed:
            return "failed", headline(result) or f"{', '.join(claimed)}: failed in the record"
        unknown = [each.id for each in trusted if each.id not in stored]
        if unknown and not self._request.is_asked:
            return "missing", f"the record has no verdict of {', '.join(unknown)}"
        if skip_reason(result) and not trusted:
            return "skipped", skip_reason(result)
        return "passed", ""


def _is_skipped(item: pytest.Item) -> bool:
    return item.get_closest_marker("skip") is not None


def _is_expected_to_fail(item: pytest.Item) -> bool:
    return item.get_closest_marker("xfail") is not None


def _model_names(models: Sequence[ModelInfo]) -> dict[int, str]:
    """Return the name of each model by its id, as the header of a record tells models apart."""
    entries = {model.key: model_entry(model) for model in models}
    run = structs.replace(new_run(configuration({}, folder=Path.cwd()), gates=()), models=entries)
    return {id(model): run.model_name(model.key) for model in models}


def _identity(item: EvalItem, model: str) -> CaseIdentity:
    task = item.task
    # As a record has them.
    messages = tuple(map(masked, task.case.plan.messages)) if task.case.plan is not None else ()
    return CaseIdentity(
        file=item.planned.file.nodeid,
        key=task.case.key,
        model=model,
        is_perturbed=task.source is not None,
        row=row_entry(structs.replace(task.case, answer=Answer()), {}),
        messages=messages,
    )


def _answered(task: EvalTask, row: RecordRow) -> Case:
    """Return the case with a stored answer; its expectations are those of the revision."""
    case, answer = task.case, row.answer
    if _MASK in msgspec.json.encode(answer):
        case = _masked_case(case)
    if answer.turns:
        planned = case.plan.turns if case.plan is not None else ()
        turns = []
        for number, turn in enumerate(answer.turns):
            own = planned[number] if number < len(planned) else None
            expectations = (own or Expected()).expectations
            ids = own.evaluators if own is not None else None
            turns.append(structs.replace(turn, **expectations, evaluators=ids))
        answer = structs.replace(answer, turns=tuple(turns))
    return structs.replace(
        case,
        answer=answer,
        model_key=task.model.key,
        model_name=task.model.label,
        retrieval=case.retrieval or row.retrieval,
        is_rag=row.is_rag,
        run=row.run,
    )


def _masked_case(case: Case) -> Case:
    """Return a case with its expectations masked: masked answers are compared with what is masked alike."""
    row = row_entry(structs.replace(case, answer=Answer()), {})
    plan = case.plan
    if plan is not None:
        plan = structs.replace(plan, turns=tuple(map(recorded, plan.turns)))
    return structs.replace(case, **row.expectations, plan=plan)


def _plain_case(case: Case) -> Case:
    """Return a case whose data JSON can hold."""
    extra: Mapping[str, Any] = dict(case.extra)
    return structs.replace(case, extra=extra)


def _failures(baseline: Path) -> frozenset[tuple[str, str]]:
    """Return key and model of the cases that failed in a baseline; none without one."""
    if not baseline.is_file():
        return frozenset()
    reader = RecordReader(baseline)
    return frozenset(
        (item.key, reader.run.model_name(item.model_key))
        for item in reader.items()
        if item.verdict in ("failed", "xfailed")
    )


def main(request_path: str, result_path: str) -> int:
    """Collect and score; return 0 where a result was written, 2 where the revision cannot be collected."""
    request = read(Path(request_path), ScoringRequest)
    session = BaseSession(request)
    root = Path(request.root)
    options = [*_OPTIONS]
    folders = [folder for folder in (Path.cwd(), *Path.cwd().parents) if folder.is_relative_to(root)]
    if not any((folder / name).is_file() for folder in folders for name in INI_FILES):
        # Otherwise pytest would look for its configuration in the folders above.
        (root / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        options.append(f"--rootdir={Path.cwd()}")
    try:
        status = pytest.main([*options, *request.arguments], plugins=[session])
    except EvalStudioError as exc:
        sys.stderr.write(f"{exc}\n")
        return 2
    write(Path(result_path), session.result)
    return 0 if session.result.cases or status in (0, 1, 5) else 2


INI_FILES = (
    "pytest.toml",
    ".pytest.toml",
    "pytest.ini",
    ".pytest.ini",
    "pyproject.toml",
    "tox.ini",
    "setup.cfg",
)

if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
