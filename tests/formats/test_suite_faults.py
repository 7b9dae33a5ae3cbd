"""Faults of suites: each is one error at its place, and the rest is read."""

from __future__ import annotations

import json

import pytest

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.keys import derived_key
from pytest_evalstudio.formats.suite import TestSuite
from support.suite_texts import read_cases, read_text, suite_of


def test_a_second_use_of_a_key_names_both_places():
    text = (
        '{"tests": [{"test_cases": [{"key": "k", "prompt": "a"}]},\n {"test_cases": [{"key": "l", "prompt":'
        ' "b"}, {"key": "k", "prompt": "c"}]}]}'
    )
    file = read_text(text)
    assert [str(error) for error in file.errors] == [
        "s.json:2:55 /tests/1/test_cases/1/key: 'k' is already used by /tests/0/test_cases/0; keys must be"
        " unique in a suite"
    ]
    assert [case.prompt for _, case in file.content.cases()] == ["a", "b"]


@pytest.mark.parametrize(
    ("case", "fault"),
    [
        ({}, "/tests/0/test_cases/1/prompt: 'prompt' is missing; add it"),
        ({"prompt": 5}, "/tests/0/test_cases/1/prompt: expected a string, found 5"),
        ({"prompt": None}, "/tests/0/test_cases/1/prompt: expected a string, found null"),
        ({"prompt": " \n"}, "/tests/0/test_cases/1/prompt: the prompt is blank; write the question"),
        (
            {"prompt": "q", "categories": ["a", 5]},
            "/tests/0/test_cases/1/categories/1: expected a string, found 5",
        ),
        (
            {"prompt": "q", "categories": {"a": 1}},
            "/tests/0/test_cases/1/categories: expected a list, found an object",
        ),
        (
            {"prompt": "q", "constraints": [["a", 5]]},
            "/tests/0/test_cases/1/constraints/0/1: expected a string, found 5",
        ),
        (
            {"prompt": "q", "constraints": [5]},
            "/tests/0/test_cases/1/constraints/0: expected a string, found 5",
        ),
        (
            {"prompt": "q", "relationships": ["x"]},
            '/tests/0/test_cases/1/relationships/0: expected an object, found the string "x"',
        ),
        (
            {"prompt": "q", "evaluators": {"rouge": 5}},
            "/tests/0/test_cases/1/evaluators/rouge: expected an object, found 5",
        ),
        (
            {"prompt": "q", "condition_on": "answers"},
            '/tests/0/test_cases/1/condition_on: expected "answer", "context" or "both", found the string'
            ' "answers"',
        ),
        (
            {"prompt": "q", "expects": True},
            '/tests/0/test_cases/1/expects: expected "answer" or "refusal", found true',
        ),
        ({"prompt": "q", "key": True}, "/tests/0/test_cases/1/key: expected a string, found true"),
        ({"prompt": "q", "key": ["x" * 99]}, "/tests/0/test_cases/1/key: expected a string, found a list"),
        ({"prompt": "q", "skip": {}}, "/tests/0/test_cases/1/skip: expected a string, found an object"),
        ("text", '/tests/0/test_cases/1: expected an object, found the string "text"'),
        (None, "/tests/0/test_cases/1: expected an object, found null"),
    ],
)
def test_one_bad_case_is_one_error_at_its_place_and_the_rest_stays(case, fault):
    cases, errors, _ = read_cases({"key": "a", "prompt": "first"}, case, {"key": "z", "prompt": "last"})
    [error] = errors
    assert error.partition(" ")[2] == fault
    assert error.startswith("s.json:1:")
    assert [result.key for result in cases] == ["a", "z"]


def test_a_malformed_condition_is_told_with_pointer_column_and_caret():
    _, [error], _ = read_cases({"prompt": "q", "condition": '"a" AND'})
    assert error.splitlines() == [
        's.json:1:70 /tests/0/test_cases/0/condition: expected a text in double quotes, or a term such as word("…") or number(…) after AND, column 8',  # noqa: E501
        '  "a" AND',
        "         ^",
    ]


def test_a_malformed_pattern_among_constraints_points_at_the_constraints():
    _, [error], _ = read_cases({"prompt": "q", "constraints": ["REGEXP:("]})
    assert (
        "/tests/0/test_cases/0/constraints: not a regular expression: missing ), unterminated subpattern"
        in error
    )


def test_a_dangling_relationship_is_an_error_of_its_case():
    cases, errors, _ = read_cases(
        {"key": "a", "prompt": "a"},
        {
            "prompt": "b",
            "relationships": [
                {"type": "perturbation_source", "target": "a"},
                {"type": "perturbation_source", "target": "gone"},
            ],
        },
        {
            "key": "c",
            "prompt": "c",
            "relationships": [{"type": "doc", "target": "gone", "target_type": "document"}],
        },
    )
    [error] = errors
    fault = "no test case of this suite has the key 'gone'; correct the key or remove the relationship"
    assert error.partition(" ")[2] == f"/tests/0/test_cases/1/relationships/1/target: {fault}"
    assert [case.key for case in cases] == ["a", "c"]


def test_a_case_that_points_at_a_faulty_one_stays():
    cases, errors, _ = read_cases(
        {"key": "o", "prompt": "q", "condition": "("},
        {"key": "p", "prompt": "q!", "relationships": [{"type": "perturbation_source", "target": "o"}]},
    )
    assert len(errors) == 1
    assert [case.key for case in cases] == ["p"]


def test_a_case_may_point_at_one_that_stands_later_and_at_a_derived_key():
    later_key = derived_key("later", "", "", [])
    cases, errors, _ = read_cases(
        {"key": "a", "prompt": "a", "relationships": [{"type": "x", "target": later_key}]},
        {"prompt": "later"},
    )
    assert errors == []
    assert [case.key for case in cases] == ["a", later_key]


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        ({"tests": 5}, "s.json:1:11 /tests: expected a list of tests"),
        ({"tests": [], "name": 5}, "s.json:1:23 /name: expected a string, found 5"),
        ({"tests": [], "categories": [[]]}, "s.json:1:30 /categories/0: expected a string, found a list"),
    ],
)
def test_a_file_that_is_no_suite_is_refused_as_a_whole(data, fault):
    with pytest.raises(DataError) as exc_info:
        read_text(json.dumps(data))
    assert str(exc_info.value) == fault


def test_a_bad_test_leaves_the_others_standing():
    file = read_text(
        json.dumps(
            {
                "tests": [
                    "x",
                    {"test_cases": 5},
                    {"documents": [1]},
                    {"test_cases": [{"key": "k", "prompt": "q"}]},
                    {},
                ]
            }
        )
    )
    assert [str(error).partition(" ")[2] for error in file.errors] == [
        "/tests/0: expected a test: an object with test_cases",
        "/tests/1/test_cases: expected a list of test cases",
        "/tests/2/documents/0: expected a string, found 1",
    ]
    assert [case.key for _, case in file.content.cases()] == ["k"]


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("expected_ouptut", "expected_output"),
        ("condtion", "condition"),
        ("expectedOutput", "expected_output"),
        ("Condition", "condition"),
        ("category", "categories"),
        ("answer", "expected_output"),
        ("ground_truth", "expected_output"),
        ("expected", "expected_output"),
    ],
)
def test_a_misspelt_key_of_a_case_is_an_error(name, key):
    cases, [error], warnings = read_cases({"prompt": "q", name: "x"})
    assert (cases, warnings) == ([], [])
    fact = f"/tests/0/test_cases/0/{name}: {name!r} is not a key of a test case; did you mean {key!r}?"
    assert fact in error


def test_a_name_of_another_format_beside_the_key_itself_is_an_error():
    cases, [error], _ = read_cases({"prompt": "q", "expected_output": "a", "answer": "b"})
    assert cases == []
    assert "'answer' is not a key of a test case" in str(error)


def test_keys_of_the_user_are_kept():
    free = {"x-condtion": "x", "metadata": {"condtion": "x"}, "source_text": "s"}
    [case], errors, warnings = read_cases({"prompt": "q", **free})
    assert (errors, warnings) == ([], [])
    assert case.model_extra == free
    assert case.to_dict()["x-condtion"] == "x"


def test_errors_of_yaml_suites_have_their_places():
    file = read_text(
        "tests:\n- test_cases:\n  - prompt: ok\n  - prompt: q\n    condition: '\"a'\n", yaml=True
    )
    [error] = file.errors
    assert (
        str(error).splitlines()[0]
        == "s.yaml:5:16 /tests/0/test_cases/1/condition: this quote is never closed, column 1"
    )


def test_a_huge_yaml_number_where_a_text_belongs_is_told():
    file = read_text(f"tests: [{{test_cases: [{{prompt: !!int 0x{'f' * 6000}}}]}}]", yaml=True)
    assert str(file.errors[0]).endswith("expected a string, found a very large number")


def test_the_first_fault_ends_a_load(tmp_path):
    (tmp_path / "s.json").write_text(json.dumps(suite_of({"prompt": 1}, {"prompt": 2})), encoding="utf-8")
    with pytest.raises(DataError, match="/tests/0/test_cases/0/prompt: expected a string, found 1"):
        TestSuite.load(tmp_path / "s.json")


def test_a_turn_of_nobody_is_told_with_its_place():
    _, errors, _ = read_cases(
        {"prompt": "q", "conversation": [{"role": "user", "content": "a"}, {"role": "tool", "content": "b"}]}
    )
    assert len(errors) == 1
    assert (
        "/tests/0/test_cases/0/conversation/1/role: input should be 'system', 'user' or 'assistant'"
        in errors[0]
    )
