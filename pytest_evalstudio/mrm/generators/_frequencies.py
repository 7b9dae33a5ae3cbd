"""Questions for how often something happens."""

from __future__ import annotations

import re

from pytest_evalstudio.mrm.generators._asked import Asked
from pytest_evalstudio.mrm.texts.clauses import Clause
from pytest_evalstudio.mrm.texts.quantities import (
    Quantity,
    pattern,
    quantities,
)
from pytest_evalstudio.mrm.texts.statements import as_customer

_OFTEN = re.compile(
    r"(?i)\b(?:(?:once|twice|three times|four times|\d+ times)\s(?:a|per|each|every)"
    r"\s(?:day|week|month|quarter|year)"
    r"|every\s(?:(?:\w+|\d[\d,]*)\s)?(?:days?|weeks?|months?|quarters?|years?|hours?|minutes?|km|miles|cycles|uses))(?=$|[\s,.])"
)

_DAY_OR_MONTH = re.compile(
    r"^(?:in|on)\s(?:(?:the\s)?[a-z]+\s)?(?:[A-Z][a-z]+day|January|February|March|April|May|June|July|August"
    r"|September|October|November|December)s?$"
)
"""A day or month that makes a frequency more precise: "every year in October"."""


_PLACING = frozenset({"locate", "place", "position", "provide", "put", "situate", "space", "station"})
"""Verbs after which "every 5 km" is a distance."""


def often_asked(clause: Clause, subject: str, part: str) -> Asked | None:
    """Return the question for the frequency in a part of a clause."""
    match = _OFTEN.search(part)
    if match is None or quantities(part[: match.start()]) or clause.verb in ("cost", "pay", "receive"):
        return None
    if clause.verb in _PLACING and match.group().endswith(("km", "miles")):
        return None
    after = part[match.end() :].strip()
    if re.search(r"\b(?:of|on|in|at|for|by|from|until)\s$", part[: match.start()]):
        return None
    if quantities(after) or after.startswith(("and", "or", "of", "until")):
        return None
    after = _DAY_OR_MONTH.sub("", after)
    question = clause.ask("How often", subject, f"{part[: match.start()]} {after}")
    quantity = Quantity("period", match.group(), match.start(), match.end())
    if len(question.split()) > 20:
        return None
    return Asked(
        question=as_customer(question),
        quantity=quantity,
        answer=match.group(),
        condition=_often_pattern(match.group()),
        clause=clause,
    )


_PER = {
    "day": "daily",
    "week": "weekly",
    "month": "monthly",
    "quarter": "quarterly",
    "year": "(?:yearly|annually)",
}


def _often_pattern(text: str) -> str:
    words = text.lower().split()
    unit = words[-1].removesuffix("s")
    if (words[0] == "every" and len(words) == 2) or words[0] == "once":
        other = f"|{_PER[unit]}" if unit in _PER else ""
        each = r"(?:every|each|once (?:a|per|each|every)|per|one time (?:a|per))"
        return rf"(?i)(?<!\w)(?:{each}\s{unit}{other})(?!\w)"
    if words[0] == "every":
        return (
            pattern(" ".join(words[1:])) if words[1] != "other" else rf"(?i)every\s(?:other|second)\s{unit}"
        )
    count = {"twice": "(?:twice|two times|2 times)"}.get(words[0], rf"{words[0]}\s{words[1]}")
    return rf"(?i)(?<!\w){count}\s(?:a|per|each|every)\s{unit}(?!\w)"
