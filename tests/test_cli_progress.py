"""Progress of the commands on standard error: in place on a terminal, else only for long work."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from pytest_evalstudio.cli import main
from support.cli_files import CONFIG, FOUR, SIX, suite, write

BANK = Path(__file__).parents[1] / "example_suites" / "bank" / "documents"
SLOW_APP = """
import json, time


def ask(prompt):
    time.sleep(0.7)
    return "4"


def judge(prompt):
    return json.dumps({"reason": "", "score_first": 7, "score_second": 6, "choice": "first"})
"""
SLOW_CONFIG = """
[[model]]
name = "slow"
host = "python"
target = "slow_app:ask"

[judge]
host = "python"
target = "slow_app:judge"
"""


@pytest.fixture(autouse=True)
def current_folder(tmp_path, monkeypatch):
    """Run each test in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(monkeypatch, capsys):
    """Return what runs a command on a terminal, and returns what it writes to standard error."""

    def command(*arguments, status=0):
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        assert main([*arguments]) == status
        return capsys.readouterr().err

    return command


def test_resolve_counts_answers(run):
    write("evalstudio.toml", CONFIG)
    output = run("resolve", suite(FOUR, SIX), "--model", "four", "-o", "lab.json")
    assert "\revalstudio: 1/2 answers" in output
    assert output.endswith(" \r")  # removed at the end


def test_resolve_writes_lines_to_a_log_that_take_long(capsys, monkeypatch):
    monkeypatch.setattr("pytest_evalstudio.core.progress.LINE_S", 0.2)
    write("evalstudio.toml", SLOW_CONFIG)
    write("slow_app.py", SLOW_APP)
    assert main(["resolve", suite(FOUR), "-o", "lab.json"]) == 0
    first, *_ = capsys.readouterr().err.splitlines()
    assert first == "evalstudio: asking the models"


def test_short_work_writes_nothing_to_a_log(capsys):
    write("evalstudio.toml", CONFIG)
    assert main(["resolve", suite(FOUR), "--model", "four", "-o", "lab.json"]) == 0
    assert capsys.readouterr().err == ""


def test_a_fault_ends_the_line(run):
    write("evalstudio.toml", CONFIG)
    output = run("resolve", suite(FOUR, SIX), "--model", "picky", "-o", "lab.json", status=1)
    assert " \rfailed: model 'picky'" in output


def test_import_counts_records(run):
    lines = "".join(f"question {number},answer\n" for number in range(300))
    write("table.csv", f"input,actual_output\n{lines}")
    output = run("import", "table", "table.csv", "-o", "data.json", "--to", "dataset")
    assert "\revalstudio: 256 records" in output


@pytest.mark.part("tables")
def test_score_counts_answers(run):
    pytest.importorskip("datasketches")
    rows = [{"key": f"k{number}", "input": "q?", "actual_output": "a"} for number in range(40)]
    write("rows.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    evaluators = ("-e", "looping_detection", "--workers", "1")
    assert "40 answers scored" in run("score", "rows.jsonl", "-o", "out.parquet", *evaluators)


@pytest.mark.part("arena")
def test_arena_counts_verdicts(run):
    write("evalstudio.toml", SLOW_CONFIG)
    write("slow_app.py", SLOW_APP)
    rows = [{"key": "q", "input": "q?", "actual_output": text, "model_key": text} for text in ("yes", "no")]
    models = [{"key": key, "llm_model_name": key, "model_type": "h2ogpte_llm"} for key in ("yes", "no")]
    write("a_lab.json", {"name": "a", "dataset": {"inputs": rows}, "models": models})
    assert "\revalstudio: 1/1 verdicts" in run("arena", "play", "a_lab.json", "-o", "b.csv")


@pytest.mark.part("validation")
def test_generate_counts_chunks(run):
    output = run("generate", str(BANK), "--count", "3", "-o", "bank_suite.json")
    assert "\revalstudio: 1/3 chunks read" in output
