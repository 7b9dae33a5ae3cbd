"""Logs of Inspect (`.json`, `.eval`): the samples of a task with the answers of its model.

Source: https://inspect.aisi.org.uk/eval-logs.html
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType

from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.reading import open_file
from pytest_evalstudio.formats.source import Source
from pytest_evalstudio.importers.common import (
    METADATA,
    Fields,
    Imported,
    Json,
    Record,
    convert_records,
    metadata,
    question_of,
    records,
    text_of,
    texts_of,
)

SUFFIX = ".eval"
MAX_BYTES = 2_000_000_000
"""Maximum size of an unpacked log."""
_HEADS = ("header.json", "_journal/start.json")


def open_log(path: Path, name: str) -> Source:
    """Return an `.eval` archive as the data of a JSON log.

    Raises:
        DataError: if it is no archive, or is too large.
        ConfigurationError: if its compression is not supported.
    """
    zipfile = _zipfile(name)
    try:
        with open_file(path) as file, zipfile.ZipFile(file) as archive:
            names = archive.namelist()
            head = next((member for member in _HEADS if member in names), None)
            if head is None:
                raise DataError("is not a log of Inspect: it has no header", source=name)
            members = [head, *(member for member in names if member.startswith("samples/"))]
            if sum(archive.getinfo(member).file_size for member in members) > MAX_BYTES:
                raise DataError(f"unpacks to more than {MAX_BYTES:,} bytes", source=name)
            data, *samples = (json.loads(archive.read(member)) for member in members)
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as exc:
        raise DataError(f"cannot be read as a log of Inspect: {exc}", source=name) from None
    return Source(name=name, text="", data={**data, "samples": samples})


def _zipfile(name: str) -> ModuleType:
    """Return a zipfile module that reads zstd, with which Inspect compresses."""
    if sys.version_info >= (3, 14):
        return importlib.import_module("zipfile")
    try:
        return importlib.import_module("backports.zstd.zipfile")
    except ImportError:
        raise ConfigurationError(
            f"{name}: reading .eval needs zstd: pip install 'pytest-evalstudio[inspect]', or write the log as"
            " JSON: inspect log convert --to json"
        ) from None


def read(source: Source) -> Imported:
    """Convert samples to rows with the model's answers; epochs are repeats."""
    values = records(source, "samples")
    head = source.data.get("eval") if isinstance(source.data, dict) else None
    model = str(head.get("model") or "") if isinstance(head, dict) else ""
    imported = convert_records(source, values, lambda record, result: _row(record, result, model))
    if isinstance(head, dict) and head.get("task"):
        imported.name = str(head["task"])
    imported.models = [model] if model else []
    return imported


def _row(record: Record, imported: Imported, model: str) -> Fields | None:
    value, omissions = record.value, imported.omissions
    question, turns = question_of(record, value.get("input"), omissions, "input")
    if value.get("scores"):
        omissions.add("scores", "evaluators score the answers anew")
    if value.get("choices"):
        omissions.add("choices", "a question with choices needs them in its text")
    if value.get("files") or value.get("sandbox"):
        omissions.add("files and sandbox of a sample", "nothing is executed here")
    targets = texts_of(value.get("target"))
    error = value.get("error")
    return {
        "key": str(value.get("id") or ""),
        "run": value.get("epoch") if isinstance(value.get("epoch"), int) else None,
        "model_key": model,
        "input": question,
        "conversation": turns,
        "expected_output": targets[0] if len(targets) == 1 else "",
        "expected_facts": [],
        "actual_output": text_of(_completion(value.get("output")), omissions),
        "actual_duration": value.get("total_time") or 0.0,
        "error": str(error.get("message") or "error") if isinstance(error, dict) else "",
        METADATA: {**metadata(record, "metadata"), **({"targets": targets} if len(targets) > 1 else {})}
        or None,
    }


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
