"""Services as their real clients know them: one protocol per host, with the settings that reach it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from support.h2ogpte_server import H2OGPTe, H2OGPTeHandler
from support.service import ANSWER, KEY, Request, Response


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
    extra: str = ""


def completion(text: str = ANSWER) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "served-1",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }


def completion_parts(pause_s: float) -> Response:
    def chunk(delta: Mapping[str, Any], finish: str | None = None, **more: Any) -> bytes:
        choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
        head = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "served-1"}
        return f"data: {json.dumps({**head, 'choices': choices, **more})}\n\n".encode()

    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    last = f"data: {json.dumps({'id': 'c', 'model': 'served-1', 'choices': [], 'usage': usage})}\n\n".encode()
    texts = [
        chunk({"role": "assistant", "content": ""}),
        chunk({"content": "The fee "}),
        chunk({"content": "is 5 USD."}),
    ]
    return Response(
        parts=[*texts, chunk({}, "stop"), last, b"data: [DONE]\n\n"],
        pause_s=pause_s,
        headers={"Content-Type": "text/event-stream"},
    )


def chat(request: Request) -> Response:
    if request.method == "GET":
        models = [{"id": name, "object": "model", "created": 0, "owned_by": "me"} for name in ("m", "m2")]
        return Response({"object": "list", "data": models})
    if request.body.get("stream"):
        return completion_parts(0.0)
    return Response(completion(), headers={"x-request-id": "req-1"})


def anthropic(request: Request) -> Response:
    if request.method == "GET":
        model = {"id": "m", "type": "model", "display_name": "M", "created_at": "2025-01-01T00:00:00Z"}
        return Response({"data": [model], "has_more": False, "first_id": "m", "last_id": "m"})
    if request.body.get("stream"):
        return anthropic_parts(0.0)
    return Response(message([{"type": "text", "text": ANSWER}]), headers={"request-id": "req-1"})


def message(content: list[Any], stop: str | None = "end_turn") -> dict[str, Any]:
    usage = {"input_tokens": 10, "output_tokens": 5}
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
    return Response(ollama_part(ANSWER, done=True))


def ollama_part(text: str, *, done: bool) -> dict[str, Any]:
    counts = {"done_reason": "stop", "prompt_eval_count": 10, "eval_count": 5} if done else {}
    head = {"model": "served-1", "created_at": "2025-01-01T00:00:00Z", "done": done}
    return {**head, "message": {"role": "assistant", "content": text}, **counts}


def ollama_parts(pause_s: float) -> Response:
    parts = [
        ollama_part("The fee ", done=False),
        ollama_part("is 5 USD.", done=False),
        ollama_part("", done=True),
    ]
    return Response(parts=[json.dumps(part).encode() + b"\n" for part in parts], pause_s=pause_s)


def json_service(request: Request) -> Response:
    hits = [{"text": "Fees: 5 USD.", "file": "fees.md", "score": 0.75}]
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    return Response({"answer": ANSWER, "hits": hits, "usage": usage, "model": "served-1", "id": "req-1"})


def events(pause_s: float) -> Response:
    parts = [b'data: {"answer": "The fee "}\n\n', b'data: {"answer": "is 5 USD."}\n\n', b"data: [DONE]\n\n"]
    return Response(parts=parts, pause_s=pause_s, headers={"Content-Type": "text/event-stream"})


def last_message(request: Request) -> str:
    return str(request.body["messages"][-1]["content"])


def posts(request: Request) -> bool:
    return request.method == "POST"


def chat_host(id: str, **more: Any) -> Protocol:
    return Protocol(
        id=id,
        settings=lambda url: {"url": f"{url}/v1", "llm_model_name": "m", "api_key": KEY, **more},
        respond=chat,
        asks=posts,
        question_of=last_message,
        streams=completion_parts,
        extra="openai",
    )


PROTOCOLS = [
    *map(chat_host, ("openai_compatible", "openai_llm", "h2ogpt", "h2ollmops")),
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
            "usage": {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15},
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


class OpenAIFiles:
    """OpenAI's files, vector stores, responses and assistants.

    Attributes:
        stores: id to the ids of its files.
        files: id to name and content.
        fails: name of a file that cannot be indexed.
        polls: how often an indexing is still in progress when it is looked at.
    """

    def __init__(self) -> None:
        self.stores: dict[str, list[str]] = {}
        self.files: dict[str, tuple[str, bytes]] = {}
        self.fails = ""
        self.polls = 1
        self.made = 0
        self.uploaded = 0
        self.runs = 0
        self._polled: dict[str, int] = {}

    def __call__(self, request: Request) -> Response:
        path = request.path.partition("?")[0].removeprefix("/v1").strip("/").split("/")
        handler = getattr(self, f"_{path[0]}", None)
        response = handler(request, path[1:]) if handler else None
        return response or Response({"error": {"message": f"no {request.path}"}}, status=404)

    def _files(self, request: Request, rest: list[str]) -> Response:
        if request.method == "DELETE":
            self.files.pop(rest[0], None)
            return Response({"id": rest[0], "object": "file", "deleted": True})
        _, _, content = request.content.partition(b'filename="')
        name, _, content = content.partition(b'"')
        self.uploaded += 1
        id = f"file-{self.uploaded}"
        self.files[id] = (name.decode(), content)
        return Response(
            {
                "id": id,
                "object": "file",
                "bytes": 1,
                "created_at": 0,
                "filename": name.decode(),
                "purpose": "assistants",
                "status": "processed",
            }
        )

    def _vector_stores(self, request: Request, rest: list[str]) -> Response | None:
        if not rest:
            self.made += 1
            id = f"vs_{self.made}"
            self.stores[id] = []
            return Response(self._store(id))
        if rest[0] not in self.stores:
            return None
        if request.method == "DELETE":
            del self.stores[rest[0]]
            return Response({"id": rest[0], "object": "vector_store.deleted", "deleted": True})
        if len(rest) == 1:
            return Response(self._store(rest[0]))
        if rest[1] == "files":
            failed = "filter=failed" in request.path
            ids = [id for id in self.stores[rest[0]] if not failed or self.files[id][0] == self.fails]
            data = [
                {
                    "id": id,
                    "object": "vector_store.file",
                    "created_at": 0,
                    "usage_bytes": 1,
                    "vector_store_id": rest[0],
                    "status": "failed" if failed else "completed",
                    "last_error": {"code": "invalid_file", "message": "no text in it"} if failed else None,
                }
                for id in ids
            ]
            return Response(
                {"object": "list", "data": data, "has_more": False, "first_id": None, "last_id": None}
            )
        if len(rest) == 2:
            self.stores[rest[0]] = list(request.body["file_ids"])
            return Response(self._batch(rest[0], "in_progress"))
        self._polled[rest[0]] = self._polled.get(rest[0], 0) + 1
        return Response(
            self._batch(rest[0], "in_progress" if self._polled[rest[0]] < self.polls else "completed")
        )

    def _store(self, id: str) -> dict[str, Any]:
        counts = {"in_progress": 0, "completed": 1, "failed": 0, "cancelled": 0, "total": 1}
        return {
            "id": id,
            "object": "vector_store",
            "created_at": 0,
            "name": "n",
            "usage_bytes": 1,
            "file_counts": counts,
            "status": "completed",
            "last_active_at": 0,
            "metadata": {},
        }

    def _batch(self, store: str, status: str) -> dict[str, Any]:
        total = len(self.stores[store])
        failed = sum(self.files[id][0] == self.fails for id in self.stores[store])
        done = 0 if status == "in_progress" else total - failed
        counts = {
            "in_progress": total - done,
            "completed": done,
            "failed": failed,
            "cancelled": 0,
            "total": total,
        }
        return {
            "id": "batch_1",
            "object": "vector_store.file_batch",
            "created_at": 0,
            "vector_store_id": store,
            "status": status,
            "file_counts": counts,
        }

    def _responses(self, request: Request, rest: list[str]) -> Response | None:
        if request.body["tools"][0]["vector_store_ids"][0] not in self.stores:
            return None
        result = {
            "file_id": "file-1",
            "filename": "fees.md",
            "score": 0.75,
            "text": "Fees: 5 USD.",
            "attributes": {},
        }
        search = {
            "id": "fs_1",
            "type": "file_search_call",
            "queries": ["fee"],
            "status": "completed",
            "results": [result] if "file_search_call.results" in request.body.get("include", ()) else None,
        }
        text = {"type": "output_text", "text": ANSWER, "annotations": []}
        message = {
            "id": "m1",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [text],
        }
        usage = {
            "input_tokens": 10,
            "output_tokens": 5,
            "total_tokens": 15,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        }
        return Response(
            {
                "id": "resp_1",
                "object": "response",
                "created_at": 0,
                "model": "served-1",
                "status": "completed",
                "output": [search, message],
                "usage": usage,
                "parallel_tool_calls": True,
                "tool_choice": "auto",
                "tools": [],
                "error": None,
                "incomplete_details": None,
                "instructions": None,
                "metadata": {},
                "temperature": 1,
                "top_p": 1,
            },
            headers={"x-request-id": "req-1"},
        )

    def _models(self, request: Request, rest: list[str]) -> Response:
        return chat(request)

    def _assistants(self, request: Request, rest: list[str]) -> Response:
        return Response(
            {
                "id": "asst_1",
                "object": "assistant",
                "created_at": 0,
                "model": "m",
                "tools": [],
                "metadata": {},
                "deleted": True,
            }
        )

    def _threads(self, request: Request, rest: list[str]) -> Response:
        if "messages" in rest:
            text = {"type": "text", "text": {"value": ANSWER, "annotations": []}}
            message = {
                "id": "msg",
                "object": "thread.message",
                "created_at": 0,
                "thread_id": "t",
                "role": "assistant",
                "status": "completed",
                "content": [text],
                "attachments": [],
                "metadata": {},
            }
            return Response(
                {"object": "list", "data": [message], "has_more": False, "first_id": "msg", "last_id": "msg"}
            )
        if "runs" in rest:
            self.runs += request.method == "POST"
            status = "queued" if request.method == "POST" else "completed"
            usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
            return Response(
                {
                    "id": "run_1",
                    "object": "thread.run",
                    "created_at": 0,
                    "thread_id": "t",
                    "assistant_id": "asst_1",
                    "status": status,
                    "model": "served-1",
                    "instructions": "",
                    "tools": [],
                    "metadata": {},
                    "usage": usage,
                    "last_error": None,
                    "parallel_tool_calls": True,
                }
            )
        return Response(
            {"id": "thread_1", "object": "thread", "created_at": 0, "metadata": {}, "deleted": True}
        )


PROTOCOLS += [
    Protocol(
        id="openai_rag",
        settings=lambda url: {"url": f"{url}/v1", "llm_model_name": "m", "api_key": KEY},
        respond=OpenAIFiles(),
        asks=lambda request: request.path == "/v1/responses",
        question_of=lambda request: request.body["input"][-1]["content"],
        context=("Fees: 5 USD.",),
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
