"""Probabilities of a judge's grades, from the log probabilities of the tokens of its reply."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

TOP_LOGPROBS = 20
"""Alternatives per token that services give at most."""
_AROUND = " \t\r\n\"':"


class TokenAlternatives(NamedTuple):
    """Token of a reply, with the tokens that could stand in its place and their log probabilities."""

    text: str
    alternatives: tuple[tuple[str, float], ...]


def tokens_of(choice: Mapping[str, Any]) -> list[TokenAlternatives]:
    """Return the tokens of a choice of a chat completion; [] where the service gives none."""
    logprobs = choice.get("logprobs")
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    tokens = content if isinstance(content, list) else []
    return [
        TokenAlternatives(
            str(token.get("token", "")),
            tuple(
                (other["token"], float(other["logprob"]))
                for other in token.get("top_logprobs") or ()
                if isinstance(other, Mapping)
                and isinstance(other.get("token"), str)
                and isinstance(other.get("logprob"), int | float)
            ),
        )
        for token in tokens
        if isinstance(token, Mapping)
    ]


def grade_probabilities(tokens: Sequence[TokenAlternatives], key: str) -> dict[str, float]:
    """Return the probability of each grade that a reply could have given.

    Args:
        tokens: of a JSON object, in order.
        key: of the grade in the object; where it occurs several times, the last one counts.

    Returns:
        Whole numbers as texts to probabilities above 0 that add up to 1; {} where the grade is not a token of
        its own, or has no alternatives.

    Source: Liu et al., 2023 (G-Eval), expectation over the token probabilities of scores.

    >>> grade = TokenAlternatives("4", (("4", -0.5108256), ("5", -0.9162907)))
    >>> probabilities = grade_probabilities([TokenAlternatives('{"grade": ', ()), grade], "grade")
    >>> {grade: round(value, 3) for grade, value in probabilities.items()}
    {'4': 0.6, '5': 0.4}
    """
    text = "".join(token.text for token in tokens)
    grades = list(re.finditer(rf'"{re.escape(key)}"\s{{0,99}}:\s{{0,99}}"?(\d{{1,9}})', text))
    if not grades:
        return {}
    start, end = grades[-1].span(1)
    position = 0
    for token in tokens:
        if position <= start < position + len(token.text):
            if token.text.strip(_AROUND) != text[start:end]:
                return {}
            return _normalised(token.alternatives)
        position += len(token.text)
    return {}


def _normalised(alternatives: Sequence[tuple[str, float]]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for text, logarithm in alternatives:
        grade = text.strip(_AROUND)
        if grade.isascii() and grade.isdigit() and logarithm <= 0:
            sums[grade] = sums.get(grade, 0.0) + math.exp(logarithm)
    total = math.fsum(sums.values())
    return {grade: value / total for grade, value in sums.items() if value} if total else {}
