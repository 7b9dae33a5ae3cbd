"""Enterprise h2oGPTe on loopback, as its real client talks to it: REST, uploads and a WebSocket."""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import struct
import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

from websockets.frames import Opcode
from websockets.protocol import Protocol, Side

from support.service import ANSWER, Request, Response, Service, ServiceHandler

NOW = "2025-01-01T00:00:00Z"
_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class H2OGPTe:
    """The state of the service.

    Attributes:
        collections: id to the names of its documents.
        created: bodies of the requests that made collections.
        fails: name of a document that cannot be ingested.
        sessions: id to the collection of a chat session, None for none.
        files: id to name and content of the files that the agent makes.
        chunks: name of a document to the texts of its chunks.
        statuses: name of a document to the state of its ingestion, where it is not completed.
    """

    def __init__(self) -> None:
        self.collections: dict[str, list[str]] = {}
        self.created: list[dict[str, Any]] = []
        self.uploads: dict[str, str] = {}
        self.ingestions: list[list[str]] = []
        self.fails = ""
        self.sessions: dict[str, str | None] = {}
        self.deleted_sessions: list[str] = []
        self.files: dict[str, tuple[str, bytes]] = {}
        self.chunks: dict[str, list[str]] = {}
        self.statuses: dict[str, str] = {}
        self.made = 0
        self._errors: dict[str, list[str]] = {}

    def __call__(self, request: Request) -> Response:
        parts = urlsplit(request.path)
        path = parts.path.removeprefix("/api/v1").strip("/").split("/")
        query = parse_qs(parts.query)
        handler = getattr(self, "_" + "_".join(path[:2] if path[0] == "rpc" else path[:1]), None)
        response = handler(request, path, query) if handler else None
        if request.method == "WS":
            return messages("The fee ", "is 5 USD.")
        return response or Response({"code": 404, "message": f"no {request.path}"}, status=404)

    def _rpc_meta(self, request: Request, path: list[str], query: Any) -> Response:
        from h2ogpte import __version__

        head = {"version": __version__, "build": "1", "username": "me", "user_id": "u", "subject": "s"}
        more = {
            "email": "me@example.com",
            "is_guest": False,
            "license_expired": False,
            "license_expiry_date": "",
        }
        flags = (
            "show_private_button",
            "show_workers_status",
            "show_live_logs",
            "show_eval",
            "show_extractors",
        )
        page = {
            "logo": "",
            "chat_logo": "",
            "primary_color": "",
            "chat_name": "h2oGPTe",
            "greeting": "",
            "public_mode": False,
            **dict.fromkeys(flags, True),
        }
        rights = {"groups": None, "workspaces": None, "permissions": [], "ui_config": page, "picture": None}
        return Response({**head, **more, **rights, "global_configs": [], "user_configs": []})

    def _rpc_fs(self, request: Request, path: list[str], query: Any) -> Response:
        name = request.content.partition(b'filename="')[2].partition(b'"')[0].decode()
        id = self._id("upload")
        self.uploads[id] = name
        return Response({"id": id})

    def _collections(self, request: Request, path: list[str], query: Any) -> Response | None:
        if request.method == "POST" and len(path) == 1:
            id = self._id("collection")
            self.collections[id] = []
            self.created.append(request.body)
            return Response(self._collection(id), status=201)
        if path[1] == "delete_job":
            for id in request.body["collection_ids"]:
                self.collections.pop(id, None)
            return Response(self._job(), status=201)
        if path[1] not in self.collections:
            return None
        if path[2:] == ["documents"]:
            start, limit = int(query["offset"][0]), int(query["limit"][0])
            page = list(enumerate(self.collections[path[1]]))[start : start + limit]
            return Response([self._document(number, name) for number, name in page])
        return Response(self._collection(path[1]))

    def _uploads(self, request: Request, path: list[str], query: Any) -> Response:
        ids = path[1].replace("%2C", ",").split(",")
        names = [self.uploads[id] for id in ids]
        self.ingestions.append(names)
        self.collections[query["collection_id"][0]] += names
        errors = [f"{name}: the document has no text" for name in names if name == self.fails]
        return Response(self._job(errors), status=201)

    def _document(self, number: int, name: str) -> dict[str, Any]:
        head = {"id": f"document-{number}", "name": name, "username": "me", "type": "PDF", "size": 1}
        status = self.statuses.get(name, "completed")
        return {**head, "page_count": 1, "created_at": NOW, "updated_at": NOW, "status": status, "uri": None}

    def _documents(self, request: Request, path: list[str], query: Any) -> Response | None:
        names = self.collections.get(query["collection_id"][0], [])
        number = int(path[1].removeprefix("document-"))
        if path[2:] != ["chunks"] or number >= len(names):
            return None
        texts = self.chunks[names[number]]
        head = {"name": names[number], "topic": "", "pages": "1", "score": 0.0}
        # Not in the order of the text: a service orders its rows as it likes.
        return Response(
            [{"id": id, "text": text, "size": len(text), **head} for id, text in enumerate(texts, 1)][::-1]
        )

    def _details(self, id: str) -> dict[str, Any]:
        errors = self._errors[id]
        head = {
            "id": id,
            "name": "job",
            "overall_status": "failed" if errors else "completed",
            "status": "done",
        }
        result = {"passed_percentage": 0.0 if errors else 1.0, "failed_percentage": 1.0 if errors else 0.0}
        times = {"created_at": NOW, "updated_at": NOW, "duration": "1s", "duration_seconds": 1.0}
        rest = {"progress": 1.0, "kind": "IngestUploadsJob", "statuses": [], "errors": errors}
        return {**head, **result, **times, **rest}

    def _jobs(self, request: Request, path: list[str], query: Any) -> Response:
        return Response(self._details(path[1]))

    def _chats(self, request: Request, path: list[str], query: Any) -> Response:
        if len(path) > 1 and path[1] == "delete_job":
            self.deleted_sessions += request.body["session_ids"]
            return Response(self._job(), status=201)
        id = self._id("chat")
        self.sessions[id] = query.get("collection_id", [None])[0]
        return Response({"id": id, "updated_at": NOW, "collection_id": self.sessions[id]}, status=201)

    def _messages(self, request: Request, path: list[str], query: Any) -> Response:
        if path[2] == "references":
            head = {"document_id": "d1", "document_name": "fees.md", "chunk_id": 1, "collection_id": "c"}
            chunk = {"pages": "3", "score": 0.75, "content": "Fees: 5 USD.", "were_references_deleted": False}
            return Response([{**head, **chunk}])
        stats = {"llm": "served-1", "input_tokens": 10, "output_tokens": 5, "cost": 0.25}
        metas = [{"message_type": "usage_stats", "content": json.dumps(stats)}]
        if self.files:
            names = json.dumps([{id: name} for id, (name, _) in self.files.items()])
            metas.append({"message_type": "agent_files", "content": names})
        return Response(metas)

    def _file(self, request: Request, path: list[str], query: Any) -> Response:
        return Response(self.files[query["id"][0]][1])

    def _models(self, request: Request, path: list[str], query: Any) -> Response:
        if request.method == "GET":
            return Response([{"id": name, "display_name": name, "base_model": name} for name in ("m", "m2")])
        tokens = {"input_tokens": 10, "output_tokens": 5}
        return Response({"content": ANSWER, "error": "", "llm": "served-1", **tokens})

    def _id(self, kind: str) -> str:
        self.made += 1
        return f"{kind}-{self.made}"

    def _collection(self, id: str) -> dict[str, Any]:
        count = len(self.collections[id])
        head = {"id": id, "name": "n", "description": "d", "embedding_model": "e", "document_count": count}
        more = {"document_size": 1, "created_at": NOW, "updated_at": NOW, "user_count": 1, "is_public": False}
        return {**head, **more, "username": "me", "sessions_count": 0, "status": "active"}

    def _job(self, errors: list[str] | None = None) -> dict[str, Any]:
        id = self._id("job")
        self._errors[id] = errors or []
        return self._details(id)


class H2OGPTeHandler(ServiceHandler):
    """HTTP, and the WebSocket of chat sessions."""

    def do_GET(self) -> None:  # noqa: N802
        if not self.path.startswith("/ws"):
            self._any()
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        refusal = self._refusal(headers)
        if refusal is not None:
            self.reply(refusal)
            self.close_connection = True
            return
        key = self.headers["Sec-WebSocket-Key"]
        accepted = base64.b64encode(hashlib.sha1((key + _GUID).encode()).digest()).decode()
        self.send_response(101)
        for name, value in {
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Accept": accepted,
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self._chat(headers)
        self.close_connection = True

    def _refusal(self, headers: dict[str, str]) -> Response | None:
        """Return the fault of the handshake, if the next fault is a status."""
        service: Service = self.service
        with service.lock:
            fault = service.always or (service.faults[0] if service.faults else None)
            if fault is None or fault.status == 200:
                return None
            if service.always is None:
                service.faults.pop(0)
            service.requests.append(Request("WS", self.path, headers, b""))
            service.times.append(time.monotonic())
            return fault

    def _chat(self, headers: dict[str, str]) -> None:
        self.protocol = Protocol(Side.SERVER)
        message = self._received()
        if message is None:
            return
        response = self.service.respond(Request("WS", self.path, headers, message))
        query = json.loads(message)
        try:
            time.sleep(response.delay_s)
            if response.reset:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return
            if response.half:
                self.connection.sendall(b"\x81\x7e\x01\x00half")
                return
            if not isinstance(response.body, list):
                self._send(response.payload())
                self._received()
                return
            for index, part in enumerate(response.body):
                time.sleep(response.pause_s if index else 0)
                self._send(json.dumps(self._addressed(part, query)).encode())
            self._received()
        except OSError:
            return

    def _addressed(self, part: dict[str, Any], query: dict[str, Any]) -> dict[str, Any]:
        head = {"session_id": query["session_id"], "correlation_id": query["correlation_id"]}
        return {"body": "", "error": "", **head, "message_id": "msg-2", "reply_to_id": "msg-1", **part}

    def _send(self, payload: bytes) -> None:
        self.connection.sendall(_frame(Opcode.TEXT, payload))

    def _received(self) -> bytes | None:
        """Return the next message of the client, None where it hangs up."""
        try:
            while data := self.connection.recv(65536):
                self.protocol.receive_data(data)
                for event in self.protocol.events_received():
                    if event.opcode is Opcode.TEXT:
                        return bytes(event.data)
                for reply in self.protocol.data_to_send():
                    if reply:
                        self.connection.sendall(reply)
                if self.protocol.close_rcvd is not None:
                    return None
        except OSError:
            return None
        return None


def _frame(opcode: Opcode, payload: bytes) -> bytes:
    size = len(payload)
    head = bytes([0x80 | opcode])
    if size < 126:
        return head + bytes([size]) + payload
    return (
        head
        + (b"\x7e" + struct.pack("!H", size) if size < 65536 else b"\x7f" + struct.pack("!Q", size))
        + payload
    )


def messages(*texts: str, pause_s: float = 0.0) -> Response:
    """Return a chat's reply: the acknowledgement, its parts, and the whole text."""
    parts = [{"t": "cx", "message_id": "msg-1", "username": "me"}]
    parts += [{"t": "cp", "body": "".join(texts[: count + 1])} for count in range(len(texts) - 1)]
    return Response([*parts, {"t": "ca", "body": "".join(texts)}], pause_s=pause_s)
