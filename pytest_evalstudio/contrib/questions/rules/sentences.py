"""Questions for the sentences of documents, by the parse of a pipeline or, without one, by patterns."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_evalstudio.contrib.questions.corpus import singular
from pytest_evalstudio.contrib.questions.parsing.frames import (
    Frame,
    frames,
    is_plural,
    phrase_before_subject,
    text_of,
)
from pytest_evalstudio.contrib.questions.parsing.pipeline import Pipeline, open_pipeline, word_of
from pytest_evalstudio.contrib.questions.parsing.statements import bare_statement
from pytest_evalstudio.contrib.questions.quantities import Quantity
from pytest_evalstudio.contrib.questions.quantities.cases import single_statements
from pytest_evalstudio.contrib.questions.rules.amounts import amount_questions
from pytest_evalstudio.contrib.questions.rules.facts import consequence, fact_questions
from pytest_evalstudio.contrib.questions.rules.patterns import pattern_amounts, pattern_facts
from pytest_evalstudio.contrib.questions.rules.slots import Fact, QuantityQuestion, slots
from pytest_evalstudio.contrib.questions.rules.wording import plain_words, uncapitalised
from pytest_evalstudio.contrib.questions.words import word_table
from pytest_evalstudio.core.plugins.generator import Corpus
from pytest_evalstudio.formats.condition import parse_condition

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_JOINT = re.compile(
    r";\s|,\s(?:while|whereas)\s|(?<=\b[ap]\.m\.)\s(?=[A-Z][a-z]+\s[a-z])|(?<=°[CF]\.)\s(?=[A-Z])"
    r"|(?<=\d\.)\s(?=[A-Z][a-z]+\s)"
)
"""Boundaries of statements, with ends of sentences that a splitter takes for an abbreviation."""
_REMARK = re.compile(r"\s\((?![a-z]\)|[ivx]{1,4}\)|\d{1,2}\))[^()]{1,120}\)")
_FRONTED = re.compile(
    r"(?P<mark>If|When|Where|Once|Unless|After|Before|During|For|In the event of|In|From|Until|Within|With|At"
    r"|Under|On|To|By|Between|Without|Following|Except)"
    r"\s(?P<condition>[^,;]{3,90}),\s(?!(?:[a-z]+\s){1,3}(?:or|and)\s[a-z ]{2,30},)(?P<rest>[a-z£$€\d].*)",
    re.DOTALL,
)
"""A clause or phrase at the beginning of a statement, and the rest."""
_FURTHER = re.compile(r",\sand\s")
_POINTER = re.compile(
    r"(?i)(?:it|they|he|she|this|that|these|those|there|then|thereafter|others?|one|none|both|each|only"
    r"|not|never|after that"
    r"|otherwise|again|so|if|when|where|unless|the\s(?:other|rest|latter|former|remainder|second|third|last))\b"
)
"""Beginning of a clause that only the one before it explains."""
_TITLE = re.compile(r"(?i)(?:mr|mrs|ms|miss|dr|prof|sir|lady|sister)\b")
_FIRST_PERSON = re.compile(r"\b(?:I|[Mm]y|me|mine)\b")
"""Words of a writer who is not named."""
_MAX_ANTECEDENT = 8
_TITLED = word_table("titled nouns")


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceQuestions:
    """Questions for a sentence, and its clauses where it is parsed."""

    amounts: tuple[QuantityQuestion, ...] = ()
    facts: tuple[Fact, ...] = ()
    frames: tuple[Frame, ...] = ()


_NONE = SentenceQuestions()


@functools.lru_cache(maxsize=4096)
def sentence_questions(sentence: str, corpus: Corpus) -> SentenceQuestions:
    """Return the questions for the quantities and facts of a sentence of the documents."""
    text = bare_statement(sentence)
    if _FIRST_PERSON.search(text) or sentence.startswith("|") or not text.endswith("."):
        return _NONE
    pipeline = open_pipeline(corpus.pipeline)
    if pipeline is None:
        return SentenceQuestions(
            amounts=tuple(pattern_amounts(text, corpus)), facts=tuple(pattern_facts(text, corpus))
        )
    amounts: dict[str, QuantityQuestion] = {}
    facts: dict[str, Fact] = {}
    clauses: list[Frame] = []
    for number, statement in enumerate(_statements(text)):
        # A pronoun of a later statement stands for a noun of this sentence.
        parsed = list(_frames(statement, "" if number else sentence, pipeline, corpus))
        match = _FRONTED.match(statement)
        if match is not None and parsed and (fact := consequence(parsed[0][0], _answer(match["rest"]))):
            facts[fact.question] = fact
        for frame, hits, offsets in parsed:
            if number and frame.is_command:
                continue
            clauses.append(frame)
            amounts |= {each.question: each for each in amount_questions(frame, hits, offsets)}
            # An answer may have a noun in place of a pronoun.
            facts |= {
                each.question: each
                for each in fact_questions(frame)
                if parse_condition(each.condition).check(text)
            }
    return SentenceQuestions(
        amounts=tuple(amounts.values()), facts=tuple(facts.values()), frames=tuple(clauses)
    )


def _statements(text: str) -> Iterator[str]:
    """Yield the statements that semicolons, "while" and ", and" join, and the single cases of each."""
    for part in _JOINT.split(_REMARK.sub("", text).removesuffix(".")):
        if not part.strip():
            continue
        yield from single_statements(f"{part[:1].upper()}{part[1:].removesuffix('.')}.")
        if not _FRONTED.match(part):
            for clause in _FURTHER.split(part.removesuffix("."))[1:]:
                if not _POINTER.match(clause) and clause[:1].isalpha():
                    yield f"{clause[:1].upper()}{clause[1:]}."


def _answer(rest: str) -> str:
    """Return what a statement says of a case, without the remark at its end."""
    rest = rest.removeprefix("please ")
    return re.sub(r",\s(?:although|though|because|since|which|so that)\b.*$", "", rest.removesuffix("."))


_Parsed = tuple[Frame, Sequence[tuple[Quantity, str]], Sequence[int]]


def _frames(statement: str, sentence: str, pipeline: Pipeline, corpus: Corpus) -> Iterator[_Parsed]:
    """Yield the clauses of a statement, with its quantities and the positions of its words."""
    match = _FRONTED.match(statement)
    condition = ""
    if match is not None:
        mark, condition, rest = match["mark"].lower(), match["condition"], match["rest"]
        pronoun = rest.partition(" ")[0]
        if pronoun in ("it", "they"):
            subject, is_many = _first_subject(condition, pipeline)
            if not subject or is_many != (pronoun == "they"):
                return
            # "If the hirer is late, it …": the noun goes to the main clause.
            condition = pronoun + condition[len(subject) :]
            rest = f"{subject}{rest[len(pronoun) :]}"
        statement, condition = f"{rest[0].upper()}{rest[1:]}", f"{mark} {condition}"
    doc = pipeline.parse(statement)
    if doc is None or doc[0].lower_ in pipeline.language.words("linking words"):
        return
    if not condition and (start := phrase_before_subject(doc, pipeline.language)):
        condition = text_of(doc[:start])
        condition = condition[0].lower() + condition[1:]
        statement = statement[doc[start].idx :]
        statement = statement[0].upper() + statement[1:]
        doc = pipeline.parse(statement)
        if doc is None:
            return
    hits, offsets = slots(statement), _offsets(doc)
    base = {0: _first_word(doc, pipeline, corpus), **_titled(doc, pipeline)}
    # "must therefore be checked", "may also claim"
    adverbs = pipeline.language.words("linking adverbs")
    base |= {token.i: "" for token in doc if token.i and token.lower_ in adverbs}
    for frame in frames(doc, pipeline.language):
        overrides = _resolved(frame, base, sentence, pipeline, corpus)
        if overrides is not None:
            yield replace(frame, overrides=overrides, condition=condition), hits, offsets


def _first_subject(condition: str, pipeline: Pipeline) -> tuple[str, bool]:
    """Return the subject of a condition, and whether it is plural; "" for none."""
    doc = pipeline.parse(f"{condition[0].upper()}{condition[1:]}.")
    first = frames(doc, pipeline.language)[:1] if doc is not None else []
    if not first or first[0].head is None:
        return "", False
    subject = text_of(first[0].subject)
    return condition[: len(subject)], is_plural(first[0].head)


def _resolved(
    frame: Frame, base: dict[int, str], sentence: str, pipeline: Pipeline, corpus: Corpus
) -> dict[int, str] | None:
    """Return the other words of a clause, with a noun for a pronoun; None where its subject is not sure."""
    head, table = frame.head, pipeline.language
    if head is None:
        return dict(base)
    is_described = head.lower_ == "those" and len(frame.subject) > 2
    deictic = (table.words("deictic words") | {"that"}) - {"another", "other", "further"}
    if frame.subject[0].lower_ in deictic and not is_described:
        return dict(base) if frame.subject[0].i in base and base[frame.subject[0].i] == "the" else None
    number = table.entries("pronouns").get(head.lower_)
    if number is None or len(frame.subject) > 1:
        return dict(base)
    noun, text = _subject_before(sentence, pipeline, corpus)
    is_person = noun is not None and (noun.ent_type_ == "PERSON" or _TITLE.match(text))
    if noun is None or number == "person" or is_person or is_plural(noun) != (number == "plural"):
        return None
    return {**base, head.i: text}


def _offsets(doc: Doc) -> list[int]:
    """Return the position of each token in the sentence."""
    positions, at = [], 0
    for token in doc:
        positions.append(at)
        at += len(word_of(token)) + len(token.whitespace_)
    return positions


def _first_word(doc: Doc, pipeline: Pipeline, corpus: Corpus) -> str:
    """Return the first word as within a sentence."""
    word = word_of(doc[0])
    is_name = len(doc) > 1 and doc[1].is_alpha and word_of(doc[1])[:1].isupper()
    if doc[0].pos_ in ("DET", "ADP", "PRON", "SCONJ", "ADV") and word != "I":
        return word[0].lower() + word[1:]
    has_capital = doc[0].pos_ == "NOUN" and "nouns" in pipeline.language.entries("words")
    # A singular without an article that is tagged as a name.
    is_name |= doc[0].tag_ == "NNP" and "subj" in doc[0].dep_ and word.lower() not in plain_words(corpus)
    return word if is_name or has_capital else uncapitalised(word, corpus)


def _titled(doc: Doc, pipeline: Pipeline) -> dict[int, str]:
    """Return "the" for "this" before the document's kind: "this leaflet"."""
    words = pipeline.language.entries("words")
    return {
        token.i: words["the"]
        for token in doc
        if token.lower_ in words["this"].split() and singular(token.head.lower_) in _TITLED
    }


def _subject_before(sentence: str, pipeline: Pipeline, corpus: Corpus) -> tuple[Token | None, str]:
    """Return the subject of the sentence before, to which a pronoun refers; None where it is not sure."""
    before = bare_statement(_sentence_before(corpus).get(sentence, ""))
    doc = pipeline.parse(before) if before.endswith(".") else None
    parsed = frames(doc, pipeline.language) if doc is not None else []
    head = parsed[0].head if parsed else None
    # "The average was 43, and at Borehole 6 it rose": a pronoun may stand for either subject.
    is_joined = any(
        each.dep_ == "conj" and any("subj" in c.dep_ for c in each.children) for each in doc or ()
    )
    if head is None or is_joined or head.pos_ not in ("NOUN", "PROPN"):
        return None, ""
    subject = parsed[0].subject
    if len(subject) > _MAX_ANTECEDENT:
        return None, ""
    text = text_of(subject, {0: _first_word(doc, pipeline, corpus), **_titled(doc, pipeline)})
    for article in ("a ", "an "):
        text = f"the {text.removeprefix(article)}" if text.startswith(article) else text
    return head, text


@functools.lru_cache(maxsize=1)
def _sentence_before(corpus: Corpus) -> dict[str, str]:
    before: dict[str, str] = {}
    sentences: Sequence[str] = corpus.sentences
    for earlier, sentence in itertools.pairwise(sentences):
        before.setdefault(sentence, earlier)
    return before
