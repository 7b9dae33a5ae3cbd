"""Definitions of tools, and the validity of calls under them."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.reading import read_bytes
from pytest_evalstudio.core.tool_calls import ToolCall
from pytest_evalstudio.metrics.json_schema import read_schema, schema_fault
from pytest_evalstudio.text.folding import fold

_WRAPPERS = ("function", "toolSpec")
_SCHEMAS = ("parameters", "input_schema", "inputSchema")
_WORD = re.compile(r"[^\W_]+(?:[-_./][^\W_]+)*")
_MIN_DIGITS = 6
"""Digits of a number that is an identifier; shorter ones are counts, amounts and years."""


def read_definitions(declared: object) -> dict[str, str]:
    """Read definitions of tools in the form of OpenAI, Anthropic, Bedrock or MCP.

    Args:
        declared: a list of definitions, or the path of a JSON file with one.

    Returns:
        Canonical JSON Schema of the arguments by the name of the tool; "" for a tool without one.

    Raises:
        ConfigurationError: if they cannot be read, or one of them is faulty.

    >>> read_definitions([{"name": "search", "input_schema": {"type": "object"}}])
    {'search': '{"type": "object"}'}
    """
    source = "tools"
    if isinstance(declared, str):
        source = str(Path(declared))
        try:
            declared = json.loads(read_bytes(source).decode("utf-8-sig"))
        except (OSError, ValueError, RecursionError) as exc:
            raise ConfigurationError(
                f"tools: cannot read {source!r}: {exc}; give a JSON file of definitions"
            ) from None
    if isinstance(declared, Mapping):
        declared = declared.get("tools")
    if not isinstance(declared, list | tuple):
        raise ConfigurationError(f"{source}: expected a list of definitions of tools")
    return dict(_definition(item, f"{source}[{index}]") for index, item in enumerate(declared))


def _definition(item: object, location: str) -> tuple[str, str]:
    definition = item
    if isinstance(item, Mapping):
        wrapped = (item[key] for key in _WRAPPERS if isinstance(item.get(key), Mapping))
        definition = next(wrapped, item)
    name = definition.get("name") if isinstance(definition, Mapping) else None
    if not isinstance(definition, Mapping) or not isinstance(name, str) or not name:
        example = '{"name": "search", "parameters": {"type": "object"}}'
        raise ConfigurationError(f"{location}: expected the definition of a tool, e.g. {example}")
    schema = next((definition[key] for key in _SCHEMAS if isinstance(definition.get(key), Mapping)), None)
    if schema is not None and isinstance(schema.get("json"), Mapping):  # Bedrock
        schema = schema["json"]
    return name, "" if schema is None else read_schema(schema, ".", of_others=True)


def default_arguments(definitions: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return the defaults that the definitions of tools give to arguments, by tool.

    >>> default_arguments({"search": '{"properties": {"page": {"default": 1}, "query": {}}}'})
    {'search': {'page': 1}}
    """
    return {name: _defaults(schema) for name, schema in definitions.items()}


def _defaults(schema: str) -> dict[str, Any]:
    properties = json.loads(schema).get("properties") if schema else None
    parameters = properties.items() if isinstance(properties, Mapping) else ()
    return {
        name: parameter["default"]
        for name, parameter in parameters
        if isinstance(parameter, Mapping) and "default" in parameter
    }


def call_fault(call: ToolCall, definitions: Mapping[str, str]) -> str:
    """Return what is wrong with a call, "" if nothing is.

    Args:
        call: of the model.
        definitions: see `read_definitions`; without any, only the form of the arguments is checked.

    Raises:
        EvaluationError: if a schema refers to a document outside it, or one of its patterns takes longer than
            2 s.
    """
    if definitions and call.name not in definitions:
        return "there is no such tool"
    if call.arguments_text:
        return "the arguments are not a JSON object"
    schema = definitions.get(call.name, "")
    if not schema:
        return ""
    allowed = _parameters(schema)
    # JSON Schema permits further properties unless it forbids them; a tool takes the listed ones only.
    if allowed is not None and (unknown := [name for name in call.arguments if name not in allowed]):
        return f"there is no parameter {unknown[0]!r}"
    return schema_fault(dict(call.arguments), schema)


@functools.lru_cache(maxsize=1024)
def _parameters(schema: str) -> frozenset[str] | None:
    """Return the names of the parameters; None where the schema permits others or names none."""
    plain = json.loads(schema)
    properties = plain.get("properties") if isinstance(plain, dict) else None
    if not isinstance(properties, dict) or plain.get("additionalProperties") or "patternProperties" in plain:
        return None
    return frozenset(properties)


def unsupported_values(calls: Sequence[ToolCall], texts: Sequence[str]) -> tuple[int, list[str]]:
    """Return the identifiers among arguments that nothing before the call contains.

    Args:
        calls: calls of the model, in order. The result of a call supports later ones; after a call without a
            known result nothing is counted.
        texts: question, conversation and context.

    Returns:
        Number of identifiers, and those without support. An identifier is a word with letters and digits, or
        a number of at least six digits; case and look-alikes are ignored.

    >>> unsupported_values([ToolCall(name="get", arguments={"id": "E1234"})], ["Cancel e1234"])
    (1, [])
    """
    earlier_words = {word for text in texts for word in _identifiers(text)}
    count, unsupported = 0, []
    for call in calls:
        for word in _identifiers(_joined(call.arguments)):
            count += 1
            if word not in earlier_words:
                unsupported.append(word)
        # What a later call uses may come from this unknown result.
        if call.result is None and not call.error:
            break
        earlier_words.update(_identifiers(call.result or ""))
    return count, unsupported


def _identifiers(text: str) -> Iterator[str]:
    for match in _WORD.finditer(fold(text)):
        word = match[0]
        has_digit = any(map(str.isdigit, word))
        if has_digit and (any(map(str.isalpha, word)) or (word.isdigit() and len(word) >= _MIN_DIGITS)):
            yield word.casefold()


def _joined(value: Any) -> str:
    """Return all strings and numbers of JSON data as one text."""
    if isinstance(value, Mapping):
        return "\n".join(map(_joined, value.values()))
    if isinstance(value, list | tuple):
        return "\n".join(map(_joined, value))
    return "" if value is None or isinstance(value, bool) else str(value)
