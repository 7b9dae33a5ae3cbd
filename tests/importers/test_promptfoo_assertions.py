"""Assertions of promptfoo accept and reject the answers that promptfoo itself accepts and rejects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio import LlmDataset, Row, evaluate
from pytest_evalstudio.formats.imported.records import Omissions
from pytest_evalstudio.formats.suite import TestSuite
from pytest_evalstudio.importers.kinds import import_file
from pytest_evalstudio.importers.promptfoo_assertions import Expectations, assertion_of_cell


def verdict(assertion: dict[str, Any], answer: str, **more: Any) -> str:
    """Return the verdict on an answer under an imported assertion."""
    omissions = Omissions()
    expectations = Expectations(omissions)
    expectations.add(assertion)
    assert omissions.lines() == []
    fields = {name: value for name, value in expectations.fields().items() if value not in (None, "", [])}
    row = Row(key="k", input="Q?", actual_output=answer, **fields, **more)
    [word] = evaluate(LlmDataset(inputs=[row])).verdicts().values()
    return word


@pytest.mark.parametrize(
    ("assertion", "accepted", "rejected"),
    [
        ({"type": "not-contains-any", "value": "Acme,Globex"}, "I recommend us.", "I recommend Acme."),
        ({"type": "contains-any", "value": "Acme, Globex"}, "Try Globex.", "Try us."),
        ({"type": "contains-all", "value": "5 USD,fee"}, "The fee is 5 USD.", "It is 5 USD."),
        ({"type": "icontains-any", "value": "acme,globex"}, "Try ACME.", "Try us."),
        (
            {"type": "contains-any", "value": '"Globex, Inc.",Acme'},
            "Globex, Inc. is fine.",
            "Globex is fine.",
        ),
        ({"type": "contains-any", "value": ["a,b", "c"]}, "It has a,b in it.", "It has a and b in it."),
        ({"type": "equals", "value": {"fee": 5}}, '{"fee": 5}', '{"fee": 6}'),
        ({"type": "equals", "value": 42}, "42", "It is 42."),
        ({"type": "is-json"}, '{"fee": 5}', "five"),
        (
            {"type": "is-json", "value": {"type": "object", "required": ["fee"]}},
            '{"fee": 5}',
            '{"cost": 5}',
        ),
        ({"type": "is-refusal"}, "I cannot help with that.", "It costs 5 USD."),
    ],
    ids=lambda value: value["type"] if isinstance(value, dict) else "",
)
def test_an_assertion_decides_as_in_promptfoo(
    assertion: dict[str, Any], accepted: str, rejected: str
) -> None:
    assert (verdict(assertion, accepted), verdict(assertion, rejected)) == ("passed", "failed")


def test_limits_of_time_and_cost_become_limits_of_effort() -> None:
    latency, cost = {"type": "latency", "threshold": 500}, {"type": "cost", "threshold": 0.01}
    assert verdict(latency, "A", actual_duration=0.4) == "passed"
    assert verdict(latency, "A", actual_duration=0.6) == "failed"
    assert verdict(cost, "A", cost=0.009) == "passed"
    assert verdict(cost, "A", cost=0.02) == "failed"


@pytest.mark.parametrize(
    ("cell", "assertion"),
    [
        ("answer: 42", {"type": "equals", "value": "answer: 42"}),
        ("contains: 42", {"type": "contains", "value": "42"}),
        ("similar(0.8): It is free.", {"type": "similar", "threshold": 0.8, "value": "It is free."}),
        ("grade: Is polite", {"type": "llm-rubric", "value": "Is polite"}),
        ("is-json", {"type": "is-json"}),
        ("not-is-json", {"type": "not-is-json"}),
        ("contains", {"type": "equals", "value": "contains"}),
        ("similar(0..8): x", {"type": "equals", "value": "similar(0..8): x"}),
        ("It is free.", {"type": "equals", "value": "It is free."}),
    ],
)
def test_cells_of_expected_columns(cell: str, assertion: dict[str, Any]) -> None:
    assert assertion_of_cell(cell) == assertion


def test_columns_that_configure_promptfoo_are_named(tmp_path: Path) -> None:
    (tmp_path / "tests.csv").write_text("q,__expected,__metric\nFee?,5 USD,price\n", encoding="utf-8")
    config = tmp_path / "promptfooconfig.json"
    config.write_text(json.dumps({"prompts": ["{{q}}"], "tests": "file://tests.csv"}), encoding="utf-8")

    notes = import_file("promptfoo", config).notes

    assert notes == ["not imported: column '__metric' (1 time): it configures promptfoo itself"]


def promptfoo_file(tmp_path: Path, prompts: list[str], test: dict[str, Any]) -> Path:
    config = tmp_path / "promptfooconfig.json"
    config.write_text(json.dumps({"prompts": prompts, "tests": [test]}), encoding="utf-8")
    return config


def test_a_schema_in_a_file_is_named_as_not_imported(tmp_path: Path) -> None:
    test = {"vars": {"q": "Fee?"}, "assert": [{"type": "is-json", "value": "file://schema.json"}]}
    result = import_file("promptfoo", promptfoo_file(tmp_path, ["{{q}}"], test))
    assert [note for note in result.notes if note.startswith("not imported: assertion 'is-json'")]
    assert isinstance(result.content, TestSuite)
    assert "json_schema" not in str(result.content.to_dict())


def test_a_test_with_an_empty_list_as_variable_is_named(tmp_path: Path) -> None:
    test = {"vars": {"q": []}}
    [note] = import_file("promptfoo", promptfoo_file(tmp_path, ["{{q}}"], test)).notes
    assert note.startswith("not imported: test with an empty list as variable 'q' (1 time)")


def test_combinations_are_limited_with_their_prompts(tmp_path: Path) -> None:
    test = {"vars": {"a": list(range(100)), "b": list(range(100))}}
    prompts = ["{{a}} {{b}}", "Do {{a}} {{b}}"]
    [error] = import_file("promptfoo", promptfoo_file(tmp_path, prompts, test)).errors
    assert "has more than 10,000 combinations of variables and prompts" in str(error)
