"""Quantities of the rest of a clause with the words around them, and questions for them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from pytest_evalstudio.contrib.questions.quantities import (
    Quantity,
    is_identifier,
    pattern,
    quantities,
    quantities_and_counts,
    range_pattern,
    unit_of,
)

_NEAR = r"about|around|approximately|nearly|almost|roughly|just|an average of|some|a total of"
_BOUND = (
    r"at least|at most|up to|no more than|not more than|no less than|a maximum of|a minimum of"
    r"|up to a maximum of|no later than|no longer than|no fewer than|no earlier than"
)
_PREPOSITION = (
    r"within|for|after|before|by|at|to|from|of|in|on|since|until|below|above|with|between|every|as|up"
)
_BEFORE = re.compile(
    rf"(?i)(?:^|\s)(?:(?P<prep>{_PREPOSITION})\s)?(?:(?P<bound>{_BOUND})\s)?(?:(?P<near>{_NEAR})\s)?$"
)
_COMPARISON_BEFORE = re.compile(
    r"(?i)\b(?:more than|less than|fewer than|over|under|longer than|older than|higher than|greater than"
    r"|exceeding|another|further|additional|last|first|next|initial|the|old|than)\s$"
)
"""Words before a quantity that is only a limit, or one of several."""
_RANGE_START = re.compile(r"^\S+(?:\s?(?:–|-)\s?(?=\d)|\s(?:to|and)\s(?!a\shalf))")
_ALTERNATIVE = re.compile(r",?\s(?:or|and)\s|,\s")
_RATE = re.compile(r"\s(?:per|an?|each|every)\s(?:second|minute|hour|day|week|month|year)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantityQuestion:
    """A question for a quantity of a sentence or table.

    Attributes:
        answer: the quantity as written, with its bound.
        condition: regular expression of a right answer.
    """

    question: str
    quantity: Quantity
    answer: str
    condition: str


class QuantitySlot(NamedTuple):
    """A quantity of the rest of a clause, with the words around it.

    Attributes:
        condition: regular expression of the quantity.
        before: words before its preposition.
        near: "about" and the like.
    """

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

    @property
    def has_more(self) -> bool:
        """Report whether other quantities follow that make the question unclear."""
        others = [*quantities(self.after), *quantities_and_counts(self.after.partition(" and ")[2])]
        return any(other.kind not in ("date", "period") for other in others)


def quantity_slots(part: str) -> Iterator[QuantitySlot]:
    """Yield the quantities that a question can ask for, each with its condition."""
    for quantity, condition in _with_ranges(part, quantities_and_counts(part)):
        before, after = part[: quantity.start], part[quantity.end :]
        match = _BEFORE.search(before)
        if match is None or is_identifier(quantity, before, after):
            continue
        prep, bound = (match["prep"] or "").lower(), (match["bound"] or "").lower()
        is_limit = _COMPARISON_BEFORE.search(before[: match.start("bound")] if bound else before)
        if prep != "up" and not is_limit:
            head = before[: match.start()].rstrip()
            yield QuantitySlot(quantity, condition, head, prep, bound, match["near"] or "", after)


def _with_ranges(part: str, hits: Sequence[Quantity]) -> list[tuple[Quantity, str]]:
    """Return quantities with their conditions; the two ends of a range are one quantity.

    There are none if a quantity is one of several alternatives: "5 or 10 days".
    """
    merged: list[tuple[Quantity, str]] = []
    at = 0
    while at < len(hits):
        first, last = hits[at], hits[at + 1] if at + 1 < len(hits) else None
        at += 1
        if last is not None and _is_range(part, first, last):
            whole = replace(last, text=part[first.start : last.end], start=first.start)
            merged.append((whole, range_pattern(first.text, last.text)))
            at += 1
            continue
        is_alike = last is not None and first.kind in ("number", last.kind)
        if last is not None and is_alike and _ALTERNATIVE.fullmatch(part[first.end : last.start]):
            return []
        merged.append((first, pattern(first.text)))
    return merged


def _is_range(part: str, first: Quantity, last: Quantity) -> bool:
    between, before = part[first.end : last.start], part[: first.start]
    if between == " and " and before.endswith("between "):
        return True
    is_joined = between in (" to ", "–", "-") and first.kind in ("number", last.kind)
    # After "from" it is a change: "rose from 5 to 10 %".
    return is_joined and not before.endswith("from ")
