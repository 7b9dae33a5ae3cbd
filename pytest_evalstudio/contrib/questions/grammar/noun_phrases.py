"""English noun phrases: their main noun, their number, and those that a reader understands alone."""

from __future__ import annotations

import re

from pytest_evalstudio.contrib.questions.grammar.verbs import AUXILIARIES, forms
from pytest_evalstudio.contrib.questions.words import word_set, word_table

PREPOSITIONS = word_table("prepositions")
DETERMINERS = word_table("determiners")
RELATIVE = word_set("who that which whose whom where")
_NO_LAST_WORDS = DETERMINERS | PREPOSITIONS | AUXILIARIES | {"and", "or", "we", "i"}
_PLURAL_NOUNS = word_set("people children women men staff police media data criteria")
_SINGULAR_ENDINGS = ("ss", "us", "is", "news")
_MAX_WORDS = 14
_PRONOUN = re.compile(r"(?i)\b(?:it|its|their|they|you)\b")
_SUBORDINATOR = re.compile(r"\s(?:if|unless|because|although|provided)\s")
_PRONOUNS = (
    "one",
    "two",
    "the first",
    "the second",
    "the third",
    "the last",
    "the next",
    "the one",
    "the two",
)
_BEFORE_ARTICLE = word_set(
    """
    and or but all both half such what not only as than that if when throughout along around inside outside
    near despite upon off down up out like plus
    """
)
_ANAPHORIC = re.compile(
    r"(?i)the\s(?:segment|ratio|post|increase|decrease|decline|growth|loss|closure|results?|fall|rise|drop|differences?|figures?|changes?|reasons?|exceptions?|examples?"
    r"|remainder|rest)"
)
"""Subject that refers to something of the sentence before it."""


def is_noun_phrase(words: list[str]) -> bool:
    """Report whether words are a complete noun phrase that a reader understands alone."""
    text = " ".join(words)
    if text.lower() in ("we", "i", "you"):
        return True
    return not (
        words[-1].lower() in _NO_LAST_WORDS
        or text.lower() in _PRONOUNS
        or len(words) > _MAX_WORDS
        or "," in text
        or _PRONOUN.search(text)
        or _SUBORDINATOR.search(text)
        or _has_second_phrase(words)
        or _ANAPHORIC.fullmatch(text)
    )


def _has_second_phrase(words: list[str]) -> bool:
    """Report whether an article follows a noun: "weddings and discos a bond of £200"."""
    return any(
        word in ("a", "an", "the")
        and before.lower() not in PREPOSITIONS | RELATIVE | _BEFORE_ARTICLE
        and not forms(before.lower())
        and after not in PREPOSITIONS  # a letter: "clause a of the contract"
        for before, word, after in zip(words, words[1:], words[2:], strict=False)
    )


def _head_words(words: list[str]) -> list[str]:
    """Return the words of a noun phrase before its first preposition or relative clause."""
    for at, word in enumerate(words):
        lower = word.lower().strip(",")
        if at and (lower in PREPOSITIONS or lower in RELATIVE or (at > 1 and _is_reduced_clause(words, at))):
            return words[:at]
    return words


def _is_reduced_clause(words: list[str], at: int) -> bool:
    """Report whether a participle and a preposition follow a noun: "damage caused by rain"."""
    return (
        "participle" in forms(words[at].lower())
        and at + 1 < len(words)
        and words[at + 1].lower() in PREPOSITIONS
    )


def head_of(words: list[str]) -> str:
    """Return the main noun of a noun phrase in lower case."""
    return _head_words(words)[-1].lower().strip(",")


def is_gerund(words: list[str]) -> bool:
    """Report whether a subject is an activity: "closing an account"."""
    return (
        "ing" in forms(words[0].lower()) and len(words) > 1 and words[1].lower() in DETERMINERS | PREPOSITIONS
    )


def is_plural(words: list[str]) -> bool:
    """Report whether a noun phrase is plural."""
    if is_gerund(words):
        return False
    head = [word.lower().strip(",") for word in _head_words(words)]
    if head[0] in ("each", "every", "a", "an"):
        return False
    last = head[-1]
    if "and" in head or last in ("you", "we", "they") or last in _PLURAL_NOUNS:
        return True
    return last.endswith("s") and not last.endswith(_SINGULAR_ENDINGS)
