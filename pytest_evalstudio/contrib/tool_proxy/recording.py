"""Recordings of exchanges with tools: JSON Lines, one exchange a line, with results byte for byte."""

from __future__ import annotations

import base64
import errno
import json
import os
import stat
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.reading import NOT_A_FILE, open_file

MAX_LINE_BYTES = 100_000_000
"""Longest line that is read; a message has fewer bytes, and a body in base64 a third more than it."""
_MODE = 0o600
# Without waiting for a reader, where the name is that of a pipe.
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Exchange(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A request to a tool or its server, and the reply.

    Attributes:
        tool: name of the tool; "" for other requests of the protocol, and for HTTP.
        method: method of the protocol, e.g. "tools/call", or of HTTP.
        arguments: of the tool; of another request its parameters, of HTTP its path and body.
        result: JSON text of the result as the server wrote it, or the body of a reply over HTTP in base64.
        error: JSON text of the protocol's error; "" for none.
        status: of a reply over HTTP; 0 for others.
        headers: of a reply over HTTP that its reader needs.
        duration_s: seconds until the reply.
    """

    tool: str = ""
    method: str
    arguments: Any = None
    result: str = ""
    error: str = ""
    status: int = 0
    headers: Mapping[str, str] = {}
    duration_s: float = 0.0

    @property
    def body(self) -> bytes:
        """Return the body of a reply over HTTP."""
        return base64.b64decode(self.result)


def canonical(value: object) -> str:
    """Return JSON data as a text that is the same for the same data.

    >>> canonical({"b": 1, "a": [2.0]})
    '{"a":[2.0],"b":1}'
    """
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


class Recorder:
    """Appends exchanges to a file that only its owner may read.

    Several processes may append to one file, as an agent that starts its server anew for each task does.

    Args:
        place: of the path, for messages.

    Raises:
        ConfigurationError: if the file cannot be written.
    """

    def __init__(self, path: Path, place: str = "--record") -> None:
        try:
            self._file = os.open(path, _FLAGS, _MODE)
            # Before the mode is changed: a device would keep it.
            if not stat.S_ISREG(os.fstat(self._file).st_mode):
                os.close(self._file)
                raise OSError(errno.EINVAL, NOT_A_FILE)
            if hasattr(os, "fchmod"):  # an earlier file may have been readable for others
                os.fchmod(self._file, _MODE)
        except OSError as exc:
            remedy = "name a file that can be written"
            raise ConfigurationError(f"{place} {path}: {exc.strerror}; {remedy}") from None

    def add(self, exchange: Exchange) -> None:
        """Append an exchange by one write, so that lines of processes do not mix."""
        os.write(self._file, msgspec.json.encode(exchange) + b"\n")

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


class Recording:
    """Recorded exchanges, each looked up by its request.

    Equal requests get their replies in the recorded order; further ones get the last.
    """

    def __init__(self, exchanges: list[Exchange]) -> None:
        self._exchanges: dict[tuple[str, str, str], list[Exchange]] = {}
        self._counts: Counter[tuple[str, str, str]] = Counter()
        for exchange in exchanges:
            key = (exchange.method, exchange.tool, canonical(exchange.arguments))
            self._exchanges.setdefault(key, []).append(exchange)

    def reply(self, method: str, tool: str, arguments: object, earlier: int | None = None) -> Exchange | None:
        """Return the recorded exchange with this request, None where there is none.

        Args:
            earlier: number of the equal requests before it; None to count them here.
        """
        key = (method, tool, canonical(arguments))
        exchanges = self._exchanges.get(key)
        if not exchanges:
            return None
        if earlier is None:
            earlier = self._counts[key]
            self._counts[key] += 1
        return exchanges[min(earlier, len(exchanges) - 1)]


def read_recording(path: Path, place: str = "--replay") -> Recording:
    """Read a recording.

    Args:
        place: of the path, for messages.

    Raises:
        ConfigurationError: if there is no such file.
        DataError: if a line is no exchange.
    """
    decoder = msgspec.json.Decoder(Exchange)
    exchanges: list[Exchange] = []
    try:
        with open_file(path) as file:
            number = 0
            while line := file.readline(MAX_LINE_BYTES + 1):
                number += 1
                if len(line) > MAX_LINE_BYTES:
                    raise DataError(
                        f"a line of more than {MAX_LINE_BYTES:,} bytes; record again",
                        source=str(path),
                        line=number,
                    )
                if line.strip():
                    exchanges.append(_exchange(decoder, line, path, number))
    except OSError as exc:
        raise ConfigurationError(f"{place} {path}: {exc.strerror}; record one before") from None
    return Recording(exchanges)


def _exchange(decoder: msgspec.json.Decoder[Exchange], line: bytes, path: Path, number: int) -> Exchange:
    try:
        return decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as exc:
        fact = f"is no recorded exchange ({exc})" if line.endswith(b"\n") else "is cut off"
        raise DataError(f"{fact}; remove the line, or record again", source=str(path), line=number) from None
