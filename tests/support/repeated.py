"""An application whose answers repeat in a known order, for tests of repeats."""

from __future__ import annotations

from support.project import Project

FOUR = {"key": "four", "prompt": "2+2?", "condition": '"4"'}
APP = """
from collections import Counter
from pathlib import Path

ANSWERS = {"2+2?": ["4", "4", "5"], "good?": ["4"], "bad?": ["5"], "coin?": ["4", "5"]}
ASKED = Counter()


def ask(prompt):
    answers = ANSWERS[prompt]
    answer = answers[ASKED[prompt] % len(answers)]
    ASKED[prompt] += 1
    with Path("asked.txt").open("a") as file:
        file.write(prompt + chr(10))
    return answer
"""
MODEL = '[[model]]\nname = "app"\nhost = "python"\ntarget = "app:ask"\nconcurrency = 1\n'
SPRT = 'runs = {max = 20, stop = "sprt", p0 = 0.9, p1 = 0.7, alpha = 0.05, beta = 0.1}\n'
CASES = [{"key": name, "prompt": f"{name}?", "condition": '"4"'} for name in ("good", "bad", "coin")]


def configured(project: Project, text: str = "", *, more: str = "") -> None:
    project.write("app.py", APP)
    project.write("evalstudio.toml", f'evaluators = ["text_matching"]\n{text}\n{MODEL}{more}')


def question_count(project: Project) -> int:
    file = project.folder / "asked.txt"
    return len(file.read_text().splitlines()) if file.exists() else 0
