"""Descriptions of classes, functions and attributes from their docstrings."""

from __future__ import annotations

import inspect
import re


def summary_of(documented: object) -> str:
    """Return the first paragraph of a docstring on one line, "" where it has none.

    >>> summary_of(dict)[:17]
    'dict() -> new emp'
    """
    return " ".join((documented.__doc__ or "").strip().partition("\n\n")[0].split())


def attribute_text(cls: type, attribute: str) -> str:
    """Return the description of an attribute as a sentence, or ""; see `attribute_description`."""
    text = attribute_description(cls, attribute)
    return as_sentence(text) if text else ""


def attribute_description(cls: type, attribute: str) -> str:
    """Return the description of an attribute in the section Attributes of a class or its bases, or ""."""
    for owner in cls.__mro__:
        text = inspect.cleandoc(vars(owner).get("__doc__") or "")  # Python 3.13 does so itself
        section = text.partition("Attributes:")[2]
        match = re.search(rf"^ +(?:\w+, )*{attribute}(?:, \w+)*: (.*(?:\n {{8,}}.*)*)", section, re.MULTILINE)
        if match:
            return " ".join(match[1].split())
    return ""


def as_sentence(text: str) -> str:
    """Return a text with a capital and a full stop."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")
