"""Services as their real clients know them: one protocol per host, with the settings that reach it."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from support.h2ogpte_server import H2OGPTe, H2OGPTeHandler
from support.openai_protocol import OpenAIFiles, chat, completion_parts
from support.service import ANSWER, KEY, Request, Response


def _read_service_models_once() -> None:
    """Let all clients of Amazon share the models of its services: each would parse megabytes of JSON."""
    try:
        from botocore.loaders import JSONFileLoader
    except ImportError:
        return
    read = JSONFileLoader.load_file
    once = functools.cache(functools.partial(read, JSONFileLoader()))
    JSONFileLoader.load_file = lambda self, path: once(path)


_read_service_models_once()


@dataclass(frozen=True)
class Protocol:
    """A host with the service that it talks to.

    Attributes:
        settings: from the service's origin to the table of the model.
        respond: answers a request as the service does.
        asks: whether a request asks the question.
        question_of: the question in a request.
        refusal: from a text to the body of an error.
        streams: the response of a stream that is sent slowly, None where the host does not stream.
        handler: of the service, where it is more than HTTP.
        cached: tokens of its prompt cache, as the host reports them.
        half: the fault of a reply that ends in the middle, where the connection is not HTTP.
    """

    id: str
    settings: Callable[[str], dict[str, Any]]
    respond: Callable[[Request], Response]
    asks: Callable[[Request], bool]
    question_of: Callable[[Request], str]
    refusal: Callable[[str], Any] = lambda text: {"error": {"message": text, "type": "error"}}
    error_headers: Mapping[str, str] = field(default_factory=dict)
    streams: Callable[[float], Response] | None = None
    handler: type[BaseHTTPRequestHandler] | None = None
    context: tuple[str, ...] = ()
    cached: Mapping[str, int] = field(default_factory=dict)
    extra: str = ""


def anthropic(request: Request) -> Response:
    if request.method == "GET":
        model = {"id": "m", "type": "model", "display_name": "M", "created_at": "2025-01-01T00:00:00Z"}
        return Response({"data": [model], "has_more": False, "first_id": "m", "last_id": "m"})
    if request.body.get("stream"):
        return anthropic_parts(0.0)
    return Response(message([{"type": "text", "text": ANSWER}]), headers={"request-id": "req-1"})


def message(content: list[Any], stop: str | None = "end_turn") -> dict[str, Any]:
    usage = {
        "input_tokens": 2,
        "output_tokens": 5,
        "cache_read_input_tokens": 7,
        "cache_creation_input_tokens": 1,
    }
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "served-1"}
    return {**head, "content": content, "stop_reason": stop, "stop_sequence": None, "usage": usage}


def anthropic_parts(pause_s: float) -> Response:
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message([], None)},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "The fee "}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "is 5 USD."}},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 5},
        },
        {"type": "message_stop"},
    ]
    parts = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events]
    headers = {"Content-Type": "text/event-stream", "request-id": "req-1"}
    return Response(parts=parts, pause_s=pause_s, headers=headers)


def ollama(request: Request) -> Response:
    if request.path == "/api/tags":
        return Response({"models": [{"model": "m:latest"}, {"model": "m2:latest"}]})
    if request.body.get("stream"):
        return ollama_parts(0.0)
    return Response(ollama_part(ANSWER, is_final=True))


def ollama_part(text: str, *, is_final: bool) -> dict[str, Any]:
    counts = {"done_reason": "stop", "prompt_eval_count": 10, "eval_count": 5} if is_final else {}
    head = {"model": "served-1", "created_at": "2025-01-01T00:00:00Z", "done": is_final}
    return {**head, "message": {"role": "assistant", "content": text}, **counts}


def ollama_parts(pause_s: float) -> Response:
    parts = [
        ollama_part("The fee ", is_final=False),
        ollama_part("is 5 USD.", is_final=False),
        ollama_part("", is_final=True),
    ]
    return Response(parts=[json.dumps(part).encode() + b"\n" for part in parts], pause_s=pause_s)


def json_service(request: Request) -> Response:
    hits = [{"text": "Fees: 5 USD.", "file": "fees.md", "score": 0.75}]
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 7}}
    return Response({"answer": ANSWER, "hits": hits, "usage": usage, "model": "served-1", "id": "req-1"})


def events(pause_s: float) -> Response:
    parts = [b'data: {"answer": "The fee "}\n\n', b'data: {"answer": "is 5 USD."}\n\n', b"data: [DONE]\n\n"]
    return Response(parts=parts, pause_s=pause_s, headers={"Content-Type": "text/event-stream"})


def last_message(request: Request) -> str:
    return str(request.body["messages"][-1]["content"])


def posts(request: Request) -> bool:
    return request.method == "POST"


def chat_host(id: str, extra: str = "openai", **more: Any) -> Protocol:
    return Protocol(
        id=id,
        settings=lambda url: {"url": f"{url}/v1", "llm_model_name": "m", "api_key": KEY, **more},
        respond=chat,
        asks=posts,
        question_of=last_message,
        streams=completion_parts,
        extra=extra,
    )


PROTOCOLS = [
    *(chat_host(id, "http") for id in ("openai_compatible", "h2ogpt", "h2ollmops")),
    chat_host("openai_llm"),
    Protocol(
        id="azure_openai_llm",
        settings=lambda url: {"url": url, "environment_id": "prod-4o", "api_key": KEY},
        respond=chat,
        asks=posts,
        question_of=last_message,
        streams=completion_parts,
        extra="openai",
    ),
    Protocol(
        id="anthropic_llm",
        settings=lambda url: {"url": url, "llm_model_name": "m", "api_key": KEY},
        respond=anthropic,
        asks=posts,
        question_of=last_message,
        refusal=lambda text: {"type": "error", "error": {"type": "some_error", "message": text}},
        streams=anthropic_parts,
        cached={"cached_tokens": 7, "cache_write_tokens": 1},
        extra="anthropic",
    ),
    Protocol(
        id="ollama",
        settings=lambda url: {"url": url, "llm_model_name": "m", "api_key": KEY},
        respond=ollama,
        asks=posts,
        question_of=last_message,
        refusal=lambda text: {"error": text},
        streams=ollama_parts,
        extra="ollama",
    ),
    Protocol(
        id="http",
        settings=lambda url: {
            "url": f"{url}/ask",
            "api_key": KEY,
            "reply": {
                "answer": "/answer",
                "context": "/hits/*/text",
                "sources": "/hits/*/file",
                "scores": "/hits/*/score",
                "usage": "/usage",
                "served_model": "/model",
                "request_id": "/id",
            },
        },
        respond=json_service,
        asks=posts,
        question_of=lambda request: request.body["prompt"],
        streams=events,
        context=("Fees: 5 USD.",),
        cached={"cached_tokens": 7},
        extra="http",
    ),
]


def converse(request: Request) -> Response:
    if request.path.startswith("/foundation-models"):
        return Response({"modelSummaries": [{"modelArn": "arn:m", "modelId": "m"}]})
    return Response(
        {
            "output": {"message": {"role": "assistant", "content": [{"text": ANSWER}]}},
            "stopReason": "end_turn",
            "usage": {
                "inputTokens": 2,
                "outputTokens": 5,
                "totalTokens": 15,
                "cacheReadInputTokens": 7,
                "cacheWriteInputTokens": 1,
            },
            "metrics": {"latencyMs": 3},
            "trace": {"promptRouter": {"invokedModelId": "served-1"}},
        },
        headers={"x-amzn-requestid": "req-1"},
    )


def knowledge_base(request: Request) -> Response:
    if request.path.startswith("/foundation-models"):
        return converse(request)

    def reference(text: str, uri: str) -> dict[str, Any]:
        location = {"type": "S3", "s3Location": {"uri": uri}}
        return {"content": {"text": text}, "location": location, "metadata": {}}

    part = {"textResponsePart": {"text": ANSWER, "span": {"start": 0, "end": 5}}}
    references = [reference("Fees: 5 USD.", "s3://docs/fees.md")]
    citations = [{"generatedResponsePart": part, "retrievedReferences": references}] * 2
    return Response(
        {"output": {"text": ANSWER}, "citations": citations, "sessionId": "s"},
        headers={"x-amzn-requestid": "req-1"},
    )


def bedrock_refusal(text: str) -> dict[str, Any]:
    return {"message": text}


AWS = {"region": "eu-west-1", "access_key": "AKIAPLANTED4711", "secret_key": KEY}
PROTOCOLS += [
    Protocol(
        id="amazon_bedrock_llm",
        settings=lambda url: {"url": url, "llm_model_name": "m", **AWS},
        respond=converse,
        asks=posts,
        question_of=lambda request: request.body["messages"][-1]["content"][0]["text"],
        refusal=bedrock_refusal,
        error_headers={"x-amzn-ErrorType": "SomeException"},
        cached={"cached_tokens": 7, "cache_write_tokens": 1},
        extra="bedrock",
    ),
    Protocol(
        id="amazon_bedrock_rag",
        settings=lambda url: {"url": url, "llm_model_name": "m", "knowledge_base_id": "KB12345678", **AWS},
        respond=knowledge_base,
        asks=posts,
        question_of=lambda request: request.body["input"]["text"],
        refusal=bedrock_refusal,
        error_headers={"x-amzn-ErrorType": "SomeException"},
        context=("Fees: 5 USD.",),
        extra="bedrock",
    ),
]


PROTOCOLS += [
    Protocol(
        id="openai_rag",
        settings=lambda url: {"url": f"{url}/v1", "llm_model_name": "m", "api_key": KEY},
        respond=OpenAIFiles(),
        asks=lambda request: request.path == "/v1/responses",
        question_of=lambda request: request.body["input"][-1]["content"],
        context=("Fees: 5 USD.",),
        cached={"cached_tokens": 0},
        extra="openai",
    ),
]


def h2ogpte_refusal(text: str) -> dict[str, Any]:
    return {"code": 1, "message": text}


PROTOCOLS += [
    Protocol(
        id="h2ogpte",
        settings=lambda url: {"url": url, "llm_model_name": "m", "api_key": KEY},
        respond=H2OGPTe(),
        asks=lambda request: request.method == "WS",
        question_of=lambda request: request.body["body"],
        refusal=h2ogpte_refusal,
        handler=H2OGPTeHandler,
        context=("Fees: 5 USD.",),
        extra="h2ogpte",
    ),
    Protocol(
        id="h2ogpte_llm",
        settings=lambda url: {"url": url, "llm_model_name": "m", "api_key": KEY},
        respond=H2OGPTe(),
        asks=lambda request: request.path.endswith("/answer_question"),
        question_of=lambda request: request.body["question"],
        refusal=h2ogpte_refusal,
        handler=H2OGPTeHandler,
        extra="h2ogpte",
    ),
]
