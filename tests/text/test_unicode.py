"""Valid Unicode from texts, JSON and data of others."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from pytest_evalstudio.core.cases import Answer, Case
from pytest_evalstudio.text.unicode import valid_data, valid_json, valid_json_bytes, valid_text
from support.processor_time import assert_within

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@given(ANY_TEXT)
def test_every_text_becomes_valid_and_a_valid_one_stays(text: str) -> None:
    result = valid_text(text)
    result.encode()
    assert valid_text(result) is result
    if not any("\ud800" <= char <= "\udfff" for char in text):
        assert result is text


@given(st.dictionaries(ANY_TEXT, ANY_TEXT | st.lists(ANY_TEXT)), st.booleans())
def test_json_decodes_to_the_same_data_with_valid_texts(data: object, ensure_ascii: bool) -> None:
    text = json.dumps(data, ensure_ascii=ensure_ascii)
    result = valid_json(text)
    assert len(result) == len(text)  # so that lines and columns in messages hold
    json.dumps(json.loads(result), ensure_ascii=False).encode()
    if ensure_ascii:
        assert json.loads(result) == valid_data(json.loads(text))
        assert valid_json_bytes(text.encode()) == result.encode()


def test_halves_that_meet_are_one_character() -> None:
    assert valid_text("\ud83d\ude00 \ude00\ud83d") == "\U0001f600 ��"


def test_bytes_that_are_no_utf8_stay() -> None:
    assert valid_json_bytes(b'["\xff\\ud800"]') == b'["\xff\\ufffd"]'


class Pair(Struct, frozen=True):
    first: str
    second: tuple[str, ...] = ()


@dataclass(frozen=True)
class Holder:
    pair: Pair
    number: float = 1.0


def test_structs_and_dataclasses_are_looked_into_and_kept_where_valid() -> None:
    holder = Holder(Pair("a", ("\ud800",)))
    assert valid_data(holder) == Holder(Pair("a", ("�",)))
    fine = Case(key="k", question="Grüße?", answer=Answer(text="a", context=("b",)))
    assert valid_data(fine) is fine


@pytest.mark.parametrize(
    ("unit", "count", "end"),
    [("é", 3_000_000, "\ud800"), (r"\ud800", 500_000, ""), ("\\", 3_000_000, "ud800")],
)
def test_the_time_is_linear(unit: str, count: int, end: str) -> None:
    def validate(turn: int) -> None:
        text = unit * (count + turn) + end
        valid_text(text)
        valid_json(text)

    assert_within(3, validate)
