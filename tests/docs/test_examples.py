"""The examples of the documentation do what the pages say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.page_runs import blocks_of
from support.pages import README, examples
from support.project import Project

pytestmark = pytest.mark.slow

VARIES = re.compile(r"in \d+\.\d+s|rootdir: .*|plugins: .*|platform .*|=+")

EXAMPLES = examples()
FEES = next(block.body for block in blocks_of(README) if block.marks.get("title") == "fees.md")
for name in ("api", "robust", "shouting", "step"):
    EXAMPLES[name].files["fees.md"] = FEES
EXAMPLES["shrunk"].files |= {
    name: EXAMPLES["robust"].files[name] for name in ("robust_suite.yaml", "fees.md")
}
EXAMPLES["shouting"].files["robust_suite.yaml"] = EXAMPLES["robust"].files["robust_suite.yaml"]
OUTCOMES = {
    "calibration": "2 failed, 1 passed",
    "agent": "1 failed, 1 passed",
    "evaluator": "1 failed, 2 passed",
    "host": "1 passed",
    "robust": "3 failed, 9 passed",
    "shrunk": "3 failed, 9 passed",
    "shouting": "4 passed",
    "judged": "1 failed, 1 passed",
    "rubric": "1 failed, 1 passed",
    "byop": "1 failed, 1 passed",
    "step": "9 passed, 1 skipped",
}
VERBOSE = ("calibration", "robust", "shrunk", "step")
"""Examples that show the details of a verbose run."""
SCRIPTS = {
    "api": "compare.py",
    "perturbing": "perturb_fees.py",
    "names": "documented.py",
    "score": "score_logs.py",
}


def write(folder: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")


@pytest.mark.parametrize("name", OUTCOMES)
def test_an_example_ends_as_its_page_says(name: str, pytester: pytest.Pytester) -> None:
    write(pytester.path, EXAMPLES[name].files)
    result = Project(pytester, with_app=False).run(".", *(["-v"] if name in VERBOSE else []))
    printed = "\n".join([*result.outlines, *result.errlines])
    assert f" {OUTCOMES[name]} in " in printed, printed
    left = iter([VARIES.sub("", line).strip() for line in printed.splitlines()])
    for line in EXAMPLES[name].shown:
        assert VARIES.sub("", line).strip() in left, f"not printed, or not in this order: {line}\n{printed}"


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_python_example_prints_what_its_page_says(name: str, tmp_path: Path) -> None:
    write(tmp_path, EXAMPLES[name].files)
    command = [sys.executable, SCRIPTS[name]]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert (result.stdout + result.stderr).splitlines() == EXAMPLES[name].shown


def test_no_example_is_left_out() -> None:
    assert set(EXAMPLES) == {*OUTCOMES, *SCRIPTS}
