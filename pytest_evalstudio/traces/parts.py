"""Spans with their facts and positions in a trace."""

from __future__ import annotations

from pytest_evalstudio.traces import genai, mlflow, openinference, vercel
from pytest_evalstudio.traces.facts import NO_FACTS, Facts
from pytest_evalstudio.traces.files import Trace
from pytest_evalstudio.traces.nested import merge_models
from pytest_evalstudio.traces.spans import Span
from pytest_evalstudio.traces.trace_part import TracePart

ROOTS = ("agent", "chain")
"""Kinds of spans that a row is made for."""
MAX_NAME_CHARS = 500
"""Longer names are cut: each step has them."""


def facts_of(span: Span) -> Facts:
    """Return the facts of a span by the conventions that it follows."""
    if openinference.is_openinference(span):
        return openinference.read(span)
    if mlflow.is_mlflow(span):
        return mlflow.read(span)
    if vercel.is_vercel(span):
        return vercel.read(span)
    return genai.read(span) if genai.is_genai(span) else NO_FACTS


def parts_of(trace: Trace) -> dict[str, TracePart]:
    """Return the parts of a trace by the ids of their spans; cycles of parents are cut."""
    parts = {span.id: TracePart(span, facts_of(span)) for span in trace.spans}
    if merge_models(_connect_all(parts), parts):
        _connect_all(parts)
    return parts


def _connect_all(parts: dict[str, TracePart]) -> list[TracePart]:
    """Set the positions of all parts, and return them, each after the one above it."""
    ordered: list[TracePart] = []
    orphans: dict[str, str] = {}
    connected: set[str] = set()
    for start, first in parts.items():
        if start in connected:
            continue
        parent = first.span.parent
        if parent != start and (parent in connected or parent not in parts):  # as nearly all
            _connect(first, parts[parent] if parent in connected else None, parts, orphans)
            connected.add(start)
            ordered.append(first)
            continue
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
            ordered.append(part)
            above = part
    return ordered


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
        part.is_check = above.is_check or above.facts.kind == "guardrail"
        is_owned = parts[above.owner].facts.kind in ROOTS or part.is_check
        part.owner = span.id if is_root and not is_owned else above.owner
        part.agent = above.agent
        part.parent_step = above.span.id if above.is_step else above.parent_step
        if above.facts.kind == "model":
            part.model_above = above.span.id
        else:  # a tool or agent below a model asks models of its own
            part.model_above = above.model_above if above.facts.kind in ("chain", "") else ""
    elif span.parent and span.parent not in parts and not is_root:
        part.owner = orphans.setdefault(span.parent, span.id)
    else:
        part.owner = span.id
    if part.facts.kind == "agent" and part.facts.name:
        part.agent = part.facts.name[:MAX_NAME_CHARS]
