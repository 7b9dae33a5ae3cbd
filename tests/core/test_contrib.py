"""Optional parts: what their descriptors bring to the command line."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_evalstudio.cli.commands import commands
from pytest_evalstudio.core.plugins.contrib import contribs

PART = """
from pytest_evalstudio.core.plugins.contrib import Command, Contrib

CONTRIB = Contrib(name="acme", commands={"NAME": Command(target="acme:add_to", text="Count to three.")})


def add_to(parser):
    parser.add_argument("--from", dest="first", type=int, default=1)
    parser.set_defaults(command=lambda arguments: print(*range(arguments.first, 4)) or 0)
"""


def evalstudio(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}
    command = [sys.executable, "-m", "pytest_evalstudio.cli", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def install(folder: Path, source: str, target: str = "acme:CONTRIB") -> None:
    (folder / "acme.py").write_text(source, encoding="utf-8")
    metadata = folder / "acme-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text(
        f"[pytest_evalstudio.contrib]\nacme = {target}\n", encoding="utf-8"
    )


def test_names_of_descriptors_are_those_of_their_modules() -> None:
    for contrib in contribs():
        module = importlib.import_module(f"pytest_evalstudio.contrib.{contrib.name}")
        assert module.CONTRIB is contrib


@pytest.mark.parametrize("name", commands())
def test_the_target_of_a_command_exists(name: str) -> None:
    assert callable(commands()[name].load())


def test_an_installed_package_brings_a_command(tmp_path: Path) -> None:
    install(tmp_path, PART.replace("NAME", "acme-count"))
    assert "acme-count" in evalstudio("--help", folder=tmp_path).stdout
    run = evalstudio("acme-count", "--from", "2", folder=tmp_path)
    assert (run.returncode, run.stdout, run.stderr) == (0, "2 3\n", "")


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (PART.replace("NAME", "compare"), "acme:CONTRIB", "the command 'compare' is already that of"),
        ("CONTRIB = 1\n", "acme:CONTRIB", "is not a Contrib but int"),
        ("raise RuntimeError('broken')\n", "acme:CONTRIB", "does not load (acme:CONTRIB): "),
        (PART, "acme:MISSING", "does not load (acme:MISSING): "),
    ],
)
def test_a_faulty_part_is_named_without_a_traceback(
    tmp_path: Path, source: str, target: str, message: str
) -> None:
    install(tmp_path, source, target)
    run = evalstudio("evaluators", folder=tmp_path)
    assert run.returncode == 2
    assert message in run.stderr
    assert "Traceback" not in run.stderr


def test_help_imports_no_module_of_a_command() -> None:
    code = (
        "import sys\nfrom pytest_evalstudio.cli.main import parser_of_commands\n"
        "parser_of_commands(['--help']).format_help()\n"
        "print(sorted(name for name in sys.modules if name.startswith('pytest_evalstudio.cli.')))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == str([
        f"pytest_evalstudio.cli.{name}" for name in ("commands", "common", "main")
    ])  # fmt: skip
