"""Logs of Inspect (`.json`, `.eval`): the samples of a task with the answers of its model.

Source: https://inspect.aisi.org.uk/eval-logs.html
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.formats.fields import shown
from pytest_evalstudio.formats.imported.records import (
    METADATA,
    Fields,
    Imported,
    Record,
    convert_records,
    items_of,
    key_of,
    mapping_of,
    metadata,
    question_of,
    read_file,
    records,
    text_of,
    texts_of,
)
from pytest_evalstudio.formats.source import Source, pointer
from pytest_evalstudio.importers import inspect_archive
from pytest_evalstudio.importers.inspect_archive import walk
from pytest_evalstudio.importers.replies import calls_in, note_unread

SUFFIX = ".eval"
MAX_DEPTH = 100
"""Maximum nesting of a sample; deeper ones cannot be written again."""
_KEYS = frozenset(
    {"id", "epoch", "input", "target", "choices", "files", "sandbox", "scores", "output", "error"}
    | {"total_time", "metadata", "model_usage", "messages"}
)
_OF_RUNS = frozenset(
    {"attachments", "events", "events_data", "role_usage", "store", "timelines", "uuid", "setup", "limit"}
    | {"started_at", "completed_at", "working_time", "working_start", "error_retries", "invalidation"}
)
"""Keys of a sample about its run; the messages have what was said."""
_OF_OUTPUTS = ("completion", "choices", "model", "usage", "time", "stop_reason")
_TYPES: Mapping[str, tuple[tuple[type, ...], str]] = {
    "id": ((str, int), "a text or a whole number"),
    "epoch": ((int,), "a whole number"),
    "target": ((str, list), "a text or a list of texts"),
    "output": ((dict,), "an object"),
    "error": ((dict,), "an object"),
    "total_time": ((int, float), "a number of seconds"),
    "metadata": ((dict,), "an object"),
    "model_usage": ((dict,), "an object"),
    "messages": ((list,), "a list"),
}
"""Types of the values of a sample that have one meaning only."""


def open_log(path: Path, name: str) -> Source:
    """Parse a log; an `.eval` archive becomes the data of a JSON log, see `inspect_archive.open_log`."""
    if path.suffix.lower() == SUFFIX:
        return inspect_archive.open_log(path, name, _KEYS)
    return read_file(path, name)


def read(source: Source) -> Imported:
    """Convert samples to rows with the model's answers; epochs are repeats."""
    values = records(source, "samples")
    head = source.data.get("eval") if isinstance(source.data, dict) else None
    if head is not None and not isinstance(head, dict):
        raise source.error(pointer("eval"), f"expected an object, found {shown(head)}")
    model, task = (_name_in(source, head or {}, name) for name in ("model", "task"))
    at = ("samples",) if isinstance(source.data, dict) else ()
    imported = convert_records(source, values, lambda record, result: _row(record, result, model), *at)
    imported.name = task or imported.name
    imported.models = [model] if model else []
    return imported


def _row(record: Record, imported: Imported, model: str) -> Fields | None:
    _check(record)
    value, omissions = record.value, imported.omissions
    question, turns = question_of(record, value.get("input"), omissions, "input")
    if value.get("scores"):
        omissions.add("scores", "evaluators score the answers anew")
    if value.get("choices"):
        omissions.add("choices", "a question with choices needs them in its text")
    if value.get("files") or value.get("sandbox"):
        omissions.add("files and sandbox of a sample", "nothing is executed here")
    usage, other_models = _usage(value, model)
    for _ in other_models:
        omissions.add("tokens of a model besides that of the task", "they are not those of the answer")
    omissions.keys(value, _KEYS | _OF_RUNS, "key of a sample", "no evaluator reads it")
    answer = text_of(_completion(value.get("output")), omissions)
    output = mapping_of(value.get("output"))
    omissions.keys(output, _OF_OUTPUTS, "key of an output", "no evaluator reads it")
    messages = items_of(value.get("messages"))
    note_unread(messages, {question, answer, *(turn["content"] for turn in turns)}, omissions)
    error = value.get("error")
    return {
        "key": key_of(value.get("id")),
        "run": value.get("epoch"),
        "model_key": model,
        "input": question,
        "conversation": turns,
        "expected_output": texts_of(value.get("target")),
        "actual_output": answer,
        "actual_duration": value.get("total_time") or 0.0,
        "usage": usage,
        "served_model": str(output.get("model") or ""),
        "tool_calls": list(calls_in(messages, omissions)),
        "error": str(error.get("message") or "error") if isinstance(error, dict) else "",
        METADATA: metadata(record, "metadata") or None,
    }


def _usage(sample: Mapping[str, Json], model: str) -> tuple[dict[str, int], list[str]]:
    """Return the tokens of the model of a task by kind, and the names of other models that have some."""
    by_model = mapping_of(sample.get("model_usage"))
    # The sum over all calls of the model; the output has that of the last call alone.
    counts = mapping_of(by_model.get(model) or mapping_of(sample.get("output")).get("usage"))
    usage = {
        kind: number
        for kind, key in _TOKENS.items()
        if isinstance(number := counts.get(key), int) and not isinstance(number, bool) and number >= 0
    }
    return usage, [name for name in by_model if name != model and by_model.get(model)]


_TOKENS = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cached_tokens": "input_tokens_cache_read",
    "cache_write_tokens": "input_tokens_cache_write",
    "reasoning_tokens": "reasoning_tokens",
}


def _name_in(source: Source, head: Mapping[str, Json], name: str) -> str:
    value = head.get(name)
    if value is not None and not isinstance(value, str):
        raise source.error(pointer("eval", name), f"expected a text, found {shown(value)}")
    return value or ""


def _check(record: Record) -> None:
    """Check nesting, numbers and types of a sample.

    Raises:
        DataError: at the value that is wrong.
    """
    for name in sorted(_KEYS & record.value.keys()):
        value = record.value[name]
        if name in _TYPES and value is not None:
            types, expected = _TYPES[name]
            if not isinstance(value, types) or isinstance(value, bool):
                raise record.error(f"expected {expected}, found {shown(value)}", name)
        for part, depth in walk(value):
            if depth > MAX_DEPTH:
                raise record.error(f"is nested more than {MAX_DEPTH} levels deep; shorten it", name)
            # Scores are not imported, whatever they hold.
            if isinstance(part, float) and not math.isfinite(part) and name != "scores":
                raise record.error(f"{part} is not a JSON number; leave the value out or write null", name)
    error = record.value.get("error")
    if isinstance(error, dict) and not isinstance(error.get("message"), str | None):
        raise record.error(f"expected a text, found {shown(error['message'])}", "error", "message")


def _completion(output: Json) -> Json:
    """Return the completion, which old logs leave out where the first choice has it."""
    if not isinstance(output, dict):
        return None
    if output.get("completion"):
        return output["completion"]
    choices = output.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    return message.get("content") if isinstance(message, dict) else None
