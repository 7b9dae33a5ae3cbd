"""The hidden half at the server for coding agents: a rationed tool, and tests that the agent must not run."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from pytest_evalstudio.contrib.holdout.folder import FOLDER_VARIABLE, KEY_VARIABLE, HiddenHalf
from pytest_evalstudio.core.agent_part import AgentTool
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.suite import TestSuite

DESCRIPTION = (
    "Compare the open half of the cases with a hidden half, by pass rates with noise. Each call uses up one"
    " look of a ration, also where nothing changed; call it when the open half passes."
)
TIMEOUT_S = 900.0


class HiddenHalfPart:
    """A `core.agent_part.AgentPart`.

    Args:
        half: opened by the person who starts the server.
        project: folder of the server.
    """

    def __init__(self, half: HiddenHalf, project: Path) -> None:
        self._half = half
        self._project = project
        self._names = _names(half.suite()) if half.settings.is_shared else frozenset()
        # Read once: a case that the agent adds later must not make the copy of a hidden one look open.
        self._open_names = _open_names(project / half.settings.suite) - self._names
        self._lock = asyncio.Lock()

    @property
    def private_variables(self) -> Sequence[str]:
        """Return the variables with the folder and the key."""
        return (FOLDER_VARIABLE, KEY_VARIABLE)

    @property
    def tools(self) -> Sequence[AgentTool]:
        """Return the tool that looks."""
        return (AgentTool(name="hidden_half", description=DESCRIPTION, call=self._look),)

    def hides(self, nodeid: str) -> bool:
        """Return whether a test is a hidden case, or by its name a perturbed copy of one."""
        path, _, name = nodeid.partition("::")
        if not self._names or Path(path) != Path(self._half.settings.suite):
            return False
        key = name.rpartition("[")[0]
        if key in self._open_names:
            return False
        # A copy has the key of its original in front; of several that fit, the longest is the original.
        parts = key.split("-")
        beginnings = ("-".join(parts[:count]) for count in range(len(parts), 0, -1))
        original = next((each for each in beginnings if each in self._names | self._open_names), "")
        return original in self._names

    async def _look(self) -> str:
        from pytest_evalstudio.contrib.holdout.look import look

        if self._lock.locked():
            raise DataError("a look is going on; wait for its end")
        async with self._lock:
            answer = await asyncio.to_thread(look, self._half, self._project, timeout_s=TIMEOUT_S)
        return answer.sentence


def _names(suite: TestSuite) -> frozenset[str]:
    from pytest_evalstudio.scoring.identifiers import safe_identifier
    from pytest_evalstudio.scoring.tasks import item_name

    return frozenset(item_name(safe_identifier(case.key)) for _, case in suite.cases())


def _open_names(path: Path) -> frozenset[str]:
    """Return the names of all cases of the project's suite; none of one that cannot be read."""
    try:
        return _names(TestSuite.load(path))
    except (DataError, OSError):
        return frozenset()


def hidden_half(project: Path) -> HiddenHalfPart | None:
    """Return the hidden half that the environment of the server names, None where it names none.

    Raises:
        ConfigurationError: if it cannot be opened.
    """
    folder = os.environ.get(FOLDER_VARIABLE)
    return HiddenHalfPart(HiddenHalf(Path(folder)), project) if folder else None
