"""Lexical groundedness: unsupported words and numbers of the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.outcomes import Fragment, Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._common import MAX_FRAGMENTS, keywords, listed
from pytest_evalstudio.metrics.detectors import redact
from pytest_evalstudio.metrics.grounding import (
    SourceVocabulary,
    Support,
    Token,
    lexical_support,
    read_source,
    tokens_outside,
)
from pytest_evalstudio.metrics.quoting import one_line
from pytest_evalstudio.text.claims import claim_spans
from pytest_evalstudio.text.numbers import Figure


@evaluator(
    "lexical_groundedness",
    name="Lexical groundedness",
    domain="generation",
    needs=("context", "actual_output"),
    method=("ngrams", "rules"),
    systems=("rag",),
    keywords=keywords(
        "S VR",
        "C O M",
        "evaluation-method-ngram",
        "evaluation-method-rule-based",
        "capability-answer-highlight",
    ),
    avid="E0400",
)
@dataclass(frozen=True)
class LexicalGroundedness:
    """Share of the answer's words, word pairs and numbers in the context or question; needs no model.

    Words are compared by their stems, without function words; numbers by their value. An unsupported word may
    be a synonym, an unsupported number rarely is.

    Source: K-Precision of Adlakha et al., 2023, over stems, pairs and numbers.
    """

    measures_support: ClassVar[bool] = True
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "supported_words",
            "Supported words",
            threshold=0.8,
            primary=True,
            description="Share of the words that occur in context or question.",
        ),
        Metric(
            "unsupported_words",
            "Unsupported words",
            better="lower",
            range=(0.0, float("inf")),
            threshold=float("inf"),
            description="Number of words that occur in neither.",
        ),
        Metric(
            "supported_bigrams",
            "Supported bigrams",
            threshold=0.5,
            description="Share of the word pairs that occur in context or question.",
        ),
        Metric(
            "worst_sentence_bigrams",
            "Supported bigrams of the worst sentence",
            threshold=0.2,
            description="Lowest share of supported word pairs in any sentence.",
        ),
        Metric(
            "supported_numbers",
            "Supported numbers",
            threshold=1.0,
            description="Share of the numbers, with their units, that occur in context or question.",
            decides=True,
        ),
    )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        # Several models answer the same question from the same context.
        sources: dict[tuple[str, ...], SourceVocabulary] = {}
        outcomes = []
        for case in cases:
            texts = (case.question, *case.context)
            if texts not in sources:
                sources[texts] = read_source(texts)
            outcomes.append(self._score(case, sources[texts], tools))
        return outcomes

    def _score(self, case: Case, source: SourceVocabulary, tools: Tools) -> Outcome:
        spans = claim_spans(case.actual_output)
        support = lexical_support(case.actual_output, spans, source)
        if support is None:
            return Outcome.not_applicable("the answer has only function words")
        scores: dict[str, float | None] = {
            "supported_words": support.supported_words,
            "unsupported_words": float(len(support.unsupported_words)),
            "supported_bigrams": support.supported_bigrams,
            "worst_sentence_bigrams": support.worst_sentence_bigrams,
            "supported_numbers": support.supported_numbers,
        }
        return Outcome.score(
            scores, reason=_reason(case.actual_output, support), fragments=_fragments(support, spans)
        )


def _fragments(support: Support, spans: Sequence[tuple[int, int]]) -> tuple[Fragment, ...]:
    marks: list[tuple[Token | Figure, str]] = [
        *(
            (token, "unsupported word: not in the context or the question")
            for token in tokens_outside(support.unsupported_words, support.unsupported_numbers)
        ),
        *(
            (token, "unsupported number: not in the context or the question")
            for token in support.unsupported_numbers
        ),
    ]
    marks.sort(key=lambda mark: mark[0].start)
    fragments = [
        Fragment(start=token.start, end=token.end, message=message)
        for token, message in marks[:MAX_FRAGMENTS]
    ]
    if support.worst_sentence is not None and support.worst_sentence_bigrams is not None:
        start, end = spans[support.worst_sentence]
        scores = {"worst_sentence_bigrams": support.worst_sentence_bigrams}
        fragments.append(Fragment(start=start, end=end, scores=scores, message="least supported sentence"))
    return tuple(fragments)


def _reason(answer: str, support: Support) -> str:
    parts = []
    # Masked as a whole, and of equal length, so that the positions of tokens stay valid.
    answer = redact(answer)
    for kind, tokens in (("words", support.unsupported_words), ("numbers", support.unsupported_numbers)):
        if tokens:
            shown = list(dict.fromkeys(answer[token.start : token.end] for token in tokens))
            parts.append(f"unsupported {kind}: {one_line(listed(shown))}")
    return "; ".join(parts)
