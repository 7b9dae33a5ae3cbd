"""Order of a prompt's parts: the constant ones first, and options in either order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_EXAMPLE = re.compile(r"Example\b(?!s)")


def split_at_material(task: str, mark: str) -> tuple[str, str]:
    r"""Split a rendered task before the paragraph of its first fence.

    Services compute the beginning that prompts share once. A mark differs from case to case, so that only
    the part before the first one is shared.

    Args:
        task: with each fence on lines of its own.
        mark: of the fences.

    Returns:
        Instructions and material; no material where there is no fence.

    >>> split_at_material("Is it polite?\n\nAnswer:\n<<<c0ffee answer\nNo.\nc0ffee>>>", "c0ffee")
    ('Is it polite?', 'Answer:\n<<<c0ffee answer\nNo.\nc0ffee>>>')
    """
    fence = task.find(f"<<<{mark} ")
    if fence < 0:
        return task.strip(), ""
    start = max(0, task.rfind("\n\n", 0, fence))
    return task[:start].strip(), task[start:].strip()


def with_options_reversed(task: str, options: Iterable[str], mark: str) -> str:
    r"""Reverse the order in which a task explains its options and shows its examples.

    Lines such as "- yes: …" that follow each other are reversed, and so are lines that begin with "Example".
    Lines within fences stay.

    Args:
        task: with each fence on lines of its own.
        options: of the reply.
        mark: of the fences.

    >>> print(with_options_reversed("Criteria:\n- yes: it is.\n- no: it is not.", ["yes", "no"], "c0ffee"))
    Criteria:
    - no: it is not.
    - yes: it is.
    """
    names = "|".join(map(re.escape, sorted(options)))
    option = re.compile(rf"\s*[-*] (?:{names}):") if names else None
    reordered: list[str] = []
    group: list[list[str]] = []
    group_kind = ""
    is_fenced = False
    for line in task.split("\n"):
        is_fenced = (is_fenced or line.startswith(f"<<<{mark} ")) and line != f"{mark}>>>"
        kind = "" if is_fenced else _kind(line, option)
        if group and kind == group_kind:
            group.append([line])
        elif group and not is_fenced and _indent(line) > _indent(group[-1][0]):
            group[-1].append(line)
        else:
            reordered += _reversed(group)
            group, group_kind = ([[line]], kind) if kind else ([], "")
            if not kind:
                reordered.append(line)
    return "\n".join([*reordered, *_reversed(group)])


def _kind(line: str, option: re.Pattern[str] | None) -> str:
    if option is not None and option.match(line):
        return "option"
    return "example" if _EXAMPLE.match(line) else ""


def _indent(line: str) -> int:
    """Return the number of blanks before a line's text, −1 for a blank line."""
    return len(line) - len(line.lstrip()) if line.strip() else -1


def _reversed(group: Sequence[Sequence[str]]) -> list[str]:
    return [line for lines in reversed(group) for line in lines]


def options_of(schema: Mapping[str, Any]) -> set[str]:
    """Return the options of all choices of a reply."""
    options = set(schema.get("enum", ()))
    for part in schema.get("properties", {}).values():
        options |= options_of(part)
    return options | (options_of(schema["items"]) if "items" in schema else set())


def with_enums_reversed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema whose choices have their options in the other order.

    >>> with_enums_reversed({"type": "string", "enum": ["yes", "no"]})
    {'type': 'string', 'enum': ['no', 'yes']}
    """
    changed = dict(schema)
    if "enum" in schema:
        changed["enum"] = list(reversed(schema["enum"]))
    if "properties" in schema:
        changed["properties"] = {
            name: with_enums_reversed(part) for name, part in schema["properties"].items()
        }
    if "items" in schema:
        changed["items"] = with_enums_reversed(schema["items"])
    return changed
