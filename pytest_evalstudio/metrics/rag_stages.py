"""Stage of a RAG application at which an answer went wrong: retrieval, use of the context, contradiction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from pytest_evalstudio.formats.condition_terms import Condition
from pytest_evalstudio.metrics.groundedness.opposites import is_negation, opposites
from pytest_evalstudio.metrics.grounding import (
    SourceVocabulary,
    Token,
    read_source,
    tokens_of,
    tokens_outside,
)
from pytest_evalstudio.metrics.ranking import missing_documents
from pytest_evalstudio.text.claims import content_of, stated_figures
from pytest_evalstudio.text.folding import fold
from pytest_evalstudio.text.numbers import Figure, figure_index
from pytest_evalstudio.text.refusals import is_refusal

RagStage = Literal["not_retrieved", "not_used", "contradicted"]

MIN_WORDS_IN_CONTEXT = 0.6
"""Share of the reference's words from which the context counts as its source: people phrase references
in their own words."""
MIN_WORDS_IN_ANSWER = 0.8
"""Share of the words of a reference without numbers from which the answer counts as having its content."""
MIN_WORDS_BESIDE_NUMBERS = 0.5
"""The same where the answer has all numbers of the reference."""
_MAX_RATIO = 2
"""Length of an answer, in lengths of the reference, up to which it is taken to be the same sentence."""


def failed_stage(
    answer: str,
    reference: str,
    context: Sequence[str],
    *,
    question: str = "",
    expected_documents: Sequence[str] = (),
    sources: Sequence[str] = (),
    condition: Condition | None = None,
) -> RagStage | None:
    """Return the stage at which a failing answer of a RAG application went wrong.

    * "not_retrieved": an expected document is missing among the sources, or the context lacks a number or
      more than 40 % of the words of the reference.
    * "contradicted": the context has it, and the answer names a number that neither context nor question has,
      says yes where the reference says no, or has the opposite of a word of the reference or its negation.
    * "not_used": the context has it, and the answer says something else, or nothing.

    Args:
        answer: of the application; "" for none.
        reference: expected answer; "" for none.
        context: retrieved chunks.
        question: its numbers may be repeated by any answer.
        expected_documents: URIs, paths or names of the documents that have the answer.
        sources: URI of each chunk.
        condition: what the answer, and a context that it can come from, meet. It takes the place of the words
            and numbers of the reference.

    Returns:
        None where reference, condition and labels are missing, the reference has function words alone or is
        a refusal, or the answer has its content, so that it fails for another reason. Time is linear in the
        length of the texts.

    Raises:
        EvaluationError: if a regular expression of the condition takes too long.

    Source: rule of this project, over the words and numbers of lexical groundedness.

    >>> context = ["A transfer costs 5 USD."]
    >>> failed_stage("It costs 7 USD.", "It costs 5 USD.", context)
    'contradicted'
    >>> failed_stage("I do not know.", "It costs 5 USD.", context)
    'not_used'
    >>> failed_stage("I do not know.", "Cards are blocked by phone.", context)
    'not_retrieved'
    """
    content = _content(reference) if reference else _NOTHING
    has_labels = bool(expected_documents) and any(sources)
    if not (content.words or content.figures or has_labels or condition) or (
        reference and is_refusal(reference)
    ):
        return None
    if has_labels and missing_documents(expected_documents, sources):
        return "not_retrieved"
    if condition:
        is_retrieved = _meets(condition, context)
    else:
        is_retrieved = _has(read_source(context, with_bigrams=False), content, MIN_WORDS_IN_CONTEXT)
    if not is_retrieved:
        return "not_retrieved"
    vocabulary = read_source([answer], with_bigrams=False)
    if _contradicts(answer, vocabulary, reference, content):
        return "contradicted"
    if _meets(condition, [answer]) if condition else _has_content(vocabulary, content):
        return None
    return "contradicted" if _has_invented_number(answer, context, question) else "not_used"


def _meets(condition: Condition, texts: Sequence[str]) -> bool:
    return condition.check(" ".join(texts)).passed


def _has_invented_number(answer: str, context: Sequence[str], question: str) -> bool:
    figures = stated_figures(answer)
    if not figures:
        return False
    indexes = [figure_index(context), figure_index([question])]
    return any(not any(index.has(figure) for index in indexes) for figure in figures)


class _Content(NamedTuple):
    """Content words of a text, and its numbers with their units."""

    words: Sequence[Token]
    figures: Sequence[Figure]


_NOTHING = _Content((), ())


def _content(text: str) -> _Content:
    figures = stated_figures(text)
    tokens = tokens_outside(tokens_of(content_of(text)), figures)
    return _Content([token for token in tokens if token.kind == "word"], figures)


def _has_content(vocabulary: SourceVocabulary, content: _Content) -> bool:
    """Return True if an answer has the content of a reference; numbers say more than words."""
    least = MIN_WORDS_BESIDE_NUMBERS if content.figures else MIN_WORDS_IN_ANSWER
    return bool(content.words or content.figures) and _has(vocabulary, content, least)


def _has(source: SourceVocabulary, content: _Content, least: float) -> bool:
    """Return True if a source has all numbers, and enough of the words, of a text."""
    words = [source.has_word(token) for token in content.words]
    has_numbers = all(source.figures.has(figure) for figure in content.figures)
    return has_numbers and sum(words) >= least * len(words)


def _contradicts(answer: str, vocabulary: SourceVocabulary, reference: str, content: _Content) -> bool:
    """Return True for yes against no, a word against its opposite, or a sentence against its negation."""
    first, expected_first = _agreement(answer), _agreement(reference)
    if first is not None and expected_first is not None:
        return first != expected_first
    words = {token.keys[0] for token in content.words}
    if any(not vocabulary.words.isdisjoint(opposites(word)) for word in words - vocabulary.words):
        return True
    is_of_one_sentence = len(answer) <= _MAX_RATIO * len(reference)
    return (
        is_of_one_sentence
        and _has_content(vocabulary, content)
        and _has_negation(answer) != _has_negation(reference)
    )


def _agreement(text: str) -> bool | None:
    """Return True for a text that begins with "yes", False with "no", None for others."""
    first = fold(text).lstrip(" *_\"'(").split(maxsplit=1)
    word = first[0].strip(".,;:!*_\"')").lower() if first else ""
    return {"yes": True, "no": False}.get(word)


def _has_negation(text: str) -> bool:
    return any(
        is_negation(word.strip(".,;:!?()\"'")) for word in fold(text).lower().split() if len(word) < 20
    )
