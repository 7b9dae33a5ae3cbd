"""A service of a model that asks for a tool, in the forms of chat completions and responses."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from typing import Any

from support.service import Request, Response

COUNTRIES = ["France", "Peru", "Ghana", "Japan", "Malta", "Chile", "Kenya", "Nepal"]


class Model:
    """Service of a model that asks for one call of a tool, with figures of its own for each question.

    Requests without tools are answered at once, and texts have a dimension for each country.

    Attributes:
        calls: by country the call with its result.
        tokens: by country the sums of all requests.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.calls: dict[str, dict[str, str]] = {}
        self.tokens: dict[str, Counter[str]] = {}

    def respond(self, request: Request) -> Response:
        body = request.body
        if request.path.endswith("/embeddings"):
            return Response(_embeddings(body["input"]))
        is_chat = request.path.endswith("/chat/completions")
        text = json.dumps(body)
        [country] = set(re.findall("|".join(COUNTRIES), text))
        items = body["messages" if is_chat else "input"]
        outputs = [
            item["content" if is_chat else "output"]
            for item in (items if isinstance(items, list) else [])
            if item.get("role") == "tool" or item.get("type") == "function_call_output"
        ]
        step = COUNTRIES.index(country) + 1
        tokens = {"input": 100 * step + len(outputs), "output": 10 * step + len(outputs)}
        with self.lock:
            for output in outputs:
                self.calls[country] = {"name": "get_fee", "country": country, "result": str(output)}
            self.tokens.setdefault(country, Counter()).update(tokens)
        answer = f"The fee in {country} is known." if outputs or not body.get("tools") else ""
        if body.get("stream"):
            return Response(_streamed(country, answer), headers={"Content-Type": "text/event-stream"})
        return Response((_chat if is_chat else _responses)(country, answer, tokens))


def _embeddings(texts: str | list[str]) -> dict[str, Any]:
    data = [
        {
            "object": "embedding",
            "index": index,
            "embedding": [float(country in text) for country in COUNTRIES],
        }
        for index, text in enumerate([texts] if isinstance(texts, str) else texts)
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return {"object": "list", "model": "embedding", "data": data, "usage": usage}


def _chat(country: str, answer: str, tokens: dict[str, int]) -> dict[str, Any]:
    function = {"name": "get_fee", "arguments": json.dumps({"country": country})}
    calls = [{"id": f"call_{country}", "type": "function", "function": function}]
    message = {"content": answer} if answer else {"content": None, "tool_calls": calls}
    return {
        "id": f"chatcmpl-{country}",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o-2024",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", **message},
                "finish_reason": "stop" if answer else "tool_calls",
            }
        ],
        "usage": {
            "prompt_tokens": tokens["input"],
            "completion_tokens": tokens["output"],
            "total_tokens": sum(tokens.values()),
        },
    }


def _streamed(country: str, answer: str) -> bytes:
    """Return the chunks of a chat completion, one for each word."""
    head = {
        "id": f"chatcmpl-{country}",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "gpt-4o-2024",
    }
    deltas: list[dict[str, str]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": word} for word in re.findall(r"\S+\s*", answer)]
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    events = [json.dumps({**head, "choices": [choice]}) for choice in choices]
    return "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"]).encode()


def _responses(country: str, answer: str, tokens: dict[str, int]) -> dict[str, Any]:
    content = [{"type": "output_text", "text": answer, "annotations": []}]
    message = {"type": "message", "id": "msg_1", "role": "assistant", "content": content}
    arguments = json.dumps({"country": country})
    call = {"type": "function_call", "id": "fc_1", "call_id": f"call_{country}", "name": "get_fee"}
    return {
        "id": f"resp_{country}",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": "gpt-4o-2024",
        "output": [{"status": "completed", **(message if answer else {**call, "arguments": arguments})}],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": tokens["input"],
            "output_tokens": tokens["output"],
            "total_tokens": sum(tokens.values()),
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }
