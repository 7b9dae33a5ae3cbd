"""Nouns and verbs of questions that a reader understands only with the text around their evidence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pytest_evalstudio.contrib.questions.checks.retrieval import bare_question
from pytest_evalstudio.contrib.questions.corpus import singular
from pytest_evalstudio.contrib.questions.parsing.frames import text_of
from pytest_evalstudio.contrib.questions.parsing.pipeline import Pipeline
from pytest_evalstudio.contrib.questions.parsing.statements import bare_statement
from pytest_evalstudio.contrib.questions.words import content_words, word_set, word_table

if TYPE_CHECKING:
    from spacy.tokens import Token

_BARE = re.compile(
    r"\bthe\s(?P<noun>[a-z]+)(?=\?|\s(?:is|are|was|were|do|does|can|may|must|should|cost|take|last|be)\b)"
)
"""A noun with "the" and without more words, in a question that is not parsed."""
_MODIFIERS = ("amod", "compound", "nummod", "poss", "nmod", "nk", "ag")
_COMPLEMENTS = ("prep", "relcl", "acl", "appos", "mnr", "rc")
_ADJUNCTS = word_set("per at within after before during by until since from as")
"""Prepositions that begin no complement of a noun."""
_FURTHER = word_set("further additional extra more unused unpaid remaining outstanding")
"""Modifiers of things that the text names before."""
_WEAK = (
    word_table("weak modifiers")
    | _FURTHER
    | word_set("written oral verbal formal prior express advance full proper own")
)
"""Modifiers that do not say what something is of."""
_DEVERBAL = re.compile(r"[a-z]{4,}(?:[ts]ion|ment)")
_RELATIONAL = word_table("relational nouns")
_VAGUE = word_set("case item situation amount part step number total size value list section stage period")
"""Relational nouns that no heading explains."""
_INCOMPLETE = word_table("verbs with an object")
_TITLED = word_table("titled nouns")
_QUESTION_TAGS = ("WDT", "WP", "WRB", "WP$")
_LONGEST_TITLE, _LONGEST_ANTECEDENT = 12, 8
_SENTENCES_BEFORE = 3
_MIN_MENTIONS, _SENTENCES_PER_MENTION = 3, 10


class References:
    """The nouns that a document has in its title, and those that its sentences introduce.

    Args:
        sentences: of the document with its headings, in order.
        pipeline: None for a check by patterns.
    """

    def __init__(self, sentences: Sequence[str], pipeline: Pipeline | None) -> None:
        self._sentences = sentences
        self._pipeline = pipeline
        title = sentences[0] if sentences and not sentences[0].endswith(".") else ""
        words = title.split()
        self._titles = set(content_words(title)) if len(words) <= _LONGEST_TITLE else set()

    def explained(self, question: str, evidence: str, heading: str) -> tuple[str, bool] | None:
        """Return a question with antecedents for its nouns, and whether only its section explains it.

        None where neither the sentences before nor the heading explain a noun.
        """
        if self._pipeline is None:
            nouns = {singular(match["noun"]) for match in _BARE.finditer(bare_question(question))}
            return question, bool(nouns - self._titles - _TITLED)
        under, needs_section = set(content_words(heading)), False
        general = self._pipeline.language.words("general nouns")
        for token in self._unclear(question, evidence):
            noun = singular(token.lower_)
            if token.pos_ == "VERB":
                return None
            if noun in under:
                needs_section = True
                continue
            antecedent = self._antecedent(token, evidence) if _article(token) == "the" else None
            is_subject = "subj" in token.dep_
            # "Answers are given within five days" needs a heading, even if all answers are meant.
            is_vague = noun in _RELATIONAL and not (heading and _is_general(token))
            is_vague |= _is_act(token) or (_is_further(token) and noun not in general)
            if antecedent:
                question = re.sub(rf"\bthe {token.text}\b", antecedent, question, count=1)
            elif antecedent == "" or noun in _VAGUE or (is_vague and (is_subject or not heading)):
                return None
            elif is_subject and _article(token) == "the" and self._is_rare(token.text):
                return None  # "the drill" of a section about elections
            else:
                needs_section = True
        return question, needs_section

    def _unclear(self, question: str, evidence: str) -> Iterator[Token]:
        """Yield the nouns of a question that nothing in it explains, and verbs without their object.

        Words of the evidence come first, since a parser reads statements more surely.
        """
        assert self._pipeline is not None
        text = bare_question(question)
        words = set(re.findall(r"[\w-]+", text))
        general = self._pipeline.language.words("general nouns")
        general |= self._pipeline.language.words("general persons")
        explained = self._titles | _TITLED | general
        words_of_sources: set[str] = set()
        sources = [text[:1].upper() + text[1:]]
        if not evidence.startswith("|"):
            sources.insert(0, bare_statement(evidence))
        for source in sources:
            doc = self._pipeline.parse(source)
            for token in doc if doc is not None else ():
                word = token.text if token.i else token.text[:1].lower() + token.text[1:]
                is_new = word not in words_of_sources and (word in words or token.text in words)
                words_of_sources.add(word)
                is_explained = bool({singular(token.lower_), token.lemma_.lower()} & explained)
                is_further = _is_further(token) and token.lemma_.lower() not in general
                if not is_new or (is_explained and not is_further):
                    continue
                is_verb = token.pos_ == "VERB" and token.dep_ != "amod" and token.lemma_ in _INCOMPLETE
                if (is_verb and not _has_object(token)) or (token.pos_ == "NOUN" and _is_open(token)):
                    yield token

    def _is_rare(self, noun: str) -> bool:
        """Report whether few sentences of a document have a noun, so that it is no matter of the whole."""
        mentions = sum(noun in sentence.split() for sentence in self._sentences)
        return mentions < min(_MIN_MENTIONS, len(self._sentences) / _SENTENCES_PER_MENTION)

    def _antecedent(self, token: Token, evidence: str) -> str | None:
        """Return the full name of a noun from the sentences before: "the meeting of the committee".

        "" where they introduce it without one, None where they do not have it.
        """
        if evidence not in self._sentences or self._pipeline is None:
            return None
        at, result = self._sentences.index(evidence), None
        for sentence in reversed(self._sentences[max(0, at - _SENTENCES_BEFORE) : at]):
            if token.text not in sentence.split() or not sentence.endswith("."):
                continue
            doc = self._pipeline.parse(bare_statement(sentence))
            for other in doc if doc is not None else ():
                if other.text != token.text or other.pos_ != "NOUN":
                    continue
                phrase = [each for each in other.subtree if _is_of_name(each, other)]
                name = text_of(phrase)
                if len(phrase) > 1 and len(phrase) <= _LONGEST_ANTECEDENT:
                    return f"the {name}"
                if _article(other) in ("a", "an", "each", "any", "every"):
                    result = ""
        return result


def _is_of_name(token: Token, noun: Token) -> bool:
    """Report whether a word of a noun phrase belongs to the name of the thing: modifiers, and "of …"."""
    if token.i == noun.i:
        return True
    top = token
    while top.head.i != noun.i:
        top = top.head
    if top.i < noun.i:
        return top.dep_ in ("amod", "compound") and top.lower_ not in _WEAK
    return bool(top.dep_ == "prep" and top.lower_ == "of")


def _is_further(token: Token) -> bool:
    return any(each.lower_ in _FURTHER for each in token.children)


def _is_act(token: Token) -> bool:
    """Report whether a noun is a verb's without its object or an article: "replacement"."""
    is_bare = not _article(token) and "Plur" not in token.morph.get("Number")
    return is_bare and _DEVERBAL.fullmatch(token.lower_) is not None


def _is_general(token: Token) -> bool:
    """Report whether a noun stands for all of its kind: a plural without an article."""
    return "Plur" in token.morph.get("Number") and not _article(token)


def _article(token: Token) -> str:
    return next((each.lower_ for each in token.children if each.dep_ in ("det", "predet")), "")


def _is_open(token: Token) -> bool:
    """Report whether nothing of its noun phrase says which thing a noun means."""
    if token.dep_ in ("compound", "npadvmod") or _is_specified(token):
        return False
    if any(each.tag_ in _QUESTION_TAGS for each in token.subtree if each.i < token.i):
        return False
    if any(each.dep_ == "poss" for each in token.children):
        return False
    is_subject = "subj" in token.dep_
    is_relational = singular(token.lower_) in _RELATIONAL
    return is_subject or is_relational or _article(token) in ("the", "both")


def _is_specified(token: Token) -> bool:
    for each in token.children:
        if each.dep_ in _MODIFIERS and each.lower_ not in _WEAK:
            return True
        if each.i > token.i and each.dep_ in _COMPLEMENTS and each.lower_ not in _ADJUNCTS:
            is_bare = each.dep_ == "acl" and not any(inner.i > each.i for inner in each.children)
            is_amount = each.lower_ == "of" and _article(token) == "the" and not _is_of_thing(each)
            if not (is_bare or is_amount):
                return True
    return False


def _has_object(verb: Token) -> bool:
    """Report whether a verb has what it is about: an object, a clause, or a phrase with "to" or "for"."""
    if any("subjpass" in each.dep_ for each in verb.children):
        is_complete = any(each.dep_ in ("agent", "prep", "xcomp") for each in verb.children)
        return is_complete or verb.lemma_ not in ("affect", "count")
    persons = ("you", "us", "me", "them", "him", "her", "we", "i")
    return any(
        (each.dep_ in ("dobj", "ccomp", "xcomp", "oprd") and each.lower_ not in persons)
        or (
            each.dep_ == "prep"
            and each.lower_ in ("to", "for", "of", "about", "against", "with")
            and (each.lower_ != "for" or _is_of_thing(each))
        )
        for each in verb.children
        if each.i > verb.i
    )


def _is_of_thing(preposition: Token) -> bool:
    """Report whether a phrase names a thing: "apply for leave", and not "apply for up to twelve days"."""
    objects = [each for each in preposition.children if each.dep_ == "pobj"]
    return not any(inner.dep_ == "nummod" for each in objects for inner in each.children)
