"""Program between a client of the Model Context Protocol and the program of a server.

It passes on messages and nothing else, so that neither stray output nor a line without an end reaches the
client, which would hold all of it in memory and log each line that is no message.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import IO

NOTE = "relay: "
"""Beginning of its own lines on standard error."""
MAX_LINE_BYTES = 20_000_000
"""Longest message; results of tools are limited to fewer characters anyway."""
MAX_ERROR_BYTES = 1_000_000
"""Limit of the server's standard error that it passes on to a file."""
ERRORS_WAIT_S = 1.0
_STRAY_LINES = 3
_STRAY_BYTES = 200


def main(command: Sequence[str]) -> int:
    """Run a server whose standard input is that of this program."""
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert server.stdout is not None
    assert server.stderr is not None
    errors = threading.Thread(target=_pass_errors, args=(server.stderr,), daemon=True)
    errors.start()
    try:
        _pass_messages(server.stdout, sys.stdout.buffer)
    except OSError:  # the client has gone
        server.kill()
    status = server.wait()
    # The last words of a server that fails at its start; a process that it has left behind may hold the pipe.
    errors.join(ERRORS_WAIT_S)
    return status


def _pass_messages(lines: IO[bytes], target: IO[bytes]) -> None:
    stray = 0
    while line := lines.readline(MAX_LINE_BYTES + 1):
        if len(line) > MAX_LINE_BYTES:
            _note(f"the server wrote a line of more than {MAX_LINE_BYTES:,} bytes")
            raise BrokenPipeError
        if _is_message(line):
            target.write(line)
            target.flush()
        elif line.strip():
            stray += 1
            if stray <= _STRAY_LINES:
                _note(f"no message on standard output: {_beginning(line)}")


def _beginning(line: bytes) -> str:
    """Return the beginning of a line, masked before it is cut: half a key would not be recognised."""
    from pytest_evalstudio.metrics.detectors import redact_identifier  # most servers write messages only

    return redact_identifier(line.decode(errors="replace").strip())[:_STRAY_BYTES]


def _is_message(line: bytes) -> bool:
    """Return True for an object of JSON, or a list of them; the client checks the rest."""
    if not line.lstrip().startswith((b"{", b"[")):
        return False
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    messages = value if isinstance(value, list) else [value]
    return all(isinstance(message, dict) and "jsonrpc" in message for message in messages)


def _note(text: str) -> None:
    sys.stderr.write(f"{NOTE}{text}\n")
    sys.stderr.flush()


def _pass_errors(source: IO[bytes]) -> None:
    """Pass the beginning on and read the rest, so that the server does not wait for a reader."""
    left = MAX_ERROR_BYTES
    while part := source.read1(65_536):  # type: ignore[attr-defined]
        if left > 0:
            sys.stderr.buffer.write(part[:left])
            sys.stderr.flush()
        left -= len(part)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
