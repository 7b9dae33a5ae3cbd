"""Modules of the standard library are not taken from the folder of the data, in no process of a command."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import httpx
import pytest

from support.children import Children
from support.guard_server import guard_service
from support.tables_of_answers import answers, write_csv

MODULE = """import os

with open(os.path.join(os.path.dirname(__file__), "IMPORTED"), "a") as note:
    note.write(__name__ + "\\n")
"""
SCRIPT = """import sys

from pytest_evalstudio.cli import main

if __name__ == "__main__":
    sys.exit(main())
"""


@pytest.fixture
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a script in a folder of its own, as an installation writes it: Python adds this folder alone."""
    path = tmp_path_factory.mktemp("scripts") / "evalstudio"
    path.write_text(SCRIPT)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in sys.stdlib_module_names:
        if importlib.util.find_spec(name) is not None:  # not those of other systems
            (tmp_path / f"{name}.py").write_text(MODULE)
    return tmp_path


def imported(folder: Path) -> list[str]:
    note = folder / "IMPORTED"
    return note.read_text().split() if note.exists() else []


def test_workers_of_score_import_nothing_beside_the_data(
    script: Path, folder: Path, children: Children
) -> None:
    write_csv(folder / "log.csv", answers(40))  # of an unknown length, so that workers start
    command = ["score", "log.csv", "-e", "rouge", "-o", "out.parquet", "--workers", "2"]
    mapping = ["--map", "input=question,actual_output=answer,context=chunks"]
    result = children.start([sys.executable, str(script), *command, *mapping], folder).finish()
    assert (result.returncode, imported(folder)) == (0, []), result.err


def test_workers_of_the_guard_import_nothing_beside_the_data(
    script: Path, folder: Path, children: Children
) -> None:
    _, address = guard_service(folder, children, program=(sys.executable, str(script)))
    assert httpx.post(f"{address}/v1/check", json={"answer": "hm"}, timeout=60).status_code == 200
    assert imported(folder) == []


def test_a_child_has_the_users_own_setting_of_the_path(
    script: Path, folder: Path, children: Children, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = folder.parent / "program.py"
    program.write_text(
        "import os\nfrom pytest_evalstudio.core.processes import safe_context\n\n\ndef show():\n"
        "    print(os.environ.get('PYTHONSAFEPATH'), flush=True)\n\n\nif __name__ == '__main__':\n"
        "    process = safe_context().Process(target=show)\n    process.start()\n    process.join()\n"
    )
    for value, output in ((None, "None"), ("yes", "yes")):
        if value is not None:
            monkeypatch.setenv("PYTHONSAFEPATH", value)
        result = children.start([sys.executable, str(program)], folder.parent).finish()
        assert result.out.split() == [output], result.err
