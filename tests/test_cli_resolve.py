"""`evalstudio resolve`."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_evalstudio.api.evaluate import evaluate
from pytest_evalstudio.cli import main
from pytest_evalstudio.formats.lab import TestLab
from support.cli_files import CONFIG, FOUR, SIX, suite, write


@pytest.fixture(autouse=True)
def current_folder(tmp_path, monkeypatch):
    """Run each test in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_suite_is_resolved_into_a_lab(capsys):
    write("evalstudio.toml", CONFIG)
    assert main(["resolve", suite(FOUR, SIX), "--model", "four", "-o", "out/deep/lab.json"]) == 0
    assert capsys.readouterr().out == "wrote out/deep/lab.json: 2 answers of 1 model\n"
    lab = TestLab.load("out/deep/lab.json")
    assert [(row.key, row.actual_output) for row in lab.dataset.inputs] == [("four", "4"), ("six", "4")]
    assert evaluate(lab, ["text_matching"]).verdicts() == {"four[four]": "passed", "six[four]": "failed"}


def test_answers_that_could_not_be_had_are_findings(capsys):
    write("evalstudio.toml", CONFIG)
    assert main(["resolve", suite(FOUR, SIX), "-o", "lab.json", "--runs", "2"]) == 1
    output = capsys.readouterr()
    assert output.out == "wrote lab.json: 8 answers of 2 models, 2 failed\n"
    assert (
        output.err == "failed: model 'picky': the script has no answer to '3+3?'; add it, or give a default\n"
    )
    assert [row.error != "" for row in TestLab.load("lab.json").dataset.inputs] == [False] * 6 + [True] * 2


def test_questions_that_a_budget_leaves_out_are_findings(capsys):
    write(
        "evalstudio.toml",
        '[[model]]\nname = "four"\nhost = "scripted"\ndefault = "4"\nbudget = { calls = 1 }\n',
    )
    assert main(["resolve", suite(FOUR, SIX), "-o", "lab.json"]) == 1
    assert "1 not asked" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["--model", "fuor"], "no model named 'fuor'. Did you mean 'four'? Configured here: four, picky."),
        (["--runs", "0"], "model 'four': runs = 0: must be a whole number, 1 or more"),
        (["--config", "gone.toml"], "gone.toml: cannot be read: No such file or directory"),
    ],
)
def test_what_cannot_be_resolved_is_told_before_anybody_is_asked(capsys, arguments, fault):
    write("evalstudio.toml", CONFIG)
    assert main(["resolve", suite(FOUR), "-o", "lab.json", *arguments]) == 2
    assert capsys.readouterr().err == f"evalstudio: {fault}\n"
    assert not Path("lab.json").exists()


def test_a_faulty_suite_is_not_resolved(capsys):
    assert main(["resolve", suite({"prompt": 5}), "-o", "lab.json"]) == 2
    assert "/tests/0/test_cases/0/prompt: expected a string, found 5" in capsys.readouterr().err
    assert main(["resolve", write("d.json", {"inputs": []}), "-o", "lab.json"]) == 2
    assert "d.json: is a data set, which names no models to ask" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["sub/s.json", "./sub/s.json"])
def test_the_configuration_nearest_to_the_suite_counts_however_it_is_named(capsys, name):
    write("sub/evalstudio.toml", CONFIG)
    suite(FOUR, name="sub/s.json")
    assert main(["resolve", name, "-o", "lab.json"]) == 0
    assert capsys.readouterr().out == "wrote lab.json: 2 answers of 2 models\n"


def test_hosts_find_their_files_at_the_configuration_and_documents_at_the_suite(capsys):
    write(
        "evalstudio.toml",
        '[[model]]\nname = "app"\nhost = "python"\ntarget = "near_app:ask"\n[[model]]\nname = "reader"\nhost'
        ' = "extractive"\n',
    )
    write("near_app.py", "def ask(prompt):\n    return 'mine'\n")
    write("suites/docs/fees.md", "The monthly fee is 5 EUR.")
    write(
        "suites/s.json",
        {"tests": [{"documents": ["docs/fees.md"], "test_cases": [{"prompt": "What is the monthly fee?"}]}]},
    )
    assert main(["resolve", "suites/s.json", "-o", "lab.json"]) == 0
    app, reader = TestLab.load("lab.json").dataset.inputs
    assert app.actual_output == "mine"
    assert "5 EUR" in reader.actual_output
    assert (reader.corpus, reader.context_sources) == (["docs/fees.md"], ["suites/docs/fees.md"])


def test_without_a_configuration_the_embedded_model_answers(capsys):
    write("fees.md", "The monthly fee is 5 EUR.")
    write(
        "s.json",
        {"tests": [{"documents": ["fees.md"], "test_cases": [{"prompt": "What is the monthly fee?"}]}]},
    )
    assert main(["resolve", "s.json", "-o", "lab.json", "--runs", "2"]) == 0
    assert [row.run for row in TestLab.load("lab.json").dataset.inputs] == [None, 2]
    assert capsys.readouterr().out == "wrote lab.json: 2 answers of 1 model\n"
