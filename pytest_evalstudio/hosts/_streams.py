"""Chat completions that arrive in parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_evalstudio.hosts._completions import thoughts_in


@dataclass(kw_only=True)
class StreamedCompletion:
    """A chat completion that is joined from its chunks.

    Attributes:
        finish_reason: of the last chunk that has one; None before.
        first_token_s: seconds until the first part of the text or the first tool call arrived.
    """

    finish_reason: str | None = None
    first_token_s: float | None = None
    _usage: Any = None
    _names: dict[str, str] = field(default_factory=dict)
    _texts: list[str] = field(default_factory=list)
    _refusals: list[str] = field(default_factory=list)
    _thoughts: list[str] = field(default_factory=list)
    _calls: dict[int, dict[str, Any]] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Return the JSON of the completion as a service sends it at once."""
        message = {
            "content": "".join(self._texts) if self._texts else None,
            "refusal": "".join(self._refusals) or None,
            "reasoning_content": "".join(self._thoughts) or None,
            "tool_calls": [self._calls[index] for index in sorted(self._calls)] or None,
        }
        return {
            **self._names,
            "choices": [{"message": message, "finish_reason": self.finish_reason}],
            "usage": self._usage,
        }

    def add(self, chunk: Mapping[str, Any], elapsed_s: float) -> None:
        """Add a chunk; malformed ones are ignored.

        Args:
            elapsed_s: seconds since the request was sent.
        """
        for name in ("model", "id"):
            value = chunk.get(name)
            if isinstance(value, str) and value:
                self._names[name] = value
        self._usage = chunk.get("usage") or self._usage
        choices = chunk.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
            return
        finish = choices[0].get("finish_reason")
        self.finish_reason = finish if isinstance(finish, str) else self.finish_reason
        delta = choices[0].get("delta")
        if not isinstance(delta, Mapping):
            return
        self._thoughts.append(thoughts_in(delta))
        has_arrived = self._add_texts(delta) | self._add_calls(delta.get("tool_calls"))
        if has_arrived and self.first_token_s is None:
            self.first_token_s = elapsed_s

    def _add_texts(self, delta: Mapping[str, Any]) -> bool:
        has_arrived = False
        for name, texts in (("content", self._texts), ("refusal", self._refusals)):
            value = delta.get(name)
            if isinstance(value, str):
                texts.append(value)
                has_arrived = has_arrived or bool(value)
        return has_arrived

    def _add_calls(self, calls: Any) -> bool:
        """Join the parts of tool calls: name and arguments arrive in pieces."""
        parts = [part for part in calls if isinstance(part, Mapping)] if isinstance(calls, list) else []
        for part in parts:
            # Some services leave the index out where there is one call.
            index = part.get("index")
            call = self._calls.setdefault(
                index if isinstance(index, int) else 0,
                {"id": "", "type": "function", "function": {"name": "", "arguments": ""}},
            )
            call["id"] = part.get("id") or call["id"]
            function = part.get("function")
            for name in ("name", "arguments"):
                piece = function.get(name) if isinstance(function, Mapping) else None
                call["function"][name] += piece if isinstance(piece, str) else ""
        return bool(parts)
