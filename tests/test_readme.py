"""The README: its tables name what the code has, its examples do what it shows."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_evalstudio import Registry
from pytest_evalstudio.formats.config import Configuration
from support.project import Project
from support.readme_tables import NOT_IN_FILES, README, Options, subcommands, table_in, with_tables

TEXT = README.read_text(encoding="utf-8")
BLOCK = re.compile(
    r"^```\w* example=(?P<example>\w+)(?: title=(?P<title>\S+))?\n(?P<body>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
VARIES = re.compile(r"in \d+\.\d+s|rootdir: .*|plugins: .*|platform .*|=+")


@dataclass
class Example:
    """An example of the README: its files, and what it says the terminal shows."""

    files: dict[str, str]
    shown: list[str]


def examples() -> dict[str, Example]:
    found: dict[str, Example] = {}
    for block in BLOCK.finditer(TEXT):
        example = found.setdefault(block["example"], Example({}, []))
        if block["title"]:
            example.files[block["title"]] = block["body"]
        else:
            example.shown += block["body"].splitlines()
    return found


EXAMPLES = examples()
for name in ("tests", "api", "robust", "shouting"):
    EXAMPLES[name].files["fees.md"] = EXAMPLES["fees"].files["fees.md"]
EXAMPLES["shouting"].files["robust_suite.json"] = EXAMPLES["robust"].files["robust_suite.json"]
OUTCOMES = {
    "calibration": "2 failed, 1 passed",
    "fees": "1 failed, 1 passed",
    "app": "1 passed, 1 xfailed",
    "fixture": "1 passed",
    "tests": "4 passed",
    "csv": "1 passed, 1 skipped",
    "evaluator": "2 passed",
    "host": "1 passed",
    "robust": "3 failed, 9 passed",
    "shouting": "4 passed",
    "judged": "1 failed, 1 passed",
    "byop": "1 failed, 1 passed",
}
SCRIPTS = {"api": "compare.py", "perturbing": "perturb_fees.py"}


def write(folder: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")


def names(table: str) -> list[str]:
    """The first words in the first column of a table."""
    return [re.match(r"`([^` ]+)", row[0])[1] for row in table_in(TEXT, table)]


def test_the_tables_are_as_the_code_has_them() -> None:
    assert with_tables(TEXT) == TEXT, "run: python tests/support/readme_tables.py"


def test_every_option_is_in_the_table() -> None:
    declared = Options()
    assert names("options") == [
        *(name.split()[0] for name, _ in declared.declared),
        *(name for name, _, _ in declared.ini),
    ]


def test_every_configuration_key_is_in_the_table() -> None:
    top = dict.fromkeys(name.partition(".")[0] for name in names("configuration"))
    assert list(top) == [
        field.alias or name for name, field in Configuration.model_fields.items() if name not in NOT_IN_FILES
    ]


def test_every_evaluator_and_host_is_in_its_table() -> None:
    registry = Registry()
    assert names("evaluators") == list(registry.evaluators)
    assert names("hosts") == list(registry.hosts)
    assert names("perturbators") == list(registry.perturbators)


def test_every_command_is_in_the_table() -> None:
    assert [row[0].split()[1] for row in table_in(TEXT, "commands")] == [name for name, _, _ in subcommands()]


@pytest.mark.parametrize("name", OUTCOMES)
def test_an_example_ends_as_the_readme_says(name: str, pytester: pytest.Pytester) -> None:
    write(pytester.path, EXAMPLES[name].files)
    result = Project(pytester, with_app=False).run(".")
    printed = "\n".join([*result.outlines, *result.errlines])
    assert f" {OUTCOMES[name]} in " in printed, printed
    left = iter([VARIES.sub("", line).strip() for line in printed.splitlines()])
    for line in EXAMPLES[name].shown:
        assert VARIES.sub("", line).strip() in left, f"not printed, or not in this order: {line}\n{printed}"


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_python_example_prints_what_the_readme_says(name: str, tmp_path: Path) -> None:
    write(tmp_path, EXAMPLES[name].files)
    command = [sys.executable, SCRIPTS[name]]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout + done.stderr).splitlines() == EXAMPLES[name].shown


def test_no_example_is_left_out() -> None:
    assert set(EXAMPLES) == {*OUTCOMES, *SCRIPTS}
