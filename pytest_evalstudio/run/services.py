"""Models, judges, baseline, spans and event loops of one process, each opened when it is needed."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.asking.runs import AskingRun
from pytest_evalstudio.core.defaults import BASELINE_FILE
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.contrib import contribs, loaded
from pytest_evalstudio.run.project import Project
from pytest_evalstudio.run.settings import Settings
from pytest_evalstudio.scoring.model_provider import ModelProvider

if TYPE_CHECKING:
    from pytest_evalstudio.asking.tracing import Tracing
    from pytest_evalstudio.record.schema import Tables
    from pytest_evalstudio.run.baseline import SessionBaseline
    from pytest_evalstudio.run.confirming import Confirmation
    from pytest_evalstudio.run.follow_ups import FollowUp
    from pytest_evalstudio.run.loops import FixtureLoops
    from pytest_evalstudio.run.models import Models
    from pytest_evalstudio.run.planning import PlannedItem
    from pytest_evalstudio.run.shrinking import Shrinking
    from pytest_evalstudio.run.tracing import SessionTracing
    from pytest_evalstudio.scoring.spans import EvaluatorSpans


class CurrentRun:
    """The run that asks the models in this process; a new one before another is set.

    Args:
        settings: whether a new run replays or refreshes stored answers.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._run: AskingRun | None = None
        self._receive: Callable[[], AskingRun | None] | None = None
        self._lock = threading.Lock()  # models are asked in threads

    @property
    def is_shared(self) -> bool:
        """Return whether another process begins the run."""
        return self._receive is not None

    def get(self) -> AskingRun:
        """Return the run."""
        with self._lock:
            if self._run is None:
                received = self._receive() if self._receive is not None else None
                self._run = received or AskingRun.new(
                    replays=self._settings.replay, refreshes=self._settings.refresh
                )
            return self._run

    def begin(self, run: AskingRun) -> None:
        """Set the run."""
        self._run = run

    def share(self, receive: Callable[[], AskingRun | None]) -> None:
        """Take the run of another process when the first question is asked.

        Args:
            receive: waits for the run; None if none arrives.
        """
        self._receive = receive


class Services:
    """Models, loops and other resources that a process opens for its items, and closes with its session.

    Args:
        project: whose models are asked.

    Attributes:
        closing: closes the models, judges, caches and the lock of the output folder.
        run: the run that asks the models.
        at_end: what optional parts write at the end, by the file whose items have run here.
        entries: what follow-ups add to the record's header, by node id, until the item's report takes it.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self.closing = ExitStack()
        self.run = CurrentRun(project.settings)
        self.at_end: dict[Path, Callable[[], None]] = {}
        self.entries: dict[str, Tables] = {}

    @functools.cached_property
    def spans(self) -> EvaluatorSpans:
        """Return the times of evaluators that no report has brought to the record yet."""
        from pytest_evalstudio.scoring.spans import EvaluatorSpans

        return EvaluatorSpans()

    @functools.cached_property
    def models(self) -> Models:
        """Return the models that this session asks."""
        from pytest_evalstudio.run.models import Models

        return Models(
            self._project,
            self.closing,
            run=self.run.get,
            tracing=self.tracing,
            loops=self.fixture_loops,
        )

    @functools.cached_property
    def session_tracing(self) -> SessionTracing | None:
        """Return the receiver and sources of spans of this process, None without `[trace]`.

        Raises:
            ConfigurationError: if they cannot be used.
        """
        table = self._project.settings.session.trace
        if table is None:
            return None
        from pytest_evalstudio.run.tracing import SessionTracing

        return SessionTracing(self._project, table, self.run.get(), self.closing)

    def tracing(self) -> Tracing | None:
        """Return the traces of the questions of this process."""
        return self.session_tracing.tracing if self.session_tracing is not None else None

    @functools.cached_property
    def provider(self) -> ModelProvider:
        """Return the provider of models and judges for the evaluators."""
        settings = self._project.settings
        provider = ModelProvider(
            cache=settings.cache(),
            workers=settings.command_line.workers,
            worker_index=settings.command_line.worker_index,
            registry=self._project.registry,
            refresh=settings.refresh,
            run_id=settings.command_line.run_id,
            read_only=settings.estimates,
        )
        self.closing.callback(self._close_provider, provider)
        return provider

    def _close_provider(self, provider: ModelProvider) -> None:
        for warning in provider.warnings():
            self._project.warn(warning, self._project.settings.cache())
        provider.close()

    @functools.cached_property
    def shrinking(self) -> Shrinking | None:
        """Return the search for the smallest edits of flips, None if the run does not ask for it."""
        if not self._project.settings.shrink_calls:
            return None
        from pytest_evalstudio.run.shrinking import shrinking

        return shrinking(self.models, self._project.settings)

    @functools.cached_property
    def follow_ups(self) -> tuple[FollowUp, ...]:
        """Return what optional parts do with regressed cases.

        Raises:
            ConfigurationError: if there is no baseline that a case can regress from.
        """
        option = self._project.settings.command_line.options
        return tuple(
            loaded(contrib.follow_up)(self._project, self)
            for contrib in contribs()
            if contrib.follow_up
            and any(getattr(option, name.lstrip("-").replace("-", "_"), None) for name in contrib.options)
        )

    @functools.cached_property
    def fixture_loops(self) -> FixtureLoops:
        """Return the event loops of asynchronous fixtures."""
        from pytest_evalstudio.run.loops import FixtureLoops

        return FixtureLoops()

    @functools.cached_property
    def baseline(self) -> SessionBaseline | None:
        """Return the baseline that the run is compared with, None for none.

        Raises:
            ConfigurationError: if the given one cannot be used.
        """
        settings = self._project.settings
        path = settings.baseline()
        if path is None:
            return None
        if not path.exists():
            output = "" if path.name == BASELINE_FILE else f" -o {path.name}"
            fact = (
                f"{path}: there is no baseline yet; run the suite without it once, then"
                f" `evalstudio baseline save{output}`"
            )
            if settings.names_baseline:
                raise ConfigurationError(fact)
            self._project.warn(fact, path)
            return None
        from pytest_evalstudio.run.baseline import SessionBaseline

        return SessionBaseline(path, settings)

    def confirmation(self, items: Iterable[PlannedItem]) -> Confirmation | None:
        """Return the repetition of the items that regress, None where none is asked again."""
        max_runs = self._project.settings.confirm
        if self.baseline is None or not max_runs:
            return None
        from pytest_evalstudio.run.confirming import Confirmation

        return Confirmation(self.baseline, self.models, max_runs, items)

    def mask(self, text: str) -> str:
        """Return a text of pytest without the configured secrets of models and judges."""
        text = self.models.mask(text)
        return self.provider.mask(text) if "provider" in self.__dict__ else text

    def spent(self) -> dict[str, float]:
        """Return the judge usage of this process, or an empty mapping if no judge was asked."""
        return self.provider.spent() if "provider" in self.__dict__ else {}
