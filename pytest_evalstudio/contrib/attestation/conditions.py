"""Direction of an edit of a condition, where its form shows it."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.condition import (
    And,
    Condition,
    Contains,
    Not,
    Number,
    Or,
    Word,
    parse_condition,
)

Direction = Literal["same", "stricter", "weaker", "other"]
"""Direction of an edit: "other" where neither can be shown."""
_MAX_PAIRS = 20_000
"""Pairs of parts that are compared; more is not decided."""


def direction_of(old: str, new: str) -> Direction:
    """Return whether a new condition accepts fewer or more texts than the old one.

    Args:
        old, new: source texts, "" for no condition.

    >>> direction_of('"a" AND "b"', '"b"'), direction_of('"a"', '"a" AND NOT "c"')
    ('weaker', 'stricter')
    """
    if old == new:
        return "same"
    if not old or not new:
        return "weaker" if old else "stricter"
    try:
        before, after = parse_condition(old), parse_condition(new)
        pairs: dict[tuple[Condition, Condition], bool] = {}
        is_stricter, is_weaker = _implies(after, before, pairs), _implies(before, after, pairs)
    except (DataError, OverflowError):
        return "other"
    if is_stricter:
        return "same" if is_weaker else "stricter"
    return "weaker" if is_weaker else "other"


def _implies(first: Condition, second: Condition, pairs: dict[tuple[Condition, Condition], bool]) -> bool:
    """Return True if each text that meets the first condition surely meets the second.

    Raises:
        OverflowError: if there are too many pairs.
    """
    pair = (first, second)
    if pair not in pairs:
        if len(pairs) >= _MAX_PAIRS:
            raise OverflowError
        pairs[pair] = False
        pairs[pair] = first == second or _implies_by_form(first, second, pairs)
    return pairs[pair]


def _implies_by_form(
    first: Condition, second: Condition, pairs: dict[tuple[Condition, Condition], bool]
) -> bool:
    if isinstance(second, And):
        return all(_implies(first, operand, pairs) for operand in second.operands)
    if isinstance(first, Or):
        return all(_implies(operand, second, pairs) for operand in first.operands)
    if isinstance(first, And) and any(_implies(operand, second, pairs) for operand in first.operands):
        return True
    if isinstance(second, Or):
        return any(_implies(first, operand, pairs) for operand in second.operands)
    if isinstance(first, Not) and isinstance(second, Not):
        return _implies(second.operand, first.operand, pairs)
    return _term_implies(first, second)


def _term_implies(first: Condition, second: Condition) -> bool:
    if isinstance(first, Number) and isinstance(second, Number):
        is_same = Fraction(first.written) == Fraction(second.written)
        return is_same and second.unit in ("", first.unit) and _tolerance(first) <= _tolerance(second)
    return isinstance(first, Word) and isinstance(second, Contains) and first.text == second.text


def _tolerance(number: Number) -> Fraction:
    if number.tolerance.endswith("%"):
        return abs(Fraction(number.written)) * Fraction(number.tolerance[:-1]) / 100
    return Fraction(number.tolerance or 0)
