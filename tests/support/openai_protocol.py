"""OpenAI's chat, files, vector stores, responses and assistants, as a service of tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from support.service import ANSWER, Request, Response


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


class OpenAIFiles:
    """OpenAI's files, vector stores, responses and assistants.

    Attributes:
        stores: id to the ids of its files.
        files: id to name and content.
        fails: name of a file that cannot be indexed.
        texts: id of a file to the parts of the text that was extracted from it.
        statuses: id of a file to the state of its indexing, where it is not completed.
        polls: how often an indexing is still in progress when it is looked at.
    """

    def __init__(self) -> None:
        self.stores: dict[str, list[str]] = {}
        self.files: dict[str, tuple[str, bytes]] = {}
        self.texts: dict[str, list[str]] = {}
        self.statuses: dict[str, str] = {}
        self.fails = ""
        self.polls = 1
        self.creations = 0
        self.uploaded = 0
        self.runs = 0
        self._polled: dict[str, int] = {}

    def __call__(self, request: Request) -> Response:
        path = request.path.partition("?")[0].removeprefix("/v1").strip("/").split("/")
        handler = getattr(self, f"_{path[0]}", None)
        response = handler(request, path[1:]) if handler else None
        return response or Response({"error": {"message": f"no {request.path}"}}, status=404)

    def _files(self, request: Request, rest: list[str]) -> Response | None:
        if request.method == "DELETE":
            self.files.pop(rest[0], None)
            return Response({"id": rest[0], "object": "file", "deleted": True})
        if request.method == "GET":
            return self._file(rest[0], self.files[rest[0]][0]) if rest[0] in self.files else None
        _, _, content = request.content.partition(b'filename="')
        name, _, content = content.partition(b'"')
        self.uploaded += 1
        id = f"file-{self.uploaded}"
        self.files[id] = (name.decode(), content)
        return self._file(id, name.decode())

    def _file(self, id: str, name: str) -> Response:
        head = {"id": id, "object": "file", "bytes": 1, "created_at": 0, "filename": name}
        return Response({**head, "purpose": "assistants", "status": "processed"})

    def _vector_stores(self, request: Request, rest: list[str]) -> Response | None:
        if not rest:
            self.creations += 1
            id = f"vs_{self.creations}"
            self.stores[id] = []
            return Response(self._store(id))
        if rest[0] not in self.stores:
            return None
        if request.method == "DELETE":
            del self.stores[rest[0]]
            return Response({"id": rest[0], "object": "vector_store.deleted", "deleted": True})
        if len(rest) == 1:
            return Response(self._store(rest[0]))
        if rest[1] == "files" and len(rest) > 2:
            parts = [{"type": "text", "text": text} for text in self.texts[rest[2]]]
            return Response({"object": "vector_store.file_content.page", "data": parts, "has_more": False})
        if rest[1] == "files":
            failed = "filter=failed" in request.path
            ids = [id for id in self.stores[rest[0]] if not failed or self.files[id][0] == self.fails]
            query = parse_qs(urlsplit(request.path).query)
            start = ids.index(query["after"][0]) + 1 if "after" in query else 0
            end = start + int(query.get("limit", ["20"])[0])
            data = [
                {
                    "id": id,
                    "object": "vector_store.file",
                    "created_at": 0,
                    "usage_bytes": 1,
                    "vector_store_id": rest[0],
                    "status": "failed" if failed else self.statuses.get(id, "completed"),
                    "last_error": {"code": "invalid_file", "message": "no text in it"} if failed else None,
                }
                for id in ids[start:end]
            ]
            more = {"has_more": end < len(ids), "first_id": None, "last_id": None}
            return Response({"object": "list", "data": data, **more})
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
        result = 0 if status == "in_progress" else total - failed
        counts = {
            "in_progress": total - result,
            "completed": result,
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
