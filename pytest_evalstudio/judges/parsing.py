"""Reads a judge's reply: JSON, however it is wrapped, held against the schema that was asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_evalstudio.core.replies import NO, YES

LONGEST_REPLY = 1_000_000
MOST_TRIES = 200

_THINKING_TAG = re.compile(r"<(/?)(think|thinking|reasoning)>", re.IGNORECASE)
_FENCE = "```"
MAX_REPAIRED_CHARS = 50_000
"""Longer objects with slips are not repaired: the time of a repair grows faster than its text."""
_EDGES = " \t\r\n.,;:!\"'`*_()[]"
_YES_WORDS = frozenset({"yes", "true", "1", "y"})
_NO_WORDS = frozenset({"no", "false", "0", "n"})


class Unparsable(ValueError):
    """A reply that is not what was asked for; its message says why, without the reply."""


def read_reply(reply: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The object that a judge replied.

    Taken as it is, out of code fences, out of prose around it, or with the slips that models make (trailing
    commas, single quotes, Python's literals); of a schema with one choice the bare word is enough. A reply
    that holds two different objects of that form says nothing: one of them may be a quotation.

    Args:
        schema: of the object; a choice of "yes" and "no" is also met by true and false.

    Raises:
        Unparsable: if there is no such object in it, or more than one.

    >>> schema = {"type": "object", "properties": {"verdict": {"enum": ["yes", "no"]}}, "required": ["verdict"]}
    >>> read_reply('Here you are: {"verdict": true}', schema)
    {'verdict': 'yes'}
    """  # noqa: E501
    text = _without_thinking(reply[:LONGEST_REPLY]).strip().lstrip("\ufeff")
    if not text:
        raise Unparsable("the reply is empty")
    word = _bare_word(text, schema)
    if word is not None:
        return word
    found: list[dict[str, Any]] = []
    fault = "there is no JSON object in it"
    for value in _candidates(text):
        wrapped = _wrapped(value, schema)
        if not isinstance(wrapped, dict):
            continue
        normal = _normal(wrapped, schema)
        wrong = _wrong(normal, schema)
        if wrong:
            fault = wrong
        elif normal not in found:
            found.append(normal)
    if len(found) > 1:
        raise Unparsable(f"it holds {len(found)} different objects of the form that was asked for")
    if not found:
        raise Unparsable(fault)
    return found[0]


def _without_thinking(text: str) -> str:
    """The text without what stands between the tags in which models think."""
    tags = [(tag.start(), tag.end(), tag[2].lower(), bool(tag[1])) for tag in _THINKING_TAG.finditer(text)]
    closing: dict[str, int] = {}  # by name, the end of the next closing tag
    ends = []
    for _, end, name, closes in reversed(tags):
        if closes:
            closing[name] = end
        ends.append(0 if closes else closing.get(name, 0))
    pieces, done = [], 0
    for (start, *_), end in zip(tags, reversed(ends), strict=True):
        if end and start >= done:
            pieces.append(text[done:start])
            done = end
    return "".join(pieces) + text[done:]


def _candidates(text: str) -> Iterator[Any]:
    """The JSON values in a text: the whole of it, else those of its code fences and those that stand between
    its words.
    """
    try:
        yield json.loads(text, strict=False)
        return
    except (ValueError, RecursionError):
        pass
    decoder = json.JSONDecoder(strict=False)
    position, tries, exact = 0, 0, 0
    while tries < MOST_TRIES and (opening := _next_opening(text, position)) >= 0:
        tries += 1
        try:
            value, position = decoder.raw_decode(text, opening)
            exact += 1
            yield value
        except (ValueError, RecursionError):
            position = opening + 1
    if not exact:
        yield from _repaired(text)


def _next_opening(text: str, start: int) -> int:
    places = [place for place in (text.find("{", start), text.find("[", start)) if place >= 0]
    return min(places, default=-1)


def _repaired(text: str) -> Iterator[Any]:
    """Objects with slips; what breaks off in the middle is none, since nobody knows how it would have
    ended.
    """
    from json_repair import repair_json

    for part in [*text.split(_FENCE)[1:-1:2], text]:
        opening, closing = part.find("{"), part.rfind("}")
        whole = part[opening : closing + 1]
        if (
            0 <= opening < closing
            and len(whole) <= MAX_REPAIRED_CHARS
            and whole.count("{") == whole.count("}")
        ):
            yield repair_json(whole, return_objects=True, skip_json_loads=True)
            return


def _bare_word(text: str, schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """A reply of a single word, where one choice is all that matters."""
    choices = {name: part["enum"] for name, part in schema.get("properties", {}).items() if "enum" in part}
    others = [part for name, part in schema.get("properties", {}).items() if name not in choices]
    if len(choices) != 1 or any(part.get("type") != "string" for part in others):
        return None
    name, options = next(iter(choices.items()))
    chosen = _option(text.strip(_EDGES), options)
    if chosen not in options:
        return None
    return {key: chosen if key == name else "" for key in schema["properties"]}


def _wrapped(value: Any, schema: Mapping[str, Any]) -> Any:
    """A bare list, where the object has nothing but one list; an object alone in a list."""
    if (
        isinstance(value, list)
        and len(value) == 1
        and isinstance(value[0], dict)
        and set(value[0]) >= set(schema.get("required", ()))
    ):
        return value[0]
    lists = [name for name, part in schema.get("properties", {}).items() if part.get("type") == "array"]
    return (
        {lists[0]: value}
        if isinstance(value, list) and len(lists) == 1 and len(schema["properties"]) == 1
        else value
    )


def _normal(value: Any, schema: Mapping[str, Any]) -> Any:
    """A value with its choices in the schema's words, numbers as numbers, and no keys that nobody asked
    for.
    """
    if "enum" in schema:
        return _option(value, schema["enum"])
    kind = schema.get("type")
    if kind == "object" and isinstance(value, dict):
        lower = {str(key).strip().lower(): item for key, item in value.items()}
        return {
            name: _normal(lower[name.lower()], part)
            for name, part in schema.get("properties", {}).items()
            if name.lower() in lower
        }
    if kind == "array" and isinstance(value, list):
        return [_normal(item, schema.get("items", {})) for item in value]
    if kind in ("integer", "number") and isinstance(value, str):
        try:
            return int(value) if kind == "integer" else float(value)
        except ValueError:
            return value
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    if kind == "string" and (value is None or isinstance(value, int | float)):
        return "" if value is None else str(value)
    return value


def _option(value: Any, options: list[str]) -> Any:
    """The option that a value means, the value itself where it means none."""
    if isinstance(value, bool):
        value = "true" if value else "false"
    word = str(value).strip(_EDGES).lower()
    for option in options:
        if word == option.lower():
            return option
    if set(options) == {YES, NO}:
        return YES if word in _YES_WORDS else NO if word in _NO_WORDS else value
    return value


def _wrong(value: Any, schema: Mapping[str, Any]) -> str:
    """What is wrong with an object, "" for nothing; says names and kinds, not what stands there."""
    from jsonschema import Draft202012Validator

    error = next(iter(Draft202012Validator(schema).iter_errors(value)), None)
    if error is None:
        return ""
    place = "".join(
        f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path
    ).lstrip(".")
    if error.validator == "required":
        missing = [name for name in error.validator_value if name not in error.instance]
        return f"{place + ': ' if place else ''}{', '.join(repr(name) for name in missing)} is missing"
    expected = error.schema.get("enum") or error.schema.get("type") or error.validator
    return f"{place}: expected {' or '.join(map(repr, expected)) if isinstance(expected, list) else expected}"
