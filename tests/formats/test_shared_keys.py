"""Keys that test cases, turns and rows have in common: order in files, and their descriptions."""

from __future__ import annotations

import json

import pytest

from pytest_evalstudio.core.expected import Expected
from pytest_evalstudio.formats.conversations import AnsweredTurn, ConversationTurn
from pytest_evalstudio.formats.dataset import Row
from pytest_evalstudio.formats.json_schemas import text_of
from pytest_evalstudio.formats.shared_keys import ExpectationKeys
from pytest_evalstudio.formats.suite import TestCase


@pytest.mark.parametrize(
    ("model", "first"),
    [
        (TestCase, ["key", "prompt", "categories", "relationships", "expected_output"]),
        (ConversationTurn, ["prompt", "images", "files", "condition"]),
        (AnsweredTurn, ["prompt", "images", "files", "condition"]),
        (Row, ["key", "test_key", "input", "corpus", "context"]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_the_keys_of_a_part_of_a_file_have_the_order_of_the_documents(model, first):
    assert list(model.model_fields)[: len(first)] == first


def test_a_written_case_begins_with_its_key_and_prompt():
    fields = TestCase(key="k", prompt="Fee?", condition='"5"').to_dict()
    assert list(fields)[:2] == ["key", "prompt"]
    assert TestCase(**fields) == TestCase(key="k", prompt="Fee?", condition='"5"')


def test_files_have_each_expectation():
    assert {*ExpectationKeys.model_fields, "condition"} == set(Expected.__struct_fields__)


@pytest.mark.parametrize(("kind", "part"), [("suite", "TestCase"), ("dataset", "Row")])
def test_a_schema_describes_each_common_key(kind, part):
    properties = json.loads(text_of(kind))["$defs"][part]["properties"]
    undescribed = [name for name in ExpectationKeys.model_fields if "description" not in properties[name]]
    assert undescribed == []
