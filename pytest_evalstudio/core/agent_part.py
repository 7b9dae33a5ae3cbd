"""Parts of the server for coding agents that an optional part brings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTool:
    """Tool that a coding agent can call, without arguments.

    Attributes:
        name: unique among the tools of the server.
        description: for the agent.
        call: returns the answer.
    """

    name: str
    description: str
    call: Callable[[], Awaitable[str]]


class AgentPart(Protocol):
    """Tools of an optional part, and what it keeps from the agent."""

    @property
    def tools(self) -> Sequence[AgentTool]:
        """Return the tools."""

    @property
    def private_variables(self) -> Sequence[str]:
        """Return the environment variables that no program of the agent may get."""

    def hides(self, nodeid: str) -> bool:
        """Return whether the agent must not run a test, nor see it listed."""
