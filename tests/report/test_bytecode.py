"""Compiled templates that later runs take instead of compiling."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment

from pytest_evalstudio.report.bytecode import TemplateBytecode


@pytest.fixture(autouse=True)
def _python_keeps_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


def compiled(folder: Path, source: str = "{{ 1 + 1 }}", options: str = "plain") -> tuple[str, int]:
    """Render a template in a new environment; return its text and how often it was compiled."""
    compilations = 0

    class Counting(Environment):
        def _generate(self, *arguments, **options):
            nonlocal compilations
            compilations += 1
            return super()._generate(*arguments, **options)

    environment = Counting(
        loader=DictLoader({"page": source}), bytecode_cache=TemplateBytecode(options, folder)
    )
    return environment.get_template("page").render(), compilations


def test_a_template_is_compiled_once(tmp_path: Path) -> None:
    folder = tmp_path / "__pycache__"
    assert [compiled(folder) for _ in range(2)] == [("2", 1), ("2", 0)]


def test_a_changed_template_and_other_options_are_compiled(tmp_path: Path) -> None:
    compiled(tmp_path)
    assert compiled(tmp_path, "{{ 1 + 2 }}") == ("3", 1)
    assert compiled(tmp_path, "{{ 1 + 2 }}", options="trimmed") == ("3", 1)


def test_a_broken_file_is_compiled_anew(tmp_path: Path) -> None:
    compiled(tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-20])
    assert compiled(tmp_path) == ("2", 1)


def test_a_folder_that_cannot_be_written_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    assert compiled(tmp_path / "file" / "__pycache__") == ("2", 1)
    assert compiled(tmp_path / "file") == ("2", 1)


def test_nothing_is_kept_where_python_keeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    compiled(tmp_path)
    assert list(tmp_path.iterdir()) == []
