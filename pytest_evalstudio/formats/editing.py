"""Replaces one value in the text of a JSON or YAML file; comments, order and form of all others stay."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from pytest_evalstudio.formats.source import Source, parse, pointer

_INLINE_CHARS = 88
"""Characters up to which a list or object of JSON is written on one line."""
_INDENT = 2
_FIRST_MEMBER = re.compile(r"\{(?P<gap>[ \t\r\n]*)")


def with_value(source: Source, steps: Sequence[str | int], name: str, value: Any, original: str = "") -> str:
    r"""Return the text of a file in which a member of an object has another value.

    Args:
        source: a parsed file of JSON or YAML.
        steps: path of the object in `source.data`.
        name: of the member; one that the object lacks is added at its end.
        value: JSON data.
        original: text of the file, where `source.text` is a repaired one of the same length.

    Returns:
        The changed original.

    Raises:
        DataError: if the text cannot be changed without a change of another value, e.g. below an anchor.

    >>> print(with_value(parse('{"a": 1, "b": 2}', "x.json"), [], "a", "new"))
    {"a": "new", "b": 2}
    >>> print(with_value(parse("a: 1 # first\nb: 2", "x.yaml", yaml=True), [], "a", "new"))
    a: new # first
    b: 2
    """
    steps = _steps_in_text(source, steps)
    write = _in_yaml if source.yaml else _in_json
    text = write(source, original or source.text, steps, name, value)
    changed = parse(text, source.name, yaml=source.yaml)
    expected = json.loads(json.dumps(parse(source.text, source.name, yaml=source.yaml).data))
    _object_at(expected, steps)[name] = value
    if changed.data != expected:
        raise source.error(
            pointer(*steps, name),
            "cannot be changed automatically without changing other values; edit it by hand",
        )
    return text


def _steps_in_text(source: Source, steps: Sequence[str | int]) -> list[str | int]:
    # A text that is one test or one test case has no keys above it.
    return list(steps)[source.root.count("/") :]


def _object_at(data: Any, steps: Sequence[str | int]) -> Any:
    for step in steps:
        data = data[step]
    return data


def _in_json(source: Source, text: str, steps: Sequence[str | int], name: str, value: Any) -> str:
    start, end = source.span(pointer(*steps))
    indent = _indent_of_members(text[start:end], text, start)
    value_text = _json_text(value, _INDENT if indent is None else indent).replace("\n", _line_break(text))
    if name in _object_at(source.data, steps):
        start, end = source.span(pointer(*steps, name))
        return f"{text[:start]}{value_text}{text[end:]}"
    last = text[start : end - 1].rstrip()
    gap = " " if indent is None else f"{_line_break(text)}{' ' * indent}"
    comma = "" if last.endswith(("{", ",")) else ","
    at = start + len(last)
    return f"{text[:at]}{comma}{gap}{json.dumps(name)}: {value_text}{text[at:]}"


def _indent_of_members(body: str, text: str, start: int) -> int | None:
    """Return the columns before the members of an object; None where they are on one line."""
    gap = _FIRST_MEMBER.match(body)
    if gap is None or "\n" not in gap["gap"]:
        return None
    return len(gap["gap"].rpartition("\n")[2].expandtabs(_INDENT))


def _json_text(value: Any, indent: int) -> str:
    line = json.dumps(value, ensure_ascii=False)
    if len(line) <= _INLINE_CHARS or not isinstance(value, list | dict):
        return line
    return json.dumps(value, ensure_ascii=False, indent=_INDENT).replace("\n", f"\n{' ' * indent}")


def _in_yaml(source: Source, text: str, steps: Sequence[str | int], name: str, value: Any) -> str:
    value_text = _yaml_text(value)
    if name in _object_at(source.data, steps):
        start, end = source.span(pointer(*steps, name))
        return f"{text[:start]}{value_text}{text[end:]}"
    start, end = source.span(pointer(*steps))
    if text[start] == "{":
        last = text[start : end - 1].rstrip()
        comma = "" if last.endswith(("{", ",")) else ","
        return f"{text[: start + len(last)]}{comma} {name}: {value_text}{text[start + len(last) :]}"
    column = start - (text.rfind("\n", 0, start) + 1)
    line_break = _line_break(text)
    line_end = text.find(line_break, end)
    line_end = len(text) if line_end < 0 else line_end  # a comment behind the last value stays on its line
    return f"{text[:line_end]}{line_break}{' ' * column}{name}: {value_text}{text[line_end:]}"


def _line_break(text: str) -> str:
    """Return the line break of a text: added lines end as the others do."""
    return "\r\n" if "\r\n" in text else "\n"


def _yaml_text(value: Any) -> str:
    """Return a value on one line, valid in block and in flow style."""
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    import yaml

    # In a list of the flow style, so that commas and brackets are quoted.
    plain = yaml.safe_dump([value], default_flow_style=True, allow_unicode=True, width=float("inf"))
    inner = plain.strip()[1:-1]
    # The texts of YAML in several lines, and escapes of its own, are JSON's here.
    return inner if "\n" not in inner and "\\" not in inner else json.dumps(value, ensure_ascii=False)
