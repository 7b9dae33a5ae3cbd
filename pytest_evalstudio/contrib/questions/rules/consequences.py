"""Questions for what follows from a condition at the beginning of a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_evalstudio.contrib.questions.parsing.clauses import text_of
from pytest_evalstudio.contrib.questions.parsing.language import Language
from pytest_evalstudio.contrib.questions.rules.fact import Fact, make_fact
from pytest_evalstudio.contrib.questions.rules.simplification import without_remark
from pytest_evalstudio.contrib.questions.rules.wording import as_customer
from pytest_evalstudio.contrib.questions.words import word_set

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_MARKS = ("if", "when")
_MIN_WORDS, _MAX_WORDS = 4, 14
"""Words of a condition."""
_NUMBER_OF_ANSWER_WORDS = range(3, 25)
_VAGUE = word_set("something anything somebody someone that this so yours mine one such would these those")
_PERMITTING = word_set("may can could would might")
"""Auxiliaries of what is only possible, which does not "happen"."""
_POINTER = word_set("it they them this that these those he she")


def consequence(doc: Doc, language: Language) -> Fact | None:
    """Return the question for what happens, or what to do, in the case that begins a sentence.

    The answer is all that the sentence says of the case: "What happens if a payment is late?".
    """
    if doc[0].lower_ not in _MARKS or "consequence" not in language.entries("question phrases"):
        return None
    condition = _condition(doc)
    if not condition or not _is_plain(condition):
        return None
    rest = [token for token in doc if token.i > condition[-1].i + 1]
    answer = without_remark(text_of(rest))
    if len(answer.split()) not in _NUMBER_OF_ANSWER_WORDS or rest[0].lower_ in _POINTER:
        return None
    text = text_of(condition)
    case = as_customer(text[0].lower() + text[1:])
    if _is_instruction(rest):
        return make_fact(f"What should I do {case}?", answer)
    modals = {token.lower_ for token in rest if token.tag_ == "MD"}
    if rest[0].lower_ == "you" and modals & {"must", "should"}:
        return make_fact(f"What {'must' if 'must' in modals else 'should'} I do {case}?", answer)
    return None if modals & _PERMITTING else make_fact(f"What happens {case}?", answer)


def _condition(doc: Doc) -> list[Token]:
    """Return the tokens of the clause that begins a sentence and ends at a comma; [] in doubt."""
    verbs = [token for token in doc if token.dep_ == "advcl" and token.head.dep_ == "ROOT"]
    first = next((verb for verb in verbs if any(token.i == 0 for token in verb.subtree)), None)
    if first is None:
        return []
    tokens = sorted(first.subtree, key=lambda token: int(token.i))
    end = int(tokens[-1].i)
    is_whole = end + 1 == len(tokens) and end + 2 < len(doc) and doc[end + 1].text == ","
    has_subject = any("subj" in token.dep_ for token in first.children)
    return tokens if is_whole and has_subject and first.tag_ not in ("VBD", "VBG") else []


def _is_plain(condition: list[Token]) -> bool:
    """Report whether a condition names what it is about, and is short."""
    words = [token.lower_ for token in condition]
    names = [token for token in condition if token.lower_ in _POINTER]
    has_comma = any(token.text in (",", ";", ":") for token in condition)
    return (
        len(words) in range(_MIN_WORDS, _MAX_WORDS + 1)
        and not _VAGUE & set(words)
        and not any("subj" in token.dep_ for token in names)
        and not has_comma
    )


def _is_instruction(rest: list[Token]) -> bool:
    first = rest[1] if rest[0].lower_ == "please" and len(rest) > 1 else rest[0]
    if first.lower_ in ("do", "never", "always"):
        return True
    return first.tag_ == "VB" and not any(
        "subj" in token.dep_ and token.i < first.i for token in first.children
    )
