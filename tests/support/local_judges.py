"""Ollama and llama.cpp's server on loopback, as far as a judge uses them, with their quirks."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from support.service import Request, Response

_WRONG = re.compile(r"\b90 [a-zA-Z]")
"""Number that the bad answers of the recipes have, and no context."""
Judge = Callable[[str], bool]


def good_judge(prompt: str) -> bool:
    """Return True for a prompt about a good answer."""
    return _WRONG.search(prompt) is None


@dataclass
class LocalServer:
    """A server of a small model.

    Attributes:
        protocol: "ollama" or "llama_cpp".
        judges: whether the answer in a prompt is good.
        loading: requests that find the server still loading its model.
        first_token_s: time that the first reply takes.
        grammar: forms that the server takes: "schema" and "object"; it refuses others.
        ignores_forms: whether it takes every form, and replies in prose all the same.
        usage: whether it reports tokens.
        is_cut: whether it cuts every reply at its length.
        content_is_null: whether a reply has thoughts in place of a text.
        forms: form of each request, as it was asked for.
    """

    protocol: str
    judges: Judge = good_judge
    loading: int = 0
    first_token_s: float = 0.0
    grammar: tuple[str, ...] = ("schema", "object")
    ignores_forms: bool = False
    usage: bool = True
    is_cut: bool = False
    content_is_null: bool = False
    forms: list[str] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    peak: int = 0
    _busy: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def path(self) -> str:
        return {"ollama": "/api/chat", "llama_cpp": "/v1/chat/completions"}[self.protocol]

    def respond(self, request: Request) -> Response:
        """Answer a request, as the server does."""
        if request.path != self.path:
            return Response({"error": "not found"}, status=404)
        with self._lock:
            self._busy += 1
            self.peak = max(self.peak, self._busy)
        try:
            return self._replied(request.body)
        finally:
            with self._lock:
                self._busy -= 1

    def _replied(self, body: dict[str, Any]) -> Response:
        if self.loading:
            self.loading -= 1
            error = {"code": 503, "message": "Loading model", "type": "unavailable_error"}
            return Response({"error": error}, status=503)
        form, schema = self._form(body)
        self.forms.append(form)
        if form and form not in self.grammar and not self.ignores_forms:
            return self._refusal(form)
        self.bodies.append(body)
        time.sleep(self.first_token_s if len(self.bodies) == 1 else 0.01)
        prompt = "\n".join(str(message["content"]) for message in body["messages"])
        reply = _verdict(good=self.judges(prompt))
        assert schema is None or {*json.loads(reply)} <= {*schema["properties"]}
        if self.ignores_forms or not form:
            reply = f"Let me see.\n```json\n{reply}\n```\n"
        return Response(self._ollama(reply) if self.protocol == "ollama" else self._completion(reply))

    def _form(self, body: Mapping[str, Any]) -> tuple[str, Any]:
        """Return the form that is asked for, and its schema."""
        if self.protocol == "ollama":
            value = body.get("format")
            return ("schema", value) if isinstance(value, dict) else ("object" if value else "", None)
        value = body.get("response_format") or {}
        kind = {"json_schema": "schema", "json_object": "object"}.get(value.get("type", ""), "")
        return kind, value.get("json_schema", {}).get("schema")

    def _refusal(self, form: str) -> Response:
        if self.protocol == "ollama":
            field = "ChatRequest.format of type string"
            fact = f"cannot unmarshal object into Go struct field {field}"
            return Response({"error": fact if form == "schema" else "format: unsupported"}, status=400)
        error = {"code": 400, "message": "response_format: unsupported", "type": "invalid_request_error"}
        return Response({"error": error}, status=400)

    def _ollama(self, reply: str) -> dict[str, Any]:
        message = {"role": "assistant", "content": reply[:20] if self.is_cut else reply}
        if self.content_is_null:
            message |= {"content": None, "thinking": reply}
        tokens = {"prompt_eval_count": 10, "eval_count": 5} if self.usage else {}
        reason = "length" if self.is_cut else "stop"
        return {"model": "m", "message": message, "done": True, "done_reason": reason, **tokens}

    def _completion(self, reply: str) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": reply[:20] if self.is_cut else reply}
        if self.content_is_null:
            message |= {"content": None, "reasoning_content": reply}
        choice = {"index": 0, "message": message, "finish_reason": "length" if self.is_cut else "stop"}
        tokens = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        body = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        return {**body, **({"usage": tokens} if self.usage else {})}


def _verdict(*, good: bool) -> str:
    """Return the reply of the groundedness judge."""
    statements = [] if good else ["A number that the context does not have."]
    rating = "yes" if good else "no"
    return json.dumps(
        {"unsupported_statements": statements, "rationale": "By its numbers.", "rating": rating}
    )
