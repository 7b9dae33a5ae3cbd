"""Quantities of a clause with the words around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from pytest_evalstudio.contrib.questions.parsing.clauses import Clause, Part
from pytest_evalstudio.contrib.questions.quantities import Quantity

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

SUBJECT = "subject"
"""Role of the subject as a part."""


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


def slot_of(clause: Clause, quantity: Quantity, offsets: Sequence[int]) -> Slot | None:
    """Return a quantity with its words; None where it is not in one part, or exceeds a bound.

    Args:
        clause: that has it.
        quantity: of the sentence.
        offsets: position of each token in the sentence.
    """
    doc = clause.verb.doc
    tokens = [each for each in doc if quantity.start <= offsets[each.i] < quantity.end]
    part = part_of(clause, tokens)
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
    head = heads[-1]
    noun: Sequence[Token] = ()
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
    elif quantity.kind == "money" and part.role == SUBJECT:
        noun = _rate(doc, tokens[-1].i + 1)
    return Slot(quantity, part, tokens, bound, noun, head)


def _rate(doc: Doc, start: int) -> Sequence[Token]:
    """Return the tokens of a rate behind an amount: "a month", "per night"."""
    tokens = tuple(doc[start : start + 2])
    is_rate = len(tokens) == 2 and tokens[0].lower_ in ("a", "an", "per", "each") and tokens[1].pos_ == "NOUN"
    return tokens if is_rate else ()


def part_of(clause: Clause, tokens: Sequence[Token]) -> Part | None:
    """Return the part of a clause, or its subject, that has all of some tokens; None if there is none."""
    indices = {each.i for each in tokens}
    if indices and clause.subject_head is not None and indices <= {each.i for each in clause.subject}:
        is_own = (
            clause.is_first
            or clause.subject[0].i > clause.verb.i
            or clause.subject_head.head.i == clause.verb.i
        )
        return Part(role=SUBJECT, head=clause.subject_head, tokens=clause.subject) if is_own else None
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
