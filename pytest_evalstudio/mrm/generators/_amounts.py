"""Questions for the quantities of plain clauses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_evalstudio.core.plugins.generator import Corpus
from pytest_evalstudio.mrm.generators._places import Place, places, with_counts
from pytest_evalstudio.mrm.texts.clauses import Clause, clauses
from pytest_evalstudio.mrm.texts.quantities import (
    UNITS,
    Quantity,
    pattern,
    quantities,
)
from pytest_evalstudio.mrm.texts.statements import as_customer, inside
from pytest_evalstudio.mrm.texts.words import word_set

ATTRIBUTES = word_set(
    """
    allowance amount bonus budget capacity charge commission cost coupon cover deduction deposit
    discount dividend duration excess fee fine fund grant height increase interest length level limit
    maximum minimum penalty period power premium pressure price range rate rebate reduction refund
    resolution rise salary share size speed surcharge surplus tariff temperature term threshold turnover
    volume wage warranty weight width yield deficit dose margin
    """
)
"""Nouns that name a quantity: "a fee of £5" is asked for with "What fee"."""
_CHANGES = word_set(
    """
    rise fall increase decrease grow decline drop improve climb reduce change widen narrow
    """
)
_ACTING = word_set(
    """
    accept answer appeal approve cancel change check choose claim collect complete confirm decide
    deliver examine inform inspect issue notify order pay provide receive refund register reply report
    request respond return review send submit
    """
)
"""Verbs that need an object or a complement in a question."""
_LEVELS = frozenset(["stand", "reach", "total", "amount", "come"])
_OF_PHRASE = re.compile(
    r"\s?of\s(?:(?!(?:in|on|at|to|for|with|from|by|per|within|after|before|during|when|if|as|and|or|each|every|a|an|that|which|under|until)\b)[^\s,]+\s?|(?:a|an)\s[^\s,]+\s?)+"
)
_COUNTED = re.compile(
    r"\s(?P<noun>(?:[a-z]+(?:-[a-z]+)*\s){0,2}?(?:[A-Za-z]+(?:-[a-z]+)*s|people|children|women|men|staff))(?=$|\s|,)"
)
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
_SUBORDINATE = re.compile(
    r",\s|\s(?:because|when|if|while|which|who|although|though|whichever|unless|whereas|(?:except\s)?where|so\sthat"
    r"|(?:provided|providing)(?:\sthat)?)\s"
)
"""Beginning of a clause with a subject of its own, whose quantities the main clause does not have."""
_ADJECTIVES = {
    "long": "long",
    "wide": "wide",
    "high": "high",
    "deep": "deep",
    "thick": "thick",
    "tall": "tall",
    "old": "old",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question for a quantity of a clause.

    Attributes:
        answer: the quantity as written, with its bound.
        condition: regular expression of a right answer.
    """

    question: str
    quantity: Quantity
    answer: str
    condition: str
    clause: Clause


def amounts_asked(sentence: str, corpus: Corpus) -> Iterator[Asked]:
    """Yield natural questions for the quantities of a sentence; none where the rules are not sure."""
    for clause in clauses(sentence):
        if clause.is_negative:
            continue
        subject = inside(clause.subject, corpus)
        part = _SUBORDINATE.split(clause.rest)[0]
        if often := _often_asked(clause, subject, part):
            yield often
            continue
        for place in places(part):
            question = _question(clause, subject, place)
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
    is_acting = clause.voice == "active" and clause.verb in _ACTING
    return is_acting and question.rstrip("?").endswith(f" {clause.group}")


def _often_asked(clause: Clause, subject: str, part: str) -> Asked | None:
    match = _OFTEN.search(part)
    if match is None or quantities(part[: match.start()]) or clause.verb in ("cost", "pay", "receive"):
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
    if clause.verb in _CHANGES and clause.voice == "active":
        return _change(clause, subject, place)
    if (
        clause.verb in _LEVELS
        and not place.before
        and place.prep in ("at", "to", "")
        and clause.voice == "active"
    ):
        return _level(clause, subject, place)
    builders = {
        "money": _money,
        "percent": _percent,
        "period": _period,
        "date": _date,
        "measure": _measure,
        "number": _number,
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
    after = re.sub(
        r"^\s(?:to|from|by)\s(?:[£$€]?[\d.,]+%?(?:\s(?:million|billion))?(?:\s(?:litres|km|kg|days|tonnes))?(?:\s(?:a|per)\s(?:day|year|month|week))?)",
        "",
        place.after,
    )
    if quantities(re.sub(r"\b(?:19|20)\d\d\b", "", after)) and not all(
        other.kind in ("date", "period") for other in quantities(after)
    ):
        return ""
    before = re.sub(r"^(?:by|from)\s.*$", "", place.before)
    if place.prep == "by":
        wh = "By what percentage" if kind == "percent" else "By how much"
        return clause.ask(wh, subject, f"{before} {after}") if kind in ("percent", "money", "measure") else ""
    noun = {"percent": "percentage", "money": "amount"}.get(kind)
    whole = _OF_PHRASE.match(after) if noun else None
    of = f" {whole.group().strip()}" if whole else ""
    return (
        clause.ask(f"To what {noun}{of}", subject, f"{before} {after[len(whole.group()) if whole else 0 :]}")
        if noun
        else ""
    )


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


def _remaining(place: Place) -> str:
    return f"{place.before} {place.after}"


def _bounded(word: str, bound: str, wh: str) -> str:
    """Return a question phrase with preposition and bound in front."""
    bound = {
        "a maximum of": "up to",
        "a minimum of": "at least",
        "no more than": "at most",
        "not more than": "at most",
    }.get(bound, bound)
    if bound == "up to" and word in ("of", "to", "by", "at"):
        word = "" if word != "by" else "by"
    phrase = " ".join(filter(None, [word, bound, wh]))
    return phrase[0].upper() + phrase[1:]


def _of_attribute(clause: Clause, subject: str, place: Place) -> str:
    """Return the question for "a fee of £5": "What fee does it charge?"."""
    match = re.search(
        r"(?:^|\s)(?:(?P<det>a|an|the|its)\s)?(?P<noun>(?:[\w-]+\s){0,3}?(?P<head>[\w-]+))$", place.before
    )
    if match is None or match["head"].lower() not in ATTRIBUTES:
        return ""
    lead = place.before[: match.start()].strip()
    noun = re.sub(r"^(?:a|an|the|its)\s", "", match["noun"])
    words = noun.split()
    start = next(
        (
            at + 1
            for at in range(len(words) - 1, -1, -1)
            if words[at] in ("a", "an", "the", "its", "of", "to", "at", "up", "for", "by", "with", "and")
        ),
        0,
    )
    if start:
        lead, noun = f"{lead} {' '.join(words[:start])}".strip(), " ".join(words[start:])
        lead = re.sub(r"\s?\b(?:a|an|the|its)$", "", lead)
    if place.quantity.kind == "period" and not lead:
        if clause.verb == "have":
            return f"How long is the {noun} of {subject}?"
        verb = clause.form if clause.aux in ("does", "do", "did") else ""
        return f"How long is the {noun} that {subject} {verb}?" if verb else ""
    if place.bound:
        return ""
    whole = _OF_PHRASE.match(place.after)
    after = place.after[whole.end() :] if whole and place.quantity.kind == "percent" else place.after
    if lead and not re.fullmatch(r"(?:up\s)?(?:to|at|for|by|with|up to)", lead):
        return ""
    wh = " ".join(filter(None, [lead, f"what {noun}"]))
    return clause.ask(wh[0].upper() + wh[1:], subject, after)


def _money(clause: Clause, subject: str, place: Place) -> str:
    if _more(place):
        return ""
    if place.prep == "of":
        if place.bound == "up to" and place.before.split()[-1:] != []:
            if place.before.split()[-1].lower() in ATTRIBUTES:
                return ""
            return ""
        return _of_attribute(clause, subject, place)
    if not place.before and not place.prep:
        if clause.voice != "active":
            return ""
        wh = _bounded("", place.bound, "how much")
        return clause.ask(wh, subject, place.after)
    if place.prep in ("to", "for") and clause.voice == "passive" and not place.before:
        return clause.ask(_bounded(place.prep, place.bound, "what amount"), subject, place.after)
    if place.prep == "at" and not place.before and re.match(r"\s(?:per|an?)\s", place.after):
        return clause.ask("At what rate", subject, place.after)
    if not place.prep and place.bound == "up to" and not place.before:
        return clause.ask("Up to what amount", subject, place.after)
    return ""


def _percent(clause: Clause, subject: str, place: Place) -> str:
    if place.prep == "of":
        return _of_attribute(clause, subject, place)
    if place.before or _more(place):
        return ""
    whole = _OF_PHRASE.match(place.after)
    of = f" {whole.group().strip()}" if whole else ""
    rest = place.after[whole.end() :] if whole else place.after
    if re.match(r"\s?(?:and|or)\s", rest) or (not of and place.prep != "to"):
        return ""
    wh = _bounded("", place.bound, f"what percentage{of}")
    if place.prep == "":
        return clause.ask(wh, subject, rest) if clause.voice == "active" else ""
    if place.prep == "for" and not rest.strip():
        return clause.ask(wh, subject, "for")
    return ""


def _period(clause: Clause, subject: str, place: Place) -> str:
    before, after, bound = place.before, place.after, place.bound
    beside = quantities(f"{before} and {after}" if re.search(r"\band\b", after) else before)
    if any(other.kind == "period" for other in beside) or _more(place) or len(re.findall(r"\S+", before)) > 9:
        return ""
    if place.prep == "of":
        return _of_attribute(clause, subject, place)
    unit = place.unit
    units = unit if unit.endswith("s") else f"{unit}s"
    ahead = re.match(r"\s(?:(?:before|after|of|from|following|prior to)\s\S|in advance).*", after)
    if not place.prep and not before and clause.voice == "active" and clause.verb in ("take", "last"):
        wh = "How long"
        return clause.ask(wh if not bound else _bounded("", bound, "how long"), subject, after)
    if not place.prep and ahead and not after.startswith((" of", " from")) and "-" not in place.quantity.text:
        wh = _bounded("", bound, f"how {'long' if not bound else f'many {units}'}{ahead.group()}")
        return clause.ask(wh, subject, before)
    if place.prep == "within":
        attached = ahead.group() if ahead and len(ahead.group().split()) < 12 else ""
        rest = after[len(attached) :] if attached else after
        return clause.ask(f"Within how many {units}{attached}", subject, f"{before} {rest}")
    if place.prep == "after":
        since = re.match(r"\s(?:of|from)\s.*", after)
        rest = "" if since else after
        tail = since.group() if since else ""
        return clause.ask(f"After how many {units}{tail}", subject, f"{before} {rest}")
    if place.prep == "for":
        if re.match(r"\s(?:of|a|or)\b", after) or quantities(after):
            return ""
        wh = "For how long" if not bound else _bounded("for", bound, f"how many {units}")
        return clause.ask(wh, subject, f"{before} {after}")
    if place.prep == "by" and bound == "up to":
        return clause.ask(f"By up to how many {units}", subject, f"{before} {after}")
    return ""


def _date(clause: Clause, subject: str, place: Place) -> str:
    wh = {
        "on": "When",
        "in": "When",
        "since": "Since when",
        "by": "By when",
        "until": "Until when",
        "from": "From when",
    }.get(place.prep)
    if (
        wh is None
        or place.bound
        or re.search(r"\b(?:and|or|that)\b", place.after)
        or clause.voice == "copula"
    ):
        return ""
    rest = _remaining(place)
    return "" if with_counts(rest) or clause.verb in _CHANGES else clause.ask(wh, subject, rest)


def _measure(clause: Clause, subject: str, place: Place) -> str:
    unit = place.unit
    known = next((names[1] for name, names in UNITS.items() if name.lower() == unit.lower()), "")
    if not known or _more(place):
        return ""
    if place.prep == "of":
        return _of_attribute(clause, subject, place) if not place.bound else ""
    if not place.prep and not place.before and clause.voice == "active":
        if clause.verb == "weigh":
            return clause.ask("How much", subject, place.after)
        whole = _OF_PHRASE.match(place.after)
        if whole:
            noun = whole.group().strip().removeprefix("of ")
            rest = place.after[whole.end() :]
            wh = _bounded("", place.bound, f"how many {unit} of" if noun.endswith("s") else "how much")
            wh += " of" if noun.startswith("the ") and not wh.endswith(" of") else ""
            return "" if re.match(r"\s?(?:and|or)\s", rest) else clause.ask(f"{wh} {noun}", subject, rest)
        return ""
    dimension = place.before.split()[-1].rstrip("s").lower() if place.before else ""
    if place.prep in ("below", "above", "at", "to", "between", "after"):
        lead = place.before
        prep = "at" if place.prep == "between" else place.prep
        if place.prep == "between" and dimension == known:
            lead = re.sub(r"\s?(?:at\s)?\S+$", "", place.before)
        if place.prep == "between":
            known = f"{known}s" if known == "temperature" else known
        if place.rate:
            known = "speed" if known == "distance" else "rate"
        if known in ("amount", "level", "distance") and place.prep in ("at", "between"):
            return ""
        wh = _bounded(prep, place.bound, f"what {known}")
        return clause.ask(wh, subject, f"{lead} {place.after.removeprefix(place.rate)}")
    return ""


def _number(clause: Clause, subject: str, place: Place) -> str:
    if place.prep not in ("", "of", "for") or _more(place):
        return ""
    counted = _COUNTED.match(place.after)
    if counted is None:
        return ""
    noun, rest = counted["noun"], place.after[counted.end() :]
    if (
        re.search(r"(?:^|\s)(?:times|in|of|and|or|per|days|the|to|is|has|was|that|as)(?:\s|$)", noun)
        and noun != "times"
    ):
        return ""
    if re.match(r"\sand\s", rest):
        rest = ""
    wh = _bounded("", place.bound, f"how many {noun}")
    if place.prep == "of" and place.before == "" and clause.verb == "consist":
        return clause.ask(wh, subject, "of") if not rest.strip() else ""
    if place.prep == "for" and place.before and not rest.strip():
        return clause.ask(wh, subject, f"{place.before} for")
    if place.prep or place.before or clause.voice != "active":
        return ""
    return clause.ask(wh, subject, rest)


def _more(place: Place) -> bool:
    """Report whether other quantities follow that make the question unclear."""
    others = [*quantities(place.after), *with_counts(place.after.partition(" and ")[2])]
    return any(other.kind not in ("date", "period") for other in others)


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
