"""Questions for how often something happens."""

from __future__ import annotations

import re

from pytest_evalstudio.contrib.questions.grammar.clauses import Clause
from pytest_evalstudio.contrib.questions.grammar.wording import as_customer
from pytest_evalstudio.contrib.questions.quantities import Quantity, pattern, quantities
from pytest_evalstudio.contrib.questions.rules.slots import QuantityQuestion
from pytest_evalstudio.contrib.questions.words import word_set

_FREQUENCY = re.compile(
    r"(?i)\b(?:(?:once|twice|three times|four times|\d+ times)\s(?:a|per|each|every)"
    r"\s(?:day|week|month|quarter|year)"
    r"|every\s(?:(?:\w+|\d[\d,]*)\s)?(?:days?|weeks?|months?|quarters?|years?|hours?|minutes?|km|miles|cycles"
    r"|uses))(?=$|[\s,.])"
)
_DAY_OR_MONTH = re.compile(
    r"^(?:in|on)\s(?:(?:the\s)?[a-z]+\s)?(?:[A-Z][a-z]+day|January|February|March|April|May|June|July|August"
    r"|September|October|November|December)s?$"
)
"""A day or month that makes a frequency more precise: "every year in October"."""
_PLACING = word_set("locate place position provide put situate space station")
"""Verbs after which "every 5 km" is a distance."""
_ADVERBS_OF_UNIT = {
    "day": "daily",
    "week": "weekly",
    "month": "monthly",
    "quarter": "quarterly",
    "year": "(?:yearly|annually)",
}
_BOUND = re.compile(r"(?:^|\s)(?P<bound>at least|at most|no more than|about|up to)\s$")
_MAX_WORDS = 20


def frequency_question(clause: Clause, subject: str, part: str) -> QuantityQuestion | None:
    """Return the question for the frequency in a part of a clause."""
    match = _FREQUENCY.search(part)
    if match is None or clause.verb in ("cost", "pay", "receive"):
        return None
    text, before, after = match.group(), part[: match.start()], part[match.end() :].strip()
    bound = _BOUND.search(before)
    before = before[: bound.start()] if bound else before
    is_distance = clause.verb in _PLACING and text.endswith(("km", "miles"))
    is_part_of_phrase = re.search(r"\b(?:of|on|in|at|for|by|from|until)\s$", before) or after.startswith(
        ("and", "or", "of", "until")
    )
    if is_distance or is_part_of_phrase or quantities(before) or quantities(after):
        return None
    question = clause.ask("How often", subject, f"{before} {_DAY_OR_MONTH.sub('', after)}")
    if len(question.split()) > _MAX_WORDS:
        return None
    return QuantityQuestion(
        question=as_customer(question),
        quantity=Quantity("period", text, match.start(), match.end()),
        answer=f"{bound['bound']} {text}" if bound else text,
        condition=_frequency_pattern(text),
    )


def _frequency_pattern(text: str) -> str:
    """Return a regular expression for a frequency in other words: "once a year", "yearly", "every year"."""
    words = text.lower().split()
    unit = words[-1].removesuffix("s")
    if (words[0] == "every" and len(words) == 2) or words[0] == "once":
        adverb = f"|{_ADVERBS_OF_UNIT[unit]}" if unit in _ADVERBS_OF_UNIT else ""
        each = r"(?:every|each|once (?:a|per|each|every)|per|one time (?:a|per))"
        return rf"(?i)(?<!\w)(?:{each}\s{unit}{adverb})(?!\w)"
    if words[0] == "every":
        return pattern(" ".join(words[1:]))
    count = {"twice": "(?:twice|two times|2 times)"}.get(words[0], rf"{words[0]}\s{words[1]}")
    return rf"(?i)(?<!\w){count}\s(?:a|per|each|every)\s{unit}(?!\w)"
