"""Recognition of evaluation files among the files of others, for files that were not named.

`likeness` decides from a file's bytes, cheaply; `missing_part` decides from its parsed content. The module
imports the standard library only, since every pytest session may call `likeness`.
"""

from __future__ import annotations

import enum
import json
import os
import re
import stat
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_evalstudio.core.reading import FLAGS, open_file

HEAD_BYTES = 4096
"""Bytes that are read first; a root key must begin in them, else the rest is not read."""
MAX_GATES_BYTES = 65_536
"""Size of a file with gates; larger files are none."""
CONFIGURATION_FILE = "evalstudio.toml"
SHARED_FILE = "pyproject.toml"

_TABLE = re.compile(r"^[ \t]*\[{1,2}[ \t]*tool[ \t]*\.[ \t]*evalstudio\b", re.MULTILINE)
_PARTS: Mapping[bytes, bytes] = {
    b"tests": b"test_cases",
    b"test_cases": b"prompt",
    b"inputs": b"actual_output",
    b"dataset": b"models",
    b"evalstudio_workflow": b"evalstudio_workflow",
}
"""Root key of each format to another key that it must have somewhere."""
# The end of the head counts as any value: it may cut the file within a root key or behind it.
_OBJECT = rb"\s*:\s*(?:\{|\Z)|\s*\Z"
_OBJECTS = rb"\s*:\s*(?:\[\s*(?:\{|\Z)|\Z)|\s*\Z"
_OF_LISTS = re.compile(rb'"(tests|test_cases|inputs)"(?:' + _OBJECTS + rb")")
_OF_OBJECTS = re.compile(rb'"(evalstudio_workflow|dataset|raw_dataset)"(?:' + _OBJECT + rb")")
_BEFORE_ROOTS = re.compile(rb'"(?:description|models|\$schema)"')
"""Other root keys of our formats, behind which the head may end."""
_ROOTS = re.compile(b'"(?:' + b"|".join(_PARTS) + b')"')
_ANY_KEY = re.compile(
    rb'"(?:tests|test_cases|inputs|evalstudio_workflow|dataset|raw_dataset|description|models|\$schema)"'
)
_GATE_KEYS = re.compile(
    rb"""(?m)(?:^[ \t]*(?:\[[ \t]*)?|"|[{,][ \t]*)(table|gates|baseline)(?:"[ \t\r\n]*:|[ \t]*[=\]])"""
)
"""Keys of a file with gates over a scored table, in JSON or TOML."""
_TEST_KEYS = frozenset(("$schema", "name", "description", "key", "documents", "test_cases", "categories"))
_SUITE_NAME = re.compile(r"suite\.(?:json|ya?ml)\Z", re.IGNORECASE)
_SCHEMA = re.compile(r"(?:\A|/)(suite|test|lab|dataset|workflow)\.schema\.json\Z")


class Likeness(enum.Enum):
    """Resemblance of a file to an evaluation file, judged by its bytes."""

    NONE = enum.auto()
    NEAR = enum.auto()
    """It has the root key of a format, and lacks what else the format needs."""
    LIKELY = enum.auto()


def likeness(path: Path) -> Likeness:
    """Judge a JSON, YAML or CSV file by its bytes.

    Of a JSON file only the head is read if that shows that the file is none of ours; of a CSV file only the
    head is ever read. A file that cannot be read is none of ours.
    """
    suffix = os.path.splitext(path.name)[1].lower()
    try:
        file = os.open(path, FLAGS)
    except OSError:  # pytest meets many files that nobody may read; naming one reports it
        return Likeness.NONE
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return Likeness.NONE
        head = os.read(file, HEAD_BYTES)
        if suffix in (".csv", ".tsv"):
            columns = head.split(b"\n", 1)[0]
            return Likeness.LIKELY if b"actual_output" in columns else Likeness.NONE
        if suffix == ".json" and not (_is_object(head) and _ANY_KEY.search(head)):
            return Likeness.NONE
        roots = _announced(head) if suffix == ".json" else tuple(_PARTS)
        if not roots:
            return Likeness.NEAR if _ROOTS.search(head) else Likeness.NONE
        with open(file, "rb", closefd=False) as rest:
            content = head + rest.read()
    except OSError:
        return Likeness.NONE
    finally:
        os.close(file)
    present = [root for root in roots if root in content]
    if any(_PARTS[root] in content for root in present):
        return Likeness.LIKELY
    if not present:
        return Likeness.NONE
    # A file that names a schema of ours is meant as one, whatever it lacks; its faults are then reported.
    return Likeness.LIKELY if b".schema.json" in head else Likeness.NEAR


def is_suite_name(path: Path) -> bool:
    """Return whether the name of a file says that it is a suite, so that its author expects it to be run."""
    return _SUITE_NAME.search(path.name) is not None


def has_gates(path: Path) -> bool:
    """Return whether a TOML or JSON file names a scored table and has gates or a baseline for it.

    A file with these keys that cannot be parsed has, too, so that its fault is reported.
    """
    try:
        with open_file(path) as file:
            # One byte more than the limit shows that the file is larger.
            raw = file.read(MAX_GATES_BYTES + 1)
    except OSError:
        return False
    keys = set(_GATE_KEYS.findall(raw))
    if len(raw) > MAX_GATES_BYTES or b"table" not in keys or not keys & {b"gates", b"baseline"}:
        return False
    try:
        text = raw.decode("utf-8-sig")
        data = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except (ValueError, RecursionError):
        return True
    return isinstance(data, Mapping) and "table" in data and ("gates" in data or "baseline" in data)


def _is_object(head: bytes) -> bool:
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"


def _announced(head: bytes) -> tuple[bytes, ...]:
    """Return the root keys that a JSON file with that head may have as one of our formats."""
    if _BEFORE_ROOTS.search(head):
        return tuple(_PARTS)
    keys = [*_OF_LISTS.findall(head), *_OF_OBJECTS.findall(head)]
    # A lab may begin with "raw_dataset", behind which "dataset" follows beyond the head.
    return tuple(dict.fromkeys(key.removeprefix(b"raw_") for key in keys))


def missing_part(data: object) -> str | None:
    """Return what parsed content lacks to be surely an evaluation file.

    Returns:
        "" if it is one; None if it has not even the root key of one; else the fact for people.
    """
    if not isinstance(data, Mapping):
        return None
    if "evalstudio_workflow" in data or _names_schema(data):
        return ""
    if "tests" in data:
        has_cases = any("test_cases" in test for test in _objects(data["tests"]))
        return "" if has_cases else "`tests` without `test_cases`"
    if "dataset" in data and "models" in data:
        rows = isinstance(data["dataset"], Mapping) and "inputs" in data["dataset"]
        return "" if rows else "`dataset` without `inputs`"
    if "inputs" in data:
        has_answers = any({"actual_output", "messages"} & row.keys() for row in _objects(data["inputs"]))
        return "" if has_answers else "`inputs` without `actual_output`"
    return "" if _is_test(data) else None


def _is_test(data: Mapping[str, object]) -> bool:
    """Return whether the content is a single test: nothing but keys of a test, and cases with a prompt."""
    cases = _objects(data.get("test_cases"))
    return data.keys() <= _TEST_KEYS and any("prompt" in case for case in cases)


def _names_schema(data: Mapping[str, object]) -> bool:
    """Return whether `$schema` names one of our schemas and the content has the root key of that format."""
    named = _SCHEMA.search(str(data.get("$schema", "")))
    root_keys = {
        "suite": "tests",
        "test": "test_cases",
        "lab": "dataset",
        "dataset": "inputs",
        "workflow": "evalstudio_workflow",
    }
    return named is not None and root_keys[named[1]] in data


def _objects(value: object) -> list[Mapping[str, object]]:
    if not isinstance(value, Sequence):
        return []
    return [item for item in value if isinstance(item, Mapping)]


def find_configuration(start: Path, stop: Path) -> Path | None:
    """Return the nearest configuration file in a folder or above it.

    Args:
        start: folder to begin with.
        stop: the last folder to look in; beyond it nothing is read.
    """
    for folder in (start, *start.parents):
        if os.path.isfile(folder / CONFIGURATION_FILE):  # unlike Path.is_file it takes any name
            return folder / CONFIGURATION_FILE
        shared = folder / SHARED_FILE
        # Bytes that are not UTF-8 are replaced: only a table is sought in a file that others use as well.
        if os.path.isfile(shared) and _TABLE.search(shared.read_text(encoding="utf-8", errors="replace")):
            return shared
        if folder == stop:
            break
    return None
