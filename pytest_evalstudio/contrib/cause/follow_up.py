"""`--evalstudio-explain`: the causes of the cases of a run that regress."""

from __future__ import annotations

import functools
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path

from pytest_evalstudio.contrib.cause.cases import Application, RegressedCase, document_paths, regressed_case
from pytest_evalstudio.contrib.cause.chunks import Documents
from pytest_evalstudio.contrib.cause.replay import Ask, Replays, Reply
from pytest_evalstudio.contrib.cause.search import Conclusion, Search
from pytest_evalstudio.contrib.cause.wording import entry_of
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.host import Restores
from pytest_evalstudio.formats.model_tables import ModelTable
from pytest_evalstudio.record.causes import CauseBasis, CauseCode, CauseEntry
from pytest_evalstudio.record.revision import revision
from pytest_evalstudio.record.schema import Tables
from pytest_evalstudio.run.models import AskedAhead
from pytest_evalstudio.run.planning import PlannedItem
from pytest_evalstudio.run.project import Project
from pytest_evalstudio.run.services import Services
from pytest_evalstudio.scoring.pipeline import Pipeline, Progress
from pytest_evalstudio.scoring.recorded import recorded
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.scoring.shrinking.budget import CallBudget
from pytest_evalstudio.scoring.tasks import EvalTask, ModelInfo

OPTION = "--evalstudio-explain"
Steps = Generator[Ask, Reply, Conclusion]


class Explanation:
    """Search for the causes of a run's regressions, a `run.follow_ups.FollowUp`.

    Args:
        project: of the session.
        services: of the session; they have a baseline.
    """

    def __init__(self, project: Project, services: Services) -> None:
        self._project = project
        self._services = services
        self._documents: dict[tuple[Path, ...], Documents] = {}

    @functools.cached_property
    def _budget(self) -> CallBudget:
        calls = self._project.settings.session.cause.max_calls
        return CallBudget(*self._services.models.common_purse("explain", calls))

    @functools.cached_property
    def _commit(self) -> str:
        return revision(self._project.settings.command_line.root).commit

    def follow(
        self,
        pipeline: Pipeline,
        regressed: Sequence[tuple[PlannedItem, Result]],
        *,
        progress: Progress,
        earlier: Mapping[EvalTask, Result],
    ) -> Mapping[str, Tables]:
        """Return the cause of each regressed case by node id."""
        cases, entries = self._cases(regressed)
        replays = Replays(pipeline, self._model, self._budget, earlier=earlier, progress=progress)
        for case, conclusion in zip(cases, _searched(cases, replays), strict=True):
            entries[case.item.nodeid] = entry_of(case, conclusion)
        results = {item.nodeid: result for item, result in regressed}
        tables: dict[str, Tables] = {}
        for nodeid, entry in entries.items():
            entry_of_record = recorded(entry)
            results[nodeid].explained = entry_of_record.text
            tables[nodeid] = Tables(causes={nodeid: entry_of_record})
        return tables

    def estimate(self, items: Sequence[PlannedItem]) -> Sequence[str]:
        """Return a line with the calls that explanations may take."""
        replayable_items = [item for item in items if not (item.task.answered or item.task.skip)]
        if not replayable_items:
            return []
        table = self._project.settings.session.cause
        calls = f"at most {table.calls_per_case:,} further calls for each case that regresses"
        return [f"explanations: {calls}, {table.max_calls:,} in all; not included above"]

    def _cases(
        self, regressed: Sequence[tuple[PlannedItem, Result]]
    ) -> tuple[list[RegressedCase], dict[str, CauseEntry]]:
        """Return the cases with an answer in both runs, and the entries of the others."""
        baseline = self._services.baseline
        assert baseline is not None  # a case regresses from one
        results = {item.nodeid: result for item, result in regressed}
        cases: list[RegressedCase] = []
        for item, entry in baseline.recorded(item for item, _ in regressed):
            result = results.get(item.nodeid)
            if result is None or not result.answers or result.answers[0].answer.error:
                continue
            del results[item.nodeid]
            cases.append(
                regressed_case(
                    item,
                    result,
                    entry.rows[0].answer,
                    self._application(item),
                    documents=self._documents_of(document_paths(item)),
                    base_model=baseline.run.models.get(entry.model_key),
                    same_commit=bool(self._commit) and baseline.run.commit == self._commit,
                )
            )
        missing = {item.nodeid: _unanswered(item) for item, _ in regressed if item.nodeid in results}
        return cases, missing

    def _documents_of(self, paths: tuple[Path, ...]) -> Documents:
        """Return documents, which all cases of an application share."""
        return self._documents.setdefault(paths, Documents(paths))

    def _application(self, item: PlannedItem) -> Application:
        model = item.task.model
        config = item.file.config
        if item.task.answered:
            return Application(
                restores=frozenset(),
                composes=True,
                deterministic=True,
                recorded_tools=frozenset(),
                runs_user_code=False,
                table=ModelTable(name=model.label),
                configured_models=(),
                options=config.cause,
            )
        opened_model = self._model(model, None)
        host = opened_model.host
        parts = host if isinstance(host, Restores) else None
        return Application(
            restores=parts.restores if parts is not None else frozenset(),
            composes=parts is None or parts.composes,
            recorded_tools=parts.recorded_tools if parts is not None else frozenset(),
            deterministic=opened_model.deterministic,
            runs_user_code=host.__evalstudio__.runs_user_code,
            table=self._services.models.table_of(model),
            configured_models=tuple(str(table.settings.get("llm_model_name", "")) for table in config.model),
            options=config.cause,
        )

    def _model(self, model: ModelInfo, table: ModelTable | None) -> AskedAhead:
        models = self._services.models
        if table is not None:
            return models.variant(model, table)
        models.session_of(model)
        return models.asked[model.key]


def _unanswered(item: PlannedItem) -> CauseEntry:
    return CauseEntry(
        file=item.file.nodeid,
        key=item.task.key,
        model=item.task.model.label,
        code=CauseCode.NOT_TESTED,
        basis=CauseBasis.NONE,
        text="not tested: the baseline or this run has no answer of the case",
    )


def _searched(cases: Sequence[RegressedCase], replays: Replays) -> list[Conclusion]:
    """Return the conclusion of each case; the questions of all cases are asked in common rounds."""
    conclusions: dict[int, Conclusion] = {}
    waiting: dict[int, tuple[Steps, Ask]] = {}
    for index, case in enumerate(cases):
        _advance(index, Search(case).steps(), None, waiting, conclusions)
    while waiting:
        round_asks = list(waiting.items())
        replies = replays.replies([ask for _, (_, ask) in round_asks])
        for (index, (steps, _)), reply in zip(round_asks, replies, strict=True):
            del waiting[index]
            _advance(index, steps, reply, waiting, conclusions)
    return [conclusions[index] for index in range(len(cases))]


def _advance(
    index: int,
    steps: Steps,
    reply: Reply | None,
    waiting: dict[int, tuple[Steps, Ask]],
    conclusions: dict[int, Conclusion],
) -> None:
    """Let one search go on until it asks again or ends."""
    try:
        ask = next(steps) if reply is None else steps.send(reply)
    except StopIteration as end:
        conclusions[index] = end.value
        return
    waiting[index] = steps, ask


def explanation(project: Project, services: Services) -> Explanation:
    """Return the search of a session.

    Raises:
        ConfigurationError: if the run has no baseline.
    """
    if services.baseline is None:
        raise ConfigurationError(
            f"{OPTION} needs a baseline: name one by --evalstudio-baseline FILE, or save the last run with"
            " `evalstudio baseline save`"
        )
    return Explanation(project, services)
