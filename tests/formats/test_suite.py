from __future__ import annotations

import json
import subprocess
import sys

import pytest

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.keys import Numbered, derived_key
from pytest_evalstudio.formats.source import parse
from pytest_evalstudio.formats.suite import TestSuite, read_suite
from support.suite_texts import read_cases, read_text, suite_of

EVERYTHING = {
    "$schema": "suite.schema.json",
    "owner": {"team": "risk", "n": [1, None, 1e300]},
    "name": "Everything",
    "description": "Ünï – “quotes”",
    "categories": ["all"],
    "tests": [
        {
            "key": "t",
            "documents": ["a.md", "https://example.org/b.pdf"],
            "categories": ["rag"],
            "reviewed": True,
            "test_cases": [
                {
                    "key": "one",
                    "prompt": "What?",
                    "categories": ["x", "y"],
                    "relationships": [
                        {
                            "type": "perturbation_source",
                            "target": "two",
                            "target_type": "test_case",
                            "strength": 0.5,
                        }
                    ],
                    "expected_output": "That.",
                    "condition": '"a" AND NOT regexp(^b)',
                    "constraints": ["a", ["b", "REGEXP:c"]],
                    "expected_facts": ["f"],
                    "guidelines": ["g"],
                    "expected_documents": ["a.md"],
                    "xfail": "known",
                    "skip": "later",
                    "evaluators": {"rouge": {"threshold": 0.4}, "bleu": {}},
                    "x-ticket": "ABC-1",
                },
                {"key": "two", "prompt": "Who? \U0001f600 \u0000", "x-face": "\U0001f600"},
            ],
        },
        {"test_cases": []},
    ],
}


CASE = EVERYTHING["tests"][0]["test_cases"][0] | {"relationships": []}


@pytest.mark.parametrize("suffix", ["json", "yaml"])
@pytest.mark.parametrize("part", [CASE, {"documents": ["a.md"], "test_cases": [CASE]}], ids=["case", "test"])
def test_a_part_is_read_like_the_suite_around_it(tmp_path, part, suffix):
    path = tmp_path / f"part.{suffix}"
    path.write_text(json.dumps({"$schema": "x", **part}), encoding="utf-8")
    (tmp_path / "whole.json").write_text(
        json.dumps({"tests": [part if "test_cases" in part else {"test_cases": [part]}]})
    )

    assert TestSuite.load(path).to_dict() == TestSuite.load(tmp_path / "whole.json").to_dict()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"prompt": "q",\n "conditon": "x"}', ":2:14 /conditon: 'conditon' is not a key of a test case"),
        ('{"prompt": " "}', ":1:12 /prompt: the prompt is blank"),
        (
            '{"test_cases": [{"prompt": "q", "key": "k"},\n{"prompt": "r", "key": "k"}]}',
            ":2:24 /test_cases/1/key: 'k' is already used by /test_cases/0; keys must be unique",
        ),
        ('{"test_cases": [3]}', ":1:17 /test_cases/0: "),
        ('{"test_cases": {}}', ": has no supported format: a test suite has `tests`, a single test"),
        ('{"prompt": 3}', ": has no supported format"),
    ],
)
def test_faults_of_a_part_are_located_in_its_file(tmp_path, content, message):
    (tmp_path / "part.json").write_text(content)

    with pytest.raises(DataError) as raised:
        TestSuite.load(tmp_path / "part.json")

    assert f"part.json{message}" in str(raised.value)


@pytest.mark.parametrize("text", ['\n{"key": "one", "prompt": "q"}', "\nkey: one\nprompt: q\n"])
def test_the_line_of_a_single_case_is_that_of_its_file(text):
    source = parse(text, "part", yaml=text[1] != "{")

    read_suite(source)

    assert source.lines == {("one", "", 1): 2}


def test_load_save_load_loses_nothing(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(EVERYTHING), encoding="utf-8")
    first = TestSuite.load(tmp_path / "a.json")
    first.save(tmp_path / "b.json")
    second = TestSuite.load(tmp_path / "b.json")
    assert second == first
    content = json.loads((tmp_path / "b.json").read_text(encoding="utf-8"))
    assert {name: content[name] for name in ("$schema", "owner", "name", "description", "categories")} == {
        name: EVERYTHING[name] for name in ("$schema", "owner", "name", "description", "categories")
    }
    test, empty = content["tests"]
    source_test = EVERYTHING["tests"][0]
    assert {**test, "test_cases": []} == {**source_test, "test_cases": []}
    first_case, second_case = test["test_cases"]
    assert first_case == source_test["test_cases"][0]
    assert second_case == {**second_case, **source_test["test_cases"][1]}
    assert empty["key"]


def test_the_canonical_form_is_stable(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(EVERYTHING), encoding="utf-8")
    TestSuite.load(tmp_path / "a.json").save(tmp_path / "b.json")
    TestSuite.load(tmp_path / "b.json").save(tmp_path / "c.json")
    assert (tmp_path / "b.json").read_bytes() == (tmp_path / "c.json").read_bytes()


def test_the_canonical_form_has_the_documents_keys_and_ours_only_where_they_say_something(tmp_path):
    suite = TestSuite(name="S")
    suite.add_test(documents=["d.md"], key="t").add_case("q?", key="k")
    suite.save(tmp_path / "s.json")
    case = {
        "key": "k",
        "prompt": "q?",
        "categories": [],
        "relationships": [],
        "expected_output": "",
        "condition": "",
    }
    content = json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))
    assert content == {
        "name": "S",
        "description": "",
        "tests": [{"key": "t", "documents": ["d.md"], "test_cases": [case]}],
    }
    assert list(content["tests"][0]["test_cases"][0]) == list(case)


def test_a_case_that_chooses_no_evaluator_still_chooses_none_when_saved(tmp_path):
    (tmp_path / "a.json").write_text(
        json.dumps(suite_of({"prompt": "q", "evaluators": []}, {"prompt": "r"})), encoding="utf-8"
    )
    TestSuite.load(tmp_path / "a.json").save(tmp_path / "b.json")
    none, default = (case for _, case in TestSuite.load(tmp_path / "b.json").cases())
    assert none.evaluators == {}
    assert default.evaluators is None


def test_yaml_becomes_json_and_back_without_loss(tmp_path):
    (tmp_path / "s.yaml").write_text(
        "name: Sums\ntests:\n- documents: [d.md]\n  test_cases:\n"
        "  - key: 1\n    prompt: 2+2?\n    condition: '\"4\"'\n    evaluators: [rouge]\n    x-due:"
        " 2026-11-20\n",
        encoding="utf-8",
    )
    suite = TestSuite.load(tmp_path / "s.yaml")
    suite.save(tmp_path / "s.json")
    assert TestSuite.load(tmp_path / "s.json") == suite
    [(_, case)] = suite.cases()
    assert (case.key, case.evaluators, case.model_extra) == ("1", {"rouge": {}}, {"x-due": "2026-11-20"})


def test_null_counts_as_absent():
    fields = (
        "key",
        "categories",
        "relationships",
        "expected_output",
        "condition",
        "constraints",
        "expected_facts",
        "xfail",
        "skip",
        "evaluators",
    )
    [case], errors, _ = read_cases({"prompt": "q?", **dict.fromkeys(fields)})
    assert errors == []
    bare = read_cases({"prompt": "q?"})[0][0]
    assert case == bare
    assert case.key == derived_key("q?", "", "", [])


@pytest.mark.parametrize(("key", "text"), [(7, "7"), (1.5, "1.5"), (-3, "-3"), (10**30, str(10**30))])
def test_a_number_as_key_is_its_digits(key, text):
    cases, errors, _ = read_cases(
        {"key": key, "prompt": "q"}, {"prompt": "p", "relationships": [{"type": "x", "target": key}]}
    )
    assert errors == []
    assert (cases[0].key, cases[1].relationships[0].target) == (text, text)


def test_a_single_string_is_a_list_of_one():
    [case], errors, _ = read_cases(
        {"prompt": "q", "categories": "fees", "constraints": "REGEXP:^4", "guidelines": ""}
    )
    assert errors == []
    assert (case.categories, case.constraints, case.guidelines) == (["fees"], ["REGEXP:^4"], [])


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        pytest.param({"condition": '"x"', "constraints": ["y"]}, '"x"', id="the condition comes first"),
        pytest.param(
            {"condition": " ", "constraints": ["y", ["a", "REGEXP:b"]]},
            '"y" AND ("a" OR regexp("b"))',
            id="constraints convert to one",
        ),
        pytest.param({"condition": "", "constraints": []}, "", id="empty ones count as absent"),
    ],
)
def test_constraints_stand_in_for_a_condition(case, expected):
    [result], _, _ = read_cases({"prompt": "q", **case})
    assert result.condition_text() == expected


def test_a_derived_key_says_what_it_is_and_is_the_same_in_every_process():
    code = (
        "from pytest_evalstudio.formats.keys import derived_key; print(derived_key('What is the Fee, in"
        " EUR?', 'x', '', ['d.md']))"
    )
    keys = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        for _ in range(2)
    }
    assert keys == {derived_key("What is the Fee, in EUR?", "x", "", ["d.md"])}
    assert keys.pop().startswith("what-is-the-fee-in-eur-")


@pytest.mark.parametrize("text", ["???", "", " \n", "\ud800", "日本" * 100, "a" * 1_000_000])
def test_any_question_gives_a_short_key(text):
    assert 8 <= len(derived_key(text)) <= 49


def test_identical_keyless_cases_are_numbered():
    cases, errors, _ = read_cases(*[{"prompt": "same"}] * 3, {"prompt": "same", "condition": '"x"'})
    base = cases[0].key
    assert errors == []
    assert [case.key for case in cases[:3]] == [base, f"{base}-2", f"{base}-3"]
    assert not cases[3].key.startswith(base)


def test_a_derived_key_does_not_depend_on_what_stands_around_the_case():
    single_key = read_cases({"prompt": "q"})[0][0].key
    among = read_cases({"prompt": "p"}, {"key": "k", "prompt": "q"}, {"prompt": "q"})[0][2].key
    assert among == single_key


def test_a_name_that_is_taken_gets_the_next_free_number():
    number = Numbered(["a", "a-2"])
    assert [number("a"), number("a"), number("b"), number("b")] == ["a-3", "a-4", "b", "b-2"]


def test_an_empty_suite_is_a_suite():
    file = read_text('{"tests": []}')
    assert (file.kind, file.content.name, file.content.cases(), file.errors) == ("suite", "TestSuite", [], [])


def test_a_conversation_is_kept_and_makes_a_key_of_its_own(tmp_path):
    turns = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi", "name": "Ada"}]
    (plain, talked), errors, _ = read_cases(
        {"prompt": "And then?"}, {"prompt": "And then?", "conversation": turns}
    )
    assert not errors
    assert plain.key == derived_key("And then?", "", "", [])
    assert talked.key not in (plain.key, f"{plain.key}-2")
    suite = TestSuite()
    suite.add_test().test_cases.append(talked)
    suite.save(tmp_path / "s.json")
    assert TestSuite.load(tmp_path / "s.json").tests[0].test_cases[0].to_dict()["conversation"] == turns
