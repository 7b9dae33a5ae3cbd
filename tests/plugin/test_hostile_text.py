"""No output of a run lets foreign text control the terminal or the CI runner."""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from support.hostile import NASTY, faults
from support.project import Project

pytestmark = pytest.mark.slow

APP = f"""
NASTY = {NASTY!r}


def ask(prompt):
    print("captured", NASTY)
    if "boom" in prompt:
        raise RuntimeError(NASTY)
    if "bad" in prompt:
        return {{"wrong " + NASTY: 1}}
    return {{"answer": "4 " + NASTY, "context": [NASTY, "chunk"], "context_sources": [NASTY, "b"]}}
"""
CONFIG = f"""
evaluators = ["text_matching", "lexical_groundedness"]

[[model]]
name = {json.dumps("app" + NASTY)}
host = "python"
target = "app:ask"

[[model]]
name = {json.dumps("gone" + NASTY)}
host = "openai_compatible"
url = "http://127.0.0.1:1/"
llm_model_name = {json.dumps(NASTY)}
retries = 0
"""


def nasty_case(key: str, prompt: str, condition: str = '"4"', **more: object) -> dict[str, object]:
    return {
        "key": key + NASTY,
        "prompt": prompt + NASTY,
        "condition": condition,
        "categories": ["cat" + NASTY, "::cat"],
        **more,
    }


@pytest.fixture
def hostile(project: Project) -> Project:
    project.write("app.py", APP)
    project.write("evalstudio.toml", CONFIG)
    project.suite(
        nasty_case("good", "2+2?"),
        nasty_case("miss", "2+2?", json.dumps("nowhere" + NASTY)),
        nasty_case("error", "boom"),
        nasty_case("bad", "bad"),
        nasty_case("skipped", "2+2?", skip="because " + NASTY),
        nasty_case("xfailed", "2+2?", '"nowhere"', xfail="since " + NASTY),
        nasty_case("##", "2+2?", relationships=[{"type": "see " + NASTY, "target": "good" + NASTY}]),
        {"key": "broken" + NASTY, "prompt": "x", "condition": '"a" AND ' + NASTY},
        {"key": "wrong", "prompt": "x", "expected_facts": {NASTY: 1}},
        {"key": "misspelt", "prompt": "2+2?", "conditoin" + NASTY[:2]: NASTY, "conditoin": "x"},
        name="hostile_suite.json",
        description=NASTY,
    )
    project.lab(
        {
            "key": "a" + NASTY,
            "input": NASTY,
            "actual_output": NASTY,
            "output_condition": '"x"',
            "context": [NASTY],
            "context_sources": [NASTY],
        },
        {
            "key": "b" + NASTY,
            "input": "q",
            "error": NASTY,
            "corpus": [NASTY],
            "relationships": [{"type": "t", "target": NASTY}],
        },
        {"key": "c", "input": "q", "actual_output": "::error::x", "model_key": "m" + NASTY},
        name="hostile_lab.json",
    )
    project.write(
        "broken_workflow.json",
        json.dumps({"evalstudio_workflow": {"name": NASTY, "steps": {NASTY: {}}}, NASTY: 1}),
    )
    project.write("broken_suite.json", json.dumps({"tests": {NASTY: NASTY}, NASTY: 1}))
    return project


def run(project: Project, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=project.folder, capture_output=True, timeout=60, check=False)


FILES = [
    "hostile_suite.json",
    "hostile_lab.json",
    "broken_workflow.json",
    "broken_suite.json",
    "--continue-on-collection-errors",
]


@pytest.mark.parametrize(
    "options",
    [
        ["-rA"],
        ["-vv", "-rA", "--tb=short"],
        ["-v", "--tb=line", "-n", "2"],
        ["-rA", "--tb=long", "-l", "--color=yes", "-v"],
        ["--tb=native", "-q", "--evalstudio-perturb", "comma:high"],
        ["--collect-only", "-v"],
        ["--collect-only", "-q"],
    ],
    ids=" ".join,
)
def test_a_run_writes_no_control_characters_and_no_ci_commands(hostile: Project, options: list[str]) -> None:
    result = run(hostile, *(FILES[:1] if "--evalstudio-perturb" in options else FILES), *options)

    assert result.returncode == pytest.ExitCode.TESTS_FAILED, result.stdout.decode()[-2000:]
    assert b"\\x1b" in result.stdout
    assert faults(result.stdout, coloured="--color=yes" in options) == []
    assert faults(result.stderr) == []


def test_the_outcomes_of_hostile_cases_are_those_of_plain_ones(hostile: Project) -> None:
    result = run(
        hostile,
        *FILES,
        "--junitxml=junit.xml",
        "--evalstudio-model",
        "app" + NASTY,
        "--evalstudio-model",
        "model m",
    )

    suite = ET.parse(hostile.folder / "junit.xml").getroot()[0]
    assert faults(result.stdout) == []
    assert (
        result.stdout.decode()
        .splitlines()[-1]
        .strip("= ")
        .startswith("3 failed, 1 passed, 1 skipped, 1 xfailed, 1 warning, 8 errors")
    )
    assert {name: suite.get(name) for name in ("tests", "errors", "failures", "skipped")} == {
        "tests": "14",
        "errors": "8",
        "failures": "3",
        "skipped": "2",
    }


def test_node_ids_of_hostile_keys_are_unique_and_the_same_in_each_run(hostile: Project) -> None:
    first, second = (
        run(hostile, "hostile_suite.json", "hostile_lab.json", "--collect-only", "-q").stdout
        for _ in range(2)
    )

    ids = [line for line in first.decode().splitlines() if "::" in line and "json" in line]
    assert len(ids) == len(set(ids))
    assert ids == [line for line in second.decode().splitlines() if "::" in line and "json" in line]


@pytest.mark.parametrize(
    "options",
    [
        ["--evalstudio-evaluators", "no" + NASTY.replace("\0", "")],
        ["--evalstudio-gate", NASTY],
        ["--evalstudio-threshold", NASTY],
        ["--evalstudio-model", NASTY],
        ["--evalstudio-config", NASTY],
        ["--evalstudio-perturb", NASTY],
        ["--evalstudio-threshold", NASTY, "-n", "2"],
    ],
    ids=lambda options: options[0],
)
def test_usage_errors_show_options_as_escapes(hostile: Project, options: list[str]) -> None:
    result = run(hostile, "hostile_suite.json", *options)

    assert result.returncode == pytest.ExitCode.USAGE_ERROR, result.stdout.decode()[-1000:]
    assert faults(result.stdout) == []
    assert faults(result.stderr) == []


def test_a_fixture_fails_with_escapes(hostile: Project) -> None:
    hostile.write(
        "test_it.py",
        f"NASTY = {NASTY!r}\n"
        "def test_check(eval_text_matching, eval_case):\n"
        "    eval_text_matching.check(eval_case('q', actual_output='a', expected_output='nowhere' + NASTY))\n"
        "def test_suite(eval_suite):\n    eval_suite('hostile_suite.json')\n"
        "def test_model(eval_model):\n    eval_model(NASTY)\n",
    )

    result = run(hostile, "test_it.py", "--tb=line")

    assert result.returncode == 1
    assert faults(result.stdout) == []


@pytest.mark.parametrize(
    "environment",
    [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}],
    ids=str,
)
def test_an_ascii_terminal_gets_escapes(
    project: Project, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    project.lab(
        {"key": "ä", "input": "Größe?", "actual_output": "5 €", "output_condition": '"6 €"'},
        name="größe_lab.json".encode().decode(),
    )

    result = run(project, "größe_lab.json")

    assert result.returncode == 1, result.stderr
    assert b"Traceback" not in result.stdout + result.stderr
    assert (project.folder / "evalstudio-report" / "interpretation.html").is_file()


def test_the_summary_is_written_in_the_terminals_encoding(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    project.write("evalstudio.toml", 'evaluators = ["text_matching"]\n')
    rows = [{"input": "q", "actual_output": "4", "output_condition": '"4"', "model_key": "m"}]
    content = {
        "name": "L",
        "dataset": {"inputs": rows},
        "models": [{"key": "m", "name": "Müller €", "model_type": "h2ogpt"}],
    }
    Path(project.folder / "x_lab.json").write_text(json.dumps(content), encoding="utf-8")

    result = run(project, "-v", "x_lab.json")

    assert b"1. M\\xfcller \\u20ac" in result.stdout
