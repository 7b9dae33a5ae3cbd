"""Cases and labs made by hand, without a file."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, get_args

from pytest_evalstudio.core.cases import Answer, Case, ConditionPart, Expectation, Turn
from pytest_evalstudio.core.errors import ConfigurationError, nearest
from pytest_evalstudio.core.tool_calls import read_tool_calls
from pytest_evalstudio.formats.keys import derived_key
from pytest_evalstudio.formats.tool_calls import read_expected_calls

BY_HAND = "by hand"
_WORDS: Mapping[str, tuple[str, ...]] = {
    "condition_on": get_args(ConditionPart),
    "expects": get_args(Expectation),
}


def make_case(question: str = "", actual_output: str = "", **fields: Any) -> Case:
    """Make a case from keyword arguments.

    Args:
        fields: those of `Case`; sequences are taken as tuples, a single string as one of them, and turns of a
            conversation as mappings with role and content too. Whether the model retrieves is seen from the
            context unless `is_rag` says.

    Raises:
        ConfigurationError: for a field that a case does not have.

    >>> make_case("2 + 2?", "4", expected_output="4").key
    '2-2-0958482c'
    """
    answer_fields = {field.name: field for field in dataclasses.fields(Answer) if field.name != "text"}
    case_fields = {field.name: field for field in dataclasses.fields(Case)} | answer_fields
    for name, value in fields.items():
        if name not in case_fields:
            longer = [field for field in case_fields if field.startswith(name)]
            hint = nearest(name, longer or case_fields)
            raise ConfigurationError(f"eval_case: a case has no field {name!r}. {hint}".strip())
        if str(case_fields[name].type).startswith("tuple") and not name.endswith("tool_calls"):
            fields[name] = (value,) if isinstance(value, str) else tuple(value)
    for name, words in _WORDS.items():
        if fields.get(name, "") not in words:
            listed = " or ".join(f'"{word}"' for word in words if word)
            raise ConfigurationError(f"eval_case: {name}: expected {listed}, found {fields[name]!r}")
    fields |= _calls(fields)
    if "conversation" in fields:
        fields["conversation"] = tuple(_turn(turn) for turn in fields["conversation"])
    fields.setdefault("key", derived_key(question, fields.get("expected_output", "")))
    fields.setdefault("model_key", BY_HAND)
    fields.setdefault("is_rag", bool(fields.get("context")))
    answer = Answer(
        text=actual_output, **{name: fields.pop(name) for name in answer_fields if name in fields}
    )
    return Case(question=question, answer=answer, **fields)


def _calls(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the typed calls of tools among the fields of a case."""
    typed: dict[str, Any] = {}
    try:
        if "tool_calls" in fields:
            typed["tool_calls"] = read_tool_calls(fields["tool_calls"])
        if "expected_tool_calls" in fields:
            expected = read_expected_calls(fields["expected_tool_calls"])
            typed["expected_tool_calls"] = None if expected is None else tuple(expected)
    except ValueError as exc:
        name = "expected_tool_calls" if "tool_calls" in typed or "tool_calls" not in fields else "tool_calls"
        raise ConfigurationError(f"eval_case: {name}: {exc}") from None
    return typed


def _turn(data: object) -> Turn:
    if isinstance(data, Turn):
        return data
    if not isinstance(data, Mapping) or set(data) != {"role", "content"}:
        raise ConfigurationError(f"eval_case: conversation: a turn has a role and a content, found {data!r}")
    return Turn(role=data["role"], content=data["content"])
