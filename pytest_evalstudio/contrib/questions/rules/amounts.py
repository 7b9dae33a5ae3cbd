"""Questions for the quantities of a clause."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pytest_evalstudio.contrib.questions.parsing.clauses import Clause
from pytest_evalstudio.contrib.questions.quantities import Quantity, unit_of
from pytest_evalstudio.contrib.questions.rules.composition import Source, is_dispensable
from pytest_evalstudio.contrib.questions.rules.quantity_slots import SUBJECT, Slot, part_of, slot_of
from pytest_evalstudio.contrib.questions.rules.requests import ALIKE, Request, request_for
from pytest_evalstudio.contrib.questions.rules.slots import QuantityQuestion, time_conditions

_YEAR = re.compile(r"\d{4}")
_PERMITTING = frozenset({"must", "may", "should", "can", "could", "shall", "will"})


def amount_questions(
    source: Source, hits: Sequence[tuple[Quantity, str]], offsets: Sequence[int]
) -> Iterator[QuantityQuestion]:
    """Yield a question for each quantity of a clause that one can ask for.

    Args:
        source: the clause.
        hits: quantities of its sentence, with their conditions.
        offsets: position of each token in the sentence.
    """
    for quantity, condition in hits:
        if quantity.kind == "date" and time_conditions(source.text(list(source.clause.verb.doc))):
            continue
        is_year = _YEAR.fullmatch(quantity.text) is not None
        if _has_rival(source.clause, quantity, hits, offsets) or (is_year and len(hits) > 1):
            continue
        if source.clause.is_negative:
            if limit := _limit(source, quantity, offsets):
                yield QuantityQuestion(
                    question=limit, quantity=quantity, answer=quantity.text, condition=condition
                )
            continue
        slot = slot_of(source.clause, quantity, offsets)
        if slot is None or (
            is_dispensable(slot.part, source.clause)
            and slot.part.role not in source.clause.language.words("measures")
        ):
            continue
        request = request_for(source, slot)
        if request is None:
            continue
        if slot.part.role == SUBJECT:
            question = _question_for_subject(source, slot, request)
        else:
            question = source.ask(request.beginning, request.dropped)
        if question:
            recurs = slot.part.role in source.clause.language.words("measures")
            # "a load of up to 300 kg" is a load of the question, and "up to 300 kg" its answer.
            bound = slot.bound[1:] if slot.bound and slot.bound[0].lower_ == "of" else slot.bound
            answer = source.text(slot.part.tokens if recurs else [*bound, *slot.tokens, *slot.noun])
            yield QuantityQuestion(question=question, quantity=quantity, answer=answer, condition=condition)


def _has_rival(
    clause: Clause, quantity: Quantity, hits: Sequence[tuple[Quantity, str]], offsets: Sequence[int]
) -> bool:
    """Report whether a clause has another quantity of the same unit, for another case."""
    if quantity.kind not in (*ALIKE, "date"):
        return False
    marked = clause.language.words("clauses")
    plain = {each.i for part in clause.constituents if part.role not in marked for each in part.tokens}
    starts = {offsets[at] for at in plain}
    unit, before = unit_of(quantity.text), _word_before(clause, quantity, offsets)
    if quantity.kind == "period" and before == "for":
        # "kept for 35 days and monthly ones for seven years"
        others = [_word_before(clause, other, offsets) for other, _ in hits if other.start != quantity.start]
        if "for" in others:
            return True
    return any(
        other.start != quantity.start and other.kind == quantity.kind and unit_of(other.text) == unit
        for other, _ in hits
        if other.start in starts
    )


def _word_before(clause: Clause, quantity: Quantity, offsets: Sequence[int]) -> str:
    at = next((at for at, offset in enumerate(offsets) if offset == quantity.start), 0)
    return clause.verb.doc[at - 1].lower_ if at else ""


def _question_for_subject(source: Source, slot: Slot, request: Request) -> str:
    finite = [*source.clause.auxiliaries, source.clause.verb][0]
    if finite.tag_ == "VBZ" and request.beginning.lower().startswith("how many"):
        return ""  # "One litre becomes": the amount asked for is a plural
    rest = source.text([each for each in slot.part.tokens if each.i not in request.dropped])
    return source.ask_subject(f"{request.beginning} {rest}".strip(), plural=True)


def _limit(source: Source, quantity: Quantity, offsets: Sequence[int]) -> str:
    """Return the question for what a denial limits: "may not exceed", "must not be longer than"; or ""."""
    clause = source.clause
    tokens = [each for each in clause.verb.doc if quantity.start <= offsets[each.i] < quantity.end]
    part = part_of(clause, tokens)
    phrases = clause.language.entries("question phrases")
    if part is None or part.role == SUBJECT or "limit" not in phrases or not clause.auxiliaries:
        return ""
    if not {each.lower_ for each in clause.auxiliaries} & _PERMITTING:
        return ""
    rest = frozenset(each.i for each in part.tokens)
    if clause.lemma == "exceed" and part.role in clause.language.words("objects"):
        is_plain = part.tokens[0].i == tokens[0].i and part.tokens[-1].i == tokens[-1].i
        return (
            phrases["limit"].format(noun=source.text(clause.subject)) if is_plain and clause.subject else ""
        )
    before = [each.lower_ for each in part.tokens if each.i < tokens[0].i]
    than = part.tokens[0].doc[part.start - 1] if part.start else None
    if before == ["more", "than"] and clause.lemma in clause.language.words("state verbs"):
        return source.ask(phrases["amount"], rest, affirmative=True, tail=phrases["at most"])
    is_compared = before == ["than"] and than is not None and than.tag_ == "JJR" and clause.lemma == "be"
    if is_compared and than is not None and part.tokens[-1].i == tokens[-1].i:
        beginning = phrases["extent"].format(noun=than.lemma_.lower())
        question = source.ask(beginning, rest | {than.i}, affirmative=True, tail=phrases["at most"])
        return question.replace(" must ", " may ", 1)  # what "must not" forbids
    return ""
