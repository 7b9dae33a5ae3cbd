"""Files of traces: their formats told apart, and their spans collected by trace in bounded memory.

A first pass finds the trace of each span and keeps the span's position only, 32 bytes; a second one reads
the spans of one trace after the other. Spans of a trace may be anywhere in the files.
"""

from __future__ import annotations

import gzip
import os
import zlib
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BufferedReader, FileIO
from pathlib import Path
from tempfile import TemporaryFile
from typing import Literal, TypeVar, cast

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.reading import open_file
from pytest_evalstudio.text.unicode import valid_json_bytes
from pytest_evalstudio.traces import jaeger, mlflow_file, otlp, phoenix
from pytest_evalstudio.traces.elements import MAX_FILE_ELEMENTS, check_json
from pytest_evalstudio.traces.spans import Event, Span, hex_id

MAX_JSON_BYTES = 200_000_000
"""Maximum size of one JSON value: a line, or a file that is not JSON lines."""
MAX_ERRORS = 10_000
"""Maximum number of lines and spans that cannot be read; more are another kind of file."""
MAX_SPANS = 100_000
"""Maximum number of spans of one trace, which are read together."""
T = TypeVar("T")
Form = Literal["otlp", "log", "jaeger", "phoenix", "mlflow"]
_FORMS: tuple[Form, ...] = ("otlp", "log", "jaeger", "phoenix", "mlflow")
_READERS = {
    "otlp": otlp.read_span,
    "jaeger": jaeger.read_span,
    "phoenix": phoenix.read_span,
    "mlflow": mlflow_file.read_span,
}
MAX_RATIO = 100
"""Maximum ratio of the size of an unpacked file to that of its gzip; JSON of traces has 5 to 40."""
_GZIP = b"\x1f\x8b"
_PART_BYTES = 1_000_000
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_EXPECTED = (
    "expected spans as OTLP JSON (resourceSpans, resourceLogs), Jaeger JSON (data), an export of Tempo"
    " (batches, trace), of Phoenix, or traces of MLflow"
)


class _Scope(Struct, rename="camel"):
    spans: list[Raw] = []
    log_records: list[Raw] = []


class _Resource(Struct, rename="camel"):
    scope_spans: list[_Scope] = []
    instrumentation_library_spans: list[_Scope] = []
    scope_logs: list[_Scope] = []


class _JaegerTrace(Struct):
    spans: list[Raw] = []


class _Document(Struct, rename="camel"):
    """One JSON value of a file, in any of the formats; MLflow's has an object of spans."""

    resource_spans: list[_Resource] = []
    resource_logs: list[_Resource] = []
    batches: list[_Resource] = []
    trace: _Document | None = None
    data: list[_JaegerTrace] | _JaegerTrace = []
    spans: list[Raw] = []


class _Context(Struct):
    trace_id: str


class _Ids(
    Struct,
    rename={"otlp": "traceId", "jaeger": "traceID", "phoenix": "context.trace_id", "mlflow": "trace_id"},
):
    otlp: str = ""
    jaeger: str = ""
    phoenix: str = ""
    mlflow: str = ""
    context: _Context | None = None

    @property
    def trace_id(self) -> str:
        phoenix = self.phoenix or (self.context.trace_id if self.context is not None else "")
        return hex_id(self.otlp or self.jaeger or self.mlflow or phoenix)


@dataclass(frozen=True, slots=True)
class Trace:
    """Spans of one trace, by their start.

    Attributes:
        lost: spans above the limit.
        repeated: spans that the files hold more than once.
    """

    id: str
    spans: tuple[Span, ...]
    lost: int = 0
    repeated: int = 0


_DOCUMENTS = msgspec.json.Decoder(_Document)
_LISTS = msgspec.json.Decoder(list[_Document])
_IDS = msgspec.json.Decoder(_Ids)
_ID_LISTS = msgspec.json.Decoder(list[_Ids])
_RAWS = msgspec.json.Decoder(list[Raw])


class TraceFiles:
    """Traces of some files.

    Attributes:
        errors: one for each line or span that cannot be read.

    Raises:
        DataError: if a file cannot be read, or is of another format.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self.errors: list[DataError] = []
        self._names = [str(path) for path in paths]
        self._files: list[BufferedReader] = []
        self._unbuffered: list[FileIO] = []
        self._positions: defaultdict[str, array[int]] = defaultdict(lambda: array("q"))
        try:
            for path in paths:
                self._index(path)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the files."""
        for file in self._files:
            file.close()

    def traces(self) -> Iterator[Trace]:
        """Yield the traces in the order of their first spans."""
        for trace_id, positions in self._positions.items():
            yield self._trace(trace_id, positions)

    def _trace(self, trace_id: str, positions: array[int]) -> Trace:
        spans: dict[str, Span] = {}
        events: dict[str, list[Event]] = {}
        log_texts: set[bytes] = set()
        repeated = 0
        numbers = iter(positions[: 4 * MAX_SPANS].tolist())
        # Four numbers for each span, see `_add`.
        for number, form, start, length in zip(numbers, numbers, numbers, numbers, strict=True):
            file = self._unbuffered[number]
            file.seek(start)
            text = file.read(length) or b""
            try:
                if _FORMS[form] == "log":
                    # Exporters that try again send the same record twice; records have no id.
                    text = valid_json_bytes(text)
                    if text in log_texts:
                        continue
                    log_texts.add(text)
                    id, event = otlp.read_log_record(text)
                    events.setdefault(id, []).append(event)
                    continue
                span = _decoded(_READERS[_FORMS[form]], text)
            except (ValueError, OverflowError, RecursionError) as exc:
                self._add_error(number, f"byte {start:,}", exc)
                continue
            repeated += span.id in spans
            spans.setdefault(span.id, span)
        # After all spans: log records may come before the span that they belong to.
        for id, records in events.items():
            if id in spans:
                spans[id] = replace(spans[id], events=(*spans[id].events, *records))
        ordered = sorted(spans.values(), key=lambda span: span.started_s or 0.0)
        return Trace(trace_id, tuple(ordered), max(0, len(positions) // 4 - MAX_SPANS), repeated)

    def _index(self, path: Path) -> None:
        name = str(path)
        try:
            file = _opened(path)
        except (OSError, EOFError, zlib.error) as exc:
            fact = getattr(exc, "strerror", None) or exc
            raise DataError(f"cannot be read: {fact}", source=name) from None
        self._files.append(file)
        # A buffer would read more than the span, for each span.
        self._unbuffered.append(cast(FileIO, file.raw))
        number = len(self._files) - 1
        first = file.readline(MAX_JSON_BYTES + 1)
        if _is_whole(file, first):
            file.seek(0)
            self._index_value(number, 0, file.read(), 0)
            return
        start, line_number, line = 0, 1, first
        while line:
            if len(line) > MAX_JSON_BYTES:
                raise DataError(
                    f"has a line of more than {MAX_JSON_BYTES:,} bytes; write smaller batches, a line each",
                    source=name,
                )
            if line.strip():
                self._index_value(number, start, line, line_number)
            start += len(line)
            line_number += 1
            line = file.readline(MAX_JSON_BYTES + 1)

    def _index_value(self, number: int, start: int, text: bytes, line: int) -> None:
        if text.startswith(_BYTE_ORDER_MARK):
            start, text = start + len(_BYTE_ORDER_MARK), text[len(_BYTE_ORDER_MARK) :]
        try:
            check_json(text, MAX_FILE_ELEMENTS)
            try:
                documents = _documents(text)
            except ValueError:
                # The length stays the same, so that positions in the text are those in the file.
                text = valid_json_bytes(text)
                documents = _documents(text)
        except (ValueError, RecursionError) as exc:
            self._add_error(number, f"line {line}" if line else "", exc)
            return
        positions = _Positions(text)
        count = 0
        for document in documents:
            for form, spans in _spans(document):
                count += len(spans)
                self._add(number, form, start, positions, spans)
        if count or any(map(_is_known, documents)):
            return
        spans = _lone_spans(text)
        self._add(number, "phoenix", start, positions, spans)
        if not spans:
            self._add_error(number, f"line {line}" if line else "", ValueError(_EXPECTED))

    def _add(self, number: int, form: Form, start: int, positions: _Positions, spans: list[Raw]) -> None:
        """Note where the spans of a text are that starts at some position of a file."""
        form_number = _FORMS.index(form)
        for (offset, length), trace_id in zip(map(positions.of, spans), _trace_ids(spans), strict=True):
            if isinstance(trace_id, Exception):
                self._add_error(number, f"byte {start + offset:,}", trace_id)
            elif trace_id:
                # Numbers of 8 bytes in one array: objects for each span of a large file would not fit into
                # memory.
                self._positions[trace_id].extend((number, form_number, start + offset, length))
            elif form != "log":  # most log records belong to no trace
                fault = ValueError("a span has no id of its trace")
                self._add_error(number, f"byte {start + offset:,}", fault)

    def _add_error(self, number: int, place: str, exc: Exception) -> None:
        fact = "it is nested too deeply" if isinstance(exc, RecursionError) else str(exc)
        source = f"{self._names[number]} {place}".strip()
        if len(self.errors) == MAX_ERRORS:
            raise DataError(
                f"more than {MAX_ERRORS:,} lines or spans cannot be read; the first one:"
                f" {self.errors[0]}. A file that is not JSON Lines can have at most {MAX_JSON_BYTES:,} bytes",
                source=self._names[number],
            )
        self.errors.append(DataError(fact, source=source))


def _opened(path: Path) -> BufferedReader:
    """Open a file; one of gzip is unpacked into a temporary file, since its spans are read in any order.

    Raises:
        DataError: if it unpacks to far more than JSON does.
        OSError, EOFError, zlib.error: if it cannot be read or unpacked.
    """
    file = open_file(path)
    if file.peek(2)[:2] != _GZIP:
        return file
    with file:
        # A small file may compress better than the ratio allows; up to this size it is harmless.
        limit = max(MAX_JSON_BYTES, MAX_RATIO * os.fstat(file.fileno()).st_size)
        unpacked = TemporaryFile()  # noqa: SIM115  # the caller closes it
        try:
            with gzip.GzipFile(fileobj=file) as content:
                while part := content.read(_PART_BYTES):
                    if unpacked.tell() + len(part) > limit:
                        fact = f"unpacks to more than {limit:,} bytes; unpack it, and check what it is"
                        raise DataError(fact, source=str(path))
                    unpacked.write(part)
            unpacked.seek(0)
        except BaseException:
            unpacked.close()
            raise
    return cast(BufferedReader, unpacked)


def _is_whole(file: BufferedReader, first: bytes) -> bool:
    """Return whether a file is one JSON value on several lines; the position stays after the first one."""
    size = os.fstat(file.fileno()).st_size
    # A first line that is JSON by itself begins JSON lines.
    if len(first) >= size or size > MAX_JSON_BYTES or _is_json(first):
        return False
    file.seek(0)
    is_whole = _is_json(file.read())
    file.seek(len(first))
    return is_whole


def _is_json(text: bytes) -> bool:
    try:
        msgspec.json.decode(text.removeprefix(_BYTE_ORDER_MARK), type=Raw)
    except (ValueError, RecursionError):
        return False
    return True


def _documents(text: bytes) -> list[_Document]:
    return _LISTS.decode(text) if text.lstrip()[:1] == b"[" else [_DOCUMENTS.decode(text)]


class _Positions:
    """Positions of the parts of a text, which are looked up in their order."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._end = 0

    def of(self, part: Raw) -> tuple[int, int]:
        """Return position and length of a part after the one before; equal parts are exchangeable."""
        content = bytes(part)
        start = self._end + 1  # after a comma, as nearly all, or a comma and a blank
        if not self._text.startswith(content, start):
            start += 1
            if not self._text.startswith(content, start):
                start = self._text.find(content, self._end)
                if start < 0:
                    start = self._text.find(content)
        self._end = start + len(content)
        return start, len(content)


def _trace_ids(spans: list[Raw]) -> list[str | Exception]:
    """Return the id of the trace of each span, "" for none, or the fault of a span."""
    try:
        # All of them at once, since that is faster than a call for each.
        return [ids.trace_id for ids in _ID_LISTS.decode(b"[%b]" % b",".join(spans))]
    except (ValueError, RecursionError):
        return [_trace_id(span) for span in spans]


def _trace_id(span: Raw) -> str | Exception:
    try:
        return _decoded(_IDS.decode, bytes(span)).trace_id
    except (ValueError, RecursionError) as exc:
        return exc


def _decoded(decode: Callable[[bytes], T], text: bytes) -> T:
    """Decode a text; lone surrogates, which msgspec refuses, are replaced where it has some."""
    try:
        return decode(text)
    except ValueError:
        return decode(valid_json_bytes(text))


def _lone_spans(text: bytes) -> list[Raw]:
    """Return the spans of a text in which they stand alone or in a list, as Phoenix exports them."""
    spans = _RAWS.decode(text) if text.lstrip()[:1] == b"[" else [Raw(text)]
    return spans if all(id and isinstance(id, str) for id in _trace_ids(spans)) else []


def _is_known(document: _Document) -> bool:
    return any(getattr(document, name) not in (None, []) for name in document.__struct_fields__)


def _spans(document: _Document) -> Iterator[tuple[Form, list[Raw]]]:
    """Yield the spans of a JSON value, in their order in the text."""
    if document.trace is not None:
        yield from _spans(document.trace)
    # Tempo exports "batches" in place of "resourceSpans";
    # older versions of OTLP have the other name of a scope.
    for resource in document.resource_spans or document.batches:
        for scope in resource.scope_spans or resource.instrumentation_library_spans:
            yield "otlp", scope.spans
    for resource in document.resource_logs:
        for scope in resource.scope_logs:
            yield "log", scope.log_records
    if isinstance(document.data, list):
        for trace in document.data:
            yield "jaeger", trace.spans
    else:
        yield "mlflow", document.data.spans
    yield "jaeger", document.spans


def raw_spans(text: bytes) -> Iterator[tuple[Form, str, Raw]]:
    """Yield form, id of the trace and JSON of each span and log record of one JSON value.

    Raises:
        ValueError: if it is malformed; `RecursionError` if it is nested too deeply.
    """
    for form, spans in _spans(_DOCUMENTS.decode(text)):
        for span in spans:
            yield form, hex_id(_IDS.decode(span).otlp), span
