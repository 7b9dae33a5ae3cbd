from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.dataset import read_dataset
from pytest_evalstudio.formats.json_rows import PackedRows
from pytest_evalstudio.formats.source import parse

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
ROWS = st.lists(st.dictionaries(st.sampled_from(["input", "key", "x"]), VALUES, max_size=3), max_size=4)
FILES = st.one_of(
    st.fixed_dictionaries({"inputs": ROWS, "name": VALUES}),
    st.fixed_dictionaries(
        {"models": VALUES, "dataset": st.fixed_dictionaries({"n": VALUES, "inputs": ROWS})}
    ),
    VALUES,
)


def plain(value):
    if isinstance(value, PackedRows):
        return list(value)
    return {name: plain(part) for name, part in value.items()} if isinstance(value, dict) else value


@given(data=FILES, indent=st.sampled_from([None, 0, 2]), escaped=st.booleans())
def test_packed_rows_are_the_rows_of_the_text(data, indent, escaped):
    text = json.dumps(data, indent=indent, ensure_ascii=escaped)
    assert plain(parse(text, "f", packs_rows=True).data) == parse(text, "f").data == json.loads(text)


def test_rows_that_cannot_be_packed_are_kept():
    text = '{"inputs": [{"x": 123456789012345678901234567890}, {"x": "\\ud83d\\ude00"}, {"x": -0.0}, 1e400]}'
    rows = parse(text, "f", packs_rows=True).data["inputs"]
    assert rows[:] == json.loads(text)["inputs"]
    assert str(rows[2]["x"]) == "-0.0"


@pytest.mark.parametrize("at", [("inputs",), ("dataset", "inputs"), ("raw_dataset", "inputs")])
@pytest.mark.parametrize("indent", [None, 1])
def test_lines_are_those_of_the_text(at, indent):
    data = [{"key": f"k{number}", "input": "a\nb", "tags": ["x", {"y": 1}]} for number in range(20)]
    for name in reversed(at):
        data = {"name": "first", name: data, "last": {}}
    source = parse(json.dumps(data, indent=indent), "f", packs_rows=True)
    rows = source.data
    for name in at:
        rows = rows[name]
    assert isinstance(rows, PackedRows)
    assert rows.lines == list(source.element_lines(*at, "*").values())


@pytest.mark.parametrize(
    "text",
    [
        '{"inputs": [{"a": 1} {"a": 2}]}',
        '{"inputs": [{"a": 1}',
        '{"inputs": [{"a": 1}]} x',
        '{"inputs": [{"a": NaN}]}',
        '{"inputs": [{"a": 1, "a": 2}]}',
        '{"inputs": [], "inputs": []}',
        '{"dataset": {"inputs": [1], "x": 1, "x": 2}}',
        '{"inputs" [1]}',
        '{"inputs": [1], 5: 2}',
        '{"inputs": ["a\nb"]}',
        "{'inputs': []}",
        "",
        "{",
    ],
)
def test_faults_are_those_of_a_text_without_rows(text):
    errors = []
    for packs_rows in (False, True):
        with pytest.raises(DataError) as error:
            parse(text, "f", packs_rows=packs_rows)
        errors.append(str(error.value))
    assert errors[0] == errors[1]


def test_trailing_commas_between_rows_are_repaired():
    source = parse('{"inputs": [{"key": "a", "model_key": "m"},],}', "f", packs_rows=True)
    dataset, errors = read_dataset(source)
    assert [row.key for row in dataset.inputs] == ["a"]
    assert not errors
    assert "trailing commas" in source.warnings[0]
