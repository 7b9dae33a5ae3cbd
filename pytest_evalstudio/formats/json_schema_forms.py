"""Forms and keywords of JSON Schemas that people write: what a validator would ignore without a word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_evalstudio.core.errors import nearest
from pytest_evalstudio.formats.json_formats import FORMATS

_WRAPPERS = ("response_format", "json_schema", "format", "schema")
_ENVELOPE = frozenset({"type", "name", "description", "strict", *_WRAPPERS})
"""Keys of OpenAI's forms of a response format around a schema."""
_ANNOTATIONS = frozenset(
    (
        *("$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "$comment"),
        *("$defs", "definitions", "title", "description", "default", "examples", "deprecated", "readOnly"),
        *("writeOnly", "contentEncoding", "contentMediaType", "contentSchema"),
    )
)
_OF_OTHERS = frozenset({"then", "else", "minContains", "maxContains"})
"""Keywords that others read."""
_REPLACED = {
    "dependencies": "write dependentRequired or dependentSchemas",
    "additionalItems": "write prefixItems and items",
    "divisibleBy": "write multipleOf",
    "nullable": 'write {"type": ["string", "null"]}',
    "example": "write examples",
    "extends": "write allOf",
    "disallow": "write not",
}
_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems", "items", "extends")
_SINGLE = (
    *("items", "additionalItems", "contains", "additionalProperties", "unevaluatedProperties", "not", "if"),
    *("unevaluatedItems", "propertyNames", "then", "else", "extends"),
)
_VACUOUS_MAPS = ("properties", "patternProperties", "dependentSchemas")
_VACUOUS_SINGLE = (
    *("items", "additionalItems", "additionalProperties", "unevaluatedProperties", "unevaluatedItems"),
    *("propertyNames", "then", "else"),
)
_MAX_DEPTH = 50


def unwrapped(schema: Any) -> Any:
    """Return the schema in OpenAI's forms of a response format, any other value as it is.

    >>> unwrapped({"name": "fee", "strict": True, "schema": {"type": "object"}})
    {'type': 'object'}
    """
    # Wrappers may be nested; each has another key, so there are at most as many levels as keys.
    for _ in _WRAPPERS:
        if not isinstance(schema, Mapping) or not schema.keys() <= _ENVELOPE:
            break
        # {"type": "object", "description": …} is a schema, although its keys are those of a wrapper.
        if schema.get("type", "json_schema") != "json_schema":
            break
        inner = next((schema[key] for key in _WRAPPERS if isinstance(schema.get(key), Mapping)), None)
        if inner is None:
            break
        schema = inner
    return schema


def keyword_fault(schema: Any, keywords: frozenset[str], draft: str) -> str:
    """Return the first unknown keyword of a schema, with its place and a remedy; "" for none.

    Args:
        schema: JSON value that is valid under the metaschema.
        keywords: that the validator checks; names that begin with "x-" are extensions.
        draft: name of the dialect, for the message.

    >>> keyword_fault({"propertys": {}}, frozenset({"properties", "type"}), "draft 2020-12")
    "unknown keyword 'propertys'. Did you mean 'properties'?"
    """
    # jsonschema reads these inside "if" and "contains", so they are not among its own keywords.
    known = keywords | _ANNOTATIONS | (_OF_OTHERS if "contains" in keywords else frozenset())
    for pointer, part in _subschemas(schema):
        for name in part:
            if name in known or name.startswith("x-"):
                continue
            place = f"at {pointer}: " if pointer else ""
            if name in _REPLACED:
                return f"{place}{name!r} is no keyword of {draft}; {_REPLACED[name]}"
            if hint := nearest(name, known):
                return f"{place}unknown keyword {name!r}. {hint}"
            return f"{place}{name!r} is no keyword of {draft}; correct or remove it"
    return ""


def dialect(schema: Any) -> Any:
    """Return the validator class of jsonschema for a schema; draft 2020-12 where it names no other."""
    from jsonschema import validators

    return validators.validator_for(schema, default=validators.Draft202012Validator)


def vocabulary_fault(schema: Any) -> str:
    """Return the fault of an unknown keyword or a misspelt format of a schema, "" for none.

    >>> vocabulary_fault({"properties": {"day": {"format": "dat"}}})
    "at /properties/day: unknown format 'dat'. Did you mean 'date'?"
    """
    has_draft = isinstance(schema, Mapping) and "$schema" in schema
    draft = "the draft of its $schema" if has_draft else "draft 2020-12"
    if fault := keyword_fault(schema, frozenset(dialect(schema).VALIDATORS), draft):
        return fault
    # An unknown format that resembles none may be the author's own; `schema_warning` reports it.
    for name, pointer in formats_of(schema).items():
        if name not in FORMATS and (hint := nearest(name, FORMATS)):
            return f"at {pointer or 'the top'}: unknown format {name!r}. {hint}"
    return ""


def formats_of(schema: Any) -> dict[str, str]:
    """Return the formats that a schema names, with the place of the first of each."""
    formats: dict[str, str] = {}
    for pointer, part in _subschemas(schema):
        if isinstance(part.get("format"), str):
            formats.setdefault(part["format"], pointer)
    return formats


def permits_everything(schema: Any) -> bool:
    """Return True if every JSON value is valid under a schema, as far as its keywords show.

    >>> permits_everything({"title": "Fee"}), permits_everything({"properties": {"fee": {"type": "number"}}})
    (True, False)
    """
    return _permits(schema, _MAX_DEPTH)


def _permits(schema: Any, depth: int) -> bool:
    if not isinstance(schema, Mapping):
        return schema is True
    # Beyond the depth it is taken to check something: no warning is better than a wrong one.
    return depth > 0 and all(_is_vacuous(name, value, depth - 1) for name, value in schema.items())


def _is_vacuous(name: str, value: Any, depth: int) -> bool:
    """Return True for a keyword that forbids nothing by itself."""
    if name in _ANNOTATIONS or name.startswith("x-") or name in ("if", "minContains", "maxContains"):
        return True
    if name in _VACUOUS_MAPS and isinstance(value, Mapping):
        return all(_permits(part, depth) for part in value.values())
    if name in ("allOf", "prefixItems") or (name == "items" and isinstance(value, list)):
        return all(_permits(part, depth) for part in value)
    if name == "anyOf":
        return any(_permits(part, depth) for part in value)
    if name in _VACUOUS_SINGLE:
        return _permits(value, depth)
    return name == "required" and value == []


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _subschemas(schema: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield a schema and all schemas in it with their JSON pointers; with a stack, since they may be deep."""
    waiting = [("", schema)]
    while waiting:
        pointer, part = waiting.pop()
        if not isinstance(part, Mapping):
            continue
        yield pointer, part
        inner = [(f"{pointer}/{name}", part[name]) for name in _SINGLE if isinstance(part.get(name), Mapping)]
        for name in _MAPS:
            if isinstance(part.get(name), Mapping):
                inner += [(f"{pointer}/{name}/{_escaped(key)}", value) for key, value in part[name].items()]
        for name in _LISTS:
            if isinstance(part.get(name), list):
                inner += [(f"{pointer}/{name}/{index}", value) for index, value in enumerate(part[name])]
        waiting += reversed(inner)
