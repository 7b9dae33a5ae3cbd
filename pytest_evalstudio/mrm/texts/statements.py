"""Plain English statements: independent sentences with subject, verb and rest."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from pytest_evalstudio.core.plugins.generator import Corpus
from pytest_evalstudio.mrm.texts.words import content_words, word_set

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
_SECTION = re.compile(r"^\s*(?:§\s?)?\d{1,2}(?:\.\d{1,2}){1,3}\.?\s(?=[A-Z])")
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


def without_number(sentence: str) -> str:
    """Return a sentence without the number of its section.

    >>> without_number("5.2 The permit costs £65.")
    'The permit costs £65.'
    """
    return _SECTION.sub("", sentence)


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
    match = _STATEMENT.fullmatch(sentence.removesuffix(".")) if stands_alone(sentence) else None
    if match is None:
        return None
    if len(match["subject"].split()) > _LONGEST_SUBJECT or _UNCLEAR.search(match["subject"]):
        return None
    return Statement(match["subject"], match["verb"], match["rest"].partition(";")[0])


def inside(phrase: str, corpus: Corpus) -> str:
    """Return a phrase as within a sentence: with its first word in lower case unless that is a name.

    A word is a name if the documents have a capital within a sentence, or the next word has a capital too.
    """
    first, _, rest = phrase.partition(" ")
    lower = first[0].lower() + first[1:]
    if lower in _FUNCTION_WORDS or (not rest[:1].isupper() and _ABSTRACT.fullmatch(first)):
        return f"{lower} {rest}".rstrip()
    if (
        (not first[1:].islower() and first[1:])
        or rest[:1].isupper()
        or first in _names(corpus)
        or lower in _REGIONS
    ):
        return phrase
    return f"{lower} {rest}".rstrip()


_FUNCTION_WORDS = word_set(
    """
    a an the no each every any all our your you we both some most
    """
)


_ABSTRACT = re.compile(r"[A-Z][a-z]{2,}(?:ity|ion|ment|ance|ence|ship|ness)")
"""Nouns that are no names even if a contract writes them with a capital."""

_REGIONS = word_set(
    """
    africa america antarctica asia australia austria belgium brazil britain bulgaria canada croatia
    denmark egypt england estonia europe finland france germany greece hungary iceland india indonesia
    ireland israel italy japan kenya latvia lithuania luxembourg mexico morocco nigeria norway poland
    portugal romania russia scandinavia scotland serbia singapore slovakia slovenia spain sweden
    switzerland taiwan thailand turkiye ukraine vietnam wales
    """
)
"""Names that documents may have at the beginning of sentences only."""

_PERSONS = {
    "we": "you",
    "us": "you",
    "our": "your",
    "ours": "yours",
    "your": "my",
    "yours": "mine",
    "yourself": "myself",
}
_WE = re.compile(r"(?i)\b(?:we|us|our|ours|your|yours)\b")
_PERSON = re.compile(
    r"(?i)(?P<before>\b(?:do|did|may|can|could|must|should|will|have|are|were|if|when|that|which|before|after|as|until|because|than|whether)\s)?\b"
    r"(?P<word>we|us|ours?|yourself|yours?|you)(?P<be>\sare)?\b"
)


def as_customer(question: str) -> str:
    """Return a question about "us" or "your" things as a customer asks it: we become you, and you become I.

    >>> as_customer("Within how many days do we refund your payment if you ask?")
    'Within how many days do you refund my payment if I ask?'
    """
    return _PERSON.sub(_other_person, question) if _WE.search(question) else question


def _other_person(match: re.Match[str]) -> str:
    before, word, be = match["before"] or "", match["word"].lower(), match["be"] or ""
    if word != "you":
        return f"{before}{_PERSONS[word]}{be}"
    if before:
        before = re.sub(r"(?i)^are\b", lambda match: "Am" if match[0][0].isupper() else "am", before)
        before = re.sub(r"(?i)^were\b", lambda match: "Was" if match[0][0].isupper() else "was", before)
        return f"{before}I{' am' if be else ''}"
    return f"me{be}"


@functools.lru_cache(maxsize=1)
def _names(corpus: Corpus) -> frozenset[str]:
    """Return the words that have a capital within a sentence and never occur without."""
    inner: set[str] = set()
    plain: set[str] = set()
    for sentence in corpus.sentences:
        if sentence[-1:] != ".":
            continue
        words = re.findall(r"\w+(?:['’-]\w+)*", without_number(sentence))
        inner.update(word for word in words[1:] if word[0].isupper())
        plain.update(word for word in words if word[0].islower())
    return frozenset(word for word in inner if word[0].lower() + word[1:] not in plain)


def telling_words(text: str, most: int = 2) -> list[str]:
    """Return the longest content words of a text, which an equivalent answer usually has.

    >>> telling_words("a summary of what was agreed")
    ['summary', 'agreed']
    """
    words = dict.fromkeys(word for word in content_words(text) if not word[0].isdigit() and len(word) > 4)
    chosen = sorted(words, key=lambda word: -len(word))[:most]
    return [word for word in words if word in chosen]
