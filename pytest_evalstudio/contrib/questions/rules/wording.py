"""Words of a sentence as a question has them: capitals, and the persons of a customer who asks."""

from __future__ import annotations

import functools
import re

from pytest_evalstudio.contrib.questions.parsing.statements import without_number
from pytest_evalstudio.contrib.questions.words import word_set, word_table
from pytest_evalstudio.core.plugins.generator import Corpus

_FUNCTION_WORDS = word_table("first function words")
_REGIONS = word_table("regions")
_ABSTRACT = re.compile(r"[A-Z][a-z]{2,}(?:ity|ion|ment|ance|ence|ship|ness|ing|ed)")
"""Nouns that are no names even if a contract writes them with a capital."""
_PERSONS = dict(
    zip(
        ("we", "us", "our", "ours", "your", "yours", "yourself"),
        ("you", "you", "your", "yours", "my", "mine", "myself"),
        strict=True,
    )
)
_WE = re.compile(r"(?i)\b(?:we|us|our|ours|you|your|yours)\b")
_OBJECT = re.compile(
    r"(?i)\?|[,;]|\s(?:an?|the|at|in|for|to|within|by|on|any|of|with|if|when|until|before|after|from|as|about"
    r"|\d\S*|free|my|your|up|no|not less|it|them|except|unless|that|whether|how|what|who"
    r"|this|these|two|three|four|five|six|seven|eight|ten)\b"
)
"""What follows "you" where it is an object: "give you the key"."""
_PREPOSITIONS = word_set("to for with from by of about at on than between against towards near behind around")
_PERSON = re.compile(
    r"(?i)(?P<before>\b(?:do|did|may|can|could|must|should|will|would|had|shall|might|have|are|were|if|when|that|which|before|after"
    r"|as|until|because|than|whether|unless)\s)?\b(?P<word>we|us|ours?|yourself|yours?|you)(?P<be>\sare(?:n['’]t)?)?(?!\w)"
)


def uncapitalised(phrase: str, corpus: Corpus) -> str:
    """Return a phrase as within a sentence: with its first word in lower case unless that is a name.

    A word is a name if the documents have a capital within a sentence, or the next word has a capital too.
    """
    first, _, rest = phrase.partition(" ")
    lower = first[0].lower() + first[1:]
    # "Purified DNA": an acronym is no part of a name.
    is_before_name = rest[:1].isupper() and not rest.split()[0].isupper()
    if lower not in _FUNCTION_WORDS and (is_before_name or not _ABSTRACT.fullmatch(first)):
        is_code = first[1:] != "" and not first[1:].islower()
        if is_code or is_before_name or first in _names(corpus) or lower in _REGIONS:
            return phrase
    return f"{lower} {rest}".rstrip()


@functools.lru_cache(maxsize=1)
def plain_words(corpus: Corpus) -> frozenset[str]:
    """Return the words that documents have in lower case."""
    return frozenset(
        word for sentence in corpus.sentences for word in re.findall(r"\b[a-z][\w’'-]*", sentence)
    )


@functools.lru_cache(maxsize=1)
def _names(corpus: Corpus) -> frozenset[str]:
    """Return the words that have a capital within a sentence and never occur without."""
    inner: set[str] = set()
    plain: set[str] = set()
    for sentence in corpus.sentences:
        if sentence[-1:] != ".":
            continue
        words = re.findall(r"(?<![.:;]\s)\b\w+(?:['’-]\w+)*", without_number(sentence))
        inner.update(word for word in words[1:] if word[0].isupper())
        plain.update(word for word in words if word[0].islower())
    inner.update(
        word
        for title in {excerpt.title for excerpt in corpus.excerpts}
        for word in re.findall(r"\b[A-Z][a-z]{3,}\b", title)
        if not any(word[0].lower() + word[1:].removesuffix("s") == other.removesuffix("s") for other in plain)
    )
    return frozenset(word for word in inner if word[0].lower() + word[1:] not in plain)


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
        before = re.sub(r"(?i)^are\b", lambda verb: "Am" if verb[0][0].isupper() else "am", before)
        before = re.sub(r"(?i)^were\b", lambda verb: "Was" if verb[0][0].isupper() else "was", before)
        return f"{before}I{_first_person(be)}"
    earlier = match.string[: match.start()].split()
    is_object = (
        not earlier or earlier[-1].lower() in _PREPOSITIONS or _OBJECT.match(match.string, match.end())
    )
    return f"me{be}" if is_object else f"I{_first_person(be)}"


def _first_person(be: str) -> str:
    return "" if not be else " am not" if "n" in be.removeprefix(" are") else " am"
