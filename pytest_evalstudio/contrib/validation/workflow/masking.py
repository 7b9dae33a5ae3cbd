"""Masking of personal data and secrets in the files of a workflow.

All files that a step leaves are masked before the step counts as completed. Keys and paths that other files
refer to keep a form that they can be found by. The key `masked` of a JSON object lists its masked values.
"""

from __future__ import annotations

import codecs
import json
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping
from html import escape, unescape
from pathlib import Path
from typing import TypeAlias

from pytest_evalstudio.core import quick_json
from pytest_evalstudio.core.reading import read_bytes
from pytest_evalstudio.core.writing import write_whole
from pytest_evalstudio.formats.fields import write_json
from pytest_evalstudio.metrics.detectors import redact_identifier
from pytest_evalstudio.record.writer import FILE as RECORD
from pytest_evalstudio.scoring.identifiers import safe_identifier
from pytest_evalstudio.scoring.masking import masked

Json: TypeAlias = "bool | int | float | str | list[Json] | tuple[Json, ...] | dict[str, Json] | None"

MASKED = "masked"
"""Key of JSON objects that lists the names of their masked texts."""
IDENTIFIERS = frozenset(
    {
        *("key", "test_key", "model_key", "test_case_keys", "pass_to_fail_keys", "original", "target"),
        *(
            "id",
            "cases",
            "chunks",
            "source_chunk",
            "topic",
            "categories",
            "corpus",
            "context_sources",
            "accepted",
            "divided",
        ),
    }
)
"""Names of JSON values by which files refer to each other; they are masked as in the record."""
KEPT = frozenset({"document", "documents", "source_document", "answer_id"})
"""Names of JSON values that are read back: paths of documents, and digests of answers."""
_DATA_URL = re.compile(r"(data:[\w.+-]{1,80}/[\w.+-]{1,80}[;,][^\s\"'<>]*)")
_TEXT_NODE = re.compile(r">([^<>]+)<")


def mask_artifacts(folder: Path, skip: Iterable[str] = ()) -> None:
    """Mask the texts of the files in a folder; the record is masked when it is written.

    Args:
        folder: of the artifacts.
        skip: names of files that stay as they are.
    """
    skipped = {RECORD, *skip}
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.name not in skipped:
            mask_file(path)


def mask_file(path: Path) -> None:
    """Mask the texts of a file if its format is known by its ending."""
    mask = _MASKS.get(path.suffix.lower())
    if mask is not None:
        mask(path)


def masked_content(path: Path) -> bytes:
    """Return the content of a file with its texts masked; the file stays as it is."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        copy.write_bytes(read_bytes(path))
        mask_file(copy)
        return copy.read_bytes()


def masked_json(value: Json, name: str = "") -> Json:
    """Return a JSON value with its texts masked.

    Args:
        value: any JSON value.
        name: key of the value in its object, "" for none.
    """
    if isinstance(value, str):
        if name in KEPT:
            return value
        return safe_identifier(value) if name in IDENTIFIERS else masked(value)
    if isinstance(value, dict):
        return _masked_object(value)
    if isinstance(value, list | tuple):
        return [masked_json(item, name) for item in value]
    return value


def masked_mapping(values: Mapping[str, Json]) -> dict[str, Json]:
    """Return a mapping with the texts of its values masked, without a mark."""
    return {safe_identifier(key): masked_json(value, key) for key, value in values.items()}


def _masked_object(value: dict[str, Json]) -> dict[str, Json]:
    result = masked_mapping(value)
    changed = [key for key, item in value.items() if _is_text(item) and result[safe_identifier(key)] != item]
    return {**result, MASKED: [safe_identifier(key) for key in changed]} if changed else result


def _is_text(value: Json) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and bool(value) and isinstance(value[0], str))


def _mask_json(path: Path) -> None:
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        _mask_text(path)
        return
    result = masked_json(content)
    if result != content:
        write_json(path, result)


def _mask_lines(path: Path) -> None:
    """Mask a file with one JSON value per line."""
    try:
        lines = [json.loads(line) for line in path.read_bytes().splitlines() if line.strip()]
    except (ValueError, RecursionError):
        _mask_text(path)
        return
    results = [masked_json(line) for line in lines]
    if results != lines:
        write_whole(path, b"".join(quick_json.written(line) + b"\n" for line in results))


def _mask_text(path: Path) -> None:
    _rewrite(path, masked)


def _mask_picture(path: Path) -> None:
    """Mask the texts between the tags of a picture or page, and what is certain in tags and comments."""
    _rewrite(path, _masked_markup)


def _rewrite(path: Path, mask: Callable[[str], str]) -> None:
    """Mask the text of a file, which stays in its encoding."""
    content = read_bytes(path)
    # Steps of other packages may write any encoding; other bytes come back as they were.
    is_utf16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and len(content) % 2 == 0
    encoding, errors = ("utf-16", "surrogatepass") if is_utf16 else ("utf-8", "surrogateescape")
    text = content.decode(encoding, errors)
    result = mask(text)
    if result != text:
        write_whole(path, result.encode(encoding, errors))


def _masked_markup(content: str) -> str:
    texts = _TEXT_NODE.sub(_masked_node, content)
    # Numbers in tags are coordinates and sizes, and data URLs are files: both stay.
    return "".join(
        part if part.startswith("data:") else redact_identifier(part) for part in _DATA_URL.split(texts)
    )


def _masked_node(match: re.Match[str]) -> str:
    # An address may be written with entities.
    text = unescape(match[1])
    result = masked(text)
    return match[0] if result == text else f">{escape(result, quote=False)}<"


_MASKS: Mapping[str, Callable[[Path], None]] = {
    ".json": _mask_json,
    ".jsonl": _mask_lines,
    ".svg": _mask_picture,
    ".html": _mask_picture,
    ".csv": _mask_text,
    ".md": _mask_text,
    ".txt": _mask_text,
}
"""Masking by the ending of a file."""
