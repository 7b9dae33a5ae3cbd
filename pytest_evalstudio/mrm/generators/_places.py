"""Quantities of the rest of a clause, with the words around them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from pytest_evalstudio.mrm.texts.quantities import (
    Quantity,
    is_identifier,
    pattern,
    quantities,
    range_pattern,
    unit_of,
)

_NEAR = r"about|around|approximately|nearly|almost|roughly|just|an average of|some|a total of"
_BOUND = (
    r"at least|at most|up to|no more than|not more than|no less than|a maximum of|a minimum of"
    r"|up to a maximum of"
)
_BEYOND = (
    r"more than|less than|fewer than|over|under|longer than|older than|higher than|greater than|exceeding"
)
_PREPOSITION = (
    r"within|for|after|before|by|at|to|from|of|in|on|since|until|below|above|with|between|every|as|up"
)
_BEFORE = re.compile(
    rf"(?i)(?:^|\s)(?:(?P<prep>{_PREPOSITION})\s)?(?:(?P<bound>{_BOUND})\s)?(?:(?P<near>{_NEAR})\s)?$"
)
_BEYOND_BEFORE = re.compile(
    rf"(?i)\b(?:{_BEYOND}|another|further|additional|last|first|next|initial|the|old|than)\s$"
)

_RANGE_START = re.compile(r"^\S+(?:\s?(?:–|-)\s?(?=\d)|\s(?:to|and)\s(?!a\shalf))")


_RATE = re.compile(r"\s(?:per|an?|each|every)\s(?:second|minute|hour|day|week|month|year)\b")


class Place(NamedTuple):
    """A quantity of the rest of a clause, with the words around it."""

    quantity: Quantity
    condition: str
    before: str
    prep: str
    bound: str
    near: str
    after: str

    @property
    def unit(self) -> str:
        """Return the unit of the quantity, or of the last number of a range."""
        return unit_of(_RANGE_START.sub("", self.quantity.text))

    @property
    def rate(self) -> str:
        """Return the words that make a measure or price a rate: " per second", "" if there are none."""
        match = _RATE.match(self.after) if self.quantity.kind in ("measure", "money") else None
        return match.group() if match else ""


def places(part: str) -> Iterator[Place]:
    """Yield the quantities that a question can ask for, each with its condition."""
    stated = _merged(part, with_counts(part))
    stated = [
        (quantity, form)
        for quantity, form in stated
        if not is_identifier(quantity, part[: quantity.start], part[quantity.end :])
    ]
    for quantity, condition in stated:
        before = part[: quantity.start]
        match = _BEFORE.search(before)
        if match is None or _BEYOND_BEFORE.search(
            before[: match.end()] if not match["bound"] else before[: match.start("bound")]
        ):
            continue
        head = before[: match.start()].rstrip()
        prep, bound = (match["prep"] or "").lower(), (match["bound"] or "").lower()
        if prep == "up":
            continue
        if prep and not head and not before[: match.start("prep")].strip():
            head = ""
        yield Place(quantity, condition, head, prep, bound, match["near"] or "", part[quantity.end :])


_COUNT_WORDS = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b(?=\s(?:[a-z-]+\s){0,2}?[A-Za-z-]+s\b)"
)


def with_counts(part: str) -> list[Quantity]:
    """Return the quantities of a text, and number words before a plural."""
    stated = quantities(part)
    words = [
        Quantity("number", match.group(), match.start(), match.end())
        for match in _COUNT_WORDS.finditer(part)
        if not any(other.start <= match.start() < other.end for other in stated)
    ]
    return sorted([*stated, *words], key=lambda quantity: quantity.start)


def _merged(part: str, stated: list[Quantity]) -> list[tuple[Quantity, str]]:
    """Return quantities with their conditions; the two ends of a range are one quantity."""
    merged: list[tuple[Quantity, str]] = []
    at = 0
    while at < len(stated):
        first = stated[at]
        if at + 1 < len(stated):
            last = stated[at + 1]
            between = part[first.end : last.start]
            opened = re.search(r"between\s$", part[: first.start])
            is_range = (between == " and " and opened) or (
                between in (" to ", "–", "-")
                and first.kind in ("number", last.kind)
                and not re.search(r"from\s$", part[: first.start])
            )
            if is_range:
                whole = replace(last, text=part[first.start : last.end], start=first.start)
                merged.append((whole, range_pattern(first.text, last.text)))
                at += 2
                continue
            if re.fullmatch(r",?\s(?:or|and)\s|,\s", between) and first.kind in ("number", last.kind):
                return []
        merged.append((first, pattern(first.text)))
        at += 1
    return merged
