"""Questions for the quantities of a clause."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from pytest_evalstudio.contrib.questions.parsing.clauses import Clause, Part, is_plural
from pytest_evalstudio.contrib.questions.parsing.pipeline import word_of
from pytest_evalstudio.contrib.questions.quantities import UNITS, Quantity, unit_of
from pytest_evalstudio.contrib.questions.rules.composition import Source, is_dispensable
from pytest_evalstudio.contrib.questions.rules.slots import QuantityQuestion, time_conditions
from pytest_evalstudio.contrib.questions.words import word_table

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_SUBJECT = "subject"
"""Role of the subject as a part."""
_MODIFIERS = ("nmod", "compound", "amod", "nummod")
_ALIKE = ("money", "percent", "period")
_ATTRIBUTES = word_table("attributes")
_YEAR = re.compile(r"\d{4}")
_PAYING = frozenset(
    {"cost", "pay", "charge", "receive", "save", "spend", "get", "claim", "refund", "win", "earn", "give"}
)
"""Verbs whose object is an amount, also with a limit: "We pay up to £500"."""
_PERMITTING = frozenset({"must", "may", "should", "can", "could", "shall", "will"})


class Slot(NamedTuple):
    """A quantity of a clause with the words around it.

    Attributes:
        part: that has it.
        tokens: of the quantity.
        bound: of words before it: "up to", "at least".
        noun: of the thing that it counts, () for others.
        head: of its noun phrase.
    """

    quantity: Quantity
    part: Part
    tokens: Sequence[Token]
    bound: Sequence[Token]
    noun: Sequence[Token]
    head: Token


@dataclass(frozen=True, slots=True)
class _Request:
    """What a question begins with, and the tokens that it leaves out."""

    beginning: str
    dropped: frozenset[int]


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
        slot = _slot(source.clause, quantity, offsets)
        if slot is None or (
            is_dispensable(slot.part, source.clause)
            and slot.part.role not in source.clause.language.words("measures")
        ):
            continue
        request = _request(source, slot)
        if request is None:
            continue
        if slot.part.role == _SUBJECT:
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
    if quantity.kind not in (*_ALIKE, "date"):
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


def _question_for_subject(source: Source, slot: Slot, request: _Request) -> str:
    rest = source.text([each for each in slot.part.tokens if each.i not in request.dropped])
    return source.ask_subject(f"{request.beginning} {rest}".strip(), plural=True)


def _slot(clause: Clause, quantity: Quantity, offsets: Sequence[int]) -> Slot | None:
    doc = clause.verb.doc
    tokens = [each for each in doc if quantity.start <= offsets[each.i] < quantity.end]
    part = _part_of(clause, tokens)
    if part is None:
        return None
    bound = _bound(clause, part, tokens)
    words = [each.lower_ for each in bound]
    if {"than", "over", "under", "above", "below"} & set(words) and words[:1] not in (["no"], ["not"]):
        return None
    inside = {each.i for each in tokens}
    heads = [each for each in tokens if each.head.i not in inside or each.head.i == each.i]
    if not heads:
        return None
    head, noun = heads[-1], ()
    if quantity.kind == "number":
        if (
            head.dep_ not in ("nummod", "nk")
            or head.head.i <= head.i
            or head.head.pos_ not in ("NOUN", "PROPN")
        ):
            return None
        noun = tuple(doc[tokens[-1].i + 1 : head.head.i + 1])
        head = head.head
        if not noun or any(each.pos_ in ("VERB", "AUX", "PUNCT", "CCONJ", "ADP") for each in noun):
            return None
    elif quantity.kind == "money" and part.role == _SUBJECT:
        noun = _rate(doc, tokens[-1].i + 1)
    return Slot(quantity, part, tokens, bound, noun, head)


def _rate(doc: Doc, start: int) -> Sequence[Token]:
    """Return the tokens of a rate behind an amount: "a month", "per night"."""
    tokens = tuple(doc[start : start + 2])
    is_rate = len(tokens) == 2 and tokens[0].lower_ in ("a", "an", "per", "each") and tokens[1].pos_ == "NOUN"
    return tokens if is_rate else ()


def _limit(source: Source, quantity: Quantity, offsets: Sequence[int]) -> str:
    """Return the question for what a denial limits, "" for none: "may not exceed", "must not be longer than"."""
    clause = source.clause
    tokens = [each for each in clause.verb.doc if quantity.start <= offsets[each.i] < quantity.end]
    part = _part_of(clause, tokens)
    phrases = clause.language.entries("question phrases")
    if part is None or part.role == _SUBJECT or "limit" not in phrases or not clause.auxiliaries:
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
        return source.ask(beginning, rest | {than.i}, affirmative=True, tail=phrases["at most"])
    return ""


def _part_of(clause: Clause, tokens: Sequence[Token]) -> Part | None:
    indices = {each.i for each in tokens}
    if indices and clause.subject_head is not None and indices <= {each.i for each in clause.subject}:
        is_own = (
            clause.is_first
            or clause.subject[0].i > clause.verb.i
            or clause.subject_head.head.i == clause.verb.i
        )
        return Part(role=_SUBJECT, head=clause.subject_head, tokens=clause.subject) if is_own else None
    return next(
        (part for part in clause.constituents if indices and indices <= {each.i for each in part.tokens}),
        None,
    )


def _bound(clause: Clause, part: Part, tokens: Sequence[Token]) -> Sequence[Token]:
    """Return the words before a quantity that bound it: "up to", "at least"."""
    words, prepositions = clause.language.words("bounds"), clause.language.words("prepositions")
    doc, first = clause.verb.doc, tokens[0].i
    start = first
    while start > part.start and doc[start - 1].lower_ in words:
        is_preposition = part.role in prepositions and doc[start - 1].i == part.head.i
        if is_preposition and part.head.lower_ not in clause.language.words("bounding prepositions"):
            break
        start -= 1
    # "rises to 30 days": a preposition alone is no bound.
    if start == first - 1 and doc[start].pos_ == "ADP" and doc[start].dep_ in prepositions:
        return ()
    return tuple(doc[start:first])


def _request(source: Source, slot: Slot) -> _Request | None:
    """Return how a question begins that asks for a quantity; None where there is no way."""
    clause, part = source.clause, slot.part
    taken = {each.i for each in (*slot.tokens, *slot.bound, *slot.noun)}
    if _has_second_case(slot):
        return None
    taken |= _further_members(slot)
    objects = clause.language.words("objects") | clause.language.words("measures") | {_SUBJECT}
    if request := _by_position(source, slot, taken):
        return request
    if slot.head.i == part.head.i and part.role in objects:
        return _of_object(source, slot, taken)
    if part.role in clause.language.words("prepositions"):
        return _after_preposition(source, slot, taken)
    if slot.head.head.i == part.head.i and part.role in clause.language.words("complements"):
        return _of_adjective(source, slot, taken)
    return _of_attribute(source, slot, taken)


def _by_position(source: Source, slot: Slot, taken: set[int]) -> _Request | None:
    """Return the beginning for a quantity whose neighbours say what it is, wherever a parser attaches it.

    "seven days in advance", "ten days before you leave", "in writing within ten days", "between 24 and 30".
    """
    clause, part = source.clause, slot.part
    doc, first, last = clause.verb.doc, slot.tokens[0].i, slot.tokens[-1].i
    table, before = clause.language, doc[first - 1].lower_ if first else ""
    is_ahead = [each.lower_ for each in doc[last + 1 : last + 3]] == ["in", "advance"]
    if slot.quantity.kind == "period" and is_ahead and before not in table.words("recurring"):
        phrase = f"{table.phrase('count').format(noun=_unit_words(slot))} {doc[last + 1 : last + 3].text}"
        return _Request(phrase, frozenset(taken | {last + 1, last + 2}))
    if slot.quantity.kind == "period" and last + 2 < len(doc) and doc[last + 1].text in ("'", "’"):
        return _of_notice(source, slot, taken)
    if slot.quantity.kind == "period" and part.role in table.words("clauses"):
        is_leading = {each.i for each in part.tokens if each.i < first} <= taken
        if is_leading and last + 1 < len(doc) and doc[last + 1].lower_ in ("before", "after"):
            rest = [each for each in part.tokens if each.i > last]
            phrase = f"{table.phrase('count').format(noun=_unit_words(slot))} {source.text(rest)}"
            return _Request(phrase, frozenset(each.i for each in part.tokens))
    if before == "between" and " and " in slot.quantity.text:
        return _of_range(source, slot, taken | {first - 1})
    preposition = slot.head.head
    is_nested = (
        preposition.lower_ == "within" and preposition.head.i != clause.verb.i and preposition.i >= part.start
    )
    is_nested &= part.role not in table.words("clauses")
    if slot.quantity.kind in ("period", "number") and is_nested and preposition.i == first - 1:
        inner = [each for each in preposition.subtree if each.i not in taken and each.i != preposition.i]
        is_attached = not inner or inner[0].lower_ == "of"
        end = inner[-1].i if inner else last
        if is_attached and part.role != _SUBJECT and part.tokens[-1].i == end:
            phrase = _phrase_after(clause, slot, preposition.lower_)
            dropped = frozenset(taken | {preposition.i} | {each.i for each in inner})
            return _Request(f"{phrase} {source.text(inner)}".strip(), dropped) if phrase else None
    return None


def _of_notice(source: Source, slot: Slot, taken: set[int]) -> _Request | None:
    """Return the beginning for "four weeks' written notice"; None for another noun."""
    doc, last, table = source.clause.verb.doc, slot.tokens[-1].i, source.clause.language
    end = next((each.i for each in doc[last + 2 : last + 4] if each.lower_ == "notice"), 0)
    if not end or slot.part.role not in table.words("objects"):
        return None
    phrase = f"{table.phrase('count').format(noun=_unit_words(slot))}{doc[last + 1].text}"
    return _Request(
        f"{phrase} {source.text(doc[last + 2 : end + 1])}", frozenset(taken | set(range(last + 1, end + 1)))
    )


def _of_range(source: Source, slot: Slot, taken: set[int]) -> _Request | None:
    """Return the beginning for a range after "between"."""
    clause, table = source.clause, source.clause.language
    rest = [each for each in slot.part.tokens if each.i not in taken]
    if slot.part.tokens[0].lower_ != "between" or rest:
        return None
    if clause.lemma in table.words("duration verbs") and slot.quantity.kind == "period":
        return _Request(table.phrase("duration"), frozenset(taken))
    if slot.quantity.kind == "money" and clause.lemma != "be" and slot.part.head.i == slot.part.start:
        return _Request(table.phrase("amount"), frozenset(taken))
    if clause.lemma == "be" and clause.subject_head is not None and clause.subject_head.dep_ != "expl":
        return _Request(table.phrase("definition"), frozenset(taken))
    if slot.quantity.kind in ("money", "percent", "measure", "number") and clause.lemma == "lie":
        return _Request(table.phrase("range"), frozenset(taken))
    return None


def _has_second_case(slot: Slot) -> bool:
    """Report whether a statement has another quantity of the same unit for another case."""
    if slot.quantity.kind not in _ALIKE:
        return False
    others = [each for each in slot.part.tokens if each.i > slot.tokens[-1].i and each.like_num]
    unit = slot.tokens[0].text if slot.quantity.kind == "money" else slot.tokens[-1].text
    is_joined = any(each.dep_ == "conj" and each.head.i in {t.i for t in slot.tokens} for each in others)
    return is_joined or any(each.nbor(-1).text == unit or _is_before(each, unit) for each in others)


def _is_before(token: Token, unit: str) -> bool:
    return token.i + 1 < len(token.doc) and str(token.nbor(1).text) == unit


def _further_members(slot: Slot) -> set[int]:
    """Return the tokens of the other members of a list: "six washers and four dryers"."""
    members = [each for each in slot.head.children if each.dep_ == "conj"]
    if not members:
        return set()
    first = min(
        each.i for each in slot.head.children if each.dep_ in ("cc", "conj", "punct") and each.i > slot.head.i
    )
    return {each.i for each in slot.part.tokens if each.i >= first}


def _of_object(source: Source, slot: Slot, taken: set[int]) -> _Request | None:
    """Return the beginning for an object: "How much", "How many days"."""
    clause, quantity = source.clause, slot.quantity
    table = clause.language
    before = [each for each in slot.part.tokens if each.i < slot.tokens[0].i and each.i not in taken]
    if any(each.dep_ not in table.words("determiners") for each in before):
        return None
    is_amount = quantity.kind == "money" or clause.lemma in table.words("duration verbs")
    if slot.part.role in table.words("measures") and not (is_amount and not before):
        recurring = [each for each in clause.verb.doc if each.lower_ in table.words("recurring")]
        if len(recurring) != 1 or recurring[0] not in before:
            return None
        return _Request(table.phrase("frequency"), frozenset(each.i for each in slot.part.tokens))
    if before and before[0].lower_ not in ("a", "an"):
        return None
    taken |= {each.i for each in before}
    if clause.lemma == "be" and clause.subject_head is not None and clause.subject_head.dep_ != "expl":
        if slot.part.role == _SUBJECT:
            return None
        key = "amount" if quantity.kind == "money" else "definition"
        is_counted = quantity.kind == "number" and (
            is_plural(clause.subject_head)
            or len(clause.subject) < 3
            or any(each.like_num and each not in slot.tokens for each in clause.verb.doc)
        )
        if is_counted or quantity.kind == "date":
            return None
        return _Request(table.phrase(key), frozenset(taken))
    phrase = _amount(clause, slot)
    rest = [each for each in slot.part.tokens if each.i > slot.tokens[-1].i and each.i not in taken]
    if clause.is_command and any(each.dep_ == "cc" for each in rest):
        return None  # "Add 5 ml of buffer and invert the tube": a verb that is read as a noun
    is_attached = rest and (rest[0].lower_ in ("of", "off", "that", "which", "who") or rest[0].dep_ == "acl")
    if phrase and is_attached and slot.part.role != _SUBJECT:
        return _Request(f"{phrase} {source.text(rest)}", frozenset(each.i for each in slot.part.tokens))
    return _Request(phrase, frozenset(taken)) if phrase else None


def _amount(clause: Clause, slot: Slot) -> str:
    """Return the phrase that asks for a quantity without a preposition."""
    table, quantity = clause.language, slot.quantity
    after = slot.part.tokens[-1].i > slot.tokens[-1].i and slot.tokens[-1].nbor(1).lower_ == "of"
    if quantity.kind == "money":
        is_limit = [each.lower_ for each in slot.bound[:2]] == ["up", "to"] and clause.lemma not in _PAYING
        return (
            table.entries("question phrases").get("amount up to", "") if is_limit else table.phrase("amount")
        )
    if quantity.kind == "percent":
        return (
            table.phrase("share")
            if after
            or slot.tokens[-1].i + 1 < len(slot.tokens[-1].doc)
            and slot.tokens[-1].nbor(1).lower_ == "off"
            else ""
        )
    if quantity.kind == "period":
        if not after and clause.lemma in table.words("duration verbs"):
            return table.phrase("duration")
        return table.phrase("count").format(noun=_unit_words(slot))
    if quantity.kind == "measure":
        if clause.lemma in table.words("state verbs"):
            return table.phrase("amount")
        unit = UNITS.get(unit_of(quantity.text).lower())
        if after or unit is None:
            return table.phrase("count").format(noun=_unit_words(slot))
        return table.phrase("what").format(noun=unit.dimension)
    if quantity.kind == "number":
        return table.phrase("count").format(noun=_noun(slot))
    return ""


def _noun(slot: Slot) -> str:
    return " ".join(word_of(each) for each in slot.noun)


def _unit_words(slot: Slot) -> str:
    """Return the unit of a quantity as the question has it, in the plural."""
    words = [
        word_of(each) for each in slot.tokens if not each.like_num and each.pos_ != "NUM" and each.text != "-"
    ]
    if "half" in words:
        words = words[words.index("half") + 1 :]
    unit = " ".join(words) or unit_of(slot.quantity.text)
    is_noun = unit.isalpha() and len(unit) > 2
    return f"{unit}s" if is_noun and not unit.endswith("s") and unit.isascii() else unit


def _after_preposition(source: Source, slot: Slot, taken: set[int]) -> _Request | None:
    """Return the beginning for the object of a preposition: "Within how many days"."""
    clause, part = source.clause, slot.part
    table = clause.language
    if slot.head.dep_ in table.words("measures") and slot.head.head.i == part.head.i:
        return _before_event(source, slot)
    nested = slot.head.head
    is_direct = nested.i == part.head.i or (nested.head.i == part.head.i and nested.pos_ in ("ADP", "PART"))
    if not is_direct:
        return _of_attribute(source, slot, taken)
    leading = [each for each in part.tokens if each.i < slot.tokens[0].i and each.i not in taken]
    bounding = [
        each
        for each in slot.bound
        if each.i == part.head.i or (each.head.i == part.head.i and each.dep_ == "prep")
    ]
    words = [each for each in leading if each.pos_ in ("ADP", "SCONJ", "PART")] or bounding
    named = table.words("determiners")
    days = table.words("days")
    if any(each.dep_ not in named and each not in words and each.lower_ not in days for each in leading):
        return None
    if part.start > 0 and part.head.lower_ == "to" and part.head.nbor(-1).lower_ == "up":
        words = [part.head.nbor(-1), *words]
    before = " ".join(each.lower_ for each in words)
    if before == "to" and any(other.tokens[0].lower_ == "from" for other in clause.constituents):
        return None
    before = "up to" if before == "up" else before
    if "as" in before.split() or (before == "for" and slot.quantity.kind == "money"):
        return None  # "for as long as three weeks", "for £10 a visit"
    phrase = _phrase_after(clause, slot, before)
    if not phrase:
        return None
    rest = [each for each in part.tokens if each.i > slot.tokens[-1].i and each.i not in taken]
    whole = frozenset(each.i for each in part.tokens)
    if rest and rest[0].dep_ == "cc":
        return None  # "on 25 December and on 1 January"
    if rest and (rest[0].lower_ in table.words("attached") or rest[0].dep_ == "acl" or rest[0].tag_ == "WDT"):
        return _Request(f"{phrase} {source.text(rest)}", whole)
    return _Request(phrase, frozenset(taken | {each.i for each in (*leading, *words)}))


def _phrase_after(clause: Clause, slot: Slot, before: str) -> str:
    """Return the phrase that asks for a quantity after a preposition, "" for none."""
    table, quantity = clause.language, slot.quantity
    if before.split(" ")[0] not in table.words("asked prepositions"):
        return ""
    capital = before.capitalize()
    if quantity.kind == "date":
        key = "date" if before in table.words("date prepositions") else "date after"
        return table.phrase(key).format(before=capital)
    if quantity.kind in ("period", "number"):
        noun = _noun(slot) or _unit_words(slot)
        return table.phrase("count after").format(before=capital, noun=noun)
    if quantity.kind == "percent":
        return table.phrase("share after").format(before=capital)
    if quantity.kind == "money":
        return table.phrase("amount for" if before == "for" else "amount after").format(before=capital)
    unit = UNITS.get(unit_of(quantity.text).lower()) if not quantity.text.endswith("nm") else None
    return table.phrase("dimension after").format(before=capital, noun=unit.dimension) if unit else ""


def _before_event(source: Source, slot: Slot) -> _Request | None:
    """Return the beginning for a period before or after an event: "How many days before the visit"."""
    rest = [each for each in slot.part.tokens if each.i > slot.tokens[-1].i]
    leading = [each for each in slot.part.tokens if each.i < slot.tokens[0].i and each not in slot.bound]
    start = slot.part.start
    is_after_preposition = start > 0 and slot.part.head.doc[start - 1].pos_ == "ADP"
    if leading or not rest or is_after_preposition or slot.quantity.kind != "period":
        return None
    phrase = source.clause.language.phrase("count").format(noun=_unit_words(slot))
    return _Request(f"{phrase} {source.text(rest)}", frozenset(each.i for each in slot.part.tokens))


def _of_adjective(source: Source, slot: Slot, taken: set[int]) -> _Request | None:
    """Return the beginning for a measure of an adjective: "How wide"."""
    head = slot.part.head
    before = [each for each in slot.part.tokens if each.i < slot.tokens[0].i and each.i not in taken]
    is_measured = slot.quantity.kind in ("measure", "period") and source.clause.lemma == "be"
    if before or head.pos_ != "ADJ" or slot.head.i > head.i or not is_measured:
        return None
    phrase = source.clause.language.entries("question phrases").get("extent", "")
    return _Request(phrase.format(noun=head.text), frozenset(taken | {head.i})) if phrase else None


def _of_attribute(source: Source, slot: Slot, taken: set[int]) -> _Request | None:
    """Return the beginning for the quantity of a noun: "What late fee", for "a late fee of £20"."""
    clause, part = source.clause, slot.part
    table, head = clause.language, slot.head
    is_after = head.head.lower_ in ("of", "von", "between") and head.head.head.pos_ == "NOUN"
    noun = head.head.head if is_after else head.head
    if not is_after and (head.dep_ not in _MODIFIERS or slot.quantity.kind not in ("money", "percent")):
        return None
    is_subject = noun.i == part.head.i and part.role == _SUBJECT
    is_object = is_subject or (noun.i == part.head.i and part.role in table.words("objects") - {"attr"})
    is_after_preposition = noun.head.i == part.head.i and part.role in table.words("prepositions")
    if noun.pos_ != "NOUN" or not (is_object or is_after_preposition) or slot.quantity.kind == "date":
        return None
    # "a discount of 5%" has a discount; "a contract of nine months" is asked for with "how long", if at all.
    needs_attribute = is_after_preposition or is_subject or slot.quantity.kind not in ("money", "percent")
    if needs_attribute and noun.lemma_.lower() not in _ATTRIBUTES:
        return None
    left = [each for each in part.tokens if each.i <= noun.i and each.i not in taken]
    words = [each for each in left if (each.dep_ != "det" and each.i != part.head.i) or each.i == noun.i]
    rest = [each for each in part.tokens if each.i > max(noun.i, slot.tokens[-1].i) and each.i not in taken]
    if any(each.dep_ == "poss" or each.pos_ == "ADV" for each in words) or (rest and rest[0].lower_ == "of"):
        return None
    between = [each for each in part.tokens if noun.i < each.i < slot.tokens[0].i and each.i not in taken]
    if any(each.i != head.head.i for each in between):
        return None
    text = source.text(words)
    phrase = table.phrase("what").format(noun=text)
    if is_after_preposition:
        before = part.head.lower_
        if before not in table.words("asked prepositions"):
            return None
        phrase = table.phrase("dimension after").format(before=before.capitalize(), noun=text)
    # "a late fee of": the article and the preposition go, too.
    dropped = taken | {each.i for each in left} | ({head.head.i} if is_after else set())
    return _Request(phrase, frozenset(dropped))
