"""Occurrences of quantities in documents, in any notation."""

from __future__ import annotations

import functools
import re

from pytest_evalstudio.contrib.questions.quantities.notation import HALF, PARTS, VALUES
from pytest_evalstudio.contrib.questions.quantities.patterns import pattern
from pytest_evalstudio.core.plugins.generator import Corpus

_GROUPED = re.compile(r"\d{1,3}(?:[,.’'\u00a0\u202f ]\d{3})+(?!\d)")
_DIGITS_OR_WORD = re.compile(r"\d+|[a-z]+", re.IGNORECASE)


def occurs(quantity: str, corpus: Corpus) -> bool:
    """Report whether a sentence of the documents has a quantity that is no date: £5.00 or £5, 5 or five.

    Only sentences with the same number are searched, for each quantity once: time is linear in the documents.
    """
    answers = _answers(corpus)
    if quantity not in answers:
        expression = re.compile(pattern(quantity))
        sentences = _by_number(corpus).get(_number(quantity), ())
        answers[quantity] = any(expression.search(sentence) for sentence in sentences)
    return answers[quantity]


@functools.lru_cache(maxsize=1)
def _answers(corpus: Corpus) -> dict[str, bool]:
    """Return the place for the answers on one corpus."""
    return {}


def _number(quantity: str) -> str:
    """Return the digits of the whole part of a quantity's number.

    >>> _number("£2,500.50"), _number("five days"), _number("10.000 Euro"), _number("two and a half hours")
    ('2500', '5', '10000', '2')
    """
    parts = PARTS.fullmatch(quantity)
    number = re.sub(f"{HALF}$", "", parts["number"].lower()) if parts is not None else ""
    if number in VALUES:
        return str(VALUES[number])
    grouped = _GROUPED.match(number)
    return re.sub(r"\D", "", grouped.group()) if grouped else re.split(r"\D", number)[0]


@functools.lru_cache(maxsize=1)
def _by_number(corpus: Corpus) -> dict[str, list[str]]:
    """Return the different sentences of documents by the digits of each number in them."""
    by_number: dict[str, list[str]] = {}
    for sentence in dict.fromkeys(corpus.sentences):
        tokens = {str(VALUES.get(token.lower(), token)) for token in _DIGITS_OR_WORD.findall(sentence)}
        tokens |= {re.sub(r"\D", "", number) for number in _GROUPED.findall(sentence)}
        for number in filter(str.isdigit, tokens):
            by_number.setdefault(number, []).append(sentence)
    return by_number
