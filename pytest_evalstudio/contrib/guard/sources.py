"""Description of a guard from which each worker process opens the same one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pytest_evalstudio.contrib.guard.checking import Guard
from pytest_evalstudio.core.plugin_modules import registry_of
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.formats.guardrails import Guardrails


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardSource:
    """Content of the configuration files at the time when it was accepted.

    A worker that is replaced later does not read the files again, which may have changed or be broken.

    Attributes:
        file: guardrail configuration, for messages.
        guardrails: its content.
        settings: models, judge, calibrations and options; the defaults where None.
        plugin_modules: modules or files that register plugins.
        cache: folder of the caches; None for none.
        workers: processes that share the cores, and the limits and budget of judges.
        run_id: the same for all workers of a service.
    """

    file: Path
    guardrails: Guardrails
    settings: Configuration | None = None
    plugin_modules: tuple[str, ...] = ()
    cache: Path | None = None
    workers: int = 1
    run_id: str = ""

    def open(self) -> Guard:
        """Return a new guard.

        Raises:
            ConfigurationError: as `Guard` does, or if a plugin module does not load.
        """
        return Guard(
            self.file,
            settings=self.settings,
            registry=registry_of(self.plugin_modules),
            cache=self.cache,
            guardrails=self.guardrails,
            workers=self.workers,
            run_id=self.run_id,
        )
