"""Prompts as variants: files of a configuration, models of a run, differences between runs."""

from __future__ import annotations

import json

import pytest

from support.project import Project
from support.workers import WORKERS

CONFIG = """
evaluators = ["text_matching"]
[[model]]
name = "app"
host = "python"
target = "app:ask"
prompt = {}
"""
APP = """
from pathlib import Path
def ask(prompt):
    with Path("asked.txt").open("a") as log:
        log.write(prompt + "\\n")
    return prompt
"""
CASE = {"key": "one", "prompt": "What is 1+1?", "condition": '"in a word"', "x-tone": "warm"}


@pytest.fixture
def prompts(project: Project) -> Project:
    project.write("app.py", APP)
    project.write("p/short.j2", "Say in a word: {{ question }}")
    project.write("p/long.j2", "Tell me {{ case['x-tone'] }}ly: {{ question }}")
    project.write("evalstudio.toml", CONFIG.format('["p/short.j2", "p/long.j2"]'))
    project.suite(CASE)
    return project


@pytest.mark.parametrize("workers", WORKERS)
def test_each_prompt_is_a_model(prompts: Project, workers: tuple[str, ...]) -> None:
    result = prompts.run(*workers)
    result.assert_outcomes(passed=1, failed=1)
    questions = (prompts.folder / "asked.txt").read_text().splitlines()
    assert sorted(questions) == ["Say in a word: What is 1+1?", "Tell me warmly: What is 1+1?"]
    record = (prompts.folder / "evalstudio-report" / "record.jsonl").read_text()
    models = json.loads(record.splitlines()[0])["models"].values()
    assert {model["name"] for model in models} == {"app (short)", "app (long)"}
    [short] = [model["model_cfg"]["prompt"] for model in models if model["name"] == "app (short)"]
    assert short["text"] == "Say in a word: {{ question }}"
    assert len(short["sha256"]) == 64


def test_a_changed_prompt_is_named_by_its_words(prompts: Project) -> None:
    prompts.write("evalstudio.toml", CONFIG.format('"p/short.j2"'))
    prompts.run().assert_outcomes(passed=1)
    assert prompts.run_command("baseline", "save").ret == 0
    unchanged = prompts.run("--evalstudio-baseline", "evalstudio-baseline.jsonl", "-v")
    unchanged.assert_outcomes(passed=1)
    comparison = json.loads((prompts.folder / "evalstudio-report" / "comparison.json").read_text())
    assert comparison["prompts"] == []
    prompts.write("p/short.j2", "Say in two words: {{ question }}")
    changed = prompts.run("--evalstudio-baseline", "evalstudio-baseline.jsonl", "-v")
    changed.assert_outcomes(failed=1)
    comparison = json.loads((prompts.folder / "evalstudio-report" / "comparison.json").read_text())
    assert [entry["model"] for entry in comparison["prompts"]] == ["app"]
    assert "prompt" in comparison["changed"]
    assert "model" not in comparison["changed"]
    lines = prompts.run_command("compare", "evalstudio-baseline.jsonl", "evalstudio-report")
    lines.stdout.fnmatch_lines(["*prompt of app (p/short.j2): Say in *a word*two words*: {{ question }}"])
    page = (prompts.folder / "evalstudio-report" / "interpretation.html").read_text()
    assert "Prompt of <bdi>app</bdi>" in page


def test_a_changed_prompt_asks_again(prompts: Project) -> None:
    prompts.write("evalstudio.toml", CONFIG.format('"p/short.j2"') + 'cache = "always"\n')
    prompts.run()
    prompts.run()
    prompts.write("p/short.j2", "Say again in a word: {{ question }}")
    prompts.run().assert_outcomes(passed=1)
    questions = (prompts.folder / "asked.txt").read_text().splitlines()
    assert questions == ["Say in a word: What is 1+1?", "Say again in a word: What is 1+1?"]


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ('"p/none.j2"', "model.0.prompt: p/none.j2 cannot be read: No such file or directory"),
        ('["p/short.j2", "p/short.j2"]', "model.0.prompt: 'p/short.j2' is named twice"),
        ('"p"', "model.0.prompt: p cannot be read: Is a directory"),
        ("3", "model.0.prompt: "),
    ],
)
def test_a_wrong_file_is_a_usage_error(prompts: Project, value: str, fault: str) -> None:
    prompts.write("evalstudio.toml", CONFIG.format(value))
    result = prompts.run()
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"*{fault}*".replace("[", "[[]")])


def test_a_wrong_template_is_named_before_anything_runs(prompts: Project) -> None:
    prompts.write("p/short.j2", "{{ questoin }}")
    result = prompts.run()
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*p/short.j2: no variable named 'questoin'. Did you mean 'question'?*"])
    checked = prompts.run_command("validate", "evalstudio.toml")
    assert checked.ret == 1
    assert "Did you mean 'question'?" in checked.stderr.str() + checked.stdout.str()


def test_a_key_that_a_case_lacks_is_an_error_of_this_case(prompts: Project) -> None:
    prompts.suite(
        {**CASE, "key": "other"} | {"x-tone": "cool"}, {"key": "bare", "prompt": "Why?", "condition": '"Why"'}
    )
    result = prompts.run("-k", "long")
    result.assert_outcomes(failed=1, errors=1)
    result.stdout.fnmatch_lines(["*prompt p/long.j2: *x-tone*"])
