"""Spans that another process of the run receives."""

from __future__ import annotations

from collections.abc import Collection
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlencode, urlsplit

import msgspec

from pytest_evalstudio.traces.collecting import CollectedSpans
from pytest_evalstudio.traces.receiver import MAX_WAIT_S
from pytest_evalstudio.traces.spans import Event, Span

_REPLY_S = 30.0
"""Time that the reply takes at most besides the wait for spans."""


class RemoteSpans:
    """Spans of a `Receiver` in another process of the run.

    Args:
        spans_at: of the receiver.
    """

    def __init__(self, spans_at: str) -> None:
        self._address = urlsplit(spans_at)

    def collect(self, trace_id: str, parents: Collection[str], wait_s: float) -> CollectedSpans:
        """Wait until the spans of a trace have arrived, and take them; see `SpanSource`.

        Where the process does not reply, they are missing.
        """
        query = urlencode({"trace": trace_id, "wait_s": wait_s, "parent": list(parents)}, doseq=True)
        connection = HTTPConnection(self._address.netloc, timeout=min(wait_s, MAX_WAIT_S) + _REPLY_S)
        try:
            connection.request("GET", f"{self._address.path}?{query}")
            return _read(connection.getresponse().read())
        except (OSError, HTTPException, ValueError, TypeError, KeyError, RecursionError):
            # the verdict on the answer does not depend on its spans
            return CollectedSpans()
        finally:
            connection.close()


def _read(reply: bytes) -> CollectedSpans:
    """Return what `Receiver.take` wrote; msgspec cannot read the recursive type of attributes."""
    values = msgspec.json.decode(reply)
    spans = (
        Span(**{**span, "events": tuple(Event(**event) for event in span["events"])})
        for span in values["spans"]
    )
    return CollectedSpans(**{**values, "spans": tuple(spans)})
