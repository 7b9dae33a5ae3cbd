"""Decisions of the proxy about messages of the Model Context Protocol, whatever their transport."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import unquote

import msgspec
from msgspec import Raw, Struct

from pytest_evalstudio.contrib.tool_proxy.pins import Pins
from pytest_evalstudio.contrib.tool_proxy.recording import Exchange, Recorder, Recording
from pytest_evalstudio.core.disturbances import (
    BAGGAGE_KEY,
    ERROR_TEXT,
    TIMEOUT_TEXT,
    WITHOUT_RESULT,
    Disturbance,
    DisturbanceKind,
    parse_disturbance,
)
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.text import excerpt

CALL, LIST = "tools/call", "tools/list"
NOT_FOUND, INVALID = -32601, -32600
NAME_CHARS = 80


class Message(Struct, frozen=True):
    """Message of JSON-RPC, with its parts as they were written."""

    id: int | str | None = None
    method: str = ""
    params: Raw = Raw()
    result: Raw = Raw()
    error: Raw = Raw()


_DECODER = msgspec.json.Decoder(Message)


def read_message(line: bytes) -> Message | None:
    """Return a message of JSON-RPC; None for what is none, also for a batch."""
    try:
        return _DECODER.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """Message to the client in place of the server's.

    Attributes:
        wait_s: seconds after which it is sent.
    """

    message: bytes
    wait_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of a proxy.

    Attributes:
        recorder: None to record nothing.
        recording: replies come from it alone; None for the real server.
        live_tools: patterns of tools that are called in a replay where no recorded call fits, since they
            change nothing.
        disturbances: of the results; the first one that concerns a call applies.
        follows_baggage: whether a call may name a disturbance of its own by W3C Baggage.
        pins: None to pin nothing.
        refuses_changed: whether tools are left out whose definition has changed.
        timeout_s: seconds after which a call that is to time out gets an error.
        max_calls: calls of tools that are passed on or replayed.
        note: called with a sentence for the user.
    """

    note: Callable[[str], None]
    recorder: Recorder | None = None
    recording: Recording | None = None
    live_tools: Sequence[str] = ()
    disturbances: Sequence[Disturbance] = ()
    follows_baggage: bool = False
    pins: Pins | None = None
    refuses_changed: bool = False
    timeout_s: float = 60.0
    max_calls: int = 1000

    def is_live(self, tool: str) -> bool:
        """Return whether a replay may call a tool."""
        return any(fnmatchcase(tool, pattern) for pattern in self.live_tools)

    def record(self, exchange: Exchange) -> None:
        """Record an exchange, if that is asked for."""
        if self.recorder is None:
            return
        try:
            self.recorder.add(exchange)
        except OSError as exc:
            self.note(f"--record: {exc.strerror}; the recording is not complete, do not replay it")

    def disturbance(self, tool: str, earlier: int, baggage: str) -> Disturbance | None:
        """Return the disturbance of a call, None for none.

        Args:
            earlier: number of the calls of the same tool before it.
            baggage: of the call, as W3C Baggage.
        """
        disturbances = [*self.disturbances]
        if self.follows_baggage and (named := disturbance_in(baggage)) is not None:
            disturbances.insert(0, named)
        return next((each for each in disturbances if each.concerns(tool, earlier)), None)


@dataclass(frozen=True, slots=True)
class _Pending:
    """Request that the server has not answered."""

    method: str
    tool: str
    arguments: Any
    disturbance: Disturbance | None
    started: float = field(default_factory=time.perf_counter)


class Mediator:
    """Decides on the messages of one session between a client and a server.

    Args:
        calls: number of calls of each tool, for sessions that are counted together.
    """

    def __init__(self, settings: Settings, calls: Counter[str] | None = None) -> None:
        self._settings = settings
        # By the text of the id: some clients take "1" for 1, and a server could pass by the pins.
        self._pending: dict[str, _Pending] = {}
        self._calls: Counter[str] = Counter() if calls is None else calls

    def from_client(self, message: Message, baggage: str = "") -> Reply | None:
        """Return the reply to a client's message; None where the server is to get it.

        Args:
            baggage: header of the request, for HTTP.
        """
        if message.id is None or not message.method:
            # Notifications and replies to the server; a replay has nobody who reads them.
            return None
        params = _data(message.params)
        if message.method == CALL:
            return self._from_call(message.id, params, baggage)
        arguments = _without_meta(message.method, params)
        # A server with live tools needs the beginning of the session, too.
        if self._settings.recording is None or self._settings.live_tools:
            self._pending[str(message.id)] = _Pending(message.method, "", arguments, None)
            return None
        if message.method == "ping":
            return Reply(message=_result(message.id, b"{}"))
        exchange = self._settings.recording.reply(message.method, "", arguments)
        if exchange is None:
            fact = f"{_shown(message.method)} was not recorded with these parameters; record again"
            return Reply(message=error_message(message.id, NOT_FOUND, fact))
        if message.method == LIST:
            return Reply(message=self._recorded(message.id, self._pinned(exchange)))
        return Reply(message=self._recorded(message.id, exchange))

    def _from_call(self, id: int | str, params: Any, baggage: str) -> Reply | None:
        values = params if isinstance(params, dict) else {}
        tool, arguments = values.get("name"), values.get("arguments") or {}
        if not isinstance(tool, str) or not isinstance(arguments, dict):
            return Reply(message=error_message(id, INVALID, "a call needs a name and an object of arguments"))
        settings = self._settings
        if settings.refuses_changed and settings.pins is not None and tool in settings.pins.changes:
            text = f"{_shown(tool)} is refused: its definition differs from the pinned one"
            return Reply(message=_failed(id, text))
        earlier = self._calls[tool]
        self._calls[tool] += 1
        if self._calls.total() > settings.max_calls:
            text = f"the proxy passes on {settings.max_calls} calls (--max-calls), which are used up"
            return Reply(message=_failed(id, text))
        disturbance = settings.disturbance(tool, earlier, _baggage(values) or baggage)
        if disturbance is not None and disturbance.kind in WITHOUT_RESULT:
            return self._broken(id, disturbance.kind)
        if settings.recording is not None:
            exchange = settings.recording.reply(CALL, tool, arguments)
            if exchange is not None:
                return Reply(message=self._recorded(id, exchange, disturbance))
            if not settings.is_live(tool):
                text = unrecorded_text(tool)
                settings.note(text)
                return Reply(message=_failed(id, text))
        self._pending[str(id)] = _Pending(CALL, tool, arguments, disturbance)
        return None

    def _broken(self, id: int | str, kind: DisturbanceKind) -> Reply:
        if kind is DisturbanceKind.TIMEOUT:
            return Reply(message=_failed(id, TIMEOUT_TEXT), wait_s=self._settings.timeout_s)
        return Reply(message=_failed(id, ERROR_TEXT))

    def _recorded(self, id: int | str, exchange: Exchange, disturbance: Disturbance | None = None) -> bytes:
        if exchange.error:
            return b'{"jsonrpc":"2.0","id":%s,"error":%s}' % (_id(id), exchange.error.encode())
        result = exchange.result.encode()
        return _result(id, result if disturbance is None else disturbed_result(result, disturbance))

    def from_server(self, line: bytes, message: Message) -> bytes:
        """Return what the client gets for a message of the server: mostly the same bytes."""
        pending = None if message.method else self._pending.pop(str(message.id), None)
        if pending is None or message.id is None:
            return line
        exchange = Exchange(
            tool=pending.tool,
            method=pending.method,
            arguments=pending.arguments,
            result=bytes(message.result).decode(),
            error=bytes(message.error).decode(),
            duration_s=round(time.perf_counter() - pending.started, 6),
        )
        self._settings.record(exchange)
        if pending.method == LIST:
            changed = self._pinned(exchange)
            return line if changed is exchange else self._recorded(message.id, changed)
        if pending.disturbance is None or not exchange.result:
            return line
        return self._recorded(message.id, exchange, pending.disturbance)

    def _pinned(self, exchange: Exchange) -> Exchange:
        """Return the definitions that the client may see."""
        settings = self._settings
        value = _data(Raw(exchange.result.encode()))
        result: dict[str, Any] = value if isinstance(value, dict) else {}
        definitions = result.get("tools")
        if settings.pins is None or not isinstance(definitions, list):
            return exchange
        try:
            changes = settings.pins.check(definitions)
        except OSError as exc:
            settings.note(f"--pins {settings.pins.path}: {exc.strerror}; the tools are not pinned")
            changes = []
        for name, change in changes:
            fact = "is not pinned" if change == "new" else "differs from the pinned definition"
            end = (
                "it is left out" if settings.refuses_changed else "check it, and remove the pins to accept it"
            )
            settings.note(f"tool {_shown(name)} {fact} (OWASP ASI04); {end}")
        if not settings.refuses_changed or not settings.pins.changes:
            return exchange
        kept = [
            each
            for each in definitions
            if not (isinstance(each, dict) and each.get("name") in settings.pins.changes)
        ]
        return msgspec.structs.replace(exchange, result=_json({**result, "tools": kept}).decode())


def unrecorded_text(tool: str) -> str:
    """Return why a replay does not call a tool."""
    return (
        f"{_shown(tool)} was not recorded with these arguments, and a replay calls no tool that --live does"
        " not name"
    )


def _baggage(params: dict[str, Any]) -> str:
    """Return the baggage of a message, as its metadata have it."""
    meta = params.get("_meta")
    value = meta.get("baggage") if isinstance(meta, dict) else None
    return value if isinstance(value, str) else ""


def disturbance_in(baggage: str) -> Disturbance | None:
    """Return the disturbance that W3C Baggage names, None for none.

    >>> disturbance_in("user=1,evalstudio.tools=error%3Asearch").tool
    'search'
    """
    for member in baggage.split(","):
        name, _, value = member.partition(";")[0].partition("=")
        if name.strip() == BAGGAGE_KEY:
            try:
                return parse_disturbance(unquote(value.strip()))
            except ConfigurationError:
                return None
    return None


def disturbed_result(result: bytes, disturbance: Disturbance) -> bytes:
    """Return the result of a tool with its texts and structured content changed."""
    value = _data(Raw(result))
    if not isinstance(value, dict):
        return result
    changed = dict(value)
    content = value.get("content")
    if isinstance(content, list):
        changed["content"] = [_disturbed_block(block, disturbance) for block in content]
    if (structured := value.get("structuredContent")) is not None:
        changed["structuredContent"] = disturbance.applied(structured)
    return _json(changed)


def _disturbed_block(block: Any, disturbance: Disturbance) -> Any:
    if isinstance(block, dict) and isinstance(block.get("text"), str):
        return {**block, "text": disturbance.applied(block["text"])}
    return block


def error_message(id: int | str | None, code: int, text: str) -> bytes:
    """Return an error of JSON-RPC."""
    return _json({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}})


def _failed(id: int | str, text: str) -> bytes:
    """Return the result of a tool that has failed."""
    content = [{"type": "text", "text": text}]
    # The first key is required since the revision of 2026; clients of earlier ones do not read it.
    return _result(id, _json({"resultType": "complete", "content": content, "isError": True}))


def _result(id: int | str, result: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":%s,"result":%s}' % (_id(id), result)


def _id(id: int | str) -> bytes:
    return json.dumps(id).encode()


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _data(raw: Raw) -> Any:
    try:
        return msgspec.json.decode(raw) if len(raw) else None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _without_meta(method: str, params: Any) -> Any:
    """Return the parameters that identify a request: a client names itself anew with each session."""
    if method == "initialize" or not isinstance(params, dict):
        return None
    return {name: value for name, value in params.items() if name != "_meta"} or None


def _shown(name: str) -> str:
    return repr(excerpt(name, NAME_CHARS))
