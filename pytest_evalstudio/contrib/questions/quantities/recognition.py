"""Quantities of sentences: amounts, shares, periods, dates, measures and numbers."""

from __future__ import annotations

import functools
import itertools
import re
from dataclasses import dataclass
from typing import Literal

from pytest_evalstudio.contrib.questions.quantities.notation import (
    COUNT,
    MONTH,
    NUMBER,
    PARTS,
    POINTED,
    SCALE,
    TIME,
    UNITS,
)
from pytest_evalstudio.contrib.questions.quantities.patterns import pattern
from pytest_evalstudio.core.plugins.generator import Corpus

Kind = Literal["money", "percent", "date", "period", "measure", "number"]

_MAX_OTHERS = 50
_CURRENCY_NAMES = r"euros?|pounds?|dollars?|EUR|GBP|USD|CHF|pence|cents"
_WORKING = r"(?:working|business|calendar|consecutive)"
# The first kind that matches wins: "£5 million" is money before "5 million" is a number.
_KINDS: tuple[tuple[Kind, str], ...] = (
    (
        "money",
        rf"(?:[£$€]|CHF\s|EUR\s|GBP\s|USD\s)\s?(?:{POINTED}(?!\d)|{NUMBER}){SCALE}?"
        rf"|(?:{POINTED}|{NUMBER}){SCALE}?\s(?:€|(?:{_CURRENCY_NAMES})\b)|\d+p\b",
    ),
    ("percent", rf"{NUMBER}\s?(?:%|percent|per\scent)"),
    (
        "date",
        rf"\d{{1,2}}\s{MONTH}(?:\s\d{{4}})?|{MONTH}\s\d{{1,2}},\s\d{{4}}|{MONTH}\s\d{{4}}|\d{{4}}-\d{{2}}-\d{{2}}"
        r"|(?<=\bin\s)(?:19|20)\d\d(?!\s[a-z]{4})|(?<=\bsince\s)(?:19|20)\d\d|(?<=\bby\s)(?:19|20)\d\d(?!\s[a-z])"
        r"|(?<=\buntil\s)(?:19|20)\d\d",
    ),
    ("period", rf"{COUNT}[\s-](?:{_WORKING}[\s-])?{TIME}s?"),
    ("measure", rf"{COUNT}{SCALE}?\s?(?:{'|'.join(unit.symbol for unit in UNITS.values())})(?![\w/])"),
    ("number", rf"{NUMBER}{SCALE}?"),
)
_ANY = re.compile("|".join(rf"(?P<{kind}>(?:{notation}))" for kind, notation in _KINDS), re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20)\d\d")
_NOUN = re.compile(
    r"\s(?!(?:and|or|but|to|for|in|on|at|by|with|than|from|until|as|when|if|is|are|was|were|has|had|after|before)\b)[a-z]"
)
"""Word after a number that it may count."""
_COUNT_WORD = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b(?=\s(?:[a-z-]+\s){0,2}?[A-Za-z-]+s\b)"
)
_IDENTIFIED = re.compile(
    r"(?i)(?:\b(?:annex|appendix|article|box|call|channel|chapter|clause|code|dial|extension|floor|form|gate|level"
    r"|line|no\.|number|numbers|page|paragraph|platform|regulation|room|route|rule|section|table|version|zone)"
    r"|\b(?:code|extension|line|number(?!s?\sof\b))\b[^.,;]{0,60}?\s(?:is|was|at|on))\s$"
)
"""Words before a number that names something and counts nothing."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity with its position in the sentence."""

    kind: Kind
    text: str
    start: int
    end: int


def quantities(sentence: str) -> list[Quantity]:
    """Return the quantities of a sentence, in order, without numbers that are part of a word.

    >>> [(hit.kind, hit.text) for hit in quantities("It costs £2.50 within five working days from 1 March 2026.")]
    [('money', '£2.50'), ('period', 'five working days'), ('date', '1 March 2026')]
    """  # noqa: E501
    hits = []
    for match in _ANY.finditer(sentence):
        before, after = (
            sentence[max(0, match.start() - 2) : match.start()],
            sentence[match.end() : match.end() + 2],
        )
        if re.search(r"[\w.,/£$€-]$", before) or re.match(r"[\w/]|[.,-]\w", after):
            continue
        kind: Kind = match.lastgroup  # type: ignore[assignment]
        if kind == "number" and _YEAR.fullmatch(match.group()) and not _NOUN.match(sentence, match.end()):
            kind = "date"
        hits.append(Quantity(kind, match.group(), match.start(), match.end()))
    return hits


def is_identifier(quantity: Quantity, before: str, after: str) -> bool:
    """Report whether a number names something: a telephone number, a form, a section, a house.

    Args:
        before: words before the quantity.
        after: words after it.

    >>> is_identifier(quantities("Ask for form 12.")[0], "Ask for form ", ".")
    True
    """
    if quantity.kind != "number":
        return False
    is_code = len(quantity.text) > 1 and quantity.text.startswith("0") and quantity.text.isdigit()
    is_address = re.match(r"\s[A-Z][a-z]+\s[A-Z][a-z]+", after) is not None
    return is_code or is_address or bool(_IDENTIFIED.search(before))


def quantities_and_counts(text: str) -> list[Quantity]:
    """Return the quantities of a text, and number words before a plural."""
    hits = quantities(text)
    counts = [
        Quantity("number", match.group(), match.start(), match.end())
        for match in _COUNT_WORD.finditer(text)
        if not any(hit.start <= match.start() < hit.end for hit in hits)
    ]
    return sorted([*hits, *counts], key=lambda quantity: quantity.start)


def unit_of(quantity: str) -> str:
    """Return the unit of a quantity in the singular, "" for a mere number.

    >>> unit_of("five working days"), unit_of("£2.50"), unit_of("12 kg")
    ('working day', '£', 'kg')
    """
    parts = PARTS.fullmatch(quantity)
    unit = (parts["symbol"] or parts["unit"]).strip().strip("-") if parts is not None else ""
    return unit.removesuffix("s") if re.search(rf"{TIME}s$", unit) else unit


def other_quantities(quantity: Quantity, corpus: Corpus) -> list[str]:
    """Return the first different quantities of the same kind in the documents, each once."""
    same = re.compile(pattern(quantity.text))
    alike = _quantities_of(corpus).get((quantity.kind, _symbol(quantity.text)), {})
    return list(
        itertools.islice((other for other in alike.values() if not same.fullmatch(other)), _MAX_OTHERS)
    )


@functools.lru_cache(maxsize=1)
def _quantities_of(corpus: Corpus) -> dict[tuple[Kind, str], dict[str, str]]:
    """Return all quantities that documents state, in order, by kind and currency."""
    by_kind: dict[tuple[Kind, str], dict[str, str]] = {}
    for sentence in corpus.sentences:
        for quantity in quantities(sentence):
            by_kind.setdefault((quantity.kind, _symbol(quantity.text)), {}).setdefault(
                quantity.text.casefold(), quantity.text
            )
    return by_kind


def _symbol(text: str) -> str:
    return text[0] if text[0] in "£$€" else ""
