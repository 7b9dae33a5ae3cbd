"""Sentences that state a quantity for each of several cases: "£11 online and £13 on board"."""

from __future__ import annotations

import re

from pytest_evalstudio.contrib.questions.quantities import Quantity, quantities, unit_of
from pytest_evalstudio.contrib.questions.words import word_set

_CASE = re.compile(
    r"\s(?:abroad|daily|in|for|on|at|from|to|during|if|when|with|without|per|under|over|between|online|by"
    r"|within)\b.*"
)
_PASSIVE = re.compile(r"\s(?:is|are|was|were|(?:will|must|may) be)\s[a-z]+ed(?=\s)")
"""Verb between a quantity and its case, which holds for the others too: "£20 is charged for …"."""
_CONNECTOR = re.compile(
    r"(?:,\s(?:and\s|or\s)?|\sand\s|\sor\s)(?:(?:for|at|by|to|of|within|after|from|about|up to|around)\s)?$"
)
_VERBS = word_set("is are was were has have had can may must should will does do")
_END = re.compile(
    r"\.$|,\s(?:which|who|where|because|since|so|and)\b.*|\sand\s(?:is|are|may|must|can|will|has|have)\b.*"
)
_MAX_WORDS = 9
_ALIKE = word_set("online on at in by within")
_MIN_CASES = 2
_KINDS = ("money", "percent", "period", "measure")


def single_statements(text: str) -> list[str]:
    """Return a sentence for each case of a sentence with several quantities, or the sentence."""
    return sentences_of_cases(text) or [text]


def sentences_of_cases(text: str) -> list[str]:
    """Return a sentence for each case of a sentence with several quantities of one unit; [] in doubt.

    >>> sentences_of_cases("A ticket costs £11 online and £13 on board.")
    ['A ticket costs £11 online.', 'A ticket costs £13 on board.']
    """
    hits = _alike(quantities(text))
    if len(hits) < _MIN_CASES:
        return []
    head, verb = text[: hits[0].start], ""
    cases: list[tuple[str, str]] = []
    for hit, following in zip(hits, [*hits[1:], None], strict=True):
        if following is not None:
            between = text[hit.end : following.start]
            connector = _CONNECTOR.search(between)
            if connector is None:
                return []
            adjunct = between[: connector.start()]
        else:
            adjunct = _END.sub("", text[hit.end :])
        if not cases and (passive := _PASSIVE.match(adjunct)):
            verb, adjunct = passive.group(), adjunct[passive.end() :]
        if not _is_case(adjunct):
            return []
        cases.append((hit.text, adjunct))
    first_words = {adjunct.split()[0] for _, adjunct in cases}
    if len(first_words) > 1 and not first_words <= _ALIKE:
        return []
    return [f"{head}{quantity}{verb}{adjunct}." for quantity, adjunct in cases]


def _alike(hits: list[Quantity]) -> list[Quantity]:
    """Return the quantities of the unit of the first amount."""
    first = next((hit for hit in hits if hit.kind in _KINDS), None)
    if first is None:
        return []
    return [hit for hit in hits if hit.kind == first.kind and unit_of(hit.text) == unit_of(first.text)]


def _is_case(adjunct: str) -> bool:
    words = adjunct.split()
    is_plain = not any(word.lower() in _VERBS for word in words) and "," not in adjunct
    return bool(_CASE.match(adjunct)) and is_plain and len(words) <= _MAX_WORDS
