"""Context of the trace that a request belongs to.

Source: https://www.w3.org/TR/trace-context/
"""

from __future__ import annotations

import re
from contextvars import ContextVar
from typing import Literal

SpanStatus = Literal["", "complete", "incomplete", "missing"]
"""Spans of an answer: all have arrived, some had not when the time was over, or there was none."""
TRACEPARENT: ContextVar[str] = ContextVar("evalstudio_traceparent", default="")
"""Header `traceparent` of the requests that are made for the current question; "" to send none."""
_PATTERN = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}")


def traceparent(trace_id: str, span_id: str) -> str:
    """Return the header of a span; "" for ids that W3C Trace Context does not allow.

    >>> traceparent("5b8efff798038103d269b633813fc60c", "eee19b7ec3c1b174")
    '00-5b8efff798038103d269b633813fc60c-eee19b7ec3c1b174-01'
    """
    text = f"00-{trace_id}-{span_id}-01"
    return text if _PATTERN.fullmatch(text) else ""


def trace_and_span(text: str) -> tuple[str, str]:
    """Return the ids of trace and span in a header; ("", "") if it is not valid."""
    match = _PATTERN.fullmatch(text)
    return (match[1], match[2]) if match else ("", "")
