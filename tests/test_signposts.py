"""Dotted names in docstrings and comments lead to something."""

from __future__ import annotations

import ast
import importlib
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

import pytest_evalstudio

PACKAGE = Path(pytest_evalstudio.__file__).parent
PACKAGES = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
DOTTED = re.compile(r"`+((?:pytest_evalstudio\.)?[a-z_]+(?:\.\w+)+)(?:\(\))?`+")
FILES = ("record.json", "record.jsonl", "comparison.json")
SETTINGS = ("comparison.confirm",)
"""Keys of the configuration, which has a table named like a package."""
FORMER = {"engine", "batch", "mrm", "otel", "review"}
"""Packages of before, whose names still catch the eye."""


def texts(source: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def leads_somewhere(name: str) -> bool:
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(["pytest_evalstudio", *parts[:length]]))
        except ImportError:
            continue
        for part in parts[length:]:
            if part not in getattr(value, "__annotations__", {}) and not hasattr(value, part):
                return False
            value = getattr(value, part, None)
        return True
    return False


def wrong(source: str) -> list[str]:
    names = [
        (line, name.removeprefix("pytest_evalstudio."))
        for line, text in texts(source)
        for name in DOTTED.findall(text)
        if not name.endswith(FILES) and name not in SETTINGS
    ]
    return [
        f"line {line}: {name}"
        for line, name in names
        if name.partition(".")[0] in PACKAGES | FORMER and not leads_somewhere(name)
    ]


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_dotted_names_in_texts_lead_to_modules_and_their_names(package: str) -> None:
    for path in sorted((PACKAGE / package).rglob("*.py")):
        assert not wrong(path.read_text(encoding="utf-8")), path


def test_a_name_of_before_is_found() -> None:
    assert wrong('"""See `engine.asking.runs`, `core.errors.DataError` and `scoring.plan.nothing`."""') == [
        "line 1: engine.asking.runs",
        "line 1: scoring.plan.nothing",
    ]
