"""Chat completions that arrive in parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pytest_evalstudio.hosts._completions import thoughts_in


@dataclass(kw_only=True)
class StreamedMessage:
    """The message of a streamed completion, as far as it has arrived."""

    content: str | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[dict[str, Any]] | None = None


@dataclass(kw_only=True)
class StreamedCompletion:
    """A chat completion that is joined from its chunks; it has the attributes of one that came at once.

    Attributes:
        first_token_s: seconds until the first part of the text or the first tool call arrived.
    """

    message: StreamedMessage = field(default_factory=StreamedMessage)
    finish_reason: str | None = None
    usage: Any = None
    model: str = ""
    id: str = ""
    request_id: str = ""
    first_token_s: float | None = None
    _texts: list[str] = field(default_factory=list)
    _refusals: list[str] = field(default_factory=list)
    _thoughts: list[str] = field(default_factory=list)
    _calls: dict[int, dict[str, Any]] = field(default_factory=dict)

    @property
    def choices(self) -> list[StreamedCompletion]:
        """Return the only choice: it has `message` and `finish_reason`."""
        self.message.content = "".join(self._texts) if self._texts else None
        self.message.reasoning_content = "".join(self._thoughts) or None
        self.message.refusal = "".join(self._refusals) or None
        self.message.tool_calls = [self._calls[index] for index in sorted(self._calls)] or None
        return [self]

    @property
    def _request_id(self) -> str:
        return self.request_id

    def add(self, chunk: Any, elapsed_s: float) -> None:
        """Add a chunk; malformed ones are ignored.

        Args:
            elapsed_s: seconds since the request was sent.
        """
        for name in ("model", "id"):
            value = getattr(chunk, name, None)
            if isinstance(value, str) and value:
                setattr(self, name, value)
        self.usage = getattr(chunk, "usage", None) or self.usage
        choices = getattr(chunk, "choices", None)
        if not isinstance(choices, list) or not choices:
            return
        delta = getattr(choices[0], "delta", None)
        finish = getattr(choices[0], "finish_reason", None)
        self.finish_reason = finish if isinstance(finish, str) else self.finish_reason
        self._thoughts.append(thoughts_in(delta))
        arrived = self._add_texts(delta) | self._add_calls(getattr(delta, "tool_calls", None))
        if arrived and self.first_token_s is None:
            self.first_token_s = elapsed_s

    def _add_texts(self, delta: Any) -> bool:
        arrived = False
        for name, texts in (("content", self._texts), ("refusal", self._refusals)):
            value = getattr(delta, name, None)
            if isinstance(value, str):
                texts.append(value)
                arrived = arrived or bool(value)
        return arrived

    def _add_calls(self, calls: Any) -> bool:
        """Join the parts of tool calls: name and arguments arrive in pieces."""
        if not isinstance(calls, list):
            return False
        for part in calls:
            call = self._calls.setdefault(
                part.index, {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
            )
            call["id"] = part.id or call["id"]
            for name in ("name", "arguments"):
                call["function"][name] += getattr(part.function, name, None) or ""
        return bool(calls)
