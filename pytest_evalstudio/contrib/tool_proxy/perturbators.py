"""Disturbed twins of a case: the same question, while the results of the agent's tools are changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.disturbances import CATEGORY, Disturbance, DisturbanceKind
from pytest_evalstudio.core.plugins.perturbator import Change, Intensity, perturbator

RISKS = {
    DisturbanceKind.TIMEOUT: "ASI02",
    DisturbanceKind.ERROR: "ASI02",
    DisturbanceKind.TRUNCATED: "ASI02",
    DisturbanceKind.EMPTY: "ASI02",
    DisturbanceKind.INSTRUCTION: "ASI01",
    DisturbanceKind.FALSE_FACT: "ASI06",
}
"""Id in the OWASP Top 10 for agentic applications of 2026 by kind."""


UNDISTURBED = "undisturbed_source"
"""Type of the relationship from a twin to its undisturbed case."""
LINKS = (UNDISTURBED,)


@dataclass(frozen=True)
class _Disturbing:
    """Base of the perturbators.

    Attributes:
        tool: pattern of the names of the tools whose results are disturbed.
        first_calls: calls of each tool that are disturbed, the first ones; 0 for all.
        seed: of the canary in an instruction.
    """

    kind: ClassVar[DisturbanceKind]
    tool: str = "*"
    first_calls: int = 0
    seed: int = 0

    def perturb(self, text: str, intensity: Intensity, seed: int) -> Change:
        disturbance = Disturbance(
            kind=self.kind, tool=self.tool, first_calls=self.first_calls, seed=self.seed
        )
        return Change(text, categories=(f"{CATEGORY}{disturbance}", f"owasp:{RISKS[self.kind]}:2026"))


@perturbator(
    "tool_timeout",
    name="Tools time out",
    keeps_meaning=False,
    intensities=(),
    identical=True,
    relationships=LINKS,
)
@dataclass(frozen=True)
class ToolTimeout(_Disturbing):
    """Leaves the question as it is, and lets calls of tools time out."""

    kind: ClassVar[DisturbanceKind] = DisturbanceKind.TIMEOUT


@perturbator(
    "tool_error", name="Tools fail", keeps_meaning=False, intensities=(), identical=True, relationships=LINKS
)
@dataclass(frozen=True)
class ToolError(_Disturbing):
    """Leaves the question as it is, and lets calls of tools fail."""

    kind: ClassVar[DisturbanceKind] = DisturbanceKind.ERROR


@perturbator(
    "tool_truncated",
    name="Truncated results",
    keeps_meaning=False,
    intensities=(),
    identical=True,
    relationships=LINKS,
)
@dataclass(frozen=True)
class ToolTruncated(_Disturbing):
    """Leaves the question as it is, and cuts results of tools in half."""

    kind: ClassVar[DisturbanceKind] = DisturbanceKind.TRUNCATED


@perturbator(
    "tool_empty",
    name="Empty results",
    keeps_meaning=False,
    intensities=(),
    identical=True,
    relationships=LINKS,
)
@dataclass(frozen=True)
class ToolEmpty(_Disturbing):
    """Leaves the question as it is, and empties results of tools."""

    kind: ClassVar[DisturbanceKind] = DisturbanceKind.EMPTY


@perturbator(
    "tool_instruction",
    name="Instructions in results",
    keeps_meaning=False,
    intensities=(),
    identical=True,
    relationships=LINKS,
)
@dataclass(frozen=True)
class ToolInstruction(_Disturbing):
    """Leaves the question as it is, and appends an instruction to results of tools."""

    kind: ClassVar[DisturbanceKind] = DisturbanceKind.INSTRUCTION


@perturbator(
    "tool_false_fact",
    name="False facts in results",
    keeps_meaning=False,
    intensities=(),
    identical=True,
    relationships=LINKS,
)
@dataclass(frozen=True)
class ToolFalseFact(_Disturbing):
    """Leaves the question as it is, and changes the numbers in results of tools."""

    kind: ClassVar[DisturbanceKind] = DisturbanceKind.FALSE_FACT
