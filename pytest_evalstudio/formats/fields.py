"""Common parts of all formats: lenient fields, canonical output, errors with positions."""

from __future__ import annotations

import difflib
import functools
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
)

from pytest_evalstudio.core.cases import Retrieval
from pytest_evalstudio.core.codes import finish_reason
from pytest_evalstudio.core.docstrings import attribute_text
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.expected import ConditionPart, Expectation, divided
from pytest_evalstudio.core.names import nearest_name
from pytest_evalstudio.core.numbers import MAX_COST_USD, MAX_SECONDS, MAX_TOKENS
from pytest_evalstudio.core.steps import Step
from pytest_evalstudio.core.tool_calls import ExpectedToolCall, ToolCall
from pytest_evalstudio.core.writing import write_whole
from pytest_evalstudio.formats.packed import Packed
from pytest_evalstudio.formats.source import Source, pointer

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema


def _text(value: object) -> object:
    return "" if value is None else value


def _key(value: object) -> object:
    if value is None:
        return ""
    # YAML and JSON give `key: 12` as a number.
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _texts(value: object) -> object:
    if value is None or value == "":
        return []
    return [value] if isinstance(value, str) else value


def list_or_empty(value: object) -> object:
    """Return a list of a file; null counts as an empty one."""
    return [] if value is None else value


def mapping_or_empty(value: object) -> object:
    """Return a mapping of a file; null counts as an empty one."""
    return {} if value is None else value


def _number(value: object) -> object:
    return 0.0 if value is None else value


def one_of(*words: str) -> BeforeValidator:
    """Return the check of a field that holds one of some words; null and "" count as absent."""
    choices = ", ".join(f'"{word}"' for word in words[:-1]) + f' or "{words[-1]}"'

    def check(value: object) -> object:
        if value is None or value == "":
            return ""
        if value not in words:
            raise ValueError(f"expected {choices}, found {shown(value)}")
        return value

    return BeforeValidator(check)


ConditionOn = Annotated[ConditionPart, one_of("answer", "context", "both")]
RetrievalWord = Annotated[Retrieval, one_of("required", "optional")]
Expects = Annotated[Expectation, one_of("answer", "refusal")]
Text = Annotated[str, BeforeValidator(_text)]
"""A string; null counts as absent."""
FinishReason = Annotated[
    str, BeforeValidator(lambda value: finish_reason(value) if isinstance(value, str | None) else value)
]
"""Code of the reason for the end of an answer, whatever its service calls it."""
Key = Annotated[str, BeforeValidator(_key)]
"""A string; a number is taken as its digits."""
Texts = Annotated[list[str], BeforeValidator(_texts)]
"""A list of strings; a single string is a list of one."""
ExpectedOutput = Annotated[
    Text,
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
"""The first of the accepted answers; files may have all of them as a list, see `with_accepted_outputs`."""
SHOWN_CHARS = 40
Constraints = Annotated[list[str | list[str]], BeforeValidator(_texts)]
Seconds = Annotated[float, Field(allow_inf_nan=False, ge=0, le=MAX_SECONDS), BeforeValidator(_number)]
Cost = Annotated[float, Field(allow_inf_nan=False, ge=-MAX_COST_USD, le=MAX_COST_USD)] | None
Tokens = Annotated[int, Field(ge=0, le=MAX_TOKENS)]
Record = Annotated[dict[str, Any], BeforeValidator(mapping_or_empty)]


class FormatModel(BaseModel):
    """Base of all models of files: unknown keys are kept, and written back after the known ones."""

    model_config = ConfigDict(
        extra="allow", validate_assignment=False, protected_namespaces=(), defer_build=True
    )
    __test__: ClassVar[bool] = False
    optional_keys: ClassVar[frozenset[str]] = frozenset()
    first_keys: ClassVar[tuple[str, ...]] = ()
    """Fields that come first, in this order; without it those of base classes would."""

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        super().__pydantic_init_subclass__(**options)
        fields = cls.model_fields
        # Python keeps the order of insertion, and pydantic writes its fields in that of the mapping.
        for name in tuple(dict.fromkeys((*cls.first_keys, *fields))):
            fields[name] = fields.pop(name)

    def to_dict(self) -> dict[str, Any]:
        """Return the canonical form: known keys in order, then unknown ones.

        Keys of this package are left out where they have their default.
        """
        written = {}
        defaults = _optional_defaults(type(self))
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if name in defaults and not value and value == defaults[name]:
                continue
            written[field.alias or name] = _plain(value)
        return written | (self.model_extra or {})

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the JSON schema, whose properties have the descriptions of the attributes."""
        schema = handler(core_schema)
        definition = handler.resolve_ref_schema(schema)
        if "description" in definition:
            definition["description"] = definition["description"].partition("\n\nAttributes:")[0]
        for name, field in cls.model_fields.items():
            schema_of_field = definition.get("properties", {}).get(field.alias or name)
            if schema_of_field is not None and (text := attribute_text(cls, name)):
                schema_of_field["description"] = text
        return schema


@functools.cache
def _optional_defaults(model: type[FormatModel]) -> dict[str, Any]:
    """Return the defaults of the optional keys; pydantic would inspect their factories each time."""
    return {
        name: field.get_default(call_default_factory=True)
        for name, field in model.model_fields.items()
        if name in model.optional_keys
    }


class RelationshipField(FormatModel):
    """A named link to another test case."""

    type: Text = ""
    target: Key = ""
    target_type: Text = "test_case"


Relationships = Annotated[list[RelationshipField], BeforeValidator(list_or_empty)]


class EarlierTurn(FormatModel):
    """Message of a conversation before the question."""

    role: Literal["system", "user", "assistant"]
    content: str


Conversation = Annotated[list[EarlierTurn], BeforeValidator(list_or_empty)]
"""The turns before the question, the first one first."""


def spoken(conversation: Iterable[EarlierTurn]) -> list[list[str]]:
    """Return a conversation as JSON values for a derived key."""
    return [[turn.role, turn.content] for turn in conversation]


def with_accepted_outputs(data: object) -> object:
    """Return a test case, turn or row whose accepted answers are divided into the first and the others.

    Args:
        data: as in the file.

    Raises:
        ValueError: if one of several accepted answers is blank or no text.
    """
    if not isinstance(data, Mapping):
        return data
    expected, accepted = data.get("expected_output"), data.get("accepted_outputs")
    if not isinstance(expected, list) and not accepted:
        return data
    first, others = divided(expected, accepted)
    return {**data, "expected_output": first, "accepted_outputs": others}


M = TypeVar("M", bound=FormatModel)


def validate(model: type[M], data: object, source: Source, *steps: object) -> M:
    """Check a value against a model.

    Raises:
        DataError: for the first thing that is wrong, at its place.
    """
    try:
        return model.model_validate(data)
    except ValidationError as exc:
        raise place(exc, source, *steps, data=data) from None


def place(exc: ValidationError, source: Source, *steps: object, data: object = None) -> DataError:
    """Return a data error for the first finding of pydantic.

    Args:
        steps: to the value that was checked.
        data: the value itself; its keys are told from the names of types by it.
    """
    first, *others = exc.errors(include_url=False)
    # pydantic reports each form of a union; of those at this place, the deepest one read the most.
    arms = [
        first,
        *(
            other
            for other in others
            if first["loc"][-1] == "str" and other["loc"][: len(first["loc"]) - 1] == first["loc"][:-1]
        ),
    ]
    error = max(
        arms, key=lambda arm: len(arm["loc"])
    )  # of a value with several forms, the form that it comes nearest to
    loc = list(_steps_of_file(error["loc"], data))
    return source.error(pointer(*steps, *loc), fact(error))


def _steps_of_file(location: Sequence[int | str], data: object) -> Iterator[int | str]:
    """Yield the steps of a location without the names of the members of unions, which pydantic adds."""
    value = data
    for step in location:
        if isinstance(step, str):
            is_key = isinstance(value, Mapping) and step in value
            if not is_key and (step in ("str", "list[str]") or "[" in step):
                continue
            value = value[step] if isinstance(value, Mapping) and is_key else None
        else:
            value = value[step] if isinstance(value, list | tuple) and step < len(value) else None
        yield step


def fact(error: Mapping[str, Any]) -> str:
    """Return the message for a finding of pydantic."""
    kind = str(error["type"])
    if kind == "missing":
        return f"{error['loc'][-1]!r} is missing; add it"
    if kind == "unexpected_keyword_argument":
        return "extra inputs are not permitted"
    if kind in ("value_error", "assertion_error"):
        return str(error["ctx"]["error"])
    expected = {
        "int_parsing_size": "a whole number of fewer digits",
        "string_type": "a string",
        "string_unicode": "a string of valid Unicode",
        "list_type": "a list",
        "dict_type": "an object",
        "model_type": "an object",
        "model_attributes_type": "an object",
        "dataclass_type": "an object",
        "bool_parsing": "true or false",
        "bool_type": "true or false",
        "int_type": "a whole number",
        "int_parsing": "a whole number",
        "int_from_float": "a whole number",
        "float_type": "a number",
        "float_parsing": "a number",
        "finite_number": "a finite number",
    }.get(kind)
    if expected is None:
        return str(error["msg"])[0].lower() + str(error["msg"])[1:]
    return f"expected {expected}, found {shown(error.get('input'))}"


def shown(value: object) -> str:
    """Describe a value of a file for a message: its JSON type, and a short form where it helps."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    try:
        text = json.dumps(value, ensure_ascii=True, default=str)
    except ValueError:  # an integer of more digits than Python writes
        text = "a very large number"
    kind = "the string " if isinstance(value, str) else ""
    if len(text) <= SHOWN_CHARS:
        return kind + text
    # A part of a long text could be a part of a secret, which masking no longer recognises.
    return (
        f"a string of {len(value)} characters" if isinstance(value, str) else text[: SHOWN_CHARS - 3] + "..."
    )


FREE_KEY = "metadata"
FREE_PREFIX = "x-"


def check_keys(
    model: type[FormatModel],
    data: Mapping[str, object],
    source: Source,
    *steps: object,
    also: Collection[str] = (),
) -> None:
    """Refuse an unknown key: its expectation would not be checked, and the case would pass.

    Keys `x-...`, and keys below `metadata`, are free.

    Args:
        model: of the file's part.
        data: the part.
        source: the file.
        steps: the way to the part in the file.
        also: further known keys.

    Raises:
        DataError: for the first unknown key, at its place.
    """
    names = _known_keys(model)
    for name in data:
        if not is_unknown(name, names, also):
            continue
        close = nearest_name(name, [known for known in names if known not in data])
        question = f"; did you mean {close!r}?" if close else "; nothing would read it."
        fact = f"{name!r} is not a key of a test case{question}"
        remedy = f"Begin a key of your own with {FREE_PREFIX!r}, or put it below {FREE_KEY!r}"
        if '"' in name:  # {condition: word("1,000 USD")}: a comma ends a value in braces
            remedy = "Put the value before it in single quotes, e.g. condition: 'word(\"1,000 USD\")'"
        raise source.error(pointer(*steps, name), f"{fact} {remedy}")


def is_unknown(name: str, names: Collection[str], also: Collection[str] = ()) -> bool:
    """Return True for a key that is neither known nor free for the user."""
    return not (name in names or name in also or name == FREE_KEY or name.startswith(FREE_PREFIX))


@functools.cache
def _known_keys(model: type[FormatModel]) -> tuple[str, ...]:
    return tuple(field.alias or name for name, field in model.model_fields.items())


def misspelt(model: type[FormatModel], data: object, location: str) -> list[str]:
    """Return warnings for unknown keys that resemble a known one."""
    if not isinstance(data, dict):
        return []
    names = _known_keys(model)
    return [
        f"{location}: {name!r} is not a key of this format and is ignored. Did you mean {close[0]!r}?"
        for name in data
        if name not in names and (close := difflib.get_close_matches(str(name), names, n=1, cutoff=0.85))
    ]


def write_json(path: str | Path, data: object) -> None:
    """Write JSON as people read it: two blanks, UTF-8, a line break at the end.

    A lone surrogate, which UTF-8 cannot hold, is written as its escape.
    """
    write_whole(path, encoded(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"))


def encoded(text: str) -> bytes:
    """Return JSON text in UTF-8, with a lone surrogate as its escape."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return "".join(
            f"\\u{ord(char):04x}" if "\ud800" <= char <= "\udfff" else char for char in text
        ).encode("utf-8")


def _plain(value: object) -> object:
    if isinstance(value, FormatModel):
        return value.to_dict()
    if isinstance(value, list | Packed):
        return [_plain(item) for item in value]
    if isinstance(value, ToolCall | ExpectedToolCall | Step):
        return value.to_dict()
    return value
