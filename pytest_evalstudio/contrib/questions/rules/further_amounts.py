"""Questions for quantities in further positions: limits of age and of payment, notices, warranties, spans."""

from __future__ import annotations

import re

from pytest_evalstudio.contrib.questions.grammar.clauses import Clause
from pytest_evalstudio.contrib.questions.quantities import quantities
from pytest_evalstudio.contrib.questions.rules.slots import QuantitySlot
from pytest_evalstudio.contrib.questions.words import word_set

_NOTICE = re.compile(r"['’]?\s(?:of\s)?(?P<noun>(?:written\s)?notice)\b(?P<rest>.*)$")
_GRANTED = re.compile(r"^(?:a|an|the)\s(?P<noun>(?:[\w-]+\s){0,2}[\w-]+)$")
_GRANTING = word_set("grant provide give offer receive carry get")
_PROTECTING = word_set("cover insure protect reimburse refund accept")
_OLD = re.compile(r"^\s(?:old|of age)\b(?P<rest>(?!\s(?:and|or)\b).*)$")
_PURPOSE = re.compile(r"^\sto\s[a-z]+")


def further_question(clause: Clause, subject: str, slot: QuantitySlot) -> str:
    """Return the question for a quantity that the rules of its kind do not ask for, "" in doubt."""
    questions = (rule(clause, subject, slot) for rule in _RULES)
    return next((question for question in questions if question), "")


def _age(clause: Clause, subject: str, slot: QuantitySlot) -> str:
    """Return the question for a limit of age: "The hirer must be at least 21 years old"."""
    old = _OLD.match(slot.after)
    is_limit = clause.voice == "copula" and clause.aux in ("must", "should", "may") and slot.bound != ""
    if old is None or not is_limit or slot.quantity.kind != "period" or slot.before:
        return ""
    return clause.ask("How old", subject, old["rest"])


def _notice(clause: Clause, subject: str, slot: QuantitySlot) -> str:
    """Return the question for a period of notice: "may end the contract with two months' notice"."""
    match = _NOTICE.match(slot.after)
    if slot.quantity.kind != "period" or match is None:
        return ""
    if slot.prep in ("with", "on"):
        return clause.ask(f"With how much {match['noun']}", subject, f"{slot.before} {match['rest']}")
    is_object = not slot.prep and not slot.before and clause.verb in _GRANTING
    return clause.ask(f"How much {match['noun']}", subject, match["rest"]) if is_object else ""


def _purpose(clause: Clause, subject: str, slot: QuantitySlot) -> str:
    """Return the question for a period for a purpose: "Candidates have 15 minutes to prepare"."""
    is_object = not slot.prep and not slot.before and clause.verb in ("have", "get")
    if slot.quantity.kind != "period" or not is_object or not _PURPOSE.match(slot.after):
        return ""
    return clause.ask("How long", subject, slot.after)


def _grant(clause: Clause, subject: str, slot: QuantitySlot) -> str:
    """Return the question for the length of what is granted: "a warranty of two years on the frame"."""
    match = _GRANTED.match(slot.before) if slot.prep == "of" and clause.voice == "active" else None
    is_grant = slot.quantity.kind == "period" and clause.verb in _GRANTING and not quantities(slot.after)
    if match is None or not is_grant:
        return ""
    part = slot.after if re.match(r"\s(?:on|for)\s", slot.after) else ""
    return f"How long is the {match['noun']} that {subject} {clause.form}{part}?"


def _limit(clause: Clause, subject: str, slot: QuantitySlot) -> str:
    """Return the question for a limit of what is paid: "Theft is covered up to £3,500"."""
    is_limit = slot.bound == "up to" and not slot.prep and clause.voice == "passive"
    if slot.quantity.kind != "money" or not is_limit or clause.verb not in _PROTECTING:
        return ""
    return (
        "" if quantities(slot.after) else clause.ask("Up to what amount", subject, slot.before + slot.after)
    )


def _deadline(clause: Clause, subject: str, slot: QuantitySlot) -> str:
    """Return the question for a date after "no later than"."""
    is_deadline = slot.quantity.kind == "date" and slot.bound == "no later than"
    if not is_deadline or clause.voice == "copula":
        return ""
    return clause.ask("By when", subject, f"{slot.before} {slot.after}")


def _span(clause: Clause, subject: str, slot: QuantitySlot) -> str:
    """Return the question for a span of dates: "open between 1 February and 15 April"."""
    is_span = slot.prep in ("between", "from") and len(quantities(slot.quantity.text)) > 1
    if slot.quantity.kind != "date" or not is_span or quantities(slot.after):
        return ""
    return clause.ask("Between which dates", subject, f"{slot.before} {slot.after}")


_RULES = (_age, _notice, _purpose, _grant, _limit, _deadline, _span)
