"""Calls of tools in the replies of services are typed, with the service's real client, streamed or not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.asking.hosts import open_model
from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.tool_calls import ToolCall
from support.protocols import PROTOCOLS, message
from support.service import Response, running

ARGUMENTS = {"card": "gold", "count": 2}
CALL = ToolCall(name="fee_of", arguments=ARGUMENTS, id="c1")
FUNCTION = {"name": "fee_of", "arguments": ARGUMENTS}


def lines(*parts: dict[str, Any]) -> Response:
    return Response(parts=[json.dumps(part).encode() + b"\n" for part in parts])


def events(*parts: dict[str, Any]) -> Response:
    encoded = [f"event: {part['type']}\ndata: {json.dumps(part)}\n\n".encode() for part in parts]
    return Response(parts=encoded, headers={"Content-Type": "text/event-stream"})


def anthropic_stream() -> Response:
    text = json.dumps(ARGUMENTS)
    block = {"type": "tool_use", "id": "c1", "name": "fee_of", "input": {}}
    pieces = [{"type": "input_json_delta", "partial_json": part} for part in (text[:9], text[9:])]
    return events(
        {"type": "message_start", "message": message([], None)},
        {"type": "content_block_start", "index": 0, "content_block": block},
        *({"type": "content_block_delta", "index": 0, "delta": piece} for piece in pieces),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use", "stop_sequence": None},
            "usage": {"output_tokens": 5},
        },
        {"type": "message_stop"},
    )


def ollama_message(*, is_final: bool) -> dict[str, Any]:
    counts = {"done_reason": "stop", "prompt_eval_count": 10, "eval_count": 5} if is_final else {}
    head = {"model": "served-1", "created_at": "2025-01-01T00:00:00Z", "done": is_final}
    calls = [{"function": FUNCTION}]
    return {**head, "message": {"role": "assistant", "content": "", "tool_calls": calls}, **counts}


def ollama_end() -> dict[str, Any]:
    return {**ollama_message(is_final=True), "message": {"role": "assistant", "content": ""}}


TOOL_USE = {"toolUseId": "c1", "name": "fee_of", "input": ARGUMENTS}
CONVERSED = {
    "output": {"message": {"role": "assistant", "content": [{"toolUse": TOOL_USE}]}},
    "stopReason": "tool_use",
    "usage": {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15},
    "metrics": {"latencyMs": 1},
}
BLOCK = {"type": "tool_use", "id": "c1", "name": "fee_of", "input": ARGUMENTS}
REPLIES: dict[tuple[str, bool], Callable[[], Response]] = {
    ("anthropic_llm", False): lambda: Response(message([BLOCK], "tool_use")),
    ("anthropic_llm", True): anthropic_stream,
    ("ollama", False): lambda: Response(ollama_message(is_final=True)),
    ("ollama", True): lambda: lines(ollama_message(is_final=False), ollama_end()),
    ("amazon_bedrock_llm", False): lambda: Response(CONVERSED),
}


@pytest.fixture
def ask(tmp_path: Path) -> Callable[[str, bool], Answer]:
    """Asks a host whose service answers with a call."""

    def answer_to(id: str, stream: bool) -> Answer:
        protocol = next(protocol for protocol in PROTOCOLS if protocol.id == id)
        with running(lambda _: REPLIES[id, stream](), protocol.asks, protocol.handler) as service:
            table = {"host": id, "retries": 0, **protocol.settings(service.url)}
            table |= {"stream": True} if stream else {}
            session = open_model("mine", table, Registry(), folder=tmp_path, cache=None)
            try:
                [answer] = session.ask([Prompt(text="What is the fee?")])
            finally:
                session.close()
        return answer

    return answer_to


@pytest.mark.parametrize(("id", "stream"), REPLIES, ids=lambda value: str(value))
def test_a_called_tool_is_typed(id: str, stream: bool, ask: Callable[[str, bool], Answer]) -> None:
    answer = ask(id, stream)
    assert (answer.text, answer.error) == ("", "")
    [call] = answer.tool_calls
    assert (call.name, call.arguments, call.arguments_text) == (CALL.name, CALL.arguments, "")
    assert call.id == ("" if id == "ollama" else "c1")  # Ollama gives none
