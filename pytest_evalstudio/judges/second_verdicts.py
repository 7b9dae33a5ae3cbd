"""Signs that a reply holds another verdict than the object that was read: it may quote one of the two."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_evalstudio.core.replies import NO, YES

BETWEEN = "\0"
"""Stands in a text for an object that was taken out of it."""

_CODE_FENCE = re.compile(r"```\w{0,20}")
_WORD = re.compile(r"[^\W\d_]+")
_THOUGHT = re.compile(r"<(?:think|thinking|reasoning)>", re.IGNORECASE)
_SYNONYMS: Mapping[str, str] = {"true": YES, "false": NO}


def says_more(prose: str, schema: Mapping[str, Any], reply: Mapping[str, Any]) -> bool:
    """Return whether the text around an object may hold another verdict.

    It does where it has a part of another object, states a value of a property that decides ("so my rating
    is no"), names an option that the object does not choose, or opens a thought.

    Args:
        prose: the text around the object, with `BETWEEN` in its place.
        schema: of the object.
        reply: the object, in the words of the schema.
    """
    text = _CODE_FENCE.sub("", prose)
    if not text.strip(f"{BETWEEN} \t\r\n"):
        return False
    return (
        bool(_THOUGHT.search(text))
        or _has_a_part_of_an_object(text, schema)
        or _states_another_value(text, schema, reply)
        or bool(_options_in(text, schema) - set(_chosen(reply, schema)))
    )


def keys_in_text(text: str, schema: Mapping[str, Any]) -> int:
    """Return how often a text writes a property of the schema as a key of an object."""
    return sum(1 for _ in _key(schema).finditer(text))


def keys_in_value(value: Any, schema: Mapping[str, Any]) -> int:
    """Return how often a property of the schema is a key in a value, at any depth."""
    names = {name.lower() for name in _names(schema)}

    def count(value: Any, depth: int) -> int:
        if depth > 50:
            return 0
        if isinstance(value, dict):
            return sum(
                (str(key).strip().lower() in names) + count(item, depth + 1) for key, item in value.items()
            )
        return sum(count(item, depth + 1) for item in value) if isinstance(value, list) else 0

    return count(value, 0)


def _has_a_part_of_an_object(text: str, schema: Mapping[str, Any]) -> bool:
    opening = text.find("{")
    if opening >= 0 and _key(schema).search(text, opening):
        return True
    properties = list(schema.get("properties", {}).values())
    has_bare_list = len(properties) == 1 and properties[0].get("type") == "array"
    return has_bare_list and bool(re.search(r"\[\s{0,5}[\"'{\d]", text))


def _key(schema: Mapping[str, Any]) -> re.Pattern[str]:
    """Return a pattern of a property's name as a key, in quotes of any kind or without."""
    names = "|".join(map(re.escape, sorted(_names(schema))))
    return re.compile(rf"(?<!\w)(?:{names})[\\\"']{{0,3}}\s{{0,3}}:", re.IGNORECASE)


def _states_another_value(text: str, schema: Mapping[str, Any], reply: Mapping[str, Any]) -> bool:
    """Return whether a text says "rating is no" of a property that decides, with another value."""
    numbers = {
        name: part
        for name, part in schema.get("properties", {}).items()
        if part.get("type") in ("number", "integer")
    }
    names = {name for name, part in _parts(schema) if "enum" in part} | set(numbers)
    if not names:
        return False
    spoken = "|".join(re.escape(name).replace("_", "[ _]") for name in sorted(names))
    stated = re.compile(
        rf"\b(?:{spoken})\b[\s\"'*`]{{0,5}}(?:is|was|:|=)[\s\"'*`:=]{{0,5}}([\w.]{{1,50}})", re.IGNORECASE
    )
    selected = {option.lower() for option in _chosen(reply, schema)}
    selected |= {word for word, option in _SYNONYMS.items() if option in selected}
    selected |= {f"{reply[name]:g}" for name in numbers if name in reply}
    return any(match[1].rstrip(".").lower() not in selected for match in stated.finditer(text))


def _options_in(text: str, schema: Mapping[str, Any]) -> set[str]:
    options = {option for _, part in _parts(schema) for option in part.get("enum", ())}
    words = {word.lower() for word in _WORD.findall(text)}
    synonyms = {meant for word, meant in _SYNONYMS.items() if word in words and meant in options}
    return {option for option in options if option.lower() in words} | synonyms


def _chosen(value: Any, schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the options that an object chooses."""
    if "enum" in schema:
        yield value
    elif isinstance(value, Mapping):
        for name, part in schema.get("properties", {}).items():
            yield from _chosen(value.get(name), part)
    elif isinstance(value, list):
        for item in value:
            yield from _chosen(item, schema.get("items", {}))


def _names(schema: Mapping[str, Any]) -> set[str]:
    return {name for name, _ in _parts(schema)}


def _parts(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the properties of a schema and of the schemas within."""
    for name, part in schema.get("properties", {}).items():
        yield name, part
        yield from _parts(part)
    if "items" in schema:
        yield from _parts(schema["items"])
