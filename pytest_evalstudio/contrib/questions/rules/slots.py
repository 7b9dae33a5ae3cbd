"""Questions for quantities and for facts, and the quantities of a sentence that one can ask for."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from pytest_evalstudio.contrib.questions.quantities import (
    Quantity,
    is_identifier,
    pattern,
    quantities_and_counts,
    range_pattern,
)
from pytest_evalstudio.contrib.questions.rules.conditions import keywords_condition

_ALTERNATIVE = re.compile(r",?\s(?:or|and)\s|,\s")
_FRACTION = re.compile(r"[a-z]+-quarters?")
_TIME_OF_DAY = re.compile(
    r"(?i)(?<![\w.,:£$€])(?:\d{1,2}(?:[:.]\d\d)?\s?[ap]\.?m\b\.?|\d{1,2}:\d\d(?:\s(?:UTC|GMT|CET))?|noon|midnight)"
)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A question for a fact.

    Attributes:
        answer: the answering words.
        condition: of a right answer.
    """

    question: str
    answer: str
    condition: str


def make_fact(question: str, answer: str, condition: str = "") -> Fact | None:
    """Return a fact, by default with the condition of its answer's key words; None if there are none."""
    required = condition or keywords_condition(answer)
    if not required or not question:
        return None
    return Fact(question=question, answer=answer.strip(), condition=required)


def slots(text: str) -> list[tuple[Quantity, str]]:
    """Return the quantities of a sentence with their conditions; the two ends of a range are one.

    A quantity that is one of several alternatives, "5 or 10 days", is left out.
    """
    times = [(match.start(), match.end()) for match in _TIME_OF_DAY.finditer(text)]
    hits = [
        hit
        for hit in quantities_and_counts(text)
        if not _FRACTION.fullmatch(hit.text)
        and not any(start <= hit.start < end for start, end in times)
        and not is_identifier(hit, text[: hit.start], text[hit.end :])
    ]
    merged: list[tuple[Quantity, str]] = []
    at = 0
    while at < len(hits):
        first, last = hits[at], hits[at + 1] if at + 1 < len(hits) else None
        at += 1
        if last is not None and _is_range(text, first, last):
            whole = replace(last, text=text[first.start : last.end], start=first.start)
            merged.append((whole, range_pattern(first.text, last.text)))
            at += 1
        elif last is not None and _is_alternative(text, first, last):
            at += 1
        else:
            merged.append((first, pattern(first.text)))
    return merged


def _is_alternative(text: str, first: Quantity, last: Quantity) -> bool:
    is_alike = first.kind in ("number", last.kind)
    return is_alike and _ALTERNATIVE.fullmatch(text[first.end : last.start]) is not None


def _is_range(text: str, first: Quantity, last: Quantity) -> bool:
    between, before = text[first.end : last.start], text[: first.start]
    if between == " and " and before.endswith("between "):
        return True
    is_joined = between in (" to ", "–", "-") and first.kind in ("number", last.kind)
    # After "from" it is a change: "rose from 5 to 10 %".
    return is_joined and not before.lower().endswith("from ")
