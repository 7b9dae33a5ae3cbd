from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_evalstudio.cli import main
from pytest_evalstudio.formats.dataset import LlmDataset
from pytest_evalstudio.formats.suite import TestSuite


@pytest.fixture(autouse=True)
def current_folder(tmp_path, monkeypatch):
    """Each test stands in a folder of its own."""
    monkeypatch.chdir(tmp_path)


def write(name, content):
    Path(name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return name


def read(name):
    return json.loads(Path(name).read_text(encoding="utf-8"))


ASKED = {"request": "What is the fee?", "expected_facts": ["30 USD"], "guidelines": ["Be brief."]}
ANSWERED = {**ASKED, "request_id": "fee", "response": "30 USD"}


def test_a_set_without_responses_becomes_a_suite(capsys):
    assert main(["convert", write("fees.jsonl", json.dumps(ASKED)), "-o", "out/fees_suite.json"]) == 0
    assert capsys.readouterr().out == "wrote out/fees_suite.json: suite, 1 test cases\n"
    suite = TestSuite.load("out/fees_suite.json")
    assert suite.name == "fees"
    [(_, case)] = suite.cases()
    assert (case.prompt, case.expected_facts, case.guidelines) == (
        "What is the fee?",
        ["30 USD"],
        ["Be brief."],
    )


def test_a_set_with_responses_becomes_a_data_set_and_a_suite_if_asked_for(capsys):
    name = write("fees.json", {"eval_set": [ANSWERED]})
    assert main(["convert", name, "-o", "d.csv"]) == 0
    assert LlmDataset.load("d.csv").inputs[0].actual_output == "30 USD"
    assert main(["convert", name, "-o", "s.json", "--to", "suite"]) == 0
    assert TestSuite.load("s.json").cases()[0][1].key == "fee"
    assert capsys.readouterr().out.splitlines() == [
        "wrote d.csv: data set, 1 rows",
        "wrote s.json: suite, 1 test cases; 1 responses are left out",
    ]


@pytest.mark.parametrize("name", ["set.json", "set.jsonl", "set.csv"])
def test_there_and_back(name):
    write("first.json", [ANSWERED])
    for source, target in (
        ("first.json", "d.json"),
        ("d.json", name),
        (name, "e.json"),
        ("e.json", "last.json"),
    ):
        assert main(["convert", source, "-o", target]) == 0
    assert read("last.json") == [ANSWERED]


def test_a_set_can_change_its_form():
    assert main(["convert", write("a.json", [ANSWERED]), "-o", "b.jsonl", "--to", "evaluation-set"]) == 0
    assert json.loads(Path("b.jsonl").read_text(encoding="utf-8")) == ANSWERED


def test_of_a_suite_what_has_no_place_is_named(capsys):
    write(
        "s.json",
        {"tests": [{"documents": ["a.md"], "test_cases": [{"key": "a", "prompt": "q", "condition": '"x"'}]}]},
    )
    assert main(["convert", "s.json", "-o", "set.json"]) == 0
    assert read("set.json") == [{"request_id": "a", "request": "q"}]
    assert (
        capsys.readouterr().out
        == "wrote set.json: evaluation set, 1 requests; it has no place for condition, corpus\n"
    )


def test_of_a_lab_with_two_models_one_is_chosen(capsys):
    rows = [{"key": "a", "input": "q", "model_key": key, "actual_output": key} for key in ("m1", "m2")]
    write(
        "lab.json",
        {
            "dataset": {"inputs": rows},
            "models": [{"key": "m1", "llm_model_name": "one"}, {"key": "m2", "llm_model_name": "two"}],
        },
    )
    assert main(["convert", "lab.json", "-o", "set.json"]) == 2
    assert (
        capsys.readouterr().err
        == "evalstudio: lab.json: holds answers of 2 models, and an evaluation set can only hold one"
        " model: choose one of one, two by --model NAME\n"
    )
    assert main(["convert", "lab.json", "-o", "set.json", "--model", "two"]) == 0
    assert read("set.json")[0]["response"] == "m2"


def test_what_is_wrong_is_told_and_nothing_is_written(capsys):
    write("set.json", [{"request": 3}, ANSWERED, {"request": " "}])
    assert main(["convert", "set.json", "-o", "d.json"]) == 1
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("set.json:1:14 /0/request: expected a text, or")
    assert second.startswith("set.json:1:")
    assert "/2/request: the request is blank" in second
    assert not Path("d.json").exists()


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["set.json", "-o", "s.csv", "--to", "suite"], "s.csv: a file name for a suite ends with .json"),
        (
            ["set.json", "-o", "s.yaml", "--to", "evaluation-set"],
            "s.yaml: a file name for an evaluation-set ends with .json or .jsonl or",
        ),
        (
            ["d.json", "-o", "s.json", "--to", "suite"],
            "d.json: is a dataset; only an evaluation set becomes a suite",
        ),
        (["nothing.json", "-o", "s.json"], "nothing.json: cannot be read"),
        (["other.json", "-o", "s.json"], "other.json: has no supported format"),
    ],
)
def test_wrong_usage_is_told(capsys, arguments, fault):
    write("set.json", [ANSWERED])
    write("d.json", {"inputs": [{"input": "q", "actual_output": "a"}]})
    write("other.json", {"rows": []})
    assert main(["convert", *arguments]) == 2
    assert f"evalstudio: {fault}" in capsys.readouterr().err
