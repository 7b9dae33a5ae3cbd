"""Texts are masked in a record, unless their field declares otherwise."""

from __future__ import annotations

import enum
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Struct

from pytest_evalstudio.core.cases import Answer, Case, CaseData, Relationship
from pytest_evalstudio.core.flips import Confirmation, Flip
from pytest_evalstudio.core.kept import Kept
from pytest_evalstudio.core.outcomes import Outcome, Verdict
from pytest_evalstudio.record.causes import CauseEntry
from pytest_evalstudio.scoring.recorded import recorded, recorded_fields

CANARY = "jane.roe@bank-mail.net"
RECORDED = (Answer, CaseData, Outcome, Verdict, Flip, Confirmation, CauseEntry)


def filled(hint: Any, depth: int = 0) -> Any:
    """Return a value of a type with the canary in each of its texts that is masked."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        return _plain(arguments[0]) if Kept.PLAIN in arguments else filled(arguments[0], depth)
    if origin in (typing.Union, types.UnionType):
        return filled(next(each for each in arguments if each is not type(None)), depth)
    if origin is Literal:
        return arguments[-1]
    if origin in (tuple, Sequence):
        return () if depth > 2 else (filled(arguments[0], depth),)
    if origin in (dict, Mapping):
        return {CANARY: filled(arguments[1], depth)}
    if isinstance(hint, type) and issubclass(hint, Struct):
        return instance(hint, depth + 1)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return next(iter(hint))
    return {str: CANARY, int: 1, float: 1.0, bool: True, Any: [CANARY]}[hint]


def _plain(hint: Any) -> Any:
    return "plain" if hint is str else {} if typing.get_origin(hint) is Mapping else ()


def instance(cls: type[Struct], depth: int = 0) -> Any:
    hints = typing.get_type_hints(cls, include_extras=True)
    names = [name for name in hints if depth < 3 or _is_required(cls, name)]
    return cls(**{name: filled(hints[name], depth) for name in names})


def _is_required(cls: type[Struct], name: str) -> bool:
    return any(field.name == name and field.required for field in msgspec.structs.fields(cls))


@pytest.mark.parametrize("cls", RECORDED)
def test_no_text_field_of_a_record_keeps_personal_data(cls: type[Struct]) -> None:
    value = instance(cls)
    assert CANARY in str(value)
    masked = recorded(value) if cls is not CaseData else recorded_fields(value, CaseData)
    assert CANARY not in str(masked)


def test_a_case_is_recorded_with_the_fields_of_its_data_alone() -> None:
    case = Case(key="k", question=CANARY, answer=Answer(text="a"), corpus=("/suites/a.md",), folder="/suites")
    fields = recorded_fields(case, CaseData, case.folder)
    assert set(fields) == set(CaseData.__struct_fields__)
    assert (CANARY in fields["question"], fields["corpus"]) == (False, ("a.md",))


class NewFields(Struct, frozen=True, kw_only=True):
    text: str = ""
    texts: tuple[str, ...] = ()
    data: Mapping[str, Any] = {}
    maybe: str | None = None
    code: Annotated[str, Kept.PLAIN] = ""
    never: Annotated[str, Kept.NOT] = "left out"


def test_a_new_field_is_masked_unless_it_says_otherwise() -> None:
    value = NewFields(
        text=CANARY, texts=(CANARY,), data={CANARY: [CANARY]}, maybe=CANARY, code=CANARY, never=CANARY
    )
    masked = recorded(value)
    assert CANARY not in str((masked.text, masked.texts, masked.data, masked.maybe))
    assert (masked.code, masked.never) == (CANARY, "left out")


def test_what_needs_no_mask_is_recorded_as_it_is() -> None:
    answer = Answer(text="15 EUR", context=("The fee is 15 EUR.",), usage={"input_tokens": 3})
    assert recorded(answer) is answer
    # Texts that were masked before come from a cache.
    cached_answer = Answer(
        text="".join(["15", " EUR"]), context=("The fee is 15 EUR.",), usage={"input_tokens": 3}
    )
    assert recorded(cached_answer) is cached_answer


def test_a_text_that_equals_its_default_is_left_out_wherever_it_comes_from() -> None:
    link = Relationship(type="similar", target="k", target_type="".join(["test", "_case"]))
    assert msgspec.json.encode(recorded(link)) == b'{"type":"similar","target":"k"}'
