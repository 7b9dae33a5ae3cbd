"""The published JSON Schema of a record holds for what the reader and writer use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from pytest_evalstudio.cli import main
from pytest_evalstudio.record.codec import encode_line
from pytest_evalstudio.record.json_schema import record_schema
from pytest_evalstudio.record.reader import RecordReader

RECORD = Path(__file__).parent / "data" / "record.jsonl"
VALIDATOR = Draft202012Validator(record_schema())


def test_every_line_meets_the_schema() -> None:
    record = RecordReader(RECORD)
    for line in (record.run, *record.items()):
        assert list(VALIDATOR.iter_errors(json.loads(encode_line(line)))) == []


@pytest.mark.parametrize("field", ["verdict", "rows", "nodeid"])
def test_an_item_without_a_required_field_does_not_meet_it(field: str) -> None:
    item = json.loads(encode_line(next(RecordReader(RECORD).items())))
    del item[field]
    assert not VALIDATOR.is_valid(item)


def test_the_command_line_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "record"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(record_schema()))
