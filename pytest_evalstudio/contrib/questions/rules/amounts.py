"""Questions for the quantities of plain clauses."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_evalstudio.contrib.questions.grammar.clauses import Clause, clauses
from pytest_evalstudio.contrib.questions.grammar.simplification import SimpleSentence, simple_sentences
from pytest_evalstudio.contrib.questions.grammar.verbs import forms
from pytest_evalstudio.contrib.questions.grammar.wording import as_customer, uncapitalised
from pytest_evalstudio.contrib.questions.quantities import quantities
from pytest_evalstudio.contrib.questions.rules.amount_kinds import CHANGES, OF_PHRASE, QUESTION_OF_KIND
from pytest_evalstudio.contrib.questions.rules.cases import single_statements
from pytest_evalstudio.contrib.questions.rules.frequencies import frequency_question
from pytest_evalstudio.contrib.questions.rules.further_amounts import further_question
from pytest_evalstudio.contrib.questions.rules.qualifiers import (
    condition_after,
    has_exception,
    has_second_case,
    with_condition,
)
from pytest_evalstudio.contrib.questions.rules.slots import QuantityQuestion, QuantitySlot, quantity_slots
from pytest_evalstudio.contrib.questions.words import word_set, word_table
from pytest_evalstudio.core.plugins.generator import Corpus

_ACTING = word_table("acting verbs")
_LEVELS = word_set("stand reach total amount come")
"""Verbs for a level: "Turnover stood at £5 million"."""
_LIMITS = word_set("limit maximum minimum threshold interval")
_ADJECTIVES = word_set("long wide high deep thick tall old")
_STRANDED = word_set("for of")
_NEVER_LAST = word_set("to by at in on and or a the than with from")
_SUBORDINATE = re.compile(
    r",\s|(?:^|\s)(?:because|when|if|while|which|who|although|though|whichever|unless|whereas|(?:except\s)?where|so\sthat"
    r"|once(?!\s(?:a|per|each|every)\s(?:hour|day|week|month|quarter|year)\b)"
    r"|as\s(?:long|soon)\sas|(?:provided|providing)(?:\sthat)?)\s"
)
"""Beginning of a clause with a subject of its own, whose quantities the main clause does not have."""
_TIME_CLAUSE = re.compile(r"\b(?:after|before|until|since)\s.*\b(?:is|are|was|were|has|have|had)\b")
"""A clause of time, whose quantities the main clause does not have."""
_REPEATED = re.compile(r"(?i)\b(?:of of|for for|to to|by by|in in|at at|its|their|it)\b")
"""A preposition twice, and pronouns of the sentence."""
_POSSESSIVE = re.compile(r"(?i)\bits (?!own)")


def quantity_questions(sentence: str, corpus: Corpus) -> Sequence[QuantityQuestion]:
    """Return natural questions for the quantities of a sentence; none where the rules are not sure.

    A sentence that gives none is divided into simple ones, for which further positions are asked.
    """
    questions_by_sentence = _questions_by_sentence(corpus)
    if sentence not in questions_by_sentence:
        questions = tuple(_plain_questions(sentence, corpus))
        questions_by_sentence[sentence] = questions or tuple(_questions_of_parts(sentence, corpus))
    return questions_by_sentence[sentence]


@functools.lru_cache(maxsize=1)
def _questions_by_sentence(corpus: Corpus) -> dict[str, Sequence[QuantityQuestion]]:
    """Return the questions of one corpus that several generators use."""
    return {}


def _questions_of_parts(sentence: str, corpus: Corpus) -> Iterator[QuantityQuestion]:
    """Yield questions for the simple sentences and the cases that a sentence implies."""
    distinct: dict[str, QuantityQuestion] = {}
    for simple in (SimpleSentence(sentence), *simple_sentences(sentence)):
        for text in single_statements(simple.text):
            for item in _plain_questions(text, corpus, simple.context, is_part=True):
                distinct.setdefault(item.question, item)
    yield from distinct.values()


def _plain_questions(
    sentence: str, corpus: Corpus, context: str = "", *, is_part: bool = False
) -> Iterator[QuantityQuestion]:
    """Yield questions for the quantities of a sentence that end with its context, if it has one."""
    if has_exception(sentence):
        return
    for clause in clauses(sentence):
        part = _SUBORDINATE.split(clause.rest)[0]
        tail = clause.rest[len(part) :]
        condition = condition_after(tail)
        if clause.is_negative or condition is None or (condition and context):
            continue
        condition = condition or context
        subject = uncapitalised(clause.subject, corpus)
        if frequency := frequency_question(clause, subject, part):
            yield replace(frequency, question=with_condition(frequency.question, as_customer(condition)))
            continue
        for slot in quantity_slots(part):
            if _TIME_CLAUSE.search(part[: slot.quantity.start]) or has_second_case(slot.unit, tail):
                continue
            question = _question(clause, subject, slot)
            if not question and is_part and not _is_listed(slot.after):
                question = further_question(clause, subject, slot)
            question = with_condition(question, condition)
            if question and not _lacks_object(question, clause) and _is_clean(question, slot):
                yield _quantity_question(question, slot)


def _quantity_question(question: str, slot: QuantitySlot) -> QuantityQuestion:
    bound = "between" if slot.prep == "between" else slot.bound
    rate = "" if slot.rate in question else slot.rate
    return QuantityQuestion(
        question=as_customer(question),
        quantity=slot.quantity,
        answer=" ".join(filter(None, [bound, slot.near, slot.quantity.text + rate])),
        condition=slot.condition,
    )


def _lacks_object(question: str, clause: Clause) -> bool:
    """Report whether a question ends with a verb that acts on something: "does the office decide"."""
    asks_for_object = question.startswith(("How many ", "How much ", "What "))
    is_acting = clause.voice == "active" and clause.verb in _ACTING and not asks_for_object
    return is_acting and question.rstrip("?").endswith(f" {clause.group}")


def _question(clause: Clause, subject: str, slot: QuantitySlot) -> str:
    """Return the question for a quantity, "" if the rules are not sure."""
    if slot.quantity.kind != "number" and _is_listed(slot.after):
        return ""
    if clause.voice == "copula" and not slot.before:
        is_modal = clause.aux not in ("is", "are", "was", "were")
        if not slot.prep or (slot.prep == "between" and is_modal):
            return _copula(clause, subject, slot)
    if clause.voice == "active" and clause.verb in CHANGES:
        return _change(clause, subject, slot)
    is_level = clause.verb in _LEVELS and not slot.before and slot.prep in ("at", "to", "")
    if clause.voice == "active" and is_level:
        return _level(clause, subject, slot)
    return QUESTION_OF_KIND[slot.quantity.kind](clause, subject, slot)


def _is_listed(after: str) -> bool:
    """Report whether a quantity is one of several things: "£5 plus postage", "£5 or a coupon"."""
    if not re.match(r"\s(?:or|and|plus)\s", after):
        return False
    return not re.match(r"\sand\s\S+\s", after) or bool(quantities(after))


def _copula(clause: Clause, subject: str, slot: QuantitySlot) -> str:
    """Return the question for a quantity after a form of be: "The fee is £5"."""
    kind, after = slot.quantity.kind, slot.after
    if slot.bound or (kind == "percent" and after.startswith(" of ")):
        return ""
    adjective = re.fullmatch(r"\s(\w+)", after)
    if kind in ("measure", "period") and adjective and adjective[1] in _ADJECTIVES:
        return clause.ask(f"How {adjective[1]}", subject)
    is_complement = re.match(r"\s(?:per|for|in|at|on|of|a|an|each|from|after|before|during)\b", after)
    # "The last entry is one hour before closing time" is no duration of the entry.
    is_point = kind == "period" and re.match(r"\s(?:before|after|from)\b", after)
    if kind in ("number", "date") or is_point or (after and not is_complement) or _has_amount(after):
        return ""
    is_duration = kind == "period" and not clause.head.endswith("age") and clause.head not in _LIMITS
    wh = "How long" if is_duration else "What"
    return clause.ask(wh, subject, after.removeprefix(slot.rate))


def _has_amount(text: str) -> bool:
    return any(quantity.kind not in ("date", "period") for quantity in quantities(text))


def _change(clause: Clause, subject: str, slot: QuantitySlot) -> str:
    """Return the question for a change: "Prices rose by 5 %"."""
    is_plain = not slot.before or re.fullmatch(r"(?:by|from)\s\S+(?:\s\S+)?|(?:its|the)\s.+", slot.before)
    if slot.prep not in ("by", "to") or slot.bound or not is_plain:
        return ""
    kind = slot.quantity.kind
    after = _without_other_end(slot.after)
    if quantities(re.sub(r"\b(?:19|20)\d\d\b", "", after)) and _has_amount(after):
        return ""
    before = re.sub(r"^(?:by|from)\s.*$", "", slot.before)
    if slot.prep == "by":
        wh = "By what percentage" if kind == "percent" else "By how much"
        return clause.ask(wh, subject, f"{before} {after}") if kind in ("percent", "money", "measure") else ""
    noun = {"percent": "percentage", "money": "amount"}.get(kind)
    if noun is None:
        return ""
    whole = OF_PHRASE.match(after)
    of = whole.group() if whole else ""
    return clause.ask(f"To what {noun} {of.strip()}", subject, f"{before} {after[len(of) :]}")


def _without_other_end(after: str) -> str:
    """Return the words after a change without where it began or ended: "to 742,000 pounds in 2024"."""
    if not re.match(r"\s(?:to|from|by)\s", after):
        return after
    end = next((other.end for other in quantities(after) if not after[: other.start].split()[1:]), 0)
    rest = re.sub(r"^\s[a-z]+(?:es|ns|rs|ts|ms)(?=$|\s|,)", "", after[end:])  # a unit: "310 tonnes"
    return re.sub(r"^\s(?:a|per)\s(?:day|year|month|week)\b", "", rest)


def _level(clause: Clause, subject: str, slot: QuantitySlot) -> str:
    """Return the question for a level: "Turnover stood at £5 million"."""
    if slot.quantity.kind not in ("money", "percent", "measure") or slot.bound:
        return ""
    be = {"did": "were" if clause.is_plural else "was", "does": "is", "do": "are"}.get(clause.aux)
    is_part = re.match(r"\sof\b", slot.after) is not None
    has_amount = any(other.kind != "date" for other in quantities(slot.after))
    return "" if be is None or is_part or has_amount else f"What {be} {subject}{slot.after}?"


def _is_clean(question: str, slot: QuantitySlot) -> bool:
    """Report whether a question reads well and does not have the answer in it."""
    words = question.rstrip("?").split()
    last = words[-1].lower()
    has_object = re.match(r"(?i)(?:up to |at least )?(?:what|how)", question) is not None
    if last in _NEVER_LAST or (last in _STRANDED and not has_object):
        return False
    if len(words) > 1 and words[-2].lower() in ("and", "or") and forms(last):
        return False  # a second verb without its object: "be at least 14 years old and weigh"
    # "What percentage of its capacity does the battery retain?": "its" stands for the subject.
    is_repeating = _REPEATED.search(question) and not _POSSESSIVE.search(question)
    is_answer_in_question = re.search(slot.condition, question) is not None
    # "What was income?" does not say of what.
    return 4 <= len(words) <= 26 and not is_repeating and not is_answer_in_question and "," not in question
