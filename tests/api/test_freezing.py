"""Suites made of records."""

from __future__ import annotations

import msgspec

from pytest_evalstudio.api.freezing import frozen_suite
from pytest_evalstudio.api.rescore import lab_of_items
from pytest_evalstudio.core.cases import Answer, Exchange
from pytest_evalstudio.core.expected import Expected, expectations_of
from pytest_evalstudio.core.tool_calls import ExpectedToolCall, ToolCall
from pytest_evalstudio.formats.dataset import row_expectations
from pytest_evalstudio.record.schema import Item, RecordRow

EXPECTED = Expected(
    expected_output="5 USD",
    accepted_outputs=("five dollars",),
    condition='"5"',
    condition_on="answer",
    expects="answer",
    expected_facts=("The fee is 5 USD.",),
    guidelines=("Be brief.",),
    expected_documents=("fees.md",),
    expected_chunks=("A card costs 5 USD.",),
    expected_tool_calls=(ExpectedToolCall(name="find"),),
    expected_state={"/open": True},
)
CALLS = (ToolCall(name="find"),)


def item(**row):
    record_row = RecordRow(question="Fee?", **{"answer": Answer(text="5 USD", tool_calls=CALLS)} | row)
    identity = {"nodeid": "n", "file": "f", "key": "k", "test_key": "t", "model_key": "m", "reason": ""}
    return Item(
        index=0, verdict="passed", duration_s=0.0, rows=(record_row,), verdicts={}, flips=(), **identity
    )


def conversation():
    turn = Exchange(
        prompt="Fee?",
        answer=Answer(text="5 USD", tool_calls=CALLS),
        evaluators=("tool_calls",),
        **EXPECTED.expectations,
    )
    return item(answer=Answer(text="5 USD", turns=(turn,)), **EXPECTED.expectations)


def test_all_expectations_have_a_value_here():
    assert all(EXPECTED.expectations.values())


def test_a_frozen_case_keeps_each_expectation():
    [[_, case]] = frozen_suite([item(**EXPECTED.expectations)]).cases()
    assert expectations_of(case) == EXPECTED.expectations


def test_a_frozen_turn_keeps_each_expectation_and_its_evaluators():
    [[_, case]] = frozen_suite([conversation()]).cases()
    [turn] = case.turns
    assert expectations_of(turn) == EXPECTED.expectations
    assert turn.evaluators == ["tool_calls"]


def test_cases_of_the_same_documents_are_frozen_into_one_test():
    items = [item(corpus=corpus) for corpus in ((), ("fees.md",), ())]
    keyed = [msgspec.structs.replace(each, key=f"k{number}") for number, each in enumerate(items)]
    suite = frozen_suite(keyed)
    assert [(test.key, test.documents, [case.key for case in test.test_cases]) for test in suite.tests] == [
        ("frozen", [], ["k0", "k2"]),
        ("frozen-2", ["fees.md"], ["k1"]),
    ]


def test_a_rescored_row_keeps_each_expectation():
    [row] = lab_of_items([conversation()]).dataset.inputs
    assert {name: getattr(row, name) for name in row_expectations(EXPECTED)} == {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in row_expectations(EXPECTED).items()
    }
    [turn] = row.turns
    assert expectations_of(turn) == EXPECTED.expectations
