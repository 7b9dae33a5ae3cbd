"""Accepted answers of a case: one expected output, or several that are right each by itself."""

from __future__ import annotations


def divided(expected: object, accepted: object = None) -> tuple[str, list[str]]:
    """Return the first of the accepted answers, and the others.

    Args:
        expected: a text, a list of texts, or None.
        accepted: further accepted answers: a text, a list of texts, or None.

    Raises:
        ValueError: if one of several accepted answers is no text, or has no visible character.

    >>> divided(["15 USD", "fifteen dollars"])
    ('15 USD', ['fifteen dollars'])
    """
    outputs = [*_listed(expected), *_listed(accepted)]
    for output in outputs:
        if not isinstance(output, str) or not output.strip():
            kind = "a blank text" if isinstance(output, str) else type(output).__name__
            raise ValueError(f"each of several accepted answers must be a text with words, found {kind}")
    first, *others = dict.fromkeys(map(str, outputs)) or [""]
    return first, others


def _listed(value: object) -> list[object]:
    if value is None or value == "":
        return []
    return list(value) if isinstance(value, list | tuple) else [value]
