"""English noun phrases: their main noun, their number, and those that stand for themselves."""

from __future__ import annotations

import re

from pytest_evalstudio.mrm.texts.verbs import BE, HAVE, MODALS, forms
from pytest_evalstudio.mrm.texts.words import word_set

PREPOSITIONS = word_set(
    """
    of for in on at to with from by under between without within after before during per than as into
    onto over through against about among behind beside until since above below across towards via
    except including excluding
    """
)

DETERMINERS = word_set(
    """
    a an the each every any all no some both its their your his her our most many
    """
)

RELATIVE = frozenset({"who", "that", "which", "whose", "whom", "where"})

_NO_LAST_WORDS = DETERMINERS | PREPOSITIONS | MODALS | BE | HAVE | {"and", "or"}
_PLURAL_NOUNS = frozenset(
    {"people", "children", "women", "men", "staff", "police", "media", "data", "criteria"}
)

_ANAPHORIC = re.compile(
    r"(?i)the\s(?:results?|fall|rise|drop|differences?|figures?|changes?|reasons?|exceptions?|examples?|remainder|rest)"
)
"""Subject that stands for something of the sentence before it."""

_SINGULAR_ENDINGS = ("ss", "us", "is", "news")


def is_noun_phrase(words: list[str]) -> bool:
    """Report whether words are a complete noun phrase that stands for itself."""
    text = " ".join(words)
    last = words[-1].lower()
    if last in _NO_LAST_WORDS or len(words) > 14 or "," in text:
        return False
    if re.search(r"(?i)\b(?:it|its|their|they|you)\b", text) and text.lower() != "you":
        return False
    if len(words) > 1 and last in ("we", "i"):
        return False
    if _ANAPHORIC.fullmatch(text):
        return False
    return not (len(words) == 1 and (words[0].lower() in DETERMINERS or words[0].lower() in ("one", "two")))


def _head_words(words: list[str]) -> list[str]:
    """Return the words of a noun phrase before its first preposition or relative clause."""
    for at, word in enumerate(words):
        lower = word.lower().strip(",")
        if at and (lower in PREPOSITIONS or lower in RELATIVE or (at > 1 and _is_reduced_noun(words, at))):
            return words[:at]
    return words


def _is_reduced_noun(words: list[str], at: int) -> bool:
    return (
        "participle" in forms(words[at].lower())
        and at + 1 < len(words)
        and words[at + 1].lower() in PREPOSITIONS
    )


def head_of(words: list[str]) -> str:
    """Return the main noun of a noun phrase in lower case, "" for no words."""
    return _head_words(words)[-1].lower().strip(",") if words else ""


def is_gerund(words: list[str]) -> bool:
    """Report whether a subject is an activity: "closing an account"."""
    return (
        "ing" in forms(words[0].lower())
        and words[1:2] != []
        and words[1].lower() in DETERMINERS | PREPOSITIONS
    )


def is_plural(words: list[str]) -> bool:
    """Report whether a noun phrase is plural."""
    if is_gerund(words):
        return False
    head = _head_words(words)
    if not head:
        return False
    lowered = [word.lower().strip(",") for word in head]
    if lowered[0] in ("each", "every", "a", "an"):
        return False
    if "and" in lowered or lowered[-1] in ("you", "we", "they"):
        return True
    last = lowered[-1]
    if last in _PLURAL_NOUNS:
        return True
    return last.endswith("s") and not last.endswith(_SINGULAR_ENDINGS)
