"""Files of other tools with a text in place of their questions, answers and expectations."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from pytest_evalstudio.core.errors import EvalStudioError
from pytest_evalstudio.formats.dataset import LlmDataset
from pytest_evalstudio.importers.exporting import FORMATS, export
from pytest_evalstudio.importers.kinds import H2O_SONAR, KINDS, TABLE, import_file

FILES = Path(__file__).parents[1] / "importers" / "files"
_REPLACED = ("What does a transfer abroad cost?", "A transfer abroad costs 15 USD.", "15 USD")
"""Texts that the files of all tools have."""


def files_of(kind: str) -> list[Path]:
    """Return the sample files of a kind that are text."""
    prefix = kind.replace("-", "_")
    return [
        path
        for path in sorted(FILES.iterdir())
        if path.stem.startswith(prefix) and path.suffix not in (".eval", ".md") and "_tests" not in path.stem
    ]


def importer_functions() -> Mapping[str, Callable[[str], object]]:
    """Return, by kind and file, functions that import a file with a text inside of its records."""
    functions: dict[str, Callable[[str], object]] = {}
    for kind in KINDS:
        for path in files_of(kind):
            functions[f"{kind} {path.name}"] = lambda text, kind=kind, path=path: _imported(
                kind, path.suffix, replaced(path, text)
            )
        if kind in FORMATS:
            functions[f"{kind} as exported"] = lambda text, kind=kind: _imported(
                kind, ".json", _exported(kind, text)
            )
    functions["beir"] = _imported_judgements
    functions[H2O_SONAR] = lambda text: _imported(H2O_SONAR, ".json", _dataset_file(text))
    functions[TABLE] = lambda text: _imported(TABLE, ".csv", _table(text))
    return functions


def _imported_judgements(text: str) -> object:
    """Import judgements of BEIR whose query and document hold a text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "test.tsv"
        path.write_text("query-id\tcorpus-id\tscore\nq\td\t1\n")
        (path.parent / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": text}))
        (path.parent / "corpus.jsonl").write_text(json.dumps({"_id": "d", "title": text, "text": text}))
        try:
            return import_file("beir", path)
        except EvalStudioError as exc:
            return exc


def _imported(kind: str, suffix: str, content: str) -> object:
    columns = {"input": "asked", "actual_output": "reply"} if kind == TABLE else None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"file{suffix}"
        path.write_text(content, encoding="utf-8")
        try:
            return import_file(kind, path, columns=columns)
        except EvalStudioError as exc:
            return exc


def replaced(path: Path, text: str) -> str:
    """Return the content of a file with a text in place of questions, answers and expectations."""
    content = path.read_text(encoding="utf-8")
    if path.suffix == ".csv":
        out = io.StringIO()
        rows = csv.reader(io.StringIO(content))
        csv.writer(out).writerows([_in_string(cell, text) for cell in row] for row in rows)
        return out.getvalue()
    if path.suffix == ".yaml":
        return json.dumps(_in_value(yaml.safe_load(content), text))  # JSON is YAML
    if path.suffix == ".jsonl":
        return "".join(
            json.dumps(_in_value(json.loads(line), text)) + "\n" for line in content.splitlines() if line
        )
    return json.dumps(_in_value(json.loads(content), text))


def _in_value(value: Any, text: str) -> Any:
    if isinstance(value, dict):
        return {name: _in_value(part, text) for name, part in value.items()}
    if isinstance(value, list):
        return [_in_value(part, text) for part in value]
    return _in_string(value, text) if isinstance(value, str) else value


def _in_string(value: str, text: str) -> str:
    if not any(part in value for part in _REPLACED):
        return value
    if value[:1] in '{["':
        try:
            return json.dumps(_in_value(json.loads(value), text))
        except ValueError:
            pass
    for part in _REPLACED:
        value = value.replace(part, text)
    return value


def _dataset(text: str) -> LlmDataset:
    dataset = LlmDataset()
    dataset.add_input(
        text, key="k", actual_output=text, expected_output=text, context=[text], output_condition='"a"'
    )
    return dataset


def _exported(kind: str, text: str) -> str:
    records, _ = export(kind, _dataset(text))
    return json.dumps(records)


def _dataset_file(text: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "set.json"
        _dataset(text).save(path)
        return path.read_text(encoding="utf-8")


def _table(text: str) -> str:
    out = io.StringIO()
    csv.writer(out).writerows([["asked", "reply", "more"], [text, text, text], ["Why?", "So.", "["]])
    return out.getvalue()
