"""Edits of a case's expectations: what a record was scored by, and what the protected revision expects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pytest_evalstudio.contrib.attestation.conditions import Direction, direction_of
from pytest_evalstudio.core.tool_calls import ExpectedToolCall, call_text
from pytest_evalstudio.record.schema import RecordRow

_TEXT_CHARS = 80


class ExpectationEdit(NamedTuple):
    """Edit of one expectation.

    Attributes:
        name: as people call the expectation.
        direction: whether the edited one accepts more answers.
        before, after: short texts, masked as in a record.
    """

    name: str
    direction: Direction
    before: str
    after: str

    @property
    def text(self) -> str:
        """Return the edit in words."""
        if not self.after:
            return f"{self.name} removed: {self.before}"
        if not self.before:
            return f"{self.name} added: {self.after}"
        words = {"stricter": "narrowed", "weaker": "widened"}.get(self.direction, "edited")
        return f"{self.name} {words}: {self.before} → {self.after}"


def edits(base: RecordRow, row: RecordRow) -> Iterator[ExpectationEdit]:
    """Yield the expectations of a stored row that differ from those of the protected revision."""
    for edit in _all_edits(base, row):
        if edit.direction != "same":
            yield edit


def _all_edits(base: RecordRow, row: RecordRow) -> Iterator[ExpectationEdit]:
    yield ExpectationEdit(
        "condition",
        direction_of(base.condition, row.condition),
        _short(base.condition),
        _short(row.condition),
    )
    if base.condition_on != row.condition_on and base.condition and row.condition:
        yield ExpectationEdit(
            "condition_on", "other", base.condition_on or "default", row.condition_on or "default"
        )
    outputs = _outputs(base), _outputs(row)
    # One accepted answer more is one more way to pass.
    yield _edit("expected output", *outputs, more_is="weaker")
    yield _edit("expected facts", base.expected_facts, row.expected_facts, more_is="stricter")
    yield _edit("guidelines", base.guidelines, row.guidelines, more_is="stricter")
    yield _edit("expected documents", base.expected_documents, row.expected_documents, more_is="other")
    yield _edit("expected chunks", base.expected_chunks, row.expected_chunks, more_is="other")
    if (base.expects or "answer") != (row.expects or "answer"):
        yield ExpectationEdit("expects", "other", base.expects or "answer", row.expects or "answer")
    if base.retrieval != row.retrieval and base.retrieval:
        direction: Direction = "weaker" if base.retrieval == "required" else "other"
        yield ExpectationEdit("retrieval", direction, base.retrieval, row.retrieval or "default")
    yield _calls_edit(base.expected_tool_calls, row.expected_tool_calls)
    if base.expected_state != row.expected_state:
        direction = "weaker" if base.expected_state and not row.expected_state else "other"
        direction = "stricter" if not base.expected_state else direction
        yield ExpectationEdit(
            "expected state",
            direction,
            _short(str(base.expected_state or "")),
            _short(str(row.expected_state or "")),
        )
    if base.plan != row.plan:
        yield ExpectationEdit("conversation", "other", base.plan or "none", row.plan or "none")


def _outputs(row: RecordRow) -> tuple[str, ...]:
    return tuple(filter(None, (row.expected_output, *row.accepted_outputs)))


def _edit(name: str, before: Sequence[str], after: Sequence[str], *, more_is: Direction) -> ExpectationEdit:
    old, new = set(before), set(after)
    direction: Direction = "other"
    if old == new:
        direction = "same"
    elif not old or not new:
        direction = "weaker" if old else "stricter"
    elif old < new:
        direction = more_is
    elif new < old:
        direction = {"weaker": "stricter", "stricter": "weaker"}.get(more_is, "other")  # type: ignore[assignment]
    return ExpectationEdit(name, direction, _short(" | ".join(before)), _short(" | ".join(after)))


def _calls_edit(
    before: Sequence[ExpectedToolCall] | None, after: Sequence[ExpectedToolCall] | None
) -> ExpectationEdit:
    name, old, new = "expected tool calls", _calls(before), _calls(after)
    if before is None or after is None:
        direction: Direction = "stricter" if before is None else "weaker"
        if before is after:
            direction = "same"
        return ExpectationEdit(name, direction, old, new)
    if [(call.name, call.arguments) for call in before] != [(call.name, call.arguments) for call in after]:
        return ExpectationEdit(name, "other", old, new)
    pairs = {
        (first.other_arguments, second.other_arguments) for first, second in zip(before, after, strict=True)
    }
    pairs = {(first, second) for first, second in pairs if first != second}
    if not pairs:
        direction = "same"
    elif all(second == "forbid" for _, second in pairs):
        direction = "stricter"
    else:
        direction = "weaker"
    return ExpectationEdit(name, direction, old, new)


def _calls(calls: Sequence[ExpectedToolCall] | None) -> str:
    if calls is None:
        return ""
    texts = [
        call_text(call.name, call.arguments) + (f" [{call.other_arguments}]" if call.other_arguments else "")
        for call in calls
    ]
    return _short(", ".join(texts) or "no calls")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _TEXT_CHARS else f"{line[: _TEXT_CHARS - 1]}…"
