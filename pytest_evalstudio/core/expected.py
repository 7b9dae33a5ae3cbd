"""Expectations of a test case, or of a turn of a conversation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Struct, field

from pytest_evalstudio.core.kept import Kept
from pytest_evalstudio.core.tool_calls import ExpectedToolCall

ConditionPart = Literal["", "answer", "context", "both"]
"""Part of an answer that a condition is checked on; "" for what the evaluator's options say."""
Expectation = Literal["", "answer", "refusal"]
"""Kind of answer that a case expects; "" is "answer"."""


class Expected(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Expectations of an answer: the fields of cases, turns and rows of records.

    Attributes:
        expected_output: reference answer; the first one where several are right.
        accepted_outputs: further answers that are right.
        condition: source text of the boolean condition, "" for none.
        condition_on: where the condition is to hold.
        expects: whether the model is to answer or to refuse.
        expected_facts: statements that the answer must contain, for judges.
        guidelines: rules that the answer must follow, for judges.
        expected_documents: names or URIs of the documents that should be retrieved.
        expected_chunks: texts that should be retrieved.
        expected_tool_calls: calls that the model should make, in order; () for none at all, None where the
            case says nothing of them.
        expected_state: state of the application after the answer; empty for none.
    """

    expected_output: str = ""
    accepted_outputs: tuple[str, ...] = ()
    condition: str = field(default="", name="output_condition")
    condition_on: ConditionPart = ""
    expects: Expectation = ""
    expected_facts: tuple[str, ...] = ()
    guidelines: tuple[str, ...] = ()
    expected_documents: Annotated[tuple[str, ...], Kept.DOCUMENTS] = ()
    expected_chunks: tuple[str, ...] = ()
    expected_tool_calls: tuple[ExpectedToolCall, ...] | None = None
    expected_state: Mapping[str, Any] = {}

    @property
    def expectations(self) -> dict[str, Any]:
        """Return the expectations by name, for another case or turn, or for one of a file."""
        return expectations_of(self)


def expectations_of(form: object, **overrides: Any) -> dict[str, Any]:
    """Return the fields of `Expected` by name, which an object of another type has as attributes.

    Args:
        form: a case, a turn or a row, of a file or of a record. Its lists become tuples.
        overrides: expectations that the object has under another name or in another form.

    Raises:
        AttributeError: if a field is missing.
    """
    values = {name: getattr(form, name) for name in Expected.__struct_fields__ if name not in overrides}
    return overrides | {
        name: tuple(value) if type(value) is list else value for name, value in values.items()
    }


def divided(expected: object, accepted: object = None) -> tuple[str, list[str]]:
    """Return the first of the accepted answers, and the others.

    Args:
        expected: a text, a list of texts, or None.
        accepted: further accepted answers: a text, a list of texts, or None.

    Raises:
        ValueError: if one of several accepted answers is no text, or has no visible character.

    >>> divided(["15 USD", "fifteen dollars"])
    ('15 USD', ['fifteen dollars'])
    """
    outputs = [*_listed(expected), *_listed(accepted)]
    for output in outputs:
        if not isinstance(output, str) or not output.strip():
            kind = "a blank text" if isinstance(output, str) else type(output).__name__
            raise ValueError(f"each of several accepted answers must be a text with words, found {kind}")
    first, *others = dict.fromkeys(map(str, outputs)) or [""]
    return first, others


def _listed(value: object) -> list[object]:
    if value is None or value == "":
        return []
    return list(value) if isinstance(value, list | tuple) else [value]
