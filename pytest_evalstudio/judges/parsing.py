"""Reading of a judge's reply: JSON, however it is wrapped, checked against the schema that was asked for."""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pytest_evalstudio.core.replies import NO, YES
from pytest_evalstudio.judges.second_verdicts import BETWEEN, keys_in_text, keys_in_value, says_more
from pytest_evalstudio.text.folding import fold
from pytest_evalstudio.text.unicode import valid_data

LONGEST_REPLY = 1_000_000  # judges answer in a few hundred tokens; the rest is not read
MAX_TRIES = 200  # opening braces that are tried; bounds the time of a reply full of them

_THINKING_TAG = re.compile(r"<(/?)(think|thinking|reasoning)>", re.IGNORECASE)
_BEGINS_OBJECT = re.compile(r"(?:```\w*\s*)?\{")
MAX_REPAIRED_CHARS = 50_000
"""Longer objects with slips are not repaired: the time of a repair grows faster than its text."""
_EDGES = " \t\r\n.,;:!\"'`*_()[]"
_YES_WORDS = frozenset({"yes", "true", "1", "y"})
_NO_WORDS = frozenset({"no", "false", "0", "n"})


class Unparsable(ValueError):
    """A reply that is not what was asked for; its message says why, without the reply."""


PublishedForm = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Rewrites a reply in the form of a published procedure into the form that was asked for."""


def read_reply(
    reply: str, schema: Mapping[str, Any], published: PublishedForm | None = None
) -> dict[str, Any]:
    """Return the object that a judge replied.

    It is taken as it is, out of code fences, out of prose around it, or with the slips that models make
    (trailing commas, single quotes, Python's literals); of a schema with one choice the bare word is enough.
    A reply that holds anything else that may be a verdict says nothing: one of the two may be a quotation.

    Args:
        reply: the reply; only its first million characters are read.
        schema: of the object; a choice of "yes" and "no" is also met by true and false.
        published: see `Question`.

    Raises:
        Unparsable: if there is no such object in it, or more than one verdict.

    >>> schema = {"type": "object", "properties": {"verdict": {"enum": ["yes", "no"]}}, "required": ["verdict"]}
    >>> read_reply('Here you are: {"verdict": true}', schema)
    {'verdict': 'yes'}
    """  # noqa: E501
    # A byte order mark is no white space for `strip`.
    text = _after_thoughts(reply[:LONGEST_REPLY].strip().lstrip("\ufeff"))
    if not text:
        raise Unparsable("the reply is empty")
    word = _bare_word(text, schema)
    if word is not None:
        return word
    values, prose = _objects(text)
    normal, fault = _verdicts(values, schema, published)
    # Repaired only where no object could be read: a repair may change the meaning of a valid part.
    if not normal and not fault:
        repaired, prose = _repaired(text, schema)
        normal, fault = _verdicts(repaired, schema, published)
    if len(normal) > 1:
        raise Unparsable(f"it holds {len(normal)} different objects of the form that was asked for")
    if fault or not normal:
        raise Unparsable(fault or _lack(text, values, schema))
    if says_more(prose, schema, normal[0]):
        raise Unparsable("it says something else about the verdict outside of its JSON object")
    return valid_data(normal[0])  # escapes can bring lone surrogates into a text that had none


def _lack(text: str, values: Sequence[Any], schema: Mapping[str, Any]) -> str:
    """Return what a reply without a verdict lacks: any JSON object, its end, or the keys in it."""
    if not any(isinstance(value, dict) for value in values):
        if _BEGINS_OBJECT.match(text):
            return "its JSON object breaks off or is malformed; a limit of tokens may cut it"
        return "there is no JSON object in it"
    keys = ", ".join(map(repr, schema.get("required") or schema["properties"]))
    return f"its JSON object has none of these keys: {keys}"


def _verdicts(
    values: Sequence[Any], schema: Mapping[str, Any], published: PublishedForm | None
) -> tuple[list[dict[str, Any]], str]:
    """Return the different objects that have a property of the schema, and what is wrong with one of them."""
    normal: list[dict[str, Any]] = []
    fault = ""
    for value in values:
        wrapped = _wrapped(value, schema)
        if not isinstance(wrapped, dict) or not _properties(wrapped) & _properties(schema["properties"]):
            continue
        # dict() would keep the last value: a quoted verdict could replace that of the judge.
        if isinstance(wrapped, _Ambiguous):
            raise Unparsable("a key occurs twice, with different values")
        if published is not None:
            # `published` copies parts into a plain mapping, which would hide that a key occurs twice.
            if any(isinstance(part, _Ambiguous) for part in wrapped.values()):
                raise Unparsable("a key occurs twice, with different values")
            wrapped = published(wrapped)
        candidate = _normal(wrapped, schema)
        # The same verdict twice, e.g. before and after an explanation, is no contradiction.
        if candidate not in normal:
            normal.append(candidate)
            fault = fault or _wrong(candidate, schema)
    return normal, fault


def _properties(names: Iterable[str]) -> set[str]:
    return {str(name).strip().lower() for name in names}


def _after_thoughts(text: str) -> str:
    """Return the text after the thoughts that it begins with.

    Thoughts elsewhere are left where they are: the tags may be quoted, to hide a verdict between them.

    Raises:
        Unparsable: if a thought at the beginning has no end.
    """
    position = 0
    while (opening := _THINKING_TAG.match(text, position)) and not opening[1]:
        closing = next(
            (tag for tag in _THINKING_TAG.finditer(text, opening.end()) if tag[1] and _same(tag, opening)),
            None,
        )
        if closing is None:
            raise Unparsable("it breaks off while the judge is thinking")
        position = closing.end()
        position += len(text) - position - len(text[position:].lstrip())
    return text[position:]


def _same(tag: re.Match[str], other: re.Match[str]) -> bool:
    return tag[2].lower() == other[2].lower()


class _Ambiguous(dict[str, Any]):
    """An object in which a key has two values."""


def _paired(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        # As `_normal` reads keys: "Verdict" and "verdict" are one key there.
        name = key.strip().lower()
        if name in values and values[name] != value:
            return _Ambiguous(pairs)
        values[name] = value
    return dict(pairs)


# NaN and infinities become texts, which are no numbers for the schema.
_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_paired, parse_constant=str)


def _objects(text: str) -> tuple[list[Any], str]:
    """Return the JSON values of a text, and the text between them."""
    try:
        return [_DECODER.decode(text)], ""
    # A bracket of prose; the next one may begin the object.
    except (ValueError, RecursionError):
        pass
    values, prose = [], []
    position, done = 0, 0
    for _ in range(MAX_TRIES):
        opening = _next_opening(text, position)
        if opening < 0:
            break
        try:
            value, position = _DECODER.raw_decode(text, opening)
        except (ValueError, RecursionError):
            position = opening + 1
            continue
        values.append(value)
        prose.append(text[done:opening])
        done = position
    return values, BETWEEN.join([*prose, text[done:]])


def _next_opening(text: str, start: int) -> int:
    positions = [position for position in (text.find("{", start), text.find("[", start)) if position >= 0]
    return min(positions, default=-1)


def _repaired(text: str, schema: Mapping[str, Any]) -> tuple[list[Any], str]:
    """Return the object with slips that a text holds, and the text around it.

    A verdict that breaks off is none, since its end is unknown.
    """
    opening, closing = text.find("{"), text.rfind("}")
    whole = text[opening : closing + 1]
    # Unequal numbers of braces: the object breaks off, and the library would invent its end.
    if not 0 <= opening < closing or len(whole) > MAX_REPAIRED_CHARS or whole.count("{") != whole.count("}"):
        return [], text
    try:
        from json_repair import repair_json

        value = repair_json(whole, return_objects=True, skip_json_loads=True)
    except Exception:  # the library fails in many ways on nested garbage, which is no verdict
        return [], text
    # The library keeps the last of two equal keys, and joins objects, without saying so.
    if keys_in_text(whole, schema) != keys_in_value(value, schema):
        raise Unparsable("it holds more than one object, or a key twice")
    return [value], text[:opening] + BETWEEN + text[closing + 1 :]


def _bare_word(text: str, schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """A reply of a single word, where one choice is all that matters."""
    choices = {name: part["enum"] for name, part in schema.get("properties", {}).items() if "enum" in part}
    others = [part for name, part in schema.get("properties", {}).items() if name not in choices]
    if len(choices) != 1 or any(part.get("type") != "string" for part in others):
        return None
    name, options = next(iter(choices.items()))
    option = _option(text.strip(_EDGES), options)
    if option not in options:
        return None
    return {key: option if key == name else "" for key in schema["properties"]}


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
    """Return a value with choices in the schema's words, numbers as numbers, and no unknown keys."""
    if "enum" in schema:
        return _option(value, schema["enum"])
    kind = schema.get("type")
    if kind == "object" and isinstance(value, Mapping):
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
            number = int(value) if kind == "integer" else float(value)
        except ValueError:
            return value
        return number if math.isfinite(number) else value
    if kind in ("integer", "number") and isinstance(value, float) and not math.isfinite(value):
        # A text, which the schema of a number refuses.
        return str(value)
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    # Models write a number or null where a short text was asked for, e.g. as a reason.
    if kind == "string" and (value is None or isinstance(value, int | float)):
        return "" if value is None else str(value)
    return value


def _option(value: Any, options: list[str]) -> Any:
    """The option that a value means, the value itself where it means none."""
    if isinstance(value, bool):
        value = "true" if value else "false"
    word = fold(str(value)).strip(_EDGES).lower()
    for option in options:
        if word == option.lower():
            return option
    if set(options) == {YES, NO}:
        if word in _YES_WORDS:
            return YES
        return NO if word in _NO_WORDS else value
    return value


def _wrong(value: Any, schema: Mapping[str, Any]) -> str:
    """Return the fault of an object, "" for none; it names keys and types, never values."""
    error = next(iter(_validator(json.dumps(schema)).iter_errors(value)), None)
    if error is None:
        return ""
    location = "".join(
        f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path
    ).lstrip(".")
    if error.validator == "required":
        missing = [name for name in error.validator_value if name not in error.instance]
        return f"{location + ': ' if location else ''}{', '.join(repr(name) for name in missing)} is missing"
    expected = error.schema.get("enum") or error.schema.get("type") or error.validator
    return (
        f"{location}: expected {' or '.join(map(repr, expected)) if isinstance(expected, list) else expected}"
    )


@functools.lru_cache(maxsize=256)
def _validator(schema: str) -> Any:
    """Return the validator of a schema in JSON; many replies have the same one."""
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(schema))
