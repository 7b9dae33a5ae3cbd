"""The form of a reply in words, for judges that are not held to a schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def spoken(schema: Mapping[str, Any], *, reverse_options: bool = False) -> str:
    """The properties of an object in words, one to a line.

    >>> from pytest_evalstudio.core.replies import choice, record, text
    >>> print(spoken(record(reason=text("Why."), verdict=choice("Is it so?"))))
    - "reason" (text): Why.
    - "verdict" ("yes" or "no"): Is it so?
    """
    return "\n".join(_lines(schema, reverse_options, ""))


def _lines(schema: Mapping[str, Any], reverse: bool, indent: str) -> list[str]:
    lines = []
    for name, part in schema.get("properties", {}).items():
        description = part.get("description", "")
        inner = _lines(part.get("items", part), reverse, indent + "  ")
        lines.append(
            f'{indent}- "{name}" ({_kind(part, reverse)})'
            + (f": {description}" if description else "")
            + (" Each with:" if inner else "")
        )
        lines += inner
    return lines


def _kind(part: Mapping[str, Any], reverse: bool) -> str:
    if "enum" in part:
        options = [f'"{option}"' for option in part["enum"]]
        return " or ".join(reversed(options) if reverse else options)
    kind = part.get("type")
    if kind == "array":
        inner = part.get("items", {})
        return "list of objects" if inner.get("type") == "object" else f"list of {_kind(inner, reverse)}s"
    if kind in ("integer", "number"):
        bounds = [
            f"from {part['minimum']:g}" if "minimum" in part else "",
            f"to {part['maximum']:g}" if "maximum" in part else "",
        ]
        return " ".join(filter(None, ["whole number" if kind == "integer" else "number", *bounds]))
    return "text" if kind == "string" else str(kind)
