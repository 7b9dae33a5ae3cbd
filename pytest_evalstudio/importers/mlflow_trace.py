"""Content of a trace of MLflow that a row of an evaluation has: documents, calls, tokens and assessments.

All steps of it are read by `evalstudio import traces`.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.formats.imported.records import Omissions, items_of, mapping_of, text_of
from pytest_evalstudio.importers.replies import calls_in, messages_of
from pytest_evalstudio.text.unicode import valid_json

_INPUTS, _OUTPUTS, _KIND = "mlflow.spanInputs", "mlflow.spanOutputs", "mlflow.spanType"
_NANOSECONDS = 1_000_000_000
_TOKENS = ("input_tokens", "output_tokens")


class MlflowTrace:
    """A trace.

    Attributes:
        info: what the store says of the trace.
        root: attributes of the root span.
        documents: content and address of the last retrieved documents.
    """

    def __init__(self, trace: Mapping[str, Json]) -> None:
        self.info = mapping_of(trace.get("info"))
        self.root: dict[str, Json] = {}
        self.documents: list[tuple[str, str]] = []
        self._spans: list[tuple[dict[str, Json], dict[str, Json]]] = []
        for span in map(mapping_of, items_of(mapping_of(trace.get("data")).get("spans"))):
            attributes = _attributes(span)
            self._spans.append((span, attributes))
            if not (span.get("parent_id") or span.get("parent_span_id")):
                self.root = attributes
            if attributes.get(_KIND) == "RETRIEVER":
                self.documents = list(_documents(attributes.get(_OUTPUTS)))

    @property
    def id(self) -> str:
        """Return the id by which the store has it, "" for none."""
        return str(self.info.get("trace_id") or self.info.get("request_id") or "")

    @property
    def duration_s(self) -> float:
        """Return its duration in seconds, 0 where it does not say it."""
        milliseconds = self.info.get("execution_duration_ms") or self.info.get("execution_time_ms")
        if isinstance(milliseconds, int | float) and not isinstance(milliseconds, bool):
            return milliseconds / 1000
        return 0.0

    @property
    def session(self) -> str:
        """Return the id of the conversation."""
        value = mapping_of(self.info.get("trace_metadata")).get("mlflow.trace.session")
        return value if isinstance(value, str) else ""

    @property
    def model(self) -> str:
        """Return the model that answered last."""
        names = [attributes.get("mlflow.llm.model") for _, attributes in self._spans]
        return next((name for name in reversed(names) if isinstance(name, str)), "")

    @property
    def usage(self) -> dict[str, int]:
        """Return its tokens by kind."""
        stored = _data(mapping_of(self.info.get("trace_metadata")).get("mlflow.trace.tokenUsage"))
        # The tokens of a trace are the sum of those of its spans, which are not added to it.
        counts = [stored] if stored else [span.get("mlflow.chat.tokenUsage") for _, span in self._spans]
        usage: dict[str, int] = {}
        for kind in _TOKENS:
            numbers = [mapping_of(count).get(kind) for count in counts]
            known = [number for number in numbers if isinstance(number, int) and not isinstance(number, bool)]
            if known:
                usage[kind] = sum(known)
        return usage

    def calls(self, omissions: Omissions) -> list[dict[str, Any]]:
        """Return the calls of tools: of their spans, else of the messages of models."""
        calls = [
            _call(span, attributes, omissions)
            for span, attributes in self._spans
            if attributes.get(_KIND) == "TOOL" and span.get("name")
        ]
        # Spans have the results and times of calls, which messages lack.
        if calls:
            return calls
        messages: list[Json] = []
        for _, attributes in self._spans:
            if attributes.get(_KIND) in ("CHAT_MODEL", "LLM"):
                outputs = attributes.get(_OUTPUTS)
                # Of several choices only the first one is the answer.
                replies = items_of(mapping_of(outputs).get("choices"))[:1]
                messages += [mapping_of(reply).get("message") for reply in replies]
                results = items_of(mapping_of(attributes.get(_INPUTS)).get("messages"))
                messages += [message for message in results if mapping_of(message).get("role") == "tool"]
        return list(calls_in(messages or messages_of(self.root.get(_OUTPUTS)), omissions))

    def expectations(self) -> dict[str, Json]:
        """Return the expectations that people attached, by their names."""
        return {
            name: _value(mapping_of(item["expectation"]))
            for name, item in self._assessments()
            if "expectation" in item
        }

    def feedback(self) -> dict[str, Json]:
        """Return the verdicts on the answer with their reasons, by their names."""
        return {
            name: {
                "value": _value(mapping_of(item["feedback"])),
                **{key: item[key] for key in ("rationale", "source") if item.get(key)},
            }
            for name, item in self._assessments()
            if "feedback" in item
        }

    def _assessments(self) -> Iterator[tuple[str, dict[str, Json]]]:
        for item in map(mapping_of, items_of(self.info.get("assessments"))):
            yield str(item.get("assessment_name") or item.get("name")), item


def _value(value: Mapping[str, Json]) -> Json:
    """Return the value of an assessment; lists and objects are JSON texts."""
    serialized = mapping_of(value.get("serialized_value")).get("value")
    return value.get("value") if serialized is None else _data(serialized)


def _call(span: Mapping[str, Json], attributes: Mapping[str, Json], omissions: Omissions) -> dict[str, Any]:
    start, end = (
        next((span[key] for key in (f"{name}_time_unix_nano", f"{name}_time") if key in span), None)
        for name in ("start", "end")
    )
    call: dict[str, Any] = {"name": span["name"], "arguments": attributes.get(_INPUTS)}
    if attributes.get(_OUTPUTS) is not None:
        call["result"] = text_of(attributes[_OUTPUTS], omissions)
    if isinstance(start, int) and isinstance(end, int) and end >= start > 0:
        call |= {"started_s": start / _NANOSECONDS, "duration_s": (end - start) / _NANOSECONDS}
    status = span.get("status")
    code = mapping_of(status).get("code", status)
    # The code is an enum's name in OTLP, and a shorter one in files of older versions.
    if code in ("STATUS_CODE_ERROR", "ERROR"):
        call["error"] = str(mapping_of(status).get("message") or "error")
    return call


def _attributes(span: Mapping[str, Json]) -> dict[str, Json]:
    """Return the attributes of a span; their values are JSON in a text, in some versions without it."""
    return {name: _data(value) for name, value in mapping_of(span.get("attributes")).items()}


def _data(value: Json) -> Json:
    """Return the value of a JSON text; other values as they are."""
    if isinstance(value, str):
        with contextlib.suppress(ValueError, RecursionError):
            value = json.loads(valid_json(value))
    return value


def _documents(outputs: Json) -> Iterator[tuple[str, str]]:
    for item in outputs if isinstance(outputs, list) else []:
        if isinstance(item, str):
            yield item, ""
        elif isinstance(item, dict):
            details = item.get("metadata")
            uri = details.get("doc_uri") or details.get("source") if isinstance(details, dict) else None
            yield (
                str(item.get("page_content") or item.get("content") or ""),
                str(uri or item.get("doc_uri") or ""),
            )
