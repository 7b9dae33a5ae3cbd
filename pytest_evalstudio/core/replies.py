"""The form of a judge's reply, as a JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

YES, NO = "yes", "no"


def record(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object whose properties are all required.

    The judge writes the properties in the order of the arguments.

    >>> record(verdict=choice("Is it so?"))["required"]
    ['verdict']
    """
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def text(description: str) -> dict[str, Any]:
    """Return the schema of a string."""
    return {"type": "string", "description": description}


def number(
    description: str, *, least: float | None = None, most: float | None = None, whole: bool = False
) -> dict[str, Any]:
    """Return the schema of a number; `whole` asks for an integer."""
    schema: dict[str, Any] = {"type": "integer" if whole else "number", "description": description}
    return (
        schema | ({} if least is None else {"minimum": least}) | ({} if most is None else {"maximum": most})
    )


def choice(description: str, *options: str) -> dict[str, Any]:
    """Return the schema of a string with a fixed set of values; "yes" and "no" by default."""
    return {"type": "string", "enum": list(options or (YES, NO)), "description": description}


def several(description: str, items: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an array whose entries follow `items`."""
    return {"type": "array", "items": dict(items), "description": description}
