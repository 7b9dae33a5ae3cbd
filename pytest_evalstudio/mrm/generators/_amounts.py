"""Questions for the quantities of plain clauses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from pytest_evalstudio.core.plugins.generator import Corpus
from pytest_evalstudio.mrm.generators._amount_kinds import (
    OF_PHRASE,
    date,
    measure,
    money,
    number,
    percent,
    period,
)
from pytest_evalstudio.mrm.generators._asked import Asked
from pytest_evalstudio.mrm.generators._frequencies import often_asked
from pytest_evalstudio.mrm.generators._places import Place, places
from pytest_evalstudio.mrm.generators._qualifiers import (
    condition_after,
    has_exception,
    has_second_case,
    with_condition,
)
from pytest_evalstudio.mrm.generators._vocabulary import CHANGES
from pytest_evalstudio.mrm.texts.clauses import Clause, clauses
from pytest_evalstudio.mrm.texts.quantities import (
    quantities,
)
from pytest_evalstudio.mrm.texts.statements import as_customer, inside
from pytest_evalstudio.mrm.texts.words import word_set

_ACTING = word_set(
    """
    accept answer appeal approve cancel change check choose claim collect complete confirm decide
    deliver examine inform inspect issue notify order pay provide receive refund register reply report
    request respond return review send submit
    """
)
"""Verbs that need an object or a complement in a question."""

_LEVELS = frozenset(["stand", "reach", "total", "amount", "come"])

_SUBORDINATE = re.compile(
    r",\s|(?:^|\s)(?:because|when|if|while|which|who|although|though|whichever|unless|whereas|(?:except\s)?where|so\sthat"
    r"|once(?!\s(?:a|per|each|every)\s(?:hour|day|week|month|quarter|year)\b)"
    r"|as\s(?:long|soon)\sas|(?:provided|providing)(?:\sthat)?)\s"
)
"""Beginning of a clause with a subject of its own, whose quantities the main clause does not have."""

_TIME_CLAUSE = re.compile(r"\b(?:after|before|until|since)\s.*\b(?:is|are|was|were|has|have|had)\b")
"""A clause of time, whose quantities the main clause does not have."""

_ADJECTIVES = {
    "long": "long",
    "wide": "wide",
    "high": "high",
    "deep": "deep",
    "thick": "thick",
    "tall": "tall",
    "old": "old",
}


def amounts_asked(sentence: str, corpus: Corpus) -> Iterator[Asked]:
    """Yield natural questions for the quantities of a sentence; none where the rules are not sure."""
    for clause in clauses(sentence):
        if clause.is_negative or has_exception(sentence):
            continue
        subject = inside(clause.subject, corpus)
        part = _SUBORDINATE.split(clause.rest)[0]
        condition = condition_after(clause.rest[len(part) :])
        if condition is None:
            continue
        if often := often_asked(clause, subject, part):
            yield replace(often, question=with_condition(often.question, as_customer(condition)))
            continue
        for place in places(part):
            is_of_time_clause = _TIME_CLAUSE.search(part[: place.quantity.start])
            if is_of_time_clause or has_second_case(place.unit, clause.rest[len(part) :]):
                continue
            question = with_condition(_question(clause, subject, place), condition)
            if question and not _lacks_object(question, clause) and _is_clean(question, place):
                bound = "between" if place.prep == "between" else place.bound
                rate = "" if place.rate in question else place.rate
                yield Asked(
                    question=as_customer(question),
                    quantity=place.quantity,
                    answer=" ".join(filter(None, [bound, place.near, place.quantity.text + rate])),
                    condition=place.condition,
                    clause=clause,
                )


def _lacks_object(question: str, clause: Clause) -> bool:
    """Report whether a question ends with a verb that acts on something: "does the office decide"."""
    asks_for_object = question.startswith(("How many ", "How much ", "What "))
    is_acting = clause.voice == "active" and clause.verb in _ACTING and not asks_for_object
    return is_acting and question.rstrip("?").endswith(f" {clause.group}")


def _question(clause: Clause, subject: str, place: Place) -> str:
    kind = place.quantity.kind
    if re.match(r"\s(?:or|and|plus)\s", place.after) and kind != "number":
        after = re.match(r"\sand\s\S+\s", place.after)
        if not after or quantities(place.after):
            return ""
    if clause.voice == "copula" and not place.before and not place.prep:
        return _copula(clause, subject, place)
    if (
        clause.voice == "copula"
        and clause.aux not in ("is", "are", "was", "were")
        and place.prep in ("between", "")
        and not place.before
    ):
        return _copula(clause, subject, place)
    if clause.verb in CHANGES and clause.voice == "active":
        return _change(clause, subject, place)
    if (
        clause.verb in _LEVELS
        and not place.before
        and place.prep in ("at", "to", "")
        and clause.voice == "active"
    ):
        return _level(clause, subject, place)
    builders = {
        "money": money,
        "percent": percent,
        "period": period,
        "date": date,
        "measure": measure,
        "number": number,
    }
    return builders[kind](clause, subject, place)


def _copula(clause: Clause, subject: str, place: Place) -> str:
    kind, after = place.quantity.kind, place.after
    if place.bound or place.prep not in ("", "between"):
        return ""
    if kind == "percent" and after.startswith(" of "):
        return ""
    adjective = re.fullmatch(r"\s(\w+)", after)
    if kind in ("measure", "period") and adjective and adjective[1] in _ADJECTIVES:
        return clause.ask(f"How {_ADJECTIVES[adjective[1]]}", subject)
    if kind == "number" or (
        after and not re.match(r"\s(?:per|for|in|at|on|of|a|an|each|from|after|before|during)\b", after)
    ):
        return ""
    if quantities(after) and not all(other.kind in ("date", "period") for other in quantities(after)):
        return ""
    if kind == "date" or (kind == "period" and re.match(r"\s(?:before|after|from)\b", after)):
        return ""
    after = after.removeprefix(place.rate)
    wh = "How long" if kind == "period" and not re.search(r"age$", clause.head) else "What"
    return clause.ask(wh, subject, after)


def _change(clause: Clause, subject: str, place: Place) -> str:
    if (
        place.prep not in ("by", "to")
        or place.bound
        or (place.before and not re.fullmatch(r"(?:by|from)\s\S+(?:\s\S+)?|(?:its|the)\s.+", place.before))
    ):
        return ""
    kind = place.quantity.kind
    after = _without_other_end(place.after)
    if quantities(re.sub(r"\b(?:19|20)\d\d\b", "", after)) and not all(
        other.kind in ("date", "period") for other in quantities(after)
    ):
        return ""
    before = re.sub(r"^(?:by|from)\s.*$", "", place.before)
    if place.prep == "by":
        wh = "By what percentage" if kind == "percent" else "By how much"
        return clause.ask(wh, subject, f"{before} {after}") if kind in ("percent", "money", "measure") else ""
    noun = {"percent": "percentage", "money": "amount"}.get(kind)
    whole = OF_PHRASE.match(after) if noun else None
    of = f" {whole.group().strip()}" if whole else ""
    return (
        clause.ask(f"To what {noun}{of}", subject, f"{before} {after[len(whole.group()) if whole else 0 :]}")
        if noun
        else ""
    )


def _without_other_end(after: str) -> str:
    """Return the words after a change without where it began or ended: "to 742,000 pounds in 2024"."""
    if not re.match(r"\s(?:to|from|by)\s", after):
        return after
    end = next((other.end for other in quantities(after) if not after[: other.start].split()[1:]), 0)
    return re.sub(r"^\s(?:a|per)\s(?:day|year|month|week)\b", "", after[end:])


def _level(clause: Clause, subject: str, place: Place) -> str:
    kind = place.quantity.kind
    if kind not in ("money", "percent", "measure") or place.bound:
        return ""
    be = {"did": "were" if clause.is_plural else "was", "does": "is", "do": "are"}.get(clause.aux)
    after = place.after
    if (
        be is None
        or re.match(r"\sof\b", after)
        or (quantities(after) and not all(other.kind == "date" for other in quantities(after)))
    ):
        return ""
    return f"What {be} {subject}{after}?"


def _is_clean(question: str, place: Place) -> bool:
    """Report whether a question reads well and does not have the answer in it."""
    words = question.rstrip("?").split()
    last = words[-1].lower()
    stranded = last in ("for", "of") and re.match(r"(?i)(?:up to |at least )?(?:what|how)", question)
    if last in ("to", "by", "at", "in", "on", "and", "or", "a", "the", "than", "with", "from") or (
        last in ("for", "of") and not stranded
    ):
        return False
    if re.search(
        r"(?i)\b(?:of of|for for|to to|by by|in in|at at|its|their|it)\b", question
    ) and not re.search(r"(?i)\bits (?!own)", question):
        return False
    return 4 <= len(words) <= 26 and not re.search(place.condition, question) and "," not in question
