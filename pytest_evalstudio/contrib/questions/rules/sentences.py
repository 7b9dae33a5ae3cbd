"""Questions for the sentences of documents, by the parse of a pipeline or, without one, by patterns."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_evalstudio.contrib.questions.corpus import singular
from pytest_evalstudio.contrib.questions.parsing.clauses import clauses, is_plural, text_of
from pytest_evalstudio.contrib.questions.parsing.pipeline import Pipeline, open_pipeline, word_of
from pytest_evalstudio.contrib.questions.parsing.statements import bare_statement
from pytest_evalstudio.contrib.questions.rules.amounts import amount_questions
from pytest_evalstudio.contrib.questions.rules.cases import single_statements
from pytest_evalstudio.contrib.questions.rules.composition import Source
from pytest_evalstudio.contrib.questions.rules.consequences import consequence
from pytest_evalstudio.contrib.questions.rules.fact import Fact
from pytest_evalstudio.contrib.questions.rules.facts import fact_questions
from pytest_evalstudio.contrib.questions.rules.patterns import pattern_amounts, pattern_facts
from pytest_evalstudio.contrib.questions.rules.simplification import implied_statements
from pytest_evalstudio.contrib.questions.rules.slots import QuantityQuestion, slots
from pytest_evalstudio.contrib.questions.rules.wording import uncapitalised
from pytest_evalstudio.contrib.questions.words import word_table
from pytest_evalstudio.core.plugins.generator import Corpus
from pytest_evalstudio.formats.condition import parse_condition

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceQuestions:
    """Questions for a sentence, and its clauses where it is parsed."""

    amounts: tuple[QuantityQuestion, ...] = ()
    facts: tuple[Fact, ...] = ()
    sources: tuple[Source, ...] = ()


_JOINT = re.compile(
    r";\s|,\s(?:while|whereas)\s|(?<=\b[ap]\.m\.)\s(?=[A-Z][a-z]+\s[a-z])|(?<=°[CF]\.)\s(?=[A-Z])"
)
"""Boundaries of statements, with ends of sentences that a splitter takes for an abbreviation."""
_REMARK = re.compile(r"\s\((?![a-z]\)|[ivx]{1,4}\)|\d{1,2}\))[^()]{1,120}\)")
_TITLE = re.compile(r"(?i)(?:mr|mrs|ms|miss|dr|prof|sir|lady|sister)\b")
_FIRST_PERSON = re.compile(r"\b(?:I|[Mm]y|me|mine)\b")
"""Words of a writer who is not named."""
_NONE = SentenceQuestions()
_TITLED = word_table("titled nouns")


@functools.lru_cache(maxsize=4096)
def sentence_questions(sentence: str, corpus: Corpus) -> SentenceQuestions:
    """Return the questions for the quantities and facts of a sentence of the documents."""
    text = bare_statement(sentence)
    if _FIRST_PERSON.search(text):
        return _NONE
    if sentence.startswith("|") or not text.endswith("."):
        return _NONE
    pipeline = open_pipeline(corpus.pipeline)
    if pipeline is None:
        return SentenceQuestions(
            amounts=tuple(pattern_amounts(text, corpus)), facts=tuple(pattern_facts(text, corpus))
        )
    amounts: dict[str, QuantityQuestion] = {}
    facts: dict[str, Fact] = {}
    sources: list[Source] = []
    for number, statement in enumerate(_statements(text)):
        doc = pipeline.parse(statement)
        if doc is None:
            continue
        if following := consequence(doc, pipeline.language):
            facts[following.question] = following
        hits, offsets = slots(statement), _offsets(doc)
        # A pronoun of a later statement stands for a noun of this sentence.
        origin = sentence if number == 0 else ""
        for source in _sources(doc, origin, pipeline, corpus):
            sources.append(source)
            amounts |= {each.question: each for each in amount_questions(source, hits, offsets)}
            # An answer may have a noun in place of a pronoun.
            facts |= {
                each.question: each
                for each in fact_questions(source)
                if parse_condition(each.condition).check(text)
            }
        asked = {each.quantity.text for each in amounts.values()}
        if any(quantity.text not in asked for quantity, _ in hits):
            for each in _implied(statement, doc, origin, pipeline, corpus):
                if each.quantity.text not in asked:
                    amounts.setdefault(each.question, each)
    return SentenceQuestions(
        amounts=tuple(amounts.values()), facts=tuple(facts.values()), sources=tuple(sources)
    )


def _implied(
    statement: str, doc: Doc, sentence: str, pipeline: Pipeline, corpus: Corpus
) -> Iterator[QuantityQuestion]:
    """Yield the questions for the quantities of shorter statements."""
    for text in implied_statements(statement, doc, pipeline):
        short = pipeline.parse(text)
        if short is None:
            continue
        hits, offsets = slots(text), _offsets(short)
        for source in _sources(short, sentence, pipeline, corpus):
            yield from amount_questions(source, hits, offsets)


def _statements(text: str) -> Iterator[str]:
    """Yield the statements that semicolons and "while" join, and the single cases of each."""
    for part in _JOINT.split(_REMARK.sub("", text).removesuffix(".")):
        yield from single_statements(f"{part[:1].upper()}{part[1:].removesuffix('.')}.")


def _offsets(doc: Doc) -> list[int]:
    """Return the position of each token in the sentence."""
    positions, at = [], 0
    for token in doc:
        positions.append(at)
        at += len(word_of(token)) + len(token.whitespace_)
    return positions


def _sources(doc: Doc, sentence: str, pipeline: Pipeline, corpus: Corpus) -> Iterator[Source]:
    """Yield the clauses of a sentence that can be understood without the sentences before."""
    linking = pipeline.language.words("linking words")
    if doc[0].lower_ in linking:
        return
    base = {0: _first_word(doc, pipeline, corpus), **_titled(doc, pipeline)}
    # "must therefore be checked", "may also claim"
    base |= {
        token.i: "" for token in doc if token.i and token.lower_ in pipeline.language.words("linking adverbs")
    }
    antecedent: tuple[Token | None, str] = (None, "")
    for clause in clauses(doc, pipeline.language):
        overrides = dict(base)
        head = clause.subject_head
        if (
            head is not None
            and head.lower_ in pipeline.language.words("deictic words")
            and not _is_described(head)
        ):
            break
        if (
            head is not None
            and head.lower_ in pipeline.language.entries("pronouns")
            and len(clause.subject) == 1
        ):
            text = antecedent[1] if antecedent[0] is not None else ""
            noun = antecedent[0]
            if noun is None and any(token.pos_ in ("NOUN", "PROPN") for token in doc[: head.i]):
                break  # "If the cable is damaged, it must be replaced"
            if noun is None:
                noun, text = _subject_before(sentence, pipeline, corpus)
            number = pipeline.language.entries("pronouns")[head.lower_]
            is_person = noun is not None and (noun.ent_type_ == "PERSON" or _TITLE.match(text))
            if noun is None or number == "person" or is_person or is_plural(noun) != (number == "plural"):
                break
            overrides[head.i] = text
        elif head is not None and clause.is_first:
            antecedent = (head, text_of(clause.subject, overrides))
        yield Source(clause=clause, overrides=overrides, not_word=pipeline.language.entries("words")["not"])


def _is_described(head: Token) -> bool:
    """Report whether a clause says who is meant: "those who register"."""
    return head.lower_ == "those" and any(each.dep_ == "relcl" for each in head.children)


def _first_word(doc: Doc, pipeline: Pipeline, corpus: Corpus) -> str:
    """Return the first word as within a sentence."""
    word = word_of(doc[0])
    is_name = len(doc) > 1 and doc[1].is_alpha and word_of(doc[1])[:1].isupper()
    if doc[0].pos_ in ("DET", "ADP", "PRON", "SCONJ", "ADV") and word != "I":
        return word[0].lower() + word[1:]
    has_capital = doc[0].pos_ == "NOUN" and "nouns" in pipeline.language.entries("words")
    # A singular without an article that is tagged as a name.
    is_name |= doc[0].tag_ == "NNP" and "subj" in doc[0].dep_
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
    before = _sentence_before(corpus).get(sentence, "")
    doc = pipeline.parse(bare_statement(before)) if before.endswith(".") else None
    parsed = clauses(doc, pipeline.language) if doc is not None else []
    if not parsed or parsed[0].subject_head is None:
        return None, ""
    head = parsed[0].subject_head
    # "The average was 43, and at Borehole 6 it rose": a pronoun may stand for either subject.
    if any(clause.subject_head not in (None, head) for clause in parsed[1:]):
        return None, ""
    if head.pos_ not in ("NOUN", "PROPN") or len(parsed[0].subject) > 8:
        return None, ""
    first = parsed[0].subject[0]
    overrides = _titled(doc, pipeline)
    if first.i == 0:
        overrides = {0: _first_word(doc, pipeline, corpus), **overrides}
    text = text_of(parsed[0].subject, overrides)
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
