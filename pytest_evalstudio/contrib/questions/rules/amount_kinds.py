"""Questions for a quantity of each kind: money, shares, periods, dates, measures and counts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from pytest_evalstudio.contrib.questions.grammar.clauses import Clause
from pytest_evalstudio.contrib.questions.quantities import UNITS, Kind, quantities, quantities_and_counts
from pytest_evalstudio.contrib.questions.rules.slots import QuantitySlot
from pytest_evalstudio.contrib.questions.words import word_set, word_table

ATTRIBUTES = word_table("attributes")
CHANGES = word_table("verbs of change")
OF_PHRASE = re.compile(
    r"\s?of\s(?:(?!(?:in|on|at|to|for|with|from|by|per|within|after|before|during|when|if|as|and|or|each|every"
    r"|a|an|that|which|under|until|into|onto|over)\b)[^\s,]+\s?|(?:a|an)\s[^\s,]+\s?)+"
)
"""What a share or a measure is of: "5 % of the price"."""
_PAYING = word_set("charge reimburse pay bill invoice")
_FOR_A_PURPOSE = word_set("aim apply ask call look pay provide plan allow")
"""Verbs whose "for" names an object or a purpose, not a duration."""
_VAGUE = word_set("amount rate level sum term limit maximum minimum increase rise length total size share")
"""Attributes that need a modifier: "a rate of 3 %" may be of anything."""
_LINKS = word_set("a an the its of to at up for by with and")
"""Words that do not belong to the name of an attribute."""
_NAMED_ATTRIBUTE = re.compile(r"(?:^|\s)(?:(?:a|an|the|its)\s)?(?P<noun>(?:[\w-]+\s){0,3}?(?P<head>[\w-]+))$")
_OF_THINGS = re.compile(r"\sof\s(?!the\s)(?:(?!(?:a|an|per|in|to|for|within|on|at|from)\s)[^\s,]+\s?)+")
_AHEAD = re.compile(r"\s(?:(?:before|after|of|from|following|prior to)\s\S|in advance).*")
"""What a period is counted from: "after the order"."""
_MAX_WORDS_AHEAD = 11
_MAX_WORDS_BEFORE_PERIOD = 9
_COUNTED = re.compile(
    r"\s(?P<noun>(?:[a-z]+(?:-[a-z]+)*\s){0,2}?(?:[A-Za-z]+(?:-[a-z]+)*s|people|children|women|men|staff))"
    r"(?=$|\s|,)"
)
_NO_COUNTED_NOUN = re.compile(
    r"(?:^|\s)(?:times\s|(?:in|of|and|or|per|days|the|to|is|has|was|that|as)(?:\s|$))|\stimes$"
)
_QUESTION_WORD_OF_DATE = {
    "on": "When",
    "in": "When",
    "since": "Since when",
    "by": "By when",
    "until": "Until when",
    "from": "From when",
}


def _bounded(prep: str, bound: str, wh: str) -> str:
    """Return a question phrase with its preposition.

    The answer has the bound; people ask "How long does delivery take?", not "Up to how long …".
    """
    is_up_to = bound in ("up to", "a maximum of") and prep in ("of", "to", "at")
    phrase = f"up to {wh}" if is_up_to else f"{prep} {wh}".strip()
    return phrase[0].upper() + phrase[1:]


def _of_attribute(clause: Clause, subject: str, slot: QuantitySlot) -> str:
    """Return the question for "a fee of £5": "What fee does it charge?"."""
    match = _NAMED_ATTRIBUTE.search(slot.before)
    if match is None or match["head"].lower() not in ATTRIBUTES:
        return ""
    lead, noun = _lead_and_noun(slot.before[: match.start()].strip(), match["noun"])
    if slot.quantity.kind == "period" and not lead:
        # "A warranty of two years on the frame": the question would be for the whole.
        is_of_part = re.match(r"\s(?:on|for)\s", slot.after)
        is_plain = not is_of_part and (clause.verb == "have" or clause.aux in ("does", "do", "did"))
        return f"How long is {_possessive(noun, subject)}?" if is_plain else ""
    *modifiers, last = noun.split()
    is_vague = not modifiers and last in _VAGUE
    has_plural_modifier = any(word.endswith("s") and not word.endswith("ss") for word in modifiers)
    if slot.bound or lead or is_vague or has_plural_modifier:
        return ""
    whole = OF_PHRASE.match(slot.after) if slot.quantity.kind == "percent" else None
    return clause.ask(f"What {noun}", subject, slot.after[whole.end() :] if whole else slot.after)


def _lead_and_noun(lead: str, noun: str) -> tuple[str, str]:
    """Return the words before the name of an attribute, and the name without article."""
    words = re.sub(r"^(?:a|an|the|its)\s", "", noun).split()
    start = max((at + 1 for at, word in enumerate(words) if word in _LINKS), default=0)
    if start:
        lead = re.sub(r"\s?\b(?:a|an|the|its)$", "", f"{lead} {' '.join(words[:start])}".strip())
    return lead, " ".join(words[start:])


def _possessive(noun: str, subject: str) -> str:
    """Return a noun with its owner."""
    owner = {"we": "our", "you": "your"}.get(subject.lower())
    if owner:
        return f"{owner} {noun}"
    is_short = len(subject.split()) <= 4 and not subject.endswith("s")
    return f"{subject}'s {noun}" if is_short else f"the {noun} of {subject}"


def money(clause: Clause, subject: str, slot: QuantitySlot) -> str:
    """Return the question for an amount of money, "" if the rules are not sure."""
    if slot.has_more:
        return ""
    if slot.prep == "of":
        return _of_attribute(clause, subject, slot)
    if slot.before:
        return ""
    # "How much did it take?" is no question for a price.
    if not slot.prep and clause.voice == "active" and clause.verb != "take":
        return clause.ask(_bounded("", slot.bound, "how much"), subject, slot.after)
    if clause.voice != "passive":
        return ""
    if not slot.prep and slot.bound == "up to" and clause.verb in _PAYING:
        return clause.ask("Up to what amount", subject, slot.after)
    is_present = clause.aux in ("is", "are")
    if slot.prep == "to" and clause.verb == "limit" and is_present:
        return f"What is the limit on {subject}{slot.after}?"
    if slot.prep == "to":
        return clause.ask(_bounded("to", slot.bound, "what amount"), subject, slot.after)
    is_price = slot.prep == "at" and clause.verb in _PAYING and re.match(r"\s(?:per|an?)\s", slot.after)
    return f"How much is {clause.group}{slot.after} for {subject}?" if is_price and is_present else ""


def percent(clause: Clause, subject: str, slot: QuantitySlot) -> str:
    """Return the question for a share, "" if the rules are not sure."""
    if slot.prep == "of":
        return _of_attribute(clause, subject, slot)
    whole = OF_PHRASE.match(slot.after)
    if whole is None or slot.before or slot.has_more:
        return ""
    rest = slot.after[whole.end() :]
    wh = _bounded("", slot.bound, f"what percentage {whole.group().strip()}")
    if re.match(r"\s?(?:and|or)\s", rest):
        return ""
    if not slot.prep and clause.voice == "active":
        return clause.ask(wh, subject, rest)
    return clause.ask(wh, subject, "for") if slot.prep == "for" and not rest.strip() else ""


def period(clause: Clause, subject: str, slot: QuantitySlot) -> str:
    """Return the question for a period, "" if the rules are not sure."""
    before, after = slot.before, slot.after
    context = f"{before} and {after}" if re.search(r"\band\b", after) else before
    # "Within 24 hours in winter and within three days in summer": the second period would be in the question.
    has_other_period = any(other.kind == "period" for other in quantities(context))
    if has_other_period or slot.has_more or len(before.split()) > _MAX_WORDS_BEFORE_PERIOD:
        return ""
    if slot.prep == "of":
        return _of_attribute(clause, subject, slot)
    # "The fee is £4 for up to four hours": the period is a condition of the fee.
    if clause.voice == "copula" and quantities(before):
        return ""
    units = slot.unit if slot.unit.endswith("s") else f"{slot.unit}s"
    if not slot.prep:
        return _period_without_preposition(clause, subject, slot, units)
    # "Retired after 16 years" tells what was, and is no period that begins with an event.
    if slot.prep == "within" or (slot.prep == "after" and clause.aux != "did"):
        return _period_until_event(clause, subject, slot, units)
    if slot.prep == "for":
        is_object = clause.verb in _FOR_A_PURPOSE or re.match(r"\s(?:of|a|or)\b", after) or quantities(after)
        return "" if is_object else clause.ask("For how long", subject, f"{before} {after}")
    if slot.prep == "by" and slot.bound == "up to":
        return clause.ask(f"By how many {units}", subject, f"{before} {after}")
    return ""


def _period_until_event(clause: Clause, subject: str, slot: QuantitySlot, units: str) -> str:
    """Return the question for a period that begins with an event: "within 5 days of the order"."""
    if slot.prep == "within":
        ahead = _AHEAD.match(slot.after)
        start = ahead.group() if ahead and len(ahead.group().split()) <= _MAX_WORDS_AHEAD else ""
        rest = slot.after[len(start) :]
    else:
        since = re.match(r"\s(?:of|from|without)\s.*", slot.after)
        start, rest = (since.group(), "") if since else ("", slot.after)
    return clause.ask(f"{slot.prep.capitalize()} how many {units}{start}", subject, f"{slot.before} {rest}")


def _period_without_preposition(clause: Clause, subject: str, slot: QuantitySlot, units: str) -> str:
    before, after = slot.before, slot.after
    if not before and clause.voice == "active":
        if whole := _OF_THINGS.match(after):
            return clause.ask(f"How many {units}{whole.group().rstrip()}", subject, after[whole.end() :])
        if clause.verb in ("take", "last"):
            return clause.ask("How long", subject, after)
    ahead = _AHEAD.match(after)
    if ahead is None or after.startswith((" of", " from")) or "-" in slot.quantity.text:
        return ""
    # "After switching off before a person opens it" would be a question about a second event.
    if len(re.findall(r"\b(?:before|after)\b", ahead.group())) > 1:
        return ""
    wh = "How far" if after.startswith(" in advance") else "How long"
    return clause.ask(f"{wh}{ahead.group()}", subject, before)


def date(clause: Clause, subject: str, slot: QuantitySlot) -> str:
    """Return the question for a date, "" if the rules are not sure."""
    wh = _QUESTION_WORD_OF_DATE.get(slot.prep)
    has_second_date = re.search(r"\b(?:and|or|that)\b|^\sof\b", slot.after)
    # "The target is to record all by 2027": the date is not that of being.
    if wh is None or slot.bound or has_second_date or clause.voice == "copula":
        # Without the agent of a passive: "on 3 May by the board".
        return ""
    rest = re.sub(r"^\s+by\s(?:an?|the)\s[^,]+$", "", f"{slot.before} {slot.after}")
    return "" if quantities_and_counts(rest) or clause.verb in CHANGES else clause.ask(wh, subject, rest)


def measure(clause: Clause, subject: str, slot: QuantitySlot) -> str:
    """Return the question for a measure, "" if the rules are not sure."""
    unit = UNITS.get(slot.unit.lower())
    if unit is None or slot.has_more:
        return ""
    if slot.prep == "of":
        return _of_attribute(clause, subject, slot)
    if not slot.prep and not slot.before and clause.voice == "active":
        return _measured_amount(clause, subject, slot, unit.dimension)
    if slot.prep in ("below", "above", "at", "to", "between", "after"):
        return _measured_level(clause, subject, slot, unit.dimension)
    return ""


def _measured_amount(clause: Clause, subject: str, slot: QuantitySlot, dimension: str) -> str:
    """Return the question for an amount: "The tank holds 5 litres of water"."""
    if clause.verb == "weigh":
        return clause.ask("How much", subject, slot.after)
    whole = OF_PHRASE.match(slot.after)
    if whole is None:
        return ""
    noun = whole.group().strip().removeprefix("of ")
    rest = slot.after[whole.end() :]
    is_countable = noun.endswith("s") or dimension == "distance"
    wh = f"how many {slot.unit} of" if is_countable else "how much"
    # "How much of the refrigerant", but "how much water".
    if noun.startswith("the ") and not is_countable:
        wh += " of"
    is_listed = re.match(r"\s?(?:and|or)\s", rest)
    return "" if is_listed else clause.ask(f"{_bounded('', slot.bound, wh)} {noun}", subject, rest)


def _measured_level(clause: Clause, subject: str, slot: QuantitySlot, dimension: str) -> str:
    """Return the question for a level: "The boiler works at 60 °C"."""
    lead, prep = slot.before, slot.prep
    if prep == "between":
        prep = "at"
        if lead and lead.split()[-1].rstrip("s").lower() == dimension:
            lead = re.sub(r"\s?(?:at\s)?\S+$", "", lead)
        dimension = "temperatures" if dimension == "temperature" else dimension
    if slot.rate:
        dimension = "speed" if dimension == "distance" else "rate"
    # Nobody asks "At what distance is the range?" or "At what amount is chlorine kept?".
    if prep == "at" and dimension in ("amount", "level", "distance"):
        return ""
    wh = _bounded(prep, slot.bound, f"what {dimension}")
    return clause.ask(wh, subject, f"{lead} {slot.after.removeprefix(slot.rate)}")


def number(clause: Clause, subject: str, slot: QuantitySlot) -> str:
    """Return the question for a count, "" if the rules are not sure."""
    counted = _COUNTED.match(slot.after)
    if counted is None or slot.prep not in ("", "of", "for") or slot.has_more:
        return ""
    noun, rest = counted["noun"], slot.after[counted.end() :]
    if _NO_COUNTED_NOUN.search(noun):
        return ""
    # "Nine members and the chair is …": another statement begins.
    if rest.startswith(" and "):
        rest = ""
    wh = _bounded("", slot.bound, f"how many {noun}")
    is_last = not rest.strip()
    if slot.prep == "of" and not slot.before and clause.verb == "consist":
        return clause.ask(wh, subject, "of") if is_last else ""
    if slot.prep == "for" and slot.before and is_last:
        return clause.ask(wh, subject, f"{slot.before} for")
    if slot.prep or slot.before or clause.voice != "active":
        return ""
    if re.match(r"\s(?:by|of|with|about)\s", rest):
        return clause.ask(f"{wh}{rest}", subject)
    return clause.ask(wh, subject, rest)


QUESTION_OF_KIND: Mapping[Kind, Callable[[Clause, str, QuantitySlot], str]] = {
    "money": money,
    "percent": percent,
    "period": period,
    "date": date,
    "measure": measure,
    "number": number,
}
