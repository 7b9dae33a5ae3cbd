"""Questions for a quantity of each kind: money, shares, periods, dates, measures and counts."""

from __future__ import annotations

import re

from pytest_evalstudio.mrm.generators._places import Place, with_counts
from pytest_evalstudio.mrm.generators._vocabulary import ATTRIBUTES, CHANGES
from pytest_evalstudio.mrm.texts.clauses import Clause
from pytest_evalstudio.mrm.texts.quantities import (
    UNITS,
    quantities,
)
from pytest_evalstudio.mrm.texts.words import word_set

OF_PHRASE = re.compile(
    r"\s?of\s(?:(?!(?:in|on|at|to|for|with|from|by|per|within|after|before|during|when|if|as|and|or|each|every|a|an|that|which|under|until)\b)[^\s,]+\s?|(?:a|an)\s[^\s,]+\s?)+"
)

_PAYING = frozenset(["charge", "reimburse", "pay", "bill", "invoice"])
_FOR_A_PURPOSE = frozenset({"aim", "apply", "ask", "call", "look", "pay", "provide", "plan", "allow"})
"""Verbs whose "for" names an object or a purpose, not a duration."""
_VAGUE = word_set("amount rate level sum term limit maximum minimum increase rise length total size share")
"""Attributes that need a modifier: "a rate of 3 %" may be of anything."""

_OF_THINGS = re.compile(r"\sof\s(?!the\s)(?:(?!(?:a|an|per|in|to|for|within|on|at|from)\s)[^\s,]+\s?)+")
_COUNTED = re.compile(
    r"\s(?P<noun>(?:[a-z]+(?:-[a-z]+)*\s){0,2}?(?:[A-Za-z]+(?:-[a-z]+)*s|people|children|women|men|staff))(?=$|\s|,)"
)


def _remaining(place: Place) -> str:
    return f"{place.before} {place.after}"


def _bounded(word: str, bound: str, wh: str) -> str:
    """Return a question phrase with its preposition.

    The answer has the bound; people ask "How long does delivery take?", not "Up to how long …".
    """
    is_up_to = bound in ("up to", "a maximum of") and word in ("of", "to", "at")
    phrase = f"up to {wh}" if is_up_to else f"{word} {wh}".strip()
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
            return f"How long is {_possessive(noun, subject)}?"
        verb = clause.form if clause.aux in ("does", "do", "did") else ""
        return f"How long is {_possessive(noun, subject)}?" if verb else ""
    if place.bound:
        return ""
    whole = OF_PHRASE.match(place.after)
    after = place.after[whole.end() :] if whole and place.quantity.kind == "percent" else place.after
    words = noun.split()
    is_vague = len(words) == 1 and noun in _VAGUE
    if lead or is_vague or any(word.endswith("s") and not word.endswith("ss") for word in words[:-1]):
        return ""
    return clause.ask(f"What {noun}", subject, after)


def _possessive(noun: str, subject: str) -> str:
    """Return a noun with its owner."""
    owner = {"we": "our", "you": "your"}.get(subject.lower())
    if owner:
        return f"{owner} {noun}"
    is_short = len(subject.split()) <= 4 and not subject.endswith("s")
    return f"{subject}'s {noun}" if is_short else f"the {noun} of {subject}"


def money(clause: Clause, subject: str, place: Place) -> str:
    """Return the question for an amount of money, "" if the rules are not sure."""
    if _more(place):
        return ""
    if place.prep == "of":
        if place.bound == "up to" and place.before.split()[-1:] != []:
            if place.before.split()[-1].lower() in ATTRIBUTES:
                return ""
            return ""
        return _of_attribute(clause, subject, place)
    if not place.before and not place.prep:
        if clause.voice != "active" or clause.verb == "take":
            return ""
        wh = _bounded("", place.bound, "how much")
        return clause.ask(wh, subject, place.after)
    if place.before or clause.voice != "passive":
        return ""
    if place.prep == "to" and clause.verb == "limit" and clause.aux in ("is", "are"):
        return f"What is the limit on {subject}{place.after}?"
    if place.prep == "to":
        return clause.ask(_bounded("to", place.bound, "what amount"), subject, place.after)
    if place.prep == "at" and clause.verb in _PAYING and clause.aux in ("is", "are"):
        return (
            f"How much is {clause.group}{place.after} for {subject}?"
            if re.match(r"\s(?:per|an?)\s", place.after)
            else ""
        )
    return ""


def percent(clause: Clause, subject: str, place: Place) -> str:
    """Return the question for a share, "" if the rules are not sure."""
    if place.prep == "of":
        return _of_attribute(clause, subject, place)
    if place.before or _more(place):
        return ""
    whole = OF_PHRASE.match(place.after)
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


def period(clause: Clause, subject: str, place: Place) -> str:
    """Return the question for a period, "" if the rules are not sure."""
    before, after, bound = place.before, place.after, place.bound
    beside = quantities(f"{before} and {after}" if re.search(r"\band\b", after) else before)
    if any(other.kind == "period" for other in beside) or _more(place) or len(re.findall(r"\S+", before)) > 9:
        return ""
    if place.prep == "of":
        return _of_attribute(clause, subject, place)
    unit = place.unit
    units = unit if unit.endswith("s") else f"{unit}s"
    ahead = re.match(r"\s(?:(?:before|after|of|from|following|prior to)\s\S|in advance).*", after)
    if not place.prep and not before and clause.voice == "active":
        if whole := _OF_THINGS.match(after):
            return clause.ask(f"How many {units}{whole.group().rstrip()}", subject, after[whole.end() :])
        if clause.verb in ("take", "last"):
            return clause.ask("How long", subject, after)
    if not place.prep and ahead and not after.startswith((" of", " from")) and "-" not in place.quantity.text:
        wh = "How far" if ahead.group().startswith(" in advance") else "How long"
        return clause.ask(f"{wh}{ahead.group()}", subject, before)
    if place.prep == "within":
        attached = ahead.group() if ahead and len(ahead.group().split()) < 12 else ""
        rest = after[len(attached) :] if attached else after
        return clause.ask(f"Within how many {units}{attached}", subject, f"{before} {rest}")
    if place.prep == "after" and clause.aux != "did":
        since = re.match(r"\s(?:of|from|without)\s.*", after)
        rest = "" if since else after
        tail = since.group() if since else ""
        return clause.ask(f"After how many {units}{tail}", subject, f"{before} {rest}")
    if place.prep == "for":
        if re.match(r"\s(?:of|a|or)\b", after) or quantities(after) or clause.verb in _FOR_A_PURPOSE:
            return ""
        return clause.ask("For how long", subject, f"{before} {after}")
    if place.prep == "by" and bound == "up to":
        return clause.ask(f"By how many {units}", subject, f"{before} {after}")
    return ""


def date(clause: Clause, subject: str, place: Place) -> str:
    """Return the question for a date, "" if the rules are not sure."""
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
    rest = re.sub(r"^\s+by\s(?:an?|the)\s[^,]+$", "", _remaining(place))
    return "" if with_counts(rest) or clause.verb in CHANGES else clause.ask(wh, subject, rest)


def measure(clause: Clause, subject: str, place: Place) -> str:
    """Return the question for a measure, "" if the rules are not sure."""
    unit = place.unit
    known = next((names[1] for name, names in UNITS.items() if name.lower() == unit.lower()), "")
    if not known or _more(place):
        return ""
    if place.prep == "of":
        return _of_attribute(clause, subject, place) if not place.bound else ""
    if not place.prep and not place.before and clause.voice == "active":
        if clause.verb == "weigh":
            return clause.ask("How much", subject, place.after)
        whole = OF_PHRASE.match(place.after)
        if whole:
            noun = whole.group().strip().removeprefix("of ")
            rest = place.after[whole.end() :]
            wh = _bounded(
                "",
                place.bound,
                f"how many {unit} of" if noun.endswith("s") or known == "distance" else "how much",
            )
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


def number(clause: Clause, subject: str, place: Place) -> str:
    """Return the question for a count, "" if the rules are not sure."""
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
    if re.match(r"\s(?:by|of|with|about)\s", rest):
        return clause.ask(f"{wh}{rest}", subject)
    return clause.ask(wh, subject, rest)


def _more(place: Place) -> bool:
    """Report whether other quantities follow that make the question unclear."""
    others = [*quantities(place.after), *with_counts(place.after.partition(" and ")[2])]
    return any(other.kind not in ("date", "period") for other in others)
