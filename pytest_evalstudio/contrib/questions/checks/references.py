"""Noun phrases of questions that a reader understands only with the sentences around their evidence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from pytest_evalstudio.contrib.questions.checks.retrieval import bare_question
from pytest_evalstudio.contrib.questions.corpus import singular
from pytest_evalstudio.contrib.questions.parsing.pipeline import Pipeline
from pytest_evalstudio.contrib.questions.parsing.statements import bare_statement
from pytest_evalstudio.contrib.questions.words import word_set, word_table

if TYPE_CHECKING:
    from spacy.tokens import Token

_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_DEFINITE = re.compile(r"(?i)\bthe\s(?P<noun>[a-z][\w-]*)")
_INDEFINITE = re.compile(r"(?i)\b(?:an?|each|every|any|another|no)\s(?P<noun>[a-z][\w-]*)")
_BARE = re.compile(
    r"\bthe\s(?P<noun>[a-z]+)(?=\?|\s(?:is|are|was|were|do|does|did|can|may|must|should|cost|costs|take|takes|last|lasts|be|a|per)\b)"
)
"""A noun with "the" and without more words, in a question that is not parsed."""
_MODIFIERS = ("amod", "compound", "nummod", "poss", "nmod", "nk", "ag")
_COMPLEMENTS = ("prep", "relcl", "acl", "appos", "mnr", "rc", "npadvmod")
_ADJUNCTS = word_set("per at within after before during by until since")
"""Prepositions that begin no complement of a noun."""
_WEAK = word_table("weak modifiers")
_FORMAL = word_set("written oral verbal formal prior express advance further full proper")
"""Modifiers that say in which form something is given, not what it is."""
_QUESTION_TAGS = ("WDT", "WP", "WRB", "WP$")
_TITLED = word_table("titled nouns")
_MIN_TOPICAL = 3
"""Minimum number of sentences with a noun that a document is about."""
_LONGEST_HEADING = 8


class References:
    """The nouns that a document introduces for all of its text: those of its title and those it has once.

    Args:
        sentences: of the document with its headings, in order.
    """

    def __init__(self, sentences: Iterable[str]) -> None:
        self._counts: Counter[str] = Counter()
        self._definite: Counter[str] = Counter()
        self._indefinite: Counter[str] = Counter()
        self._titles: set[str] = set()
        self._number = 0
        for number, sentence in enumerate(sentences):
            words = [singular(word.lower()) for word in _WORD.findall(sentence)]
            # The title may be longer than other headings.
            if sentence[-1:] not in ".!?|:;" and len(words) <= _LONGEST_HEADING + 4 * (number == 0):
                if number == 0:
                    self._titles.update(words)
                continue
            self._number += 1
            self._counts.update(set(words))
            self._definite.update({singular(match["noun"].lower()) for match in _DEFINITE.finditer(sentence)})
            self._indefinite.update(
                {singular(match["noun"].lower()) for match in _INDEFINITE.finditer(sentence)}
            )

    def unclear(self, question: str, pipeline: Pipeline | None) -> str:
        """Return the first noun of a question that needs its context, "" if there is none."""
        text = bare_question(question)
        nouns: Iterator[tuple[str, str]]
        if pipeline is None:
            nouns = ((match["noun"], "the") for match in _BARE.finditer(text))
        else:
            nouns = _bare_nouns(text[:1].upper() + text[1:], pipeline)
        return next((noun for noun, article in nouns if not self._is_clear(noun.lower(), article)), "")

    def lost(self, question: str, evidence: str, pipeline: Pipeline | None) -> str:
        """Return the first bare or indefinite noun that a sentence before explains: "a reply"; "" for none.

        The evidence is parsed as well, since a parser may read the participle of "Is a reply sent?" as one of
        the noun.
        """
        if pipeline is None:
            return ""
        text = bare_question(question)
        words = text.rstrip("?").split()
        nouns = [
            *_indefinite_nouns(text[:1].upper() + text[1:], pipeline),
            *(noun for noun in _indefinite_nouns(bare_statement(evidence), pipeline) if noun in words),
        ]
        return next((noun for noun in nouns if singular(noun.lower()) not in self._titles | _TITLED), "")

    def _is_clear(self, noun: str, article: str) -> bool:
        head = singular(noun)
        if head in self._titles or head in _TITLED:
            return True
        if article == "the":
            count = self._definite[head]
            return count >= max(_MIN_TOPICAL, 2 * self._indefinite[head])
        return self._counts[head] >= _MIN_TOPICAL


def _bare_nouns(question: str, pipeline: Pipeline) -> Iterator[tuple[str, str]]:
    """Yield the nouns with "the", or in the plural without an article, that have no modifier."""
    doc = pipeline.parse(question)
    general = pipeline.language.words("general nouns") | pipeline.language.words("general persons")
    for token in doc if doc is not None else ():
        if token.pos_ != "NOUN" or token.lemma_.lower() in general or _is_modified(token):
            continue
        articles = [each.lower_ for each in token.children if each.dep_ in ("det", "poss", "nk")]
        if articles == ["the"] or articles == ["der"] or articles == ["die"] or articles == ["das"]:
            yield token.text, "the"
        elif (
            not articles and "Plur" in token.morph.get("Number") and not _is_asked(token) and _is_main(token)
        ):
            yield token.text, ""


def _indefinite_nouns(question: str, pipeline: Pipeline) -> Iterator[str]:
    """Yield the indefinite or bare singulars of the main clause that have no modifier or complement."""
    doc, language = pipeline.parse(question), pipeline.language
    persons = language.words("person words") | language.words("general persons")
    general = language.words("general nouns") | persons
    for token in doc if doc is not None else ():
        if token.pos_ != "NOUN" or "Plur" in token.morph.get("Number") or token.lemma_.lower() in general:
            continue
        articles = {each.lower_ for each in token.children if each.dep_ in ("det", "poss", "predet")}
        is_any = bool(articles & {"any", "another"}) and token.dep_ in ("pobj", "nsubj", "nsubjpass", "dobj")
        is_indefinite = articles <= {"a", "an", "any", "another"} and _is_main(token)
        if not (is_any or is_indefinite) or _is_asked(token) or _is_specified(token):
            continue
        yield token.text


def _is_asked(token: Token) -> bool:
    return any(each.tag_ in _QUESTION_TAGS for each in token.subtree if each.i < token.i)


def _is_specified(token: Token) -> bool:
    """Report whether the modifiers of a noun say what it is of: "written" and "formal" do not."""
    if token.dep_ in ("npadvmod", "compound"):
        return True
    is_subject = "subj" in token.dep_
    for each in token.children:
        is_weak = each.lower_ in _WEAK or (is_subject and each.lower_ in _FORMAL)
        if each.dep_ in _MODIFIERS and not is_weak:
            return True
        is_infinitive = each.tag_ == "VB" and not any(
            inner.dep_ in ("dobj", "prep") for inner in each.children
        )
        is_complement = each.dep_ in _COMPLEMENTS and each.lower_ not in _ADJUNCTS
        if each.i > token.i and is_complement and not is_infinitive:
            return True
    return False


def _is_main(token: Token) -> bool:
    return token.dep_ in ("nsubj", "nsubjpass", "dobj") and token.head.dep_ == "ROOT"


def _is_modified(token: Token) -> bool:
    """Report whether a noun has a modifier or complement that says which one is meant."""
    if token.dep_ in ("compound", "conj", "npadvmod"):
        return True
    modifiers = [each for each in token.children if each.dep_ in _MODIFIERS and each.lower_ not in _WEAK]
    after = [
        each
        for each in token.children
        if each.dep_ in _COMPLEMENTS and each.i > token.i and each.lower_ not in _ADJUNCTS
    ]
    return bool(after) or any(each.lower_ not in ("der", "die", "das") for each in modifiers)
