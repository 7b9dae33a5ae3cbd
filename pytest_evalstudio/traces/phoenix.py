"""Spans as the client of Phoenix exports them: rows of its frame of spans, and the list of `get_spans`.

Source: https://arize-phoenix.readthedocs.io/projects/client/
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import msgspec

from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.formats.imported.records import mapping_of
from pytest_evalstudio.traces.messages import amount, text_of
from pytest_evalstudio.traces.openinference import KIND
from pytest_evalstudio.traces.spans import NANOSECONDS, Span, hex_id, interval

_PREFIX = "attributes."
_MILLISECONDS = 1_000


def read_span(text: bytes) -> Span:
    """Read a span; its attributes are flattened as those of OpenInference.

    Raises:
        ValueError: if it is malformed.
    """
    values = mapping_of(msgspec.json.decode(text))
    context = mapping_of(values.get("context"))
    attributes = {
        name: item
        for key, value in values.items()
        if key.startswith(_PREFIX)
        for name, item in _flattened(key.removeprefix(_PREFIX), value)
    }
    for key, value in mapping_of(values.get("attributes")).items():
        attributes.update(_flattened(key, value))
    attributes.setdefault(KIND, values.get("span_kind"))
    start_ns, end_ns = (_nanoseconds(values.get(name)) for name in ("start_time", "end_time"))
    started_s, duration_s = interval(start_ns, end_ns)
    failed = values.get("status_code") == "ERROR"
    return Span(
        id=hex_id(text_of(values.get("context.span_id") or context.get("span_id"))),
        parent=hex_id(text_of(values.get("parent_id"))),
        name=text_of(values.get("name")),
        started_s=started_s,
        duration_s=duration_s,
        attributes=attributes,
        error=(text_of(values.get("status_message")) or "error") if failed else "",
    )


def _flattened(name: str, value: Json) -> Iterator[tuple[str, Json]]:
    """Yield the attributes of a value; lists of objects are flattened by their indices."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _flattened(f"{name}.{key}", item)
    elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        for index, item in enumerate(value):
            yield from _flattened(f"{name}.{index}", item)
    elif value is not None:  # a frame has each column in each row
        yield name, value


def _nanoseconds(value: Json) -> int:
    """Return a time, which is a text in ISO 8601 or milliseconds since 1970; 0 where it is none."""
    if isinstance(value, str):
        return int(datetime.fromisoformat(value).timestamp() * NANOSECONDS)
    number = amount(value)
    return int(number * (NANOSECONDS // _MILLISECONDS)) if number is not None else 0
