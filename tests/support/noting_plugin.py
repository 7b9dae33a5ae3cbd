"""Evaluator that notes what it scores, and waits or ends its process as answers say; tests copy this file.

An answer "die" ends the process that scores it, "once" does so the first time, and one that begins with
"wait" is scored when the file `hold` beside this one is deleted.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.tools import Tools

HERE = Path(__file__).parent


@evaluator("noting", name="Noting", domain="generation", needs=("actual_output",))
@dataclass(frozen=True)
class Noting:
    """Length of the answer."""

    metrics: ClassVar[tuple[Metric, ...]] = (Metric("length", primary=True, range=(0.0, 1e9), threshold=1.0),)

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        with open(HERE / "scored.txt", "a") as file:
            file.write("".join(case.key + "\n" for case in cases))
        answers = {case.actual_output for case in cases}
        if "once" in answers and not (HERE / "died").exists():
            (HERE / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if "die" in answers:
            os.kill(os.getpid(), signal.SIGKILL)
        while any(answer.startswith("wait") for answer in answers) and (HERE / "hold").exists():
            time.sleep(0.02)
        return [Outcome.score({"length": float(len(case.actual_output))}) for case in cases]


def pytest_evalstudio_register(registry: Registry) -> None:
    registry.add_evaluator(Noting)
