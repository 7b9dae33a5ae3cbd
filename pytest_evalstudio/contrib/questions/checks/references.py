"""Noun phrases of questions that a reader understands only with the sentences around their evidence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from pytest_evalstudio.contrib.questions.checks.retrieval import without_choices
from pytest_evalstudio.contrib.questions.corpus import singular
from pytest_evalstudio.contrib.questions.grammar.noun_phrases import PREPOSITIONS
from pytest_evalstudio.contrib.questions.grammar.verbs import (
    AUXILIARIES,
    BE,
    HAVE,
    MODALS,
    Form,
    forms,
    is_participle,
)
from pytest_evalstudio.contrib.questions.words import word_set, word_table

_TOKEN = re.compile(r"“[^”]*”|[£$€]?\d[\d.,]*%?|\w+(?:['’-]\w+)*['’]?|[^\w\s]")
_INDEFINITE = word_set("a an each every any another no one your my his her our their its some whose")
_DETERMINERS = _INDEFINITE | word_set("the all both this that these those many most")
_COMPLEMENTS = word_set("of for between that which who whose whom where against")
"""Words that begin a complement of a noun wherever the noun stands."""
_NOUNS_WITH_ON = word_set("advice ban charge data discount fee information interest limit report rule tax")
"""Nouns with a complement after "on"."""
_PREPOSITIONS = PREPOSITIONS | word_set("inside outside near")
_SUBORDINATORS = word_set("if when before after until because while whether unless once that which who")
_DO = word_set("do does did")
_STOPS = _PREPOSITIONS | _SUBORDINATORS | _DETERMINERS | word_table("links") | _DO | AUXILIARIES
_BEFORE_BARE_NOUN = _STOPS - _PREPOSITIONS - {"who"}
_WEAK = word_table("weak modifiers")
_MEASURING = word_table("measuring modifiers")
_BODIES = word_table("bodies of a document")
_RELATIONAL = word_table("relational nouns")
_GENERAL = word_table("general nouns")
_COUNTS = word_set("two three four five six seven eight nine ten eleven twelve")
"""Number words, which begin a noun phrase of their own: "the flat two weeks before"."""
_EXTENTS = word_set("up every each one")
"""Words that begin an extent after "for": "the charge for up to four hours"."""
_UNIQUE = word_set("amount euro government internet latest police public sun total")
"""Nouns that need no introduction."""
_VERB_FORMS: dict[str, tuple[Form, ...]] = {
    "base": ("base",),
    "participle": ("participle",),
    "any": ("base", "s", "past"),
}
_MIN_DEFINITE = 3
"""Minimum number of sentences with "the" and a noun in a document that has one such thing."""
_MIN_OF_BODY = 2
_MIN_TOPICAL = 3
"""Minimum number of sentences with a noun that a document is about."""
_MIN_OF_SUBJECT = 5
_SUBJECT_SHARE = 0.2
"""Minimum number and share of the sentences with a noun that is the subject of a document."""
_LONGEST_HEADING = 8
_MIN_OTHERS = 2
"""Minimum number of sentences with a noun after other words than "the" for a thing that is one of several."""


class _Phrase(NamedTuple):
    """A noun phrase of a question.

    Attributes:
        words: without the determiner, as written.
        has_complement: a complement or name follows.
        in_clause: it begins a subordinate clause.
    """

    kind: Literal["definite", "indefinite", "bare"]
    words: Sequence[str]
    has_complement: bool
    in_clause: bool = False


class References:
    """The nouns that a document introduces for all of its text: those of its title and those it has once.

    Args:
        sentences: of the document with its headings, in order.
    """

    def __init__(self, sentences: Iterable[str]) -> None:
        self._sentences: Counter[str] = Counter()
        self._definite: Counter[str] = Counter()
        self._others: Counter[str] = Counter()
        self._long_names: set[str] = set()
        self._number = 0
        self._titles: set[str] = set()
        self._headings: set[str] = set()
        for number, sentence in enumerate(sentences):
            words = _TOKEN.findall(sentence)
            # The title may be longer than other headings.
            is_heading = sentence[-1:] not in ".!?|:;" and len(words) <= _LONGEST_HEADING + 4 * (number == 0)
            stems = [singular(word.lower()) for word in words]
            if is_heading:
                (self._titles if number == 0 else self._headings).update(stems)
                continue
            self._number += 1
            self._sentences.update(set(stems))
            self._count(words, stems)

    def _count(self, words: Sequence[str], stems: Sequence[str]) -> None:
        definite, others = set(), set()
        for at in range(1, len(words)):
            before = words[at - 1].lower()
            if at > 1 and words[at - 1][0].isupper() and words[at][0].isupper():
                self._long_names.add(words[at])
            if before == "the":
                definite.add(stems[at])
            elif before in _INDEFINITE or (
                before[0].isalpha() and before not in _STOPS and not forms(before)
            ):
                others.add(stems[at])
        self._definite.update(definite)
        self._others.update(others)

    def unclear(self, question: str) -> str:
        """Return the first noun phrase of a question that needs its context, "" if there is none."""
        is_explained = False
        for phrase in _phrases(without_choices(question)):
            # "records of a complaint ... after the case was closed": the clause takes up the complement
            if phrase.has_complement or (is_explained and phrase.in_clause):
                is_explained = True
            elif phrase.words and not self._is_clear(phrase):
                return " ".join(phrase.words)
        return ""

    def is_one_of_several(self, phrase: str, question: str, heading: str) -> bool:
        """Report whether a phrase is one of several things of its document: "the next election".

        Args:
            phrase: noun phrase without its article.
            question: that has the phrase.
            heading: of its section; a noun that it has is explained by it.
        """
        *modifiers, head = phrase.lower().split() or [""]
        if any(word in _WEAK for word in modifiers):
            return True
        names = {singular(word) for word in re.findall(r"[a-z]+", heading.lower())}
        if f"the {phrase}".lower() not in question.lower():
            return False
        if not modifiers and f"{head}s" in heading.lower().split():
            return True  # "the charge" under "Delivery services and charges"
        return singular(head) not in names and self._others[singular(head)] >= _MIN_OTHERS

    def _is_subject(self, head: str) -> bool:
        """Report whether a document is about a noun: its title or much of its text has it."""
        count = self._sentences[head]
        return head in self._titles or count >= max(_MIN_OF_SUBJECT, _SUBJECT_SHARE * self._number)

    def _is_clear(self, phrase: _Phrase) -> bool:
        head = singular(phrase.words[-1].lower())
        modifiers = [word.lower() for word in phrase.words[:-1]]
        weak = _WEAK | _MEASURING if phrase.kind == "definite" else _WEAK
        is_specific = any(word not in weak for word in modifiers)
        is_name = any(word[0].isupper() or not word[0].isalpha() for word in phrase.words)
        if phrase.kind == "definite" and len(phrase.words) == 1 and phrase.words[0] in self._long_names:
            return head in _BODIES or head in self._titles  # "the Panel" for "the Arrears Panel"
        if is_specific or is_name or head in _UNIQUE or self._is_subject(head):
            return True
        if head in _RELATIONAL:
            return False
        if phrase.kind == "definite":
            count, others = self._definite[head], self._others[head]
            least = _MIN_OF_BODY if head in _BODIES else _MIN_DEFINITE
            is_single = (head in self._headings and not others) or count >= max(least, 5 * others)
            return not modifiers and is_single
        return head in _GENERAL or head in self._headings or self._sentences[head] >= _MIN_TOPICAL


def _phrases(question: str) -> Iterator[_Phrase]:
    """Yield the noun phrases with an article, and bare plurals as subject or as object after "who"."""
    words = _TOKEN.findall(question.rstrip("?"))
    verb = ""  # form of the verb that the question puts after the next noun phrase, "" for none
    for at, token in enumerate(words):
        word, before = token.lower(), _lower(words, at - 1)
        verb = _verb_after(word, at) or verb
        is_generic = before in _PREPOSITIONS or "ing" in forms(before) or verb == "any"
        if word == "the" or (word in ("a", "an", "each") and not is_generic):
            yield _phrase_with_article(words, at, verb)
            verb = ""
        elif verb and word not in _STOPS and before in _BEFORE_BARE_NOUN:
            phrase = _without_verb(_run(words, at), verb)
            after = _lower(words, at + len(phrase))
            if len(phrase) == 1 and phrase[0].endswith("s") and not phrase[0].endswith("ss"):
                yield _Phrase("bare", phrase, after in (_PREPOSITIONS | _COMPLEMENTS) - {"by"})
            verb = ""
    if _lower(words, 0) == "who" and len(words) > 2:
        start = 3 if _lower(words, 1) in MODALS else 2
        phrase = _run(words, start)
        if phrase and phrase[-1].endswith("s"):
            yield _Phrase("bare", phrase, _lower(words, start + len(phrase)) in _COMPLEMENTS)


def _lower(words: Sequence[str], at: int) -> str:
    """Return a word in lower case, "" before the beginning and beyond the end."""
    return words[at].lower() if 0 <= at < len(words) else ""


def _verb_after(word: str, at: int) -> str:
    """Return the form of the verb that comes after an auxiliary or conjunction, "" for other words."""
    if word in _DO | MODALS:
        return "base"
    if word in BE | HAVE:
        return "participle"
    return "any" if at and word in _SUBORDINATORS else ""


def _phrase_with_article(words: Sequence[str], at: int, verb: str) -> _Phrase:
    run = _run(words, at + 1)
    phrase = _without_verb(run, verb)
    end = at + 1 + len(phrase)
    after = _lower(words, end)
    is_subject = _lower(words, at - 1) in BE and len(phrase) == len(run)
    has_name = end + 1 < len(words) and words[end + 1][0].isupper()
    beyond = _lower(words, end + 1)
    is_duration = after == "for" and (beyond in _COUNTS | _EXTENTS or beyond[:1].isdigit())
    has_complement = (
        (after in _COMPLEMENTS and not is_duration)
        or after.startswith("“")
        or (after == "on" and phrase[-1:] != [] and phrase[-1].lower() in _NOUNS_WITH_ON)
        or (after in _PREPOSITIONS and (is_subject or has_name))
    )
    kind: Literal["definite", "indefinite"] = "definite" if words[at].lower() == "the" else "indefinite"
    return _Phrase(kind, phrase, has_complement, in_clause=verb == "any")


def _run(words: Sequence[str], start: int) -> list[str]:
    """Return the words from a position up to a word that no noun phrase has inside."""
    end = start
    while end < len(words) and words[end].lower() not in _STOPS and re.match(r"[^\W_]", words[end]):
        is_count = words[end].lower() in _COUNTS or words[end][0].isdigit()
        is_ordinal = words[end - 1].lower() in ("first", "last", "next")
        if is_count and not is_ordinal and end > start and words[end + 1 : end + 2]:
            break
        end += 1
    return list(words[start:end])


def _without_verb(run: list[str], form: str) -> list[str]:
    """Return a noun phrase without the verb that its question puts after it, and what follows the verb."""
    if not form or len(run) < 2:
        return run
    for at in range(len(run) - 1, 0, -1):
        word = run[at].lower()
        is_verb = any(reading in forms(word) for reading in _VERB_FORMS[form])
        if is_verb or (form == "participle" and is_participle(word)):
            # "take place": the verb is "take".
            end = at - 1 if word == "place" and run[at - 1].lower() == "take" else at
            # An adverb before the verb belongs to the verb.
            return run[: end - 1] if end > 1 and run[end - 1].endswith("ly") else run[:end]
    return run
