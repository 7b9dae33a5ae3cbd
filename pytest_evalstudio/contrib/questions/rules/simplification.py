"""Shorter statements that a long sentence implies, which a parser reads more surely."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pytest_evalstudio.contrib.questions.parsing.clauses import clauses, is_plural, text_of
from pytest_evalstudio.contrib.questions.parsing.pipeline import Pipeline

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_REMARK = re.compile(
    r",\s(?:with|including|compared|largely|particularly|especially|mainly|depending|such as"
    r"|(?:up|down)\s(?:from|on)|an?\s(?:increase|rise|fall|decrease|decline|drop|improvement|reduction)|(?:of|by|in|for|to)\swh(?:ich|om)"
    r"|(?:none|each|both|most|half|some|all)\sof|which|whose|who|where"
    r"|because|since|so that|so long|although|though|whichever|even)\b.*$"
)
"""A remark at the end of a sentence, without which the rest is true as well."""
_JOINT = re.compile(r",\s(?:and|but|so)\s")
_CONDITION = re.compile(
    r"(?i)(?:if|when|whenever|where|once|unless|until|after|before|although|while|as|since|should|in|for|on|at|with|within"
    r"|during|under|from|by|except|because)\b"
)
"""Beginning of a sentence whose first phrase may hold for all of its parts."""
_POINTER = re.compile(
    r"(?i)(?:it|they|he|she|this|that|these|those|there|then|thereafter|after that|in th(?:is|at|ese|ose)"
    r"|the\s(?:other|rest|latter|former|remainder|second|third|last)|others?|one|none|both|each|only|not|again|otherwise)\b"
)
"""Beginning of a part that only the part before it explains."""
_RELATIVES = ("which",)
_MAX_ANTECEDENT = 8


def implied_statements(text: str, doc: Doc, pipeline: Pipeline) -> Iterator[str]:
    """Yield a sentence without its last remark, its parts with subjects of their own, and its remarks.

    >>> [*_parts("The fee is £5, and members pay £3.")]
    ['The fee is £5.', 'Members pay £3.']
    """
    for part in _parts(text):
        if part != text and _is_statement(part, pipeline):
            yield part
    yield from _relative_statements(doc, pipeline)


def _parts(text: str) -> Iterator[str]:
    body = text.removesuffix(".")
    pieces = _JOINT.split(body)
    if _CONDITION.match(body):
        pieces = [body]
    for number, piece in enumerate(pieces):
        if number and _POINTER.match(piece):
            continue
        short = _REMARK.sub("", piece)
        if short:
            yield f"{short[0].upper()}{short[1:]}."


def without_remark(text: str) -> str:
    """Return a text without the remark at its end."""
    return _REMARK.sub("", text)


def _is_statement(text: str, pipeline: Pipeline) -> bool:
    doc = pipeline.parse(text)
    return doc is not None and any(
        clause.subject_head is not None for clause in clauses(doc, pipeline.language)
    )


def _relative_statements(doc: Doc, pipeline: Pipeline) -> Iterator[str]:
    """Yield what a remark says of the noun before it: "cover, which costs £3.20 a week"."""
    for verb in doc:
        if verb.dep_ != "relcl" or verb.head.pos_ != "NOUN":
            continue
        tokens = sorted(verb.subtree, key=lambda token: int(token.i))
        first = tokens[0]
        is_whole = verb.head.head.lower_ != "of" and tokens[1].pos_ in ("VERB", "AUX", "ADV")
        is_subject = (
            is_whole and first.lower_ in _RELATIVES and first.dep_ in pipeline.language.words("subjects")
        )
        if (
            not is_subject
            or first.i < 2
            or doc[first.i - 1].text != ","
            or tokens[-1].i - first.i + 1 != len(tokens)
        ):
            continue
        if antecedent := _antecedent(verb.head, first):
            yield f"{antecedent} {_REMARK.sub('', text_of(tokens[1:]))}."


def _antecedent(noun: Token, pronoun: Token) -> str:
    """Return the noun phrase that ends before the comma of a remark, with "the"; "" for another noun."""
    phrase = [token for token in noun.subtree if token.i < pronoun.i - 1]
    if not phrase or phrase[-1].i != pronoun.i - 2 or len(phrase) > _MAX_ANTECEDENT:
        return ""
    if any(token.pos_ in ("PRON", "VERB", "AUX") or token.like_num for token in phrase):
        return ""
    text = text_of(phrase)
    first = phrase[0]
    if first.dep_ == "poss" or first.lower_ in ("the", "our", "your"):
        return text[0].upper() + text[1:]
    if first.dep_ == "det":
        return f"The {text_of(phrase[1:])}" if first.lower_ in ("a", "an") else ""
    return f"{text[0].upper()}{text[1:]}" if is_plural(noun) else f"The {text}"
