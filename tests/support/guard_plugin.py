"""An evaluator for tests of the guard service, registered in each of its workers."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.contrib.guard.checking import Guard
from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.tools import Tools


@evaluator("moody", name="Moody", domain="generation", needs=("actual_output",))
@dataclass(frozen=True)
class Moody:
    """Fails, waits, hangs, crashes or raises as the answer says."""

    metrics: ClassVar[tuple[Metric, ...]] = (Metric("mood", threshold=0.5, primary=True),)

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        outcomes = []
        for case in cases:
            if "hang" in case.actual_output:
                while True:
                    time.sleep(60)
            if "backtrack" in case.actual_output:
                re.match(r"(x+x+)+y", "x" * 100)  # holds the interpreter's lock without end
            if "crash" in case.actual_output:
                os.kill(os.getpid(), signal.SIGKILL)
            if "wait" in case.actual_output:
                time.sleep(0.5)
            if "raise" in case.actual_output:
                raise RuntimeError(f"secret of the machine, and {case.actual_output}")
            outcomes.append(Outcome.score({"mood": 0.0 if "bad" in case.actual_output else 1.0}))
        return outcomes


def pytest_evalstudio_register(registry: Registry) -> None:
    registry.add_evaluator(Moody)


@dataclass(frozen=True)
class RefusedSource:
    """A guard that cannot be opened."""

    def open(self) -> Guard:
        raise ConfigurationError("there is no model")


@dataclass(frozen=True)
class DyingSource:
    """A guard whose process ends while it is opened."""

    def open(self) -> Guard:
        os._exit(3)
