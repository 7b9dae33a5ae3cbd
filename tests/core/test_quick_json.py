"""JSON with what orjson refuses."""

from __future__ import annotations

import json

import pytest

from pytest_evalstudio.core import quick_json
from pytest_evalstudio.text.unicode import valid_data

REFUSED = ["half \ud83d a pair", {"big": 2**70}, {"\udc00": 1}]


@pytest.mark.parametrize("value", [*REFUSED, {"a": [1, 1.5, None, True, "é\u2028\x00"]}, [], {}])
def test_what_is_written_is_read_again(value):
    assert quick_json.read(quick_json.written(value)) == valid_data(value)
    assert json.loads(quick_json.written(value).decode("utf-8")) == value


@pytest.mark.parametrize("value", REFUSED)
def test_what_the_standard_library_wrote_is_read(value):
    assert quick_json.read(json.dumps(value).encode()) == valid_data(value)


@pytest.mark.parametrize("text", ["", "{", '{"a": 1} x', b'{"a": 1'])
def test_no_json_is_a_value_error(text):
    with pytest.raises(ValueError):
        quick_json.read(text)
