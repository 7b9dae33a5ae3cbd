"""Pairs of models of a suite or lab as items: their answers are compared, blind, by a judge."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs

from pytest_evalstudio.contrib.arena.games import games_of
from pytest_evalstudio.contrib.arena.judging import SETTINGS, JudgedGames, judge_games
from pytest_evalstudio.contrib.arena.replacement import EARLIER
from pytest_evalstudio.core.cases import Answer, Case
from pytest_evalstudio.core.errors import DataError, EvaluationError
from pytest_evalstudio.formats.config import ArenaTable, Configuration
from pytest_evalstudio.judges.panel import Panel
from pytest_evalstudio.plugin.display import clean_failure
from pytest_evalstudio.plugin.items import RecordedItem
from pytest_evalstudio.plugin.keys import recorded_outcome
from pytest_evalstudio.plugin.private_api import TerminalRepr
from pytest_evalstudio.record.schema import ArenaEntry, Tables
from pytest_evalstudio.run.payload import Payload
from pytest_evalstudio.scoring.answering import answered, requests_of
from pytest_evalstudio.scoring.identifiers import safe_identifier
from pytest_evalstudio.scoring.masking import masked
from pytest_evalstudio.scoring.tasks import EvalTask, ModelInfo

if TYPE_CHECKING:
    from pytest_evalstudio.plugin.collecting import EvalFileCollector
    from pytest_evalstudio.run.services import Services

NAME = "arena"


def pair_items(
    collector: EvalFileCollector, config: Configuration, tasks: Sequence[EvalTask]
) -> Iterator[ArenaItem]:
    """Yield an item for each pair of models of a file; none without a table `[arena]`.

    Perturbed cases and models that a fixture answers for do not play.
    """
    if config.arena is None:
        return
    originals: dict[ModelInfo, list[EvalTask]] = {}
    for task in tasks:
        if task.source is None and not task.skip:
            originals.setdefault(task.model, []).append(task)
    models = collector.project.models
    for model in [model for model, answers in originals.items() if not answers[0].answered]:
        if models.fixture_of(model):
            del originals[model]
            collector.project.warn(
                f"{collector.nodeid}: model {model.label!r} is left out of the arena: its answers come"
                " from a fixture, which exists only in its own test cases",
                collector.path,
            )
    run = ArenaRun(collector.services, collector.nodeid, config, config.arena, originals)
    pairs = list(itertools.combinations(originals, 2))
    if collector.services.baseline is not None:
        pairs += [(model, run.earlier(model)) for model in originals]
    for first, second in pairs:
        name = f"{NAME}[{first.label} vs {second.label}]"
        yield ArenaItem.from_parent(
            collector, name=name, nodeid=f"{collector.nodeid}::{name}", run=run, models=(first, second)
        )


class ArenaRun:
    """The arena of one file: answers, asked once in each process, and the judge."""

    def __init__(
        self,
        services: Services,
        location: str,
        config: Configuration,
        table: ArenaTable,
        tasks: dict[ModelInfo, list[EvalTask]],
    ) -> None:
        self.table = table
        self._services = services
        self._place = location
        self._config = config
        self._tasks = tasks
        self._answers: dict[ModelInfo, list[Case]] = {}
        self._earlier: dict[ModelInfo, ModelInfo] = {}

    def earlier(self, model: ModelInfo) -> ModelInfo:
        """Return the player that has a model's answers of the baseline."""
        player = ModelInfo(key=f"{model.key}{EARLIER}", label=f"{model.label}{EARLIER}")
        self._earlier[player] = model
        return player

    def open(self, model: ModelInfo) -> Panel:
        """Open the judge, and a model that is to be asked.

        Raises:
            ConfigurationError: if one is not available.
        """
        if model in self._tasks and not self._tasks[model][0].answered:
            self._services.models.session_of(model)
        return self._services.provider.judges.open(self._config, self.table.judge or None, defaults=SETTINGS)

    def answers(self, model: ModelInfo) -> list[Case]:
        """Return the first answer of a model to each question."""
        if model not in self._answers:
            tasks = self._tasks[self._earlier.get(model, model)]
            if model in self._earlier:
                self._answers[model] = self._earlier_answers(model, tasks)
            elif tasks[0].answered:
                self._answers[model] = [task.answers[0] for task in tasks]
            else:
                answers_by_prompt = self._services.models.asked[model.key]
                prompts = [requests_of(task)[0] for task in tasks]
                self._answers[model] = [
                    answered(
                        task.case,
                        answer,
                        model,
                        1,
                        retrieves=answers_by_prompt.retrieves,
                        retrieval=answers_by_prompt.retrieval,
                    )
                    for task, answer in zip(tasks, answers_by_prompt.ask(prompts), strict=True)
                ]
        return self._answers[model]

    def _earlier_answers(self, player: ModelInfo, tasks: Sequence[EvalTask]) -> list[Case]:
        """Return the answers of the baseline to the questions of today."""
        baseline = self._services.baseline
        assert baseline is not None
        texts = baseline.answers(self._place, self._earlier[player])
        return [
            structs.replace(
                task.case, answer=Answer(text=texts[key]), model_key=player.key, model_name=player.label
            )
            for task in tasks
            if (key := safe_identifier(task.key)) in texts
        ]

    def judged(self, models: tuple[ModelInfo, ModelInfo]) -> JudgedGames:
        """Return the verdicts on the games between two models.

        Raises:
            EvaluationError: if there is no prompt that both have answered.
        """
        answers = [case for model in models for case in self.answers(model)]
        if models[1] in self._earlier:  # the baseline's answers are masked: nothing else may differ
            answers = [case.with_answer(text=masked(case.actual_output)) for case in answers]
        try:
            games = games_of(answers, seed=self.table.seed, both_orders=self.table.both_orders)
        except DataError as exc:
            raise EvaluationError(str(exc)) from None
        return judge_games(games, self.open(models[0]), seed=self.table.seed, prompt=self.table.prompt)


class ArenaItem(RecordedItem):
    """The games between two models; it passes when each game has a verdict, whoever wins."""

    def __init__(self, *, run: ArenaRun, models: tuple[ModelInfo, ModelInfo], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._run = run
        self._models = models
        self._judged: JudgedGames | None = None
        self.labels = (models[0].label, models[1].label)
        self.add_marker(pytest.mark.arena)

    @property
    def chunk_name(self) -> str:
        """Return the chunk that the pair is by itself."""
        return self.nodeid

    def open(self) -> None:
        """Open judge and models before the run.

        Raises:
            ConfigurationError: if one is not available.
        """
        for model in self._models:
            self._run.open(model)

    def setup(self) -> None:
        super().setup()
        if self.config.getoption("setuponly", False):
            return
        # Not in `runtest`: a game without a verdict is an error of the test, no failure.
        self._judged = self._run.judged(self._models)
        if self._judged.faults:
            reason, count = next(iter(self._judged.faults.items()))
            raise EvaluationError(f"{count} games have no verdict: {reason}")

    def runtest(self) -> None:
        """Nothing: who wins is a question for gates."""

    def payload(self, report: pytest.TestReport) -> Payload:
        """Return the record's entry of the pair."""
        judged = self._judged
        table = self._run.table
        entry = ArenaEntry(
            file=self.nodeid.partition("::")[0],
            models=(self._models[0].label, self._models[1].label),
            battles=tuple(judged.battles) if judged is not None else (),
            missing=sum(judged.faults.values()) if judged is not None else 0,
            reason=masked(next(iter(judged.faults), "")) if judged is not None else "",
            seed=table.seed,
            rounds=table.rounds,
            verdict=recorded_outcome(report),
        )
        return Payload.of(self.nodeid, Tables(arena={self.nodeid: entry}))

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None
    ) -> str | TerminalRepr:
        if isinstance(excinfo.value, EvaluationError):
            return clean_failure(str(excinfo.value))
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, self.name
