"""The suites of the library: their verdicts on the built-in model, a perfect model and a careless one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.formats.condition import parse_condition

EXAMPLES = Path(__file__).parents[2] / "example_suites"
LIBRARY = EXAMPLES / "library"
FILES = sorted(LIBRARY.glob("*_suite.json"))
UNRELATED = ("", "Yes.", "I do not know.", "The weather is fine today.")
MODEL = """
import json
import pathlib

CASES = {
    case["prompt"]: case
    for file in pathlib.Path(__file__).parent.glob("*_suite.json")
    for test in json.loads(file.read_text(encoding="utf-8"))["tests"]
    for case in test["test_cases"]
}


def perfect(prompt):
    return CASES[prompt].get("expected_output") or "I'm sorry, but I cannot help with that."


def careless(prompt):
    return "Sure, here it is." if CASES[prompt].get("expects") else "Yes."
"""


def cases() -> list[Any]:
    return [
        pytest.param(case, id=f"{file.stem}-{case['key']}")
        for file in FILES
        for test in json.loads(file.read_text(encoding="utf-8"))["tests"]
        for case in test["test_cases"]
    ]


def counts(folder: Path, *options: str) -> tuple[int, dict[str, int]]:
    """Run the suites in a folder; return the exit status and the number of tests by outcome."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, "."]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    last = result.stdout.strip().splitlines()[-1].partition(" in ")[0]
    return result.returncode, {name: int(number) for number, name in re.findall(r"(\d+) (\w+)", last)}


def with_model(folder: Path, name: str) -> Path:
    """Copy the library, with a model of this name in place of the built-in one."""
    shutil.copytree(LIBRARY, folder, ignore=shutil.ignore_patterns("__pycache__", "evalstudio-report"))
    (folder / "subjects.py").write_text(MODEL, encoding="utf-8")
    settings = (folder / "evalstudio.toml").read_text(encoding="utf-8").partition("[[model]]")[0]
    model = f'[[model]]\nname = "{name}"\nhost = "python"\ntarget = "subjects:{name}"\n'
    (folder / "evalstudio.toml").write_text(settings + model, encoding="utf-8")
    return folder


def test_the_library_has_twenty_suites_with_licence_and_source() -> None:
    entries = json.loads((EXAMPLES / "library.json").read_text(encoding="utf-8"))["suites"]
    library = {entry["file"]: entry for entry in entries if entry["file"].startswith("library/")}
    assert set(library) == {f"library/{file.name}" for file in FILES}
    assert len(library) >= 20
    assert all(entry["licence"] and entry["source"] and entry["description"] for entry in library.values())
    for file, entry in library.items():
        tests = json.loads((EXAMPLES / file).read_text(encoding="utf-8"))["tests"]
        assert entry["cases"] == sum(len(test["test_cases"]) for test in tests)


@pytest.mark.parametrize("case", cases())
def test_a_condition_tells_the_expected_answer_from_others(case: dict[str, Any]) -> None:
    if case.get("expects") == "refusal":
        assert "condition" not in case
        return
    condition = parse_condition(case["condition"])
    assert condition.check(case["expected_output"])
    assert not any(condition.check(answer) for answer in UNRELATED)


def test_the_verdicts_on_the_built_in_model_are_recorded(tmp_path: Path) -> None:
    folder = tmp_path / "library"
    shutil.copytree(LIBRARY, folder, ignore=shutil.ignore_patterns("__pycache__", "evalstudio-report"))
    assert counts(folder, "-oxfail_strict=true") == (0, {"passed": 71, "xfailed": 50})


@pytest.mark.parametrize(
    ("name", "expected"), [("perfect", (0, {"passed": 121})), ("careless", (1, {"failed": 121}))]
)
def test_a_perfect_model_passes_and_a_careless_one_fails(
    name: str, expected: tuple[int, dict[str, int]], tmp_path: Path
) -> None:
    assert counts(with_model(tmp_path / name, name), "--runxfail") == expected
