"""Definitions of tools that were written to a file, compared with those of a service."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.reading import read_utf8

_VALUE_CHARS = 80


def read_snapshot(path: Path) -> dict[str, Mapping[str, Any]]:
    """Return the definitions in a file, by name.

    Raises:
        DataError: if it cannot be read, or is no list of definitions.
    """
    try:
        content = json.loads(read_utf8(path))
    except (ValueError, RecursionError) as exc:
        raise DataError(
            f"{path}: is not JSON: {exc}; write it by `evalstudio hosts tools NAME -o FILE`"
        ) from None
    if not isinstance(content, list) or not all(
        isinstance(item, dict) and isinstance(item.get("name"), str) for item in content
    ):
        raise DataError(f"{path}: expected a list of tools with names; write it by `evalstudio hosts tools`")
    return {item["name"]: item for item in content}


def changes_since(
    snapshot: Mapping[str, Mapping[str, Any]], definitions: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Return a line for each tool that is new, gone or changed, with the place of its first change.

    >>> old = {"find": {"name": "find", "inputSchema": {"required": ["id"]}}}
    >>> changes_since(old, [{"name": "find", "inputSchema": {"required": []}}, {"name": "cancel"}])
    ['find: changed at /inputSchema/required: ["id"] is now []', 'cancel: new']
    """
    current = {str(definition["name"]): definition for definition in definitions}
    lines = []
    for name, definition in snapshot.items():
        if name not in current:
            lines.append(f"{name}: gone")
        elif change := next(_differences(definition, current[name], ""), ""):
            lines.append(f"{name}: changed at {change}")
    return lines + [f"{name}: new" for name in current if name not in snapshot]


def _differences(old: object, new: object, pointer: str) -> Iterator[str]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys((*old, *new)):
            place = f"{pointer}/{key}"
            if key not in new:
                yield f"{place}: {_short(old[key])} is gone"
            elif key not in old:
                yield f"{place}: {_short(new[key])} is new"
            else:
                yield from _differences(old[key], new[key], place)
    elif json.dumps(old) != json.dumps(new):
        yield f"{pointer or '/'}: {_short(old)} is now {_short(new)}"


def _short(value: object) -> str:
    from pytest_evalstudio.metrics.detectors import redact_identifier

    # A part of a secret is not recognised as one, so the text is masked before it is cut.
    text = redact_identifier(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= _VALUE_CHARS else f"{text[:_VALUE_CHARS]}…"
