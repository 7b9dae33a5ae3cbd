"""Descriptions of classes and attributes from their docstrings, for the tables of the documentation."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

from pytest_evalstudio.core.docstrings import as_sentence, attribute_text, summary_of


def paragraphs(cls: type) -> Iterator[str]:
    """Return the paragraphs of a docstring before its sections."""
    text = inspect.getdoc(cls) or ""
    body = re.split(r"\n\s*\n(?=(?:Args|Attributes|Raises|Returns|Source|Example|>>>))", text)[0]
    yield from body.splitlines()


def source_line(cls: type) -> str:
    """Return the line `Source:` of a docstring as a sentence; without it the program ends."""
    match = re.search(r"^Source: (.*(?:\n {2,}.*)*)", inspect.getdoc(cls) or "", re.MULTILINE)
    if match is None:
        raise SystemExit(f"{cls.__module__}: the docstring of {cls.__name__} has no line `Source: …`; add it")
    return as_sentence(" ".join(match[1].split()))


def attribute_or_summary(cls: type, attribute: str) -> str:
    """Return the description of an attribute in the docstring of a class; else the summary of the class."""
    return attribute_text(cls, attribute) or as_sentence(summary_of(cls))
