"""Question phrases for the quantities of a clause, and the words that they replace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_evalstudio.contrib.questions.parsing.clauses import Clause, is_plural
from pytest_evalstudio.contrib.questions.parsing.pipeline import word_of
from pytest_evalstudio.contrib.questions.quantities import UNITS, unit_of
from pytest_evalstudio.contrib.questions.rules.composition import Source
from pytest_evalstudio.contrib.questions.rules.quantity_slots import SUBJECT, Slot
from pytest_evalstudio.contrib.questions.words import word_table

if TYPE_CHECKING:
    from spacy.tokens import Token

_MODIFIERS = ("nmod", "compound", "amod", "nummod")
ALIKE = ("money", "percent", "period")
"""Kinds of quantity of which a statement may have several, for different cases."""
_ATTRIBUTES = word_table("attributes")
_TRADING = frozenset({"hire", "sell", "offer", "buy", "charge", "rent", "let", "supply", "remove", "deliver"})
_PAYING = frozenset(
    {"cost", "pay", "charge", "receive", "save", "spend", "get", "claim", "refund", "win", "earn", "give"}
)
"""Verbs whose object is an amount, also with a limit: "We pay up to £500"."""


@dataclass(frozen=True, slots=True)
class Request:
    """Beginning of a question, and the tokens that it leaves out."""

    beginning: str
    dropped: frozenset[int]


def request_for(source: Source, slot: Slot) -> Request | None:
    """Return how a question begins that asks for a quantity; None where there is no way."""
    clause, part = source.clause, slot.part
    taken = {each.i for each in (*slot.tokens, *slot.bound, *slot.noun)}
    if _has_second_case(slot):
        return None
    taken |= _further_members(slot)
    objects = clause.language.words("objects") | clause.language.words("measures") | {SUBJECT}
    if request := _by_position(source, slot, taken):
        return request
    if slot.head.i == part.head.i and part.role in objects:
        return _of_object(source, slot, taken)
    if part.role in clause.language.words("prepositions"):
        return _after_preposition(source, slot, taken)
    if slot.head.head.i == part.head.i and part.role in clause.language.words("complements"):
        return _of_adjective(source, slot, taken)
    return _of_attribute(source, slot, taken)


def _by_position(source: Source, slot: Slot, taken: set[int]) -> Request | None:
    """Return the beginning for a quantity whose neighbours say what it is, wherever a parser attaches it.

    "seven days in advance", "ten days before you leave", "in writing within ten days", "between 24 and 30".
    """
    clause, part = source.clause, slot.part
    doc, first, last = clause.verb.doc, slot.tokens[0].i, slot.tokens[-1].i
    table, before = clause.language, doc[first - 1].lower_ if first else ""
    is_ahead = [each.lower_ for each in doc[last + 1 : last + 3]] == ["in", "advance"]
    if slot.quantity.kind == "period" and is_ahead and before not in table.words("recurring"):
        phrase = f"{table.phrase('count').format(noun=_unit_words(slot))} {doc[last + 1 : last + 3].text}"
        return Request(phrase, frozenset(taken | {last + 1, last + 2}))
    if slot.quantity.kind == "period" and last + 2 < len(doc) and doc[last + 1].text in ("'", "’"):
        return _of_notice(source, slot, taken)
    if slot.quantity.kind == "period" and part.role in table.words("clauses"):
        is_leading = {each.i for each in part.tokens if each.i < first} <= taken
        if is_leading and last + 1 < len(doc) and doc[last + 1].lower_ in ("before", "after"):
            rest = [each for each in part.tokens if each.i > last]
            phrase = f"{table.phrase('count').format(noun=_unit_words(slot))} {source.text(rest)}"
            return Request(phrase, frozenset(each.i for each in part.tokens))
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
        if is_attached and part.role != SUBJECT and part.tokens[-1].i == end:
            phrase = _phrase_after(clause, slot, preposition.lower_)
            dropped = frozenset(taken | {preposition.i} | {each.i for each in inner})
            return Request(f"{phrase} {source.text(inner)}".strip(), dropped) if phrase else None
    return None


def _of_notice(source: Source, slot: Slot, taken: set[int]) -> Request | None:
    """Return the beginning for "four weeks' written notice"; None for another noun."""
    doc, last, table = source.clause.verb.doc, slot.tokens[-1].i, source.clause.language
    end = next((each.i for each in doc[last + 2 : last + 4] if each.lower_ == "notice"), 0)
    if not end or slot.part.role not in table.words("objects"):
        return None
    phrase = f"{table.phrase('count').format(noun=_unit_words(slot))}{doc[last + 1].text}"
    return Request(
        f"{phrase} {source.text(doc[last + 2 : end + 1])}", frozenset(taken | set(range(last + 1, end + 1)))
    )


def _of_range(source: Source, slot: Slot, taken: set[int]) -> Request | None:
    """Return the beginning for a range after "between"."""
    clause, table = source.clause, source.clause.language
    rest = [each for each in slot.part.tokens if each.i not in taken]
    if slot.part.tokens[0].lower_ != "between" or rest:
        return None
    if clause.lemma in table.words("duration verbs") and slot.quantity.kind == "period":
        return Request(table.phrase("duration"), frozenset(taken))
    if slot.quantity.kind == "money" and clause.lemma != "be" and slot.part.head.i == slot.part.start:
        return Request(table.phrase("amount"), frozenset(taken))
    if clause.lemma == "be" and clause.subject_head is not None and clause.subject_head.dep_ != "expl":
        return Request(table.phrase("definition"), frozenset(taken))
    if slot.quantity.kind in ("money", "percent", "measure", "number") and clause.lemma == "lie":
        return Request(table.phrase("range"), frozenset(taken))
    return None


def _has_second_case(slot: Slot) -> bool:
    """Report whether a statement has another quantity of the same unit for another case."""
    if slot.quantity.kind not in ALIKE:
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


def _of_object(source: Source, slot: Slot, taken: set[int]) -> Request | None:
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
        return Request(table.phrase("frequency"), frozenset(each.i for each in slot.part.tokens))
    if before and before[0].lower_ not in ("a", "an"):
        return None
    taken |= {each.i for each in before}
    if clause.lemma == "be" and clause.subject_head is not None and clause.subject_head.dep_ != "expl":
        if slot.part.role == SUBJECT or slot.part.head.head.i != clause.verb.i:
            return None
        key = "amount" if quantity.kind == "money" else "definition"
        is_counted = quantity.kind == "number" and (
            is_plural(clause.subject_head)
            or len(clause.subject) < 3
            or any(each.like_num and each not in slot.tokens for each in clause.verb.doc)
        )
        if is_counted or quantity.kind == "date":
            return None
        return Request(table.phrase(key), frozenset(taken))
    phrase = _amount(clause, slot)
    rest = [each for each in slot.part.tokens if each.i > slot.tokens[-1].i and each.i not in taken]
    if clause.is_command and any(each.dep_ == "cc" for each in rest):
        return None  # "Add 5 ml of buffer and invert the tube": a verb that is read as a noun
    is_attached = rest and (rest[0].lower_ in ("of", "off", "that", "which", "who") or rest[0].dep_ == "acl")
    if phrase and is_attached and slot.part.role != SUBJECT:
        return Request(f"{phrase} {source.text(rest)}", frozenset(each.i for each in slot.part.tokens))
    return Request(phrase, frozenset(taken)) if phrase else None


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
        following = slot.tokens[-1].doc[slot.tokens[-1].i + 1 :]
        is_reduction = len(following) > 0 and following[0].lower_ == "off"
        return table.phrase("share") if after or is_reduction else ""
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


def _after_preposition(source: Source, slot: Slot, taken: set[int]) -> Request | None:
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
    if rest and (
        rest[0].lower_ in table.words("attached") or rest[0].dep_ == "acl" or rest[0].tag_ in ("WDT", "WP")
    ):
        return Request(f"{phrase} {source.text(rest)}", whole)
    return Request(phrase, frozenset(taken | {each.i for each in (*leading, *words)}))


def _phrase_after(clause: Clause, slot: Slot, before: str) -> str:
    """Return the phrase that asks for a quantity after a preposition, "" for none."""
    table, quantity = clause.language, slot.quantity
    if before.split(" ")[0] not in table.words("asked prepositions"):
        return ""
    capital = before.capitalize()
    if quantity.kind == "date":
        key = "date" if before in table.words("date prepositions") else "date after"
        return table.phrase(key).format(before=capital)
    if quantity.kind == "number" and before == "at":
        return ""
    if quantity.kind == "money" and before == "at" and clause.lemma in _TRADING:
        return table.entries("question phrases").get("price", "")
    if quantity.kind in ("period", "number"):
        noun = _noun(slot) or _unit_words(slot)
        return table.phrase("count after").format(before=capital, noun=noun)
    if quantity.kind == "percent":
        return table.phrase("share after").format(before=capital)
    if quantity.kind == "money":
        return table.phrase("amount for" if before == "for" else "amount after").format(before=capital)
    unit = UNITS.get(unit_of(quantity.text).lower()) if not quantity.text.endswith("nm") else None
    return table.phrase("dimension after").format(before=capital, noun=unit.dimension) if unit else ""


def _before_event(source: Source, slot: Slot) -> Request | None:
    """Return the beginning for a period before or after an event: "How many days before the visit"."""
    rest = [each for each in slot.part.tokens if each.i > slot.tokens[-1].i]
    leading = [each for each in slot.part.tokens if each.i < slot.tokens[0].i and each not in slot.bound]
    start = slot.part.start
    is_after_preposition = start > 0 and slot.part.head.doc[start - 1].pos_ == "ADP"
    if leading or not rest or is_after_preposition or slot.quantity.kind != "period":
        return None
    phrase = source.clause.language.phrase("count").format(noun=_unit_words(slot))
    return Request(f"{phrase} {source.text(rest)}", frozenset(each.i for each in slot.part.tokens))


def _of_adjective(source: Source, slot: Slot, taken: set[int]) -> Request | None:
    """Return the beginning for a measure of an adjective: "How wide"."""
    head = slot.part.head
    before = [each for each in slot.part.tokens if each.i < slot.tokens[0].i and each.i not in taken]
    is_measured = slot.quantity.kind in ("measure", "period") and source.clause.lemma == "be"
    if before or head.pos_ != "ADJ" or slot.head.i > head.i or not is_measured:
        return None
    phrase = source.clause.language.entries("question phrases").get("extent", "")
    return Request(phrase.format(noun=head.text), frozenset(taken | {head.i})) if phrase else None


def _of_attribute(source: Source, slot: Slot, taken: set[int]) -> Request | None:
    """Return the beginning for the quantity of a noun: "What late fee", for "a late fee of £20"."""
    clause, part = source.clause, slot.part
    table, head = clause.language, slot.head
    is_after = head.head.lower_ in ("of", "von", "between") and head.head.head.pos_ == "NOUN"
    noun = head.head.head if is_after else head.head
    if not is_after and (head.dep_ not in _MODIFIERS or slot.quantity.kind not in ("money", "percent")):
        return None
    is_subject = noun.i == part.head.i and part.role == SUBJECT
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
    if not text:
        return None  # "a maximum of five nights"
    phrase = table.phrase("what").format(noun=text)
    if is_after_preposition:
        before = part.head.lower_
        if before not in table.words("asked prepositions"):
            return None
        phrase = table.phrase("dimension after").format(before=before.capitalize(), noun=text)
    # "a late fee of": the article and the preposition go, too.
    dropped = taken | {each.i for each in left} | ({head.head.i} if is_after else set())
    return Request(phrase, frozenset(dropped))
