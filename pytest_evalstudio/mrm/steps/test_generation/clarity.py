"""Selection of the extracted drafts that are clear, have one answer, and are natural."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from pytest_evalstudio.core.plugins.generator import Corpus, Draft
from pytest_evalstudio.mrm.steps.test_generation.generating import Candidate
from pytest_evalstudio.mrm.texts.answers import ANSWERED, rivals
from pytest_evalstudio.mrm.texts.organisations import of_organisation, organisation_of, speaks_of_itself
from pytest_evalstudio.mrm.texts.phrasing import is_natural
from pytest_evalstudio.mrm.texts.quantities import quantities, unit_of
from pytest_evalstudio.mrm.texts.references import References
from pytest_evalstudio.mrm.texts.retrieval import SentenceIndex

_WE = re.compile(r"(?i)\b(?:we|us|ours?)\b")
_CHANGED = re.compile(
    r"(?i)\b(?:if|unless|except|instead|otherwise|thereafter|afterwards|however|but|longer"
    r"|shorter|higher|lower|from the second|(?:after|for) (?:that|more)"
    r"|(?:ris|increas|extend|doubl|reduc|fall|drop|chang)(?:e|es|ed|s)?)\b"
)
"""Words of a sentence that changes an amount of a sentence before it."""
_BARE_FIGURE = re.compile(
    r"(?i)\b(?:did|does|do|was|were|is|are)\s"
    r"(?P<noun>revenues?|sales|turnover|profits?|orders|income|earnings|costs)"
    r"(?=\s(?:rise|fall|drop|grow|increase|decrease|decline|improve|come|amount|[£$€\d])|\?)"
)
"""A figure of a company without the part of it or the kind that it is for."""
_EXCEPTION = re.compile(r"(?i)(?:but|however|unless|except|otherwise|do not|never|if)\b")
"""Beginning of a sentence that limits the instruction of the sentence before it."""


def clear_candidates(candidates: Iterable[Candidate], corpus: Corpus) -> Iterator[Candidate]:
    """Yield the candidates with a clear and natural question; a report's "we" becomes its organisation."""
    index = SentenceIndex(corpus.sentences)
    documents = {title: _Document(sentences) for title, sentences in _sentences(corpus).items()}
    for candidate in candidates:
        document = documents[candidate.excerpt.title]
        draft = document.named(candidate.draft)
        if (
            draft is not None
            and is_natural(draft.question)
            and _is_unambiguous(draft, index)
            and not _is_of_a_part(draft, document.sentences)
            and not _is_changed_later(draft, document.sentences)
            and not document.references.unclear(draft.question)
        ):
            yield candidate._replace(draft=draft)


class _Document:
    """The nouns that a document introduces, and the organisation that it is of."""

    def __init__(self, sentences: Sequence[str]) -> None:
        self.sentences = sentences
        self.references = References(sentences)
        self._speaks = speaks_of_itself(sentences)
        self._organisation = organisation_of(sentences) if self._speaks else ""

    def named(self, draft: Draft) -> Draft | None:
        """Return a draft that names the organisation for "we"; None if its name is not known."""
        if not self._speaks or not _WE.search(draft.evidence):
            return draft
        question = of_organisation(draft.question, self._organisation)
        if question == draft.question:
            return draft
        return replace(draft, question=question) if self._organisation else None


def _sentences(corpus: Corpus) -> dict[str, list[str]]:
    """Return the sentences of each document by its title; documents without a title count as one."""
    sentences: dict[str, list[str]] = {}
    for excerpt in corpus.excerpts:
        sentences.setdefault(excerpt.title, []).extend(excerpt.sentences)
    return sentences


def _is_unambiguous(draft: Draft, index: SentenceIndex) -> bool:
    """Report whether the documents answer a draft's question once, or not at all if it has no evidence."""
    shares = index.shares(draft.question)
    if not draft.evidence:
        return bool(shares.max(initial=0.0) < ANSWERED)
    return not rivals(draft.question, draft.answer, draft.evidence, index)


def _is_of_a_part(draft: Draft, sentences: Sequence[str]) -> bool:
    """Report whether a question asks for a part's figure as if of the whole: "Was revenue £12 million?".

    A document with several such figures has them for its parts.
    """
    match = _BARE_FIGURE.search(draft.question)
    units = {unit_of(quantity.text) for quantity in quantities(draft.evidence)}
    if match is None or not units:
        return False
    noun = match["noun"].rstrip("s").lower()
    stating = [
        sentence
        for sentence in sentences
        if noun in sentence.lower()
        and any(unit_of(quantity.text) in units for quantity in quantities(sentence))
    ]
    return len(stating) > 1


def _is_changed_later(draft: Draft, sentences: Sequence[str]) -> bool:
    """Report whether one of the next two sentences changes the answer: "It rises to 30 days".

    The answer to "What should you do if …" is changed by an exception in the next sentence.
    """
    if draft.evidence not in sentences:
        return False
    after = sentences[sentences.index(draft.evidence) + 1 :][:2]
    if draft.question.startswith("What should you do if") and after and _EXCEPTION.match(after[0]):
        return True
    units = {unit_of(quantity.text) for quantity in quantities(draft.answer)}
    return any(
        _CHANGED.search(sentence)
        and any(unit_of(quantity.text) in units for quantity in quantities(sentence))
        for sentence in after
    )
