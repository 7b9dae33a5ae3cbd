"""Span of a trace with what it says, and its position."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_evalstudio.core.steps import StepKind
from pytest_evalstudio.traces.facts import Facts, Kind
from pytest_evalstudio.traces.spans import Span

STEP_KINDS: Mapping[Kind, StepKind] = {
    "model": "model",
    "tool": "tool",
    "retrieval": "retrieval",
    "handover": "handover",
    "agent": "agent",
}


@dataclass(slots=True)
class TracePart:
    """Span with its facts and its position in the trace.

    Attributes:
        owner: id of the span whose row it belongs to.
        agent: name of the nearest agent above it.
        parent_step: id of the nearest span above it that is a step of a row; "" for none.
        model_above: id of the call of a model that it lies in, as that of a client below a framework.
        is_merged: whether the call of a model above it has what it says.
        is_check: whether it belongs to a guardrail, which neither asks nor answers for the application.
    """

    span: Span
    facts: Facts
    owner: str = ""
    agent: str = ""
    parent_step: str = ""
    model_above: str = ""
    is_merged: bool = False
    is_check: bool = False

    @property
    def is_step(self) -> bool:
        """Return whether the span is a step of its row."""
        kind = self.facts.kind
        if kind == "model":
            return not self.is_merged
        return kind in STEP_KINDS and (kind != "tool" or self.facts.call is not None)
