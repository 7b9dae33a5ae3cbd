"""An e-mail address and a secret for each text and each key that a source of answers can carry."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any


class Canaries:
    """Texts and keys with an e-mail address and a secret of their own, so that a leak names its position."""

    def __init__(self) -> None:
        self.positions: dict[str, str] = {}
        self._numbers = count(1)

    def text(self, position: str) -> str:
        """Return a sentence with both."""
        email, secret = self._pair(position)
        return f"Ask {email} for {secret} today."

    def name(self, position: str) -> str:
        """Return a key or name with both."""
        return "/".join(self._pair(position))

    def keys(self, position: str, value: Any = 5) -> dict[str, Any]:
        """Return an object with keys of both kinds, also inside of others."""
        email, secret = self._pair(position)
        inner, other = self._pair(f"{position}, nested")
        return {
            email: value,
            secret: value,
            "all": [{inner: {other: value}}],
            "text": self.text(f"{position}, text"),
            "lines": "\n".join(self._pair(f"{position}, lines")),
        }

    def leaks(self, content: bytes) -> list[str]:
        """Return the positions whose e-mail address or secret a file has."""
        text = content.decode("utf-8", "replace").lower()
        if "acmebank.com" not in text and "ghp_" not in text:
            return []
        return sorted({position for raw, position in self.positions.items() if raw in text})

    def _pair(self, position: str) -> tuple[str, str]:
        number = next(self._numbers)
        email = f"c{number:03d}@acmebank.com"
        secret = f"ghp_{'a1B2c3D4' * 4}{number:04d}"
        self.positions[email] = self.positions[secret.lower()] = position
        return email, secret


def answer(canaries: Canaries, source: str) -> dict[str, Any]:
    """Return an answer as a Python application returns it, and as a row of a lab has it."""
    text, name, keys = canaries.text, canaries.name, canaries.keys
    return {
        "context": [text(f"{source}: chunk")],
        "context_sources": [name(f"{source}: source")],
        "thoughts": text(f"{source}: thoughts"),
        "served_model": name(f"{source}: served model"),
        "request_id": name(f"{source}: request id"),
        "session": name(f"{source}: session"),
        "usage": {"input": 3, name(f"{source}: kind of tokens"): 5},
        "state": keys(f"{source}: state"),
        "steps": list(_steps(canaries, source)),
    }


def _steps(canaries: Canaries, source: str) -> Iterator[dict[str, Any]]:
    text, name, keys = canaries.text, canaries.name, canaries.keys
    for kind in ("agent", "model", "retrieval", "handover", "message"):
        at = f"{source}: step {kind}"
        yield {
            "kind": kind,
            "name": name(f"{at} name"),
            "agent": name(f"{at} agent"),
            "id": name(f"{at} id"),
            "text": text(f"{at} text"),
            "output": text(f"{at} output"),
            "usage": {name(f"{at} kind of tokens"): 5},
            "error": text(f"{at} error"),
        }
    for index, result in enumerate((text(f"{source}: result"), keys(f"{source}: result object"))):
        at = f"{source}: call {index}"
        yield {
            "kind": "tool",
            "name": name(f"{at} name") if index else "transfer",
            "arguments": keys(f"{at} arguments"),
            "id": name(f"{at} id"),
            "result": result,
            "error": text(f"{at} error"),
            "agent": name(f"{at} agent"),
        }
