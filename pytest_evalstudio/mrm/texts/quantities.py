"""Amounts, shares, periods, dates and numbers in English sentences, and what else says the same."""

from __future__ import annotations

import functools
import itertools
import re
from dataclasses import dataclass
from typing import Literal

from pytest_evalstudio.core.plugins.generator import Corpus

Kind = Literal["money", "percent", "date", "period", "number"]

_MOST_OTHERS = 50
_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
_COUNT = rf"(?:{_NUMBER}|{'|'.join(_WORDS)})"
_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_KINDS: tuple[tuple[Kind, str], ...] = (
    (
        "money",
        rf"[£$€]\s?{_NUMBER}(?:\s(?:million|billion))?|{_NUMBER}\s(?:euros?|pounds?|dollars?|EUR|GBP|USD|CHF)",
    ),
    ("percent", rf"{_NUMBER}\s?(?:%|percent|per\scent)"),
    (
        "date",
        rf"\d{{1,2}}\s{_MONTH}(?:\s\d{{4}})?|{_MONTH}\s\d{{1,2}},\s\d{{4}}|{_MONTH}\s\d{{4}}|\d{{4}}-\d{{2}}-\d{{2}}",
    ),
    (
        "period",
        rf"{_COUNT}[\s-](?:(?:working|business|calendar)[\s-])?(?:second|minute|hour|day|week|month|year)s?",
    ),
    ("number", _NUMBER),
)
_ANY = re.compile("|".join(rf"(?P<{kind}>(?:{pattern}))" for kind, pattern in _KINDS), re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity with its position in the sentence."""

    kind: Kind
    text: str
    start: int
    end: int


def quantities(sentence: str) -> list[Quantity]:
    """The quantities of a sentence, in order; numbers that are part of a word are none.

    >>> [(found.kind, found.text) for found in quantities("It costs £2.50 within five working days from 1 March 2026.")]
    [('money', '£2.50'), ('period', 'five working days'), ('date', '1 March 2026')]
    """  # noqa: E501
    found = []
    for match in _ANY.finditer(sentence):
        before, after = (
            sentence[max(0, match.start() - 2) : match.start()],
            sentence[match.end() : match.end() + 2],
        )
        if re.search(r"[\w.,/£$€-]$", before) or re.match(r"[\w/]|[.,-]\w", after):
            continue
        kind: Kind = match.lastgroup  # type: ignore[assignment]
        found.append(Quantity(kind, match.group(), match.start(), match.end()))
    return found


def pattern(quantity: str) -> str:
    """A regular expression for a quantity however it is written: £5.00 or £5, 2,500 or 2500, five or 5.

    >>> bool(re.search(pattern("£2,500.00"), "at least £2500.")), bool(re.search(pattern("£5"), "£5.50"))
    (True, False)
    """
    pieces = [_piece(piece) for piece in re.findall(rf"{_NUMBER}|[A-Za-z]+|\s+|-|[^\w\s]", quantity)]
    end = r"(?![\d%])(?!\s?%)(?![.,]\d)" if quantity[-1].isdigit() else r"(?!\w)"
    return r"(?i)(?<![\w.,£$€])" + "".join(pieces) + end


def others(quantity: Quantity, corpus: Corpus) -> list[str]:
    """Return the first different quantities of the same kind in the documents, each once."""
    same = re.compile(pattern(quantity.text))
    alike = _stated(corpus).get((quantity.kind, _symbol(quantity.text)), {})
    return list(
        itertools.islice((other for other in alike.values() if not same.fullmatch(other)), _MOST_OTHERS)
    )


@functools.lru_cache(maxsize=1)
def _stated(corpus: Corpus) -> dict[tuple[Kind, str], dict[str, str]]:
    """By kind and currency all quantities that documents state, in order."""
    found: dict[tuple[Kind, str], dict[str, str]] = {}
    for sentence in corpus.sentences:
        for stated in quantities(sentence):
            found.setdefault((stated.kind, _symbol(stated.text)), {}).setdefault(
                stated.text.casefold(), stated.text
            )
    return found


def _symbol(text: str) -> str:
    return text[0] if text[0] in "£$€" else ""


def _piece(piece: str) -> str:
    if piece[0].isdigit():
        whole, _, fraction = piece.partition(".")
        grouped = ",?".join(whole.split(","))
        word = (
            f"|{_WORDS[int(whole) - 1]}"
            if whole.isdigit() and 1 <= int(whole) <= len(_WORDS) and not fraction
            else ""
        )
        decimals = "" if not fraction else rf"(?:\.{fraction})" + ("?" if not fraction.strip("0") else "")
        return f"(?:{grouped}{decimals or '(?:[.]0+)?'}{word})"
    if piece.casefold() in _WORDS:
        return f"(?:{piece}|{_WORDS.index(piece.casefold()) + 1})"
    if piece.isspace() or piece == "-":
        return r"[\s-]?" if piece.isspace() else r"[\s-]"
    if re.fullmatch(r"(?i)(?:second|minute|hour|day|week|month|year)s?", piece):
        return piece.rstrip("sS") + "s?"
    return r"\s?(?:%|per\s?cent)" if piece == "%" else re.escape(piece)
