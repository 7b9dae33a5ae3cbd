"""Replies that arrive in parts over HTTP: server-sent events, lines of JSON, plain text."""

from __future__ import annotations

import json
import re
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

from pytest_evalstudio.core.plugins.host import HostFault
from pytest_evalstudio.hosts._faults import quoted
from pytest_evalstudio.hosts._malformed import broken_off

_LINE_END = re.compile(r"\r\n|\r|\n")
"""The only line ends of events and of lines of JSON; `aiter_lines` of httpx splits at others, too."""
_LAST = "[DONE]"
_SILENT = frozenset({"end", "done", "close", "metadata", "ping", "heartbeat"})
"""Names of events that are no part of a plain text."""
_ERROR = "error"


@dataclass(slots=True)
class Event:
    """A server-sent event, or a line of JSON.

    Attributes:
        is_ended: False for the last one of a stream that lacks its end.
    """

    data: str
    name: str = ""
    is_ended: bool = True


@dataclass(slots=True)
class StreamReader:
    """Reads the body of a reply, and notes when its first part arrived.

    Args:
        url: of the service, for messages.
        mask: removes secrets from them.
        first_part_s: seconds from the request to the first part; None before.
    """

    url: str
    mask: Callable[[str], str]
    began: float = field(default_factory=time.perf_counter)
    first_part_s: float | None = None

    async def values(self, events: AsyncIterator[Event]) -> list[Any]:
        """Return the JSON values of events or lines.

        Raises:
            HostFault: if one is not JSON or reports an error, or if there is none.
        """
        values: list[Any] = []
        async for event in events:
            self.check(event)
            values.append(self.document(event))
            self._note()
        if not values:
            raise broken_off(self.url)
        return values

    def document(self, event: Event) -> Any:
        """Return the JSON value of an event or line.

        Raises:
            HostFault: if it is not JSON.
        """
        try:
            return json.loads(event.data)
        except (ValueError, RecursionError) as exc:
            self.check(event)
            # Half a value at the end: the connection broke, which another try may mend.
            if not event.is_ended:
                raise broken_off(self.url) from exc
            text = quoted(event.data, self.mask)
            fact = f"{self.url} sent an event that is not JSON but {text!r}"
            raise HostFault(f"{fact}; check url and format") from exc

    async def text(self, texts: AsyncIterator[str]) -> str:
        """Return the joined parts of a plain text."""
        parts = []
        async for text in texts:
            parts.append(text)
            if text:
                self._note()
        return "".join(parts)

    async def text_of_events(self, events: AsyncIterator[Event]) -> str:
        """Return the joined texts of events.

        Raises:
            HostFault: if one reports an error, or if there is none.
        """
        parts: list[str] = []
        async for event in events:
            self.check(event)
            if event.name.lower() not in _SILENT:
                parts.append(event.data)
                self._note()
        if not parts:
            raise broken_off(self.url)
        return "".join(parts)

    def check(self, event: Event) -> None:
        """Refuse an event that reports an error.

        Raises:
            HostFault: with the text of the event.
        """
        if event.name.lower() == _ERROR:
            text = quoted(event.data, self.mask)
            raise HostFault(
                f"{self.url} ended the stream with an error: {text}; check the service", retry=True
            )

    @property
    def elapsed_s(self) -> float:
        """Seconds since the request was sent."""
        return time.perf_counter() - self.began

    def _note(self) -> None:
        if self.first_part_s is None:
            self.first_part_s = self.elapsed_s


async def events_in(texts: AsyncIterator[str]) -> AsyncIterator[Event]:
    """Yield the server-sent events of a body up to `[DONE]`; the lines of one are joined by line breaks."""
    data: list[str] = []
    name = ""
    async for line, is_ended in _lines(texts):
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif line.startswith("event:"):
            name = line[6:].strip()
        # A blank line ends an event; other lines, e.g. comments and ids, say nothing here.
        elif not line and is_ended:
            if data:
                event = Event("\n".join(data), name)
                if event.data.strip() == _LAST:
                    return
                yield event
            data, name = [], ""
    if data and "\n".join(data).strip() != _LAST:
        yield Event("\n".join(data), name, is_ended=False)


async def json_lines_in(texts: AsyncIterator[str]) -> AsyncIterator[Event]:
    """Yield the lines of a body that are not empty."""
    async for line, is_ended in _lines(texts):
        if line.strip():
            yield Event(line, is_ended=is_ended)


async def _lines(texts: AsyncIterator[str]) -> AsyncIterator[tuple[str, bool]]:
    """Yield each line of a text that arrives in parts, and whether it is ended; parts may end anywhere."""
    pieces: list[str] = []
    is_after_return = False
    async for text in texts:
        # "\r\n" may arrive in two parts; its second half is no further line.
        if is_after_return and text.startswith("\n"):
            text = text[1:]
        if not text:
            continue
        is_after_return = text.endswith("\r")
        first, *others = _LINE_END.split(text)
        pieces.append(first)
        for line in others:
            yield "".join(pieces), True
            pieces = [line]
    if rest := "".join(pieces):
        yield rest, False
