"""Comparison of JSON values with expected values, which may be matchers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_evalstudio.core.errors import ConfigurationError, EvaluationError
from pytest_evalstudio.core.json_pointers import have_names, member
from pytest_evalstudio.formats.matchers import DEFAULT_TOLERANCE, is_number, matcher_of
from pytest_evalstudio.formats.patterns import compiled, shortened
from pytest_evalstudio.text.comparison import has_part
from pytest_evalstudio.text.folding import fold, same_characters

_PATTERN_TIMEOUT_S = 2.0  # a user's pattern may take exponential time


class _Absent:
    """The value of an argument that is not there."""


ABSENT = _Absent()


def matches(actual: Any, expected: Any) -> bool:
    """Return whether a value meets an expectation, see `formats.matchers`.

    Args:
        actual: JSON value; ABSENT where there is none.
        expected: JSON value or matcher without faults, at most 100 levels deep.

    Raises:
        EvaluationError: if a pattern takes longer than 2 s, or a schema is faulty.

    >>> matches(1.0, 1), matches(True, 1), matches("Illness", {"$regex": "(?i)^illness"})
    (True, False, True)
    """
    if isinstance(expected, str):
        return isinstance(actual, str) and same_characters(actual, expected)
    if name := matcher_of(expected):
        return _meets(actual, name, expected)
    if isinstance(expected, Mapping):
        return (
            isinstance(actual, Mapping)
            and have_names(actual, expected)
            and all(matches(member(actual, key, ABSENT), item) for key, item in expected.items())
        )
    if isinstance(expected, list | tuple):
        return (
            isinstance(actual, list | tuple)
            and len(actual) == len(expected)
            and all(map(matches, actual, expected))
        )
    if is_number(expected) or is_number(actual):
        return is_number(expected) and is_number(actual) and actual == expected
    return type(actual) is type(expected) and bool(actual == expected)


def _meets(actual: Any, name: str, matcher: Mapping[str, Any]) -> bool:
    operand = matcher[name]
    if name == "$absent" or actual is ABSENT:
        return name == "$absent" and actual is ABSENT
    match name:
        case "$one_of":
            return any(matches(actual, choice) for choice in operand)
        case "$regex":
            return isinstance(actual, str) and (
                _is_in(operand, actual) or ((plain := fold(actual)) != actual and _is_in(operand, plain))
            )
        case "$approx":
            tolerance = matcher.get("tolerance", DEFAULT_TOLERANCE)
            return is_number(actual) and abs(actual - operand) <= tolerance
        case "$contains":
            return _contains(actual, operand)
        case "$schema":
            return not _schema_fault(actual, operand)
    return True


def _is_in(pattern: str, text: str) -> bool:
    try:
        return compiled(pattern).search(text, timeout=_PATTERN_TIMEOUT_S) is not None
    except TimeoutError:
        fact = f"the pattern {shortened(pattern)!r} takes longer than {_PATTERN_TIMEOUT_S:g} s"
        raise EvaluationError(f"{fact}; simplify it") from None


def _contains(actual: Any, part: Any) -> bool:
    if isinstance(actual, str):
        return isinstance(part, str) and (part == actual or has_part(actual, part))
    if isinstance(actual, Mapping):
        return isinstance(part, Mapping) and all(
            matches(member(actual, key, ABSENT), item) for key, item in part.items()
        )
    return isinstance(actual, list | tuple) and any(matches(item, part) for item in actual)


def _schema_fault(value: Any, schema: object) -> str:
    from pytest_evalstudio.metrics.json_schema import read_schema, schema_fault

    try:
        canonical = read_schema(schema, ".")
    except ConfigurationError as exc:
        raise EvaluationError(f"$schema: {exc}") from None
    return schema_fault(value, canonical)
