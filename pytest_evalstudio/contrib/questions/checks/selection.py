"""Selection of the drafts that are relevant and clear, have one answer, and are natural."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from pytest_evalstudio.contrib.questions.checks.answered import answers_back
from pytest_evalstudio.contrib.questions.checks.certainty import refusal_reason
from pytest_evalstudio.contrib.questions.checks.organisations import (
    of_organisation,
    organisation_of,
    speaks_of_itself,
)
from pytest_evalstudio.contrib.questions.checks.phrasing import is_natural
from pytest_evalstudio.contrib.questions.checks.references import References
from pytest_evalstudio.contrib.questions.checks.retrieval import (
    ANSWERED,
    SentenceIndex,
    query_terms,
    stems,
)
from pytest_evalstudio.contrib.questions.checks.sections import Sections, in_section
from pytest_evalstudio.contrib.questions.checks.wellformed import is_well_formed
from pytest_evalstudio.contrib.questions.parsing.pipeline import Pipeline, open_pipeline
from pytest_evalstudio.contrib.questions.quantities import quantities, unit_of
from pytest_evalstudio.contrib.questions.words import content_words, share_in
from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt

_LEAD = re.compile(r"^(?:Yes|No)\. |^[A-Z]\) ")
_MIN_TERMS = 2
"""Minimum number of content words of a question."""
_MIN_SHARE_OF_RIVAL = 0.5
_TOLERANCE = 1e-9
"""Of shares, which are sums of floats."""
_MAX_TERMS_OF_SHORT = 4
"""Maximum number of content words of a question that any document may answer."""
_INSTRUCTION = re.compile(r"(?i)\b(?:should|must) I\b")
_WE = re.compile(r"(?i)\b(?:we|us|ours?)\b")
_CHANGE = re.compile(
    r"(?i)\b(?:if|unless|except|instead|otherwise|thereafter|afterwards|however|but|longer"
    r"|shorter|higher|lower|from the second|(?:after|for) (?:that|more)"
    r"|(?:ris|increas|extend|doubl|reduc|fall|drop|chang)(?:e|es|ed|s)?)\b"
)
"""Words of a sentence that changes an amount of a sentence before it."""
_DEPENDENT = re.compile(
    r"(?i)(?:it|they|this|that|these|those|but|however|if|unless|otherwise|instead|thereafter|afterwards|from"
    r"|after)\b"
)
"""Beginning of a sentence about the subject of the sentence before it."""
_LABEL = re.compile(r"(?:[-–•*]\s)?\W{0,2}[A-Z][\w-]*(?:\s[\w-]+){0,3}\W{0,2}:\W{0,2}\s")
"""A label that also holds for the next sentence: "SEV1: …"."""
_CASE = re.compile(r"(?i)(?:^(?:if|where|should|in the event|in case)\b|\b(?:may|can|must|will) then\b)")
"""A sentence that states a case, in which the next one may hold as well."""
_CONDITION = re.compile(r"(?i)\b(?:if|when|where|unless|while|in case)\b")
_EXCEPTION = re.compile(r"(?i)(?:but|however|unless|except|otherwise|do not|never|if)\b")
"""Beginning of a sentence that limits the instruction of the sentence before it."""


def relevance(draft: Draft, excerpt: Excerpt) -> float:
    """Return the share of the content words of a question, without the generator's, that its chunk has."""
    return share_in(query_terms(draft.plain or draft.question), stems(" ".join(excerpt.sentences)))


def rivals(question: str, answer: str, evidence: str, index: SentenceIndex) -> list[str]:
    """Return other sentences that could answer a question as well as its evidence, with another answer.

    A rival has as much of the question as the evidence, is a sentence or table, and has a quantity of the
    answer's kind if the answer has one.
    """
    answers = quantities(_LEAD.sub("", answer))
    kinds, texts = {quantity.kind for quantity in answers}, {quantity.text for quantity in answers}
    min_share = max(index.share(question, evidence), _MIN_SHARE_OF_RIVAL) - _TOLERANCE
    sentences = []
    for position in (index.shares(question) >= min_share).nonzero()[0]:
        sentence = index.sentences[int(position)]
        if sentence == evidence or not sentence.endswith((".", "|")):
            continue
        alike = {quantity.text for quantity in quantities(sentence) if quantity.kind in kinds}
        # A sentence with the same quantity gives the same answer.
        if not kinds or (alike and not texts & alike):
            sentences.append(sentence)
    return sentences


def _numbers(question: str) -> set[str]:
    return {word for quantity in quantities(question) for word in content_words(quantity.text)}


class DraftSelection:
    """Checks of drafts against the documents that they are of.

    Args:
        corpus: the documents; those without a title count as one.
    """

    def __init__(self, corpus: Corpus) -> None:
        self._index = SentenceIndex(corpus.sentences)
        self._pipeline = open_pipeline(corpus.pipeline)
        sentences: dict[str, list[str]] = {}
        for excerpt in corpus.excerpts:
            sentences.setdefault(excerpt.title, []).extend(excerpt.sentences)
        self._documents = {title: _Document(texts, self._pipeline) for title, texts in sentences.items()}

    def clear_draft(self, draft: Draft, excerpt: Excerpt) -> Draft | None:
        """Return a draft, with the organisation's name for "we"; None if it is not clear and natural."""
        document = self._documents[excerpt.title]
        if draft.evidence.startswith("|"):
            return self._clear_cell(draft, excerpt)
        named = document.named(draft)
        if (
            named is None
            or not is_natural(named.question)
            or len(set(query_terms(named.question)) - _numbers(named.question)) < _MIN_TERMS
            or refusal_reason(named)
            or not self._is_checked(named)
            or not self._is_unambiguous(named)
            or document.is_of_a_case(named)
            or document.is_changed_later(named)
        ):
            return None
        return document.explained(named, self._title(excerpt))

    def _title(self, excerpt: Excerpt) -> str:
        return excerpt.title if len(self._documents) > 1 else ""

    def _clear_cell(self, draft: Draft, excerpt: Excerpt) -> Draft | None:
        """Return the draft for a cell of a table, whose row and column say what is meant.

        Its words are those of the table in a fixed form, which needs no second parse.
        """
        if not is_natural(draft.question):
            return None
        document = self._documents[excerpt.title]
        others = rivals(draft.question, draft.answer, draft.evidence, self._index)
        if quantities(draft.answer) and any(
            document.is_of_section(other, draft.evidence) for other in others
        ):
            return None
        return document.sectioned(draft, self._title(excerpt))

    def _is_checked(self, draft: Draft) -> bool:
        """Report whether another parse finds a well-formed question, and its answer in the sentence."""
        pipeline = self._pipeline
        return pipeline is None or (
            is_well_formed(draft.question, pipeline, draft.evidence) and answers_back(draft)
        )

    def _is_unambiguous(self, draft: Draft) -> bool:
        """Report whether the documents answer a question once, or not at all if it has no evidence."""
        if not draft.evidence:
            return bool(self._index.shares(draft.question).max(initial=0.0) < ANSWERED)
        return not rivals(draft.question, draft.answer, draft.evidence, self._index)


class _Document:
    """The nouns that a document introduces, and the organisation that it is of."""

    def __init__(self, sentences: Sequence[str], pipeline: Pipeline | None) -> None:
        self._sentences = sentences
        self._references = References(sentences, pipeline)
        self._sections = Sections(sentences)
        self._speaks = speaks_of_itself(sentences)
        self._organisation = organisation_of(sentences) if self._speaks else ""

    def is_of_section(self, sentence: str, evidence: str) -> bool:
        """Report whether a sentence is in the section of another one."""
        return self._sections.heading(sentence) == self._sections.heading(evidence)

    def named(self, draft: Draft) -> Draft | None:
        """Return a draft that names the organisation for "we"; None if its name cannot be derived."""
        if not self._speaks or not _WE.search(draft.evidence):
            return draft
        return replace(draft, question=of_organisation(draft.question, self._organisation or "the company"))

    def explained(self, draft: Draft, title: str) -> Draft | None:
        """Return a draft with its section or document where its sentence alone does not identify the matter.

        Args:
            title: of the document, "" if there is only one.

        Returns:
            None if nothing explains a noun.
        """
        if not draft.evidence:
            return draft
        heading = self._sections.heading(draft.evidence)
        result = self._references.explained(draft.question, draft.evidence, heading)
        if result is None:
            return None
        question, needs_section = result
        terms = set(query_terms(question)) - _numbers(question)
        is_instruction = _INSTRUCTION.search(question) and " you " not in f" {draft.evidence.lower()}"
        if needs_section or is_instruction or len(terms) <= _MAX_TERMS_OF_SHORT:
            question = in_section(question, heading, title)
        return replace(draft, question=question)

    def sectioned(self, draft: Draft, title: str) -> Draft:
        """Return the draft for a cell of a table with the section and document that the table is in."""
        heading = self._sections.heading(draft.evidence)
        return replace(draft, question=in_section(draft.question, heading, title))

    def is_of_a_case(self, draft: Draft) -> bool:
        """Report whether the sentence before the evidence says in which case it holds."""
        if draft.evidence not in self._sentences[1:]:
            return False
        before = self._sentences[self._sentences.index(draft.evidence) - 1]
        is_of_label = _LABEL.match(before) and not _LABEL.match(draft.evidence)
        is_of_case = _CASE.search(before) and not _CONDITION.search(draft.question)
        return before.endswith(".") and bool(is_of_label or is_of_case)

    def is_changed_later(self, draft: Draft) -> bool:
        """Report whether one of the next two sentences changes the answer: "It rises to 30 days".

        The answer to "What should I do if …" is changed by an exception in the next sentence.
        """
        if draft.evidence not in self._sentences:
            return False
        start = self._sentences.index(draft.evidence) + 1
        after = list(takewhile(lambda text: text.endswith("."), self._sentences[start : start + 2]))
        if draft.question.startswith("What should I do if") and after and _EXCEPTION.match(after[0]):
            return True
        units = _units(draft.answer)
        return any(
            _CHANGE.search(sentence) and _DEPENDENT.match(sentence) and units & _units(sentence)
            for sentence in after
        )


def _units(text: str) -> set[str]:
    return {unit_of(quantity.text) for quantity in quantities(text)}
