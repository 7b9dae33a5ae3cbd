"""Plain English statements: independent sentences with subject, verb and rest."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from pytest_evalstudio.core.plugins.generator import Corpus
from pytest_evalstudio.mrm.texts.quantities import Quantity
from pytest_evalstudio.mrm.texts.words import content_words

GAP = "____"
MODALS = ("can", "may", "must", "will", "should")
BE = ("is", "are", "was", "were")
BASES = {
    "costs": "cost",
    "cost": "cost",
    "takes": "take",
    "take": "take",
    "carries": "carry",
    "carry": "carry",
    "says": "say",
    "covers": "cover",
    "cover": "cover",
    "needs": "need",
    "need": "need",
    "requires": "require",
    "require": "require",
    "includes": "include",
    "include": "include",
    "contains": "contain",
    "contain": "contain",
    "means": "mean",
    "pays": "pay",
}
"""Verbs and their base forms."""

_VERB = "|".join([*BE, *MODALS, *BASES])
_STATEMENT = re.compile(rf"(?P<subject>[A-Z][^,;:()]*?)\s(?P<verb>{_VERB})\s(?P<rest>.+)")
_LEANING = re.compile(
    r"(?i)(?:he|her|here|his|how|it|its|she|that|their|there|these|they|this|those|we|what|when|where|which|who|why|you|and|but|or|so|then|also"
    r"|otherwise|however|therefore|after|before|if|for|in|on|at|by|with)\b"
)
"""First words of sentences that depend on the sentence before."""
_UNCLEAR = re.compile(
    r"(?i)\b(?:that|which|who|whom|because|there|if|when|while|where|we|you|it|they|this)\b"
)
"""Words that the subject of a plain statement does not have."""
_NEGATIVE = re.compile(r"(?i)\b(?:no|not|never|nothing|nobody|none|neither|nor|cannot|without|\w+n't)\b")
_LONGEST_SUBJECT = 9


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence as subject, verb and the rest, which has no full stop and ends where a semicolon does."""

    subject: str
    verb: str
    rest: str

    @property
    def is_negative(self) -> bool:
        """Report whether the statement has a negation."""
        return bool(_NEGATIVE.search(f"{self.subject} {self.rest}"))

    @property
    def is_plural(self) -> bool:
        """Report whether the verb is plural."""
        return self.verb in (
            "are",
            "were",
            "cost",
            "take",
            "carry",
            "cover",
            "need",
            "require",
            "include",
            "contain",
        )


def stands_alone(sentence: str) -> bool:
    """Report whether a sentence is complete, of ordinary length, and independent of the one before."""
    words = sentence.split()
    return (
        4 <= len(words) <= 40
        and sentence[0].isupper()
        and sentence[-1] == "."
        and not _LEANING.match(sentence)
    )


def statement(sentence: str) -> Statement | None:
    """Return subject, verb and rest of a plain statement; None for any other sentence.

    >>> statement("A same-day CHAPS payment costs £20.00 for each instruction.")
    Statement(subject='A same-day CHAPS payment', verb='costs', rest='£20.00 for each instruction')
    """
    found = _STATEMENT.fullmatch(sentence.removesuffix(".")) if stands_alone(sentence) else None
    if found is None:
        return None
    if len(found["subject"].split()) > _LONGEST_SUBJECT or _UNCLEAR.search(found["subject"]):
        return None
    return Statement(found["subject"], found["verb"], found["rest"].partition(";")[0])


def inside(phrase: str, corpus: Corpus) -> str:
    """Return a phrase as within a sentence: first word in lower case, if the documents have it so."""
    first, _, rest = phrase.partition(" ")
    lower = first[0].lower() + first[1:]
    is_common = lower in (
        "a",
        "an",
        "the",
        "no",
        "each",
        "every",
        "any",
        "all",
        "our",
        "your",
    ) or lower.endswith("ing")
    if is_common or lower in _words_as_written(corpus):
        return f"{lower} {rest}".rstrip()
    return phrase


@functools.lru_cache(maxsize=1)
def _words_as_written(corpus: Corpus) -> frozenset[str]:
    return frozenset(
        word for sentence in corpus.sentences for word in re.findall(r"\w+(?:['’-]\w+)*", sentence)
    )


def with_gap(sentence: str, quantity: Quantity) -> str:
    """Return the part of a sentence between semicolons with a gap in place of a quantity."""
    start = sentence.rfind(";", 0, quantity.start) + 1
    end = sentence.find(";", quantity.end)
    part = (
        sentence[start : quantity.start] + GAP + sentence[quantity.end : end if end >= 0 else len(sentence)]
    )
    return part.strip()


def telling_words(text: str, most: int = 2) -> list[str]:
    """Return the longest content words of a text, which an equivalent answer usually has.

    >>> telling_words("a summary of what was agreed")
    ['summary', 'agreed']
    """
    words = dict.fromkeys(word for word in content_words(text) if not word[0].isdigit() and len(word) > 4)
    chosen = sorted(words, key=lambda word: -len(word))[:most]
    return [word for word in words if word in chosen]
