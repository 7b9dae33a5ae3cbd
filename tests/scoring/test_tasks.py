from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from pytest_evalstudio.core.cases import Turn
from pytest_evalstudio.formats.dataset import Row
from pytest_evalstudio.formats.files import read
from pytest_evalstudio.formats.source import parse
from pytest_evalstudio.scoring.tasks import ModelInfo, family_root, item_name, resolved, row_case, tasks

MODELS = [ModelInfo(key="1", label="one"), ModelInfo(key="2", label="two", runs=3)]


def of(data, folder="/suites", models=MODELS):
    return tasks(read(parse(json.dumps(data), "f.json")), Path(folder), models)


def suite(*cases, **test):
    return {"tests": [{"test_cases": list(cases), **test}]}


def lab(*rows, models=({"key": "m", "llm_model_name": "gpt", "model_type": "h2ogpte"},)):
    return {"dataset": {"inputs": [{"model_key": "m", **row} for row in rows]}, "models": list(models)}


def linked(key, *targets, kind="perturbation_source", question="prompt"):
    return {
        "key": key,
        question: key,
        "relationships": [{"type": kind, "target": target} for target in targets],
    }


def names(results):
    return [task.name for task in results]


def test_a_suite_is_put_to_every_model_model_by_model():
    result = of(suite({"key": "a", "prompt": "p"}, {"key": "b", "prompt": "q"}))
    assert names(result) == ["a[one]", "b[one]", "a[two]", "b[two]"]
    assert [task.model.runs for task in result] == [1, 1, 3, 3]
    assert not any(task.answered for task in result)


def test_without_a_model_a_suite_has_no_tasks():
    assert of(suite({"prompt": "p"}), models=[]) == []


def test_a_case_carries_what_the_file_says():
    data = {
        "categories": ["all", "x"],
        "tests": [
            {
                "key": "t",
                "documents": ["d/a.md", "../b.md", "https://example.org/c.pdf", "/abs/d.md"],
                "categories": ["rag"],
                "test_cases": [
                    {
                        "key": "k",
                        "prompt": "p",
                        "expected_output": "e",
                        "constraints": ["c"],
                        "categories": ["x", "y"],
                        "expected_facts": ["f"],
                        "guidelines": ["g"],
                        "expected_documents": ["d/a.md"],
                        "xfail": "known",
                        "skip": "later",
                        "evaluators": ["rouge"],
                        "x-ticket": 7,
                    }
                ],
            }
        ],
    }
    [task] = of(data, models=MODELS[:1])
    case = task.case
    assert (case.key, case.question, case.expected_output, case.condition, case.test_key) == (
        "k",
        "p",
        "e",
        '"c"',
        "t",
    )
    assert case.categories == ("x", "y", "rag", "all")
    assert case.corpus == ("/suites/d/a.md", "/b.md", "https://example.org/c.pdf", "/abs/d.md")
    assert (case.expected_facts, case.guidelines, case.expected_documents) == (("f",), ("g",), ("d/a.md",))
    assert (case.extra, case.folder) == ({"x-ticket": 7}, "/suites")
    assert (task.xfail, task.skip, task.choice) == ("known", "later", {"rouge": {}})


@pytest.mark.parametrize(
    ("document", "folder", "expected"),
    [
        ("a.md", "https://example.org/suites", "https://example.org/suites/a.md"),
        ("../a.md", "https://example.org/suites/", "https://example.org/a.md"),
        ("HTTPS://example.org/a.md", "/x", "HTTPS://example.org/a.md"),
        ("./a/../b.md", "/x", "/x/b.md"),
        ("c:a.md", "/x", "/x/c:a.md"),
    ],
)
def test_documents_start_at_the_suite(document, folder, expected):
    assert resolved(document, folder) == expected


def test_a_row_of_a_lab_is_answered():
    [task] = of(
        lab(
            {
                "key": "k",
                "input": "q",
                "actual_output": "a",
                "context": ["c"],
                "actual_duration": 0.5,
                "cost": 0.1,
                "usage": {"n": 2},
            }
        )
    )
    [answer] = task.answers
    assert task.answered
    assert task.name == "k[gpt]"
    assert (
        answer.question,
        answer.actual_output,
        answer.context,
        answer.duration_s,
        answer.cost_usd,
        answer.usage,
    ) == (
        "q",
        "a",
        ("c",),
        0.5,
        0.1,
        {"n": 2},
    )
    assert (answer.model_key, answer.model_name, answer.is_rag, answer.run) == ("m", "gpt", True, 1)
    assert task.model.description["host"] == "lab"


def test_repeats_are_one_task_in_the_order_of_their_runs():
    [task] = of(lab(*({"key": "k", "run": run, "actual_output": str(run)} for run in (3, 1, 2))))
    assert [answer.actual_output for answer in task.answers] == ["1", "2", "3"]


def test_rows_of_a_data_set_go_by_their_model():
    result = of({"inputs": [{"key": "a", "model_key": "m"}, {"key": "a"}, {"key": "b", "model_key": "m"}]})
    assert names(result) == ["a[m]", "b[m]", "a[dataset]"]
    assert result[0].model is result[1].model


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ("INTERNAL ERROR: quota", "INTERNAL ERROR: quota"),
        ("LLM HOST INTERNAL ERROR: 500\n", "LLM HOST INTERNAL ERROR: 500"),
        ("\nMODEL HOST INTERNAL ERROR 12", "MODEL HOST INTERNAL ERROR 12"),
        ("The log says: MODEL HOST INTERNAL ERROR 12", ""),
        ("An INTERNAL ERROR is a fault.", ""),
        ("Internal error", ""),
    ],
)
def test_errors_that_the_reference_engine_wrote_as_answers_are_errors(answer, error):
    [task] = of(lab({"key": "k", "actual_output": answer}))
    [case] = task.answers
    assert (case.error, case.actual_output) == (error, "" if error else answer)


def test_a_row_with_an_error_has_no_answer():
    [task] = of(lab({"key": "k", "actual_output": "half of", "error": "timed out"}))
    assert (task.answers[0].error, task.answers[0].actual_output) == ("timed out", "")


@pytest.mark.parametrize(
    ("model", "context", "rag"),
    [
        ({"retrieves": True, "model_type": "ollama"}, [], True),
        ({"retrieves": False, "model_type": "h2ogpte"}, ["c"], False),
        ({"model_type": "h2ogpte"}, [], True),
        ({"model_type": "H2OGPTE_LLM"}, ["c"], False),
        ({"model_type": "ollama"}, ["c"], False),
        ({}, ["c"], True),
        ({}, [], False),
        ({"model_type": "python"}, ["c"], True),
    ],
)
def test_a_model_retrieves_by_what_its_lab_says_else_by_its_context(model, context, rag):
    row = {"key": "k", "input": "q", "actual_output": "a", "context": context}
    [task] = of(lab(row, models=({"key": "m", "llm_model_name": "gpt", **model},)))
    assert task.answers[0].is_rag is rag


def test_a_perturbation_follows_its_original():
    result = of(
        suite(
            {"key": "x", "prompt": "x"}, linked("p2", "p1"), linked("p1", "o"), {"key": "o", "prompt": "o"}
        ),
        models=MODELS[:1],
    )
    assert names(result) == ["x[one]", "o[one]", "p2[one]", "p1[one]"]
    by_key = {task.key: task for task in result}
    assert by_key["p1"].source is by_key["o"]
    assert by_key["p2"].source is by_key["p1"]
    assert family_root(by_key["p2"]) is by_key["o"]


def test_the_original_is_that_of_the_same_model():
    result = of(
        lab(
            {"key": "o"},
            {**linked("p", "o"), "model_key": "n"},
            linked("p", "o"),
            models=({"key": "m"}, {"key": "n"}),
        )
    )
    sources = {task.name: task.source.name if task.source else None for task in result}
    assert sources == {"o[m]": None, "p[m]": "o[m]", "p[n]": None}


def test_the_first_original_that_is_there_counts_and_other_relationships_do_not():
    result = of(
        lab({"key": "a"}, {"key": "b"}, linked("p", "gone", "b", "a"), linked("q", "a", kind="follows"))
    )
    sources = {task.key: task.source.key if task.source else None for task in result}
    assert sources == {"a": None, "b": None, "p": "b", "q": None}


@pytest.mark.parametrize("keys", ["a", "ab", "abcde"])
def test_circles_of_perturbations_do_not_hang(keys):
    rows = [linked(key, keys[(place + 1) % len(keys)]) for place, key in enumerate(keys)]
    result = of(lab(linked("tail", keys[-1]), *rows))
    assert sorted(task.key for task in result) == sorted([*keys, "tail"])
    assert {family_root(task).key for task in result} == {"a"}


def test_a_long_chain_of_perturbations_has_one_root():
    result = of(lab({"key": "0"}, *(linked(str(number), str(number - 1)) for number in range(1, 300))))
    assert {family_root(task).key for task in result} == {"0"}
    assert len(result) == 300


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a::b", "a_b"),
        ("a[0]/b", "a_0__b"),
        ("a\tb\nc d\x00", "a_b_c_d_"),
        ("fee €5: yes", "fee_€5:_yes"),
        ("a\u2028b", "a_b"),
        ("\ud800", "_"),
    ],
)
def test_what_a_node_id_cannot_hold_becomes_an_underscore(text, name):
    assert item_name(text) == name


def test_names_that_collide_get_numbers():
    result = of(
        suite({"key": "a b", "prompt": "p"}, {"key": "a/b", "prompt": "q"}, {"key": "a_b", "prompt": "r"}),
        models=[ModelInfo(key="1", label="m/1")],
    )
    assert names(result) == ["a_b[m_1]", "a_b[m_1]-2", "a_b[m_1]-3"]


@pytest.mark.parametrize("make", [suite, lab])
def test_earlier_turns_reach_the_case(make):
    [task, *_] = of(
        make(
            {
                "key": "a",
                "prompt" if make is suite else "input": "p",
                "conversation": [{"role": "user", "content": "Hello"}],
            }
        )
    )
    assert task.case.conversation == (Turn(role="user", content="Hello"),)


def test_a_case_has_the_line_of_its_file_and_zero_where_that_is_not_known():
    text = json.dumps(suite({"key": "a", "prompt": "p"}, {"key": "b", "prompt": "q"}), indent=1)
    file = read(parse(text, "f.json"))
    lines = text.splitlines()
    expected = [lines.index(line) for key in "ab" for line in lines if line.strip() == f'"key": "{key}",']
    [first, second] = tasks(file, Path("/suites"), MODELS[:1])
    assert [first.case.line, second.case.line] == expected
    assert [first.case.position, second.case.position] == [1, 2]
    [unknown, _] = tasks(dataclasses.replace(file, lines={}), Path("/suites"), MODELS[:1])
    assert unknown.case.line == 0


def test_rows_of_a_model_have_the_position_of_their_question():
    rows = [
        {"key": "a", "run": 1},
        {"key": "b", "model_key": "n"},
        {"key": "a", "run": 2},
        {"key": "c"},
    ]
    result = of(lab(*rows, models=({"key": "m"}, {"key": "n"})))
    positions = {task.name: [case.position for case in task.answers] for task in result}
    assert positions == {"a[m]": [1, 1], "c[m]": [2], "b[n]": [1]}


def test_a_row_of_no_file_has_neither_position_nor_line():
    case = row_case(Row(key="k", input="q"), MODELS[0], "/suites")
    assert (case.position, case.line, case.run) == (0, 0, 1)


def test_a_case_is_not_related_to_itself_and_the_first_target_of_a_type_counts():
    rows = [
        {"key": "a"},
        {"key": "b"},
        linked("self", "self"),
        linked("c", "gone", "b", "a", kind="counterfactual_source"),
    ]
    by_key = {task.key: task for task in of(lab(*rows))}
    assert by_key["self"].source is None
    assert by_key["c"].source is None
    assert dict(by_key["c"].related) == {"counterfactual_source": by_key["b"]}
    assert dict(by_key["a"].related) == {}
