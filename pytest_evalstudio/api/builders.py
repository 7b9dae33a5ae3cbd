"""Cases and labs made by hand, without a file."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack, get_args, get_type_hints

from pytest_evalstudio.asking.case_types import case_fault
from pytest_evalstudio.core.cases import Answer, AnswerFields, Case, Relationship, Retrieval, Turn
from pytest_evalstudio.core.errors import ConfigurationError, nearest
from pytest_evalstudio.core.expected import ConditionPart, Expectation, divided
from pytest_evalstudio.core.numbers import number_fault
from pytest_evalstudio.core.tool_calls import read_tool_calls
from pytest_evalstudio.formats.attachments import local_attachments
from pytest_evalstudio.formats.keys import derived_key
from pytest_evalstudio.formats.tool_calls import read_expected_calls
from pytest_evalstudio.text.unicode import valid_data

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_evalstudio.core.attachments import Attachment
    from pytest_evalstudio.core.conversations import ConversationPlan
    from pytest_evalstudio.core.states import ExpectedState
    from pytest_evalstudio.core.tool_calls import ExpectedToolCall

BY_HAND = "by hand"
QUESTION_NAMES = ("question", "prompt", "input")
"""Names of the question in cases that are dataclasses or mappings: here, in suites, in data sets."""
_WORDS: Mapping[str, tuple[str, ...]] = {
    "condition_on": get_args(ConditionPart),
    "retrieval": get_args(Retrieval),
    "expects": get_args(Expectation),
}


class CaseFields(AnswerFields, total=False):
    """Fields of a case that is made by hand, other than its question, answer and documents."""

    key: str
    expected_output: str | Sequence[str]
    accepted_outputs: str | Iterable[str]
    condition: str
    condition_on: ConditionPart
    expects: Expectation
    retrieval: Retrieval
    categories: str | Iterable[str]
    relationships: Iterable[Relationship | Mapping[str, str]]
    test_key: str
    model_key: str
    model_name: str
    is_rag: bool
    run: int
    position: int
    line: int
    expected_documents: str | Iterable[str]
    expected_chunks: str | Iterable[str]
    expected_facts: str | Iterable[str]
    guidelines: str | Iterable[str]
    expected_tool_calls: Iterable[ExpectedToolCall | Mapping[str, Any]] | None
    expected_state: ExpectedState
    conversation: Iterable[Turn | Mapping[str, str]]
    images: str | Path | Iterable[str | Path]
    files: str | Path | Iterable[str | Path]
    attachments: Iterable[Attachment]
    plan: ConversationPlan | None
    counterpart: Case | None
    folder: str
    extra: Mapping[str, Any]


class CaseFieldsWithCorpus(CaseFields, total=False):
    """Fields of a case that is made by hand, other than its question and answer."""

    corpus: str | Iterable[str]


def make_case(question: str = "", actual_output: str = "", **fields: Unpack[CaseFieldsWithCorpus]) -> Case:
    """Make a case from keyword arguments.

    Args:
        fields: those of `Case`; sequences are taken as tuples, a single string as one of them, and turns of a
            conversation as mappings with role and content too; `images` and `files` are paths. Whether the
            model retrieves is seen from the context unless `is_rag` says.

    Raises:
        ConfigurationError: for a field that a case does not have, a value of another type, and a number that
            cannot be true.

    >>> make_case("2 + 2?", "4", expected_output="4").key
    '2-2-0958482c'
    """
    question, actual_output = valid_data(question), valid_data(actual_output)
    values: dict[str, Any] = valid_data(dict(fields))
    images, files = values.pop("images", ()), values.pop("files", ())
    if images or files:
        values["attachments"] = (*values.get("attachments", ()), *local_attachments(images, files))
    answer_fields, case_fields = _declared_types()
    values |= _accepted_outputs(values)
    for name, value in list(values.items()):
        if name not in case_fields:
            # "expected" means "expected_output" rather than a short name that is spelled alike.
            longer = [field for field in case_fields if field.startswith(name)]
            hint = nearest(name, longer or case_fields)
            raise ConfigurationError(f"eval_case: a case has no field {name!r}. {hint}".strip())
        if value is None and "None" not in case_fields[name]:
            del values[name]  # as null in a file
        # Calls have readers of their own, which take more forms than a tuple.
        elif case_fields[name].startswith("tuple") and not name.endswith("tool_calls"):
            values[name] = _items(name, value)
    for name, words in _WORDS.items():
        if values.get(name, "") not in words:
            listed = " or ".join(f'"{word}"' for word in words if word)
            raise ConfigurationError(f"eval_case: {name}: expected {listed}, found {values[name]!r}")
    values |= _calls(values)
    if "relationships" in values:
        values["relationships"] = tuple(map(_relationship, values["relationships"]))
    if "conversation" in values:
        values["conversation"] = tuple(_turn(turn) for turn in values["conversation"])
    texts = (question, actual_output, values.get("expected_output", ""))
    attached = [each.name for each in values.get("attachments", ())]
    more = [["attached", *attached]] if attached else []
    values.setdefault("key", derived_key(question, values.get("expected_output", ""), *more))
    values.setdefault("model_key", BY_HAND)
    # An empty context says that the model retrieved nothing, a missing one that it does not retrieve.
    values.setdefault("is_rag", values.get("context") is not None and values.get("retrieval") != "optional")
    answer = Answer(
        text=actual_output, **{name: values.pop(name) for name in answer_fields if name in values}
    )
    case = Case(question=question, answer=answer, **values)
    # An answer that was not awaited has a message of its own, where the case is scored.
    if not any(map(inspect.isawaitable, texts)) and (fault := case_fault(case)):
        raise ConfigurationError(f"eval_case: {fault}")
    if fault := number_fault(
        usage=answer.usage,
        cost_usd=answer.cost_usd,
        duration_s=answer.duration_s,
        first_token_s=answer.first_token_s,
        context_scores=answer.context_scores,
    ):
        raise ConfigurationError(f"eval_case: {fault}")
    return case


def is_data(value: object) -> bool:
    """Return whether a value has the fields of a case by name: a mapping, or an instance of a dataclass."""
    return isinstance(value, Mapping) or (dataclasses.is_dataclass(value) and not isinstance(value, type))


def case_of_data(data: Any) -> Case:
    """Make a case from a mapping or an instance of a dataclass; None counts as absent.

    The question may be called `question`, `prompt` or `input`, all other fields are called as in `make_case`.

    Raises:
        ConfigurationError: if there is no question, or a field that a case does not have.

    >>> case_of_data({"prompt": "2 + 2?", "expected_output": "4"}).question
    '2 + 2?'
    """
    name = "a mapping" if isinstance(data, Mapping) else type(data).__name__
    if isinstance(data, Mapping):
        fields = {str(key): value for key, value in data.items()}
    else:
        # Not `asdict`, which would turn dataclasses inside into dictionaries.
        fields = {field.name: getattr(data, field.name) for field in dataclasses.fields(data)}
    fields = {key: value for key, value in fields.items() if value is not None}
    questions = [fields.pop(key) for key in QUESTION_NAMES if key in fields]
    if len(questions) != 1:
        fact = "has no question" if not questions else "has several questions"
        raise ConfigurationError(f"{name}: {fact}; give one field question, prompt or input")
    _, case_fields = _declared_types()
    case_keys = {*case_fields, "actual_output", "images", "files"}
    for key in fields:
        if key not in case_keys:
            hint = nearest(key, case_keys) or "Put data of your own below `extra`."
            raise ConfigurationError(f"{name}: a case has no field {key!r}. {hint}")
    return make_case(questions[0], **fields)


@functools.cache
def _declared_types() -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return the types of the fields of an answer but its text, and those of a case with them, as text."""
    answer_fields = {name: str(hint) for name, hint in get_type_hints(Answer).items() if name != "text"}
    case_fields = {name: str(hint) for name, hint in get_type_hints(Case).items()}
    return answer_fields, case_fields | answer_fields


def _accepted_outputs(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the accepted answers among the fields of a case, where there are several."""
    expected, accepted = fields.get("expected_output"), fields.get("accepted_outputs")
    if not isinstance(expected, list | tuple) and accepted is None:
        return {}
    try:
        first, others = divided(expected, accepted)
    except ValueError as exc:
        raise ConfigurationError(f"eval_case: expected_output: {exc}") from None
    return {"expected_output": first, "accepted_outputs": tuple(others)}


def _items(name: str, value: object) -> tuple[Any, ...]:
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, Iterable) or isinstance(value, bytes | Mapping):
        raise ConfigurationError(f"eval_case: {name}: expected a list, found {type(value).__name__}")
    return tuple(value)


def _relationship(data: object) -> Relationship:
    if isinstance(data, Relationship):
        return data
    names = ("type", "target", "target_type")
    if not isinstance(data, Mapping) or not {"type", "target"} <= set(data) <= {*names}:
        raise ConfigurationError(
            "eval_case: relationships: a relationship has a type, a target and maybe a target_type, found"
            f" {data!r}"
        )
    return Relationship(**data)


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
