"""Conditions written from texts, patterns and lists of constraints."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.condition_terms import escaped


def substring_condition(text: str) -> str:
    r"""Return the condition that the answer contains a text, with any characters.

    >>> print(substring_condition('say "hi"'))
    "say \"hi\""
    """
    return f'"{escaped(text)}"'


def word_condition(text: str) -> str:
    r"""Return the condition that the answer has a text as a whole word, number or phrase.

    >>> print(word_condition("5 USD"))
    word("5 USD")
    """
    return f'word("{escaped(text)}")'


def value_condition(text: str) -> str:
    """Return the condition that the answer has a text: a number alone by its value, as a whole if it has one.

    >>> [value_condition(text) for text in ("1,200", "5 USD", "Paris")]
    ['number(1200)', 'word("5 USD")', '"Paris"']
    """
    from pytest_evalstudio.text.comparison import longer_number
    from pytest_evalstudio.text.values import decimal_text

    if number := decimal_text(text):
        return f"number({number})"
    return word_condition(text) if longer_number(text) else substring_condition(text)


def answer_condition(expected: str, question: str = "") -> str:
    """Return the condition that an answer says the same as an expected answer, in its own words.

    A yes or no is one by its statement, a value is compared by value, and of a phrase of a few words each
    word must be there that the question has not.

    Args:
        expected: "Yes." or "No." with or without a reason, a value, or a name or list of at most 6 words.
        question: that is answered; a yes or no needs it.

    Returns:
        The condition, "" where none follows from the expected answer.

    >>> answer_condition("Yes. They are kept for ten years.", "Are records kept for ten years?")
    'affirms("Are records kept for ten years?")'
    >>> answer_condition("half an hour"), answer_condition("It depends on how often you travel with us.")
    ('value("half an hour")', '')
    """
    from pytest_evalstudio.text.stated_values import value_alone

    if question.strip() and (word := _YES_OR_NO.match(expected)):
        return f'{"affirms" if word[1].lower() == "yes" else "denies"}("{escaped(question)}")'
    if value_alone(expected) is not None:
        return f'value("{escaped(expected.strip())}")'
    return _words_condition(expected, question)


def value_or_pattern_condition(text: str, pattern: str) -> str:
    """Return the condition that the answer states a value; for a text that is no value alone, a pattern's.

    Args:
        text: an amount, duration, frequency, share or date, or another text.
        pattern: regular expression for the other text.

    >>> value_or_pattern_condition("30 minutes", "30 min")
    'value("30 minutes")'
    >>> value_or_pattern_condition("ten to twenty", "10.+20")
    'regexp("10.+20")'
    """
    from pytest_evalstudio.text.stated_values import value_alone

    # "10.000 euros" may be ten or ten thousand.
    if value_alone(text) is None or _POINTED.search(text):
        return pattern_condition(pattern)
    return f'value("{escaped(text.strip())}")'


_POINTED = re.compile(r"[1-9][0-9]{0,2}\.[0-9]{3}(?![0-9])")
_YES_OR_NO = re.compile(r"\s*(yes|no)(?:[.,;:!]|\s*\Z)", re.IGNORECASE)
_WORD = re.compile(r"[^\W_][\w'’-]*")
_SMALL_WORDS = frozenset(
    "a an the and or of in on at to by for with as well our your their its his her".split()  # noqa: SIM905
)
_MAX_PHRASE_WORDS = 6


def _words_condition(expected: str, question: str) -> str:
    words = [word for word in _WORD.findall(expected) if word.lower() not in _SMALL_WORDS]
    if not words or len(words) > _MAX_PHRASE_WORDS:
        return ""
    asked = {word.lower() for word in _WORD.findall(question)}
    required = [word for word in words if word.lower() not in asked] or words
    patterns = (rf"(?i)\b{re.escape(_singular(word))}" for word in dict.fromkeys(required))
    return " AND ".join(map(pattern_condition, patterns))


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and len(word) > 3 and not word.endswith("ss") else word


def pattern_condition(pattern: str) -> str:
    r"""Return the condition that a regular expression matches somewhere in the answer.

    >>> print(pattern_condition('^"a"'))
    regexp("^\"a\"")
    """
    return f'regexp("{escaped(pattern)}")'


def constraints_to_condition(constraints: Sequence[object] | str) -> str:
    """Return the condition that is equivalent to a list of constraints, or "" for an empty list.

    Args:
        constraints: a list is AND, a list inside it is OR, a string is a substring, `REGEXP:x` a regular
            expression.

    Raises:
        DataError: if an entry is neither a string nor a list of strings.

    >>> constraints_to_condition(["a", "REGEXP:b?", ["C", "c"]])
    '"a" AND regexp("b?") AND ("C" OR "c")'
    """
    items = [constraints] if isinstance(constraints, str) else constraints
    if not isinstance(items, list | tuple):
        raise DataError(f"constraints are a list of strings and lists of strings, not {_named_type(items)}")
    operands = []
    for index, item in enumerate(items):
        if isinstance(item, list | tuple):
            choices = [_operand(choice, f"/{index}/{position}") for position, choice in enumerate(item)]
            if choices:
                operands.append(f"({' OR '.join(choices)})" if len(choices) > 1 else choices[0])
        else:
            operands.append(_operand(item, f"/{index}"))
    return " AND ".join(operands)


def _operand(item: object, pointer: str) -> str:
    if not isinstance(item, str):
        raise DataError(
            "a constraint is a string, or a list of strings of which one must be met, not"
            f" {_named_type(item)}",
            pointer=pointer,
        )
    if item.startswith("REGEXP:"):
        return pattern_condition(item.removeprefix("REGEXP:"))
    return substring_condition(item)


def _named_type(value: object) -> str:
    return {bool: "a boolean", dict: "an object", int: "a number", float: "a number", type(None): "null"}.get(
        type(value), type(value).__name__
    )
