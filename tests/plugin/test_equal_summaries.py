"""`summary.md` of equal runs is equal but for the run's id and times."""

from __future__ import annotations

import re

import pytest

from support.project import Project

APP = """
import random
import time


def ask(prompt):
    number = int(prompt.split()[-1].rstrip("?"))
    time.sleep(random.random() / 100)
    if number % 7 == 0:
        raise RuntimeError(f"no connection for {number}")
    if number % 5 == 0:
        return f"Write to jane{number}@bank.com."
    return "" if number % 3 == 0 else f"It is {number}."
"""
CONFIG = """
evaluators = ["text_matching", "rouge", "pii_leakage"]

[[model]]
name = "one"
host = "python"
target = "app:ask"

[[model]]
name = "two"
host = "python"
target = "app:ask"
concurrency = 1
"""


def summary(project: Project, folder: str) -> str:
    text = (project.folder / folder / "summary.md").read_text(encoding="utf-8")
    text, count = re.subn(r"Run `[0-9a-f-]{36}`, \S+\. ", "", text)
    assert count == 1
    assert "failed" in text.lower()
    return re.sub(r"(?m)^- duration of .*$|Compared with \w+ \([\d-]+\)", "", text)


@pytest.mark.slow
def test_summaries_do_not_depend_on_workers_hash_seeds_and_speed(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("app.py", APP)
    project.write("evalstudio.toml", CONFIG)
    cases = [
        {"key": f"k{n}", "prompt": f"What is {n}?", "expected_output": f"It is {n}.", "condition": f'"{n}"'}
        for n in range(30)
    ]
    project.suite(*cases)
    for seed, folder, workers in (("1", "first", ()), ("2", "second", ("-n", "2")), ("3", "third", ())):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        project.run_process("--evalstudio-output", folder, *workers)
    assert summary(project, "first") == summary(project, "second") == summary(project, "third")

    for seed, folder, workers in (("4", "fourth", ()), ("5", "fifth", ("-n", "2"))):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        project.run_process("--evalstudio-output", folder, "--evalstudio-baseline", "first", *workers)
    assert summary(project, "fourth") == summary(project, "fifth")
