"""Messages use the words of the glossary; private terms of earlier versions do not come back."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "pytest_evalstudio"
INSTEAD = {
    r"fence[sd]?": "marker",
    r"survivors?": "mutants that no test fails",
    r"charged": "count",
    r"settled?": "tell, be enough",
    r"lend(?:s|er)?": "provide",
    r"worked off": "evaluated",
    r"shelf": "registry",
    r"held against": "compared with",
    r"is had|can be had": "is available",
    r"hostile": "untrusted",
}
PROMPTS = ("judges", "perturbations", "metrics/groundedness", "contrib/mutation/texts.py")
"""Texts for models, and of data: they are no messages to people."""
MODULES = [
    path
    for path in sorted(PACKAGE.rglob("*.py"))
    if not path.relative_to(PACKAGE).as_posix().startswith(PROMPTS)
]


def messages(tree: ast.Module) -> Iterator[str]:
    """Yield the texts of several words that are neither docstrings nor comments on values."""
    docstring_ids = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) and id(node) not in docstring_ids else None
        if isinstance(text, str) and " " in text.strip():
            yield text


@functools.cache
def all_messages() -> tuple[tuple[str, str], ...]:
    """Return the messages of all modules, each with the path of its module."""
    return tuple(
        (str(path.relative_to(PACKAGE)), text)
        for path in MODULES
        for text in messages(ast.parse(path.read_text(encoding="utf-8")))
    )


@pytest.mark.parametrize("word", INSTEAD)
def test_no_message_has_a_replaced_word(word: str) -> None:
    pattern = re.compile(rf"\b(?:{word})\b", re.IGNORECASE)
    used = [f"{path}: {text[:80]}" for path, text in all_messages() if pattern.search(text)]
    assert not used, f"write: {INSTEAD[word]}"
