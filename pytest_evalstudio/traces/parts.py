"""Spans with their facts and positions in a trace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_evalstudio.core.steps import StepKind
from pytest_evalstudio.traces import genai, mlflow, openinference
from pytest_evalstudio.traces.facts import NO_FACTS, Facts, Kind
from pytest_evalstudio.traces.files import Trace
from pytest_evalstudio.traces.spans import Span

ROOTS = ("agent", "chain")
"""Kinds of spans that a row is made for."""
MAX_NAME_CHARS = 500
"""Longer names are cut: each step has them."""
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
        inside_model: whether it lies in a call of a model, as of a client below a framework.
    """

    span: Span
    facts: Facts
    owner: str = ""
    agent: str = ""
    parent_step: str = ""
    inside_model: bool = False

    @property
    def is_step(self) -> bool:
        """Return whether the span is a step of its row."""
        kind = self.facts.kind
        if kind == "model":
            return not self.inside_model
        return kind in STEP_KINDS and (kind != "tool" or self.facts.call is not None)


def facts_of(span: Span) -> Facts:
    """Return the facts of a span by the conventions that it follows."""
    if openinference.is_openinference(span):
        return openinference.read(span)
    if mlflow.is_mlflow(span):
        return mlflow.read(span)
    return genai.read(span) if genai.is_genai(span) else NO_FACTS


def parts_of(trace: Trace) -> dict[str, TracePart]:
    """Return the parts of a trace by the ids of their spans; cycles of parents are cut."""
    parts = {span.id: TracePart(span, facts_of(span)) for span in trace.spans}
    orphans: dict[str, str] = {}
    connected: set[str] = set()
    for start in parts:
        path: list[TracePart] = []
        seen: set[str] = set()
        id = start
        while id in parts and id not in connected and id not in seen:
            seen.add(id)
            path.append(parts[id])
            id = parts[id].span.parent
        above = parts[id] if id in connected else None
        for part in reversed(path):
            _connect(part, above, parts, orphans)
            connected.add(part.span.id)
            above = part
    return parts


def _connect(
    part: TracePart, above: TracePart | None, parts: dict[str, TracePart], orphans: dict[str, str]
) -> None:
    """Set owner and agent of a part.

    Args:
        orphans: owners by the id of a parent that is not in the trace.
    """
    span = part.span
    is_root = part.facts.kind in ROOTS
    if above is not None:
        is_owned = parts[above.owner].facts.kind in ROOTS
        part.owner = span.id if is_root and not is_owned else above.owner
        part.agent = above.agent
        part.parent_step = above.span.id if above.is_step else above.parent_step
        part.inside_model = above.inside_model or above.facts.kind == "model"
    elif span.parent and span.parent not in parts and not is_root:
        part.owner = orphans.setdefault(span.parent, span.id)
    else:
        part.owner = span.id
    if part.facts.kind == "agent" and part.facts.name:
        part.agent = part.facts.name[:MAX_NAME_CHARS]
