"""Similarity of answer and expected answer, question or context by sentence embeddings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.tools import Tools, provided
from pytest_evalstudio.evaluators._alignment import SentenceAlignment
from pytest_evalstudio.evaluators._common import keywords
from pytest_evalstudio.evaluators._embedding_family import KEYWORDS, RAG, embedding_evaluator
from pytest_evalstudio.evaluators._similarity import (
    NO_EXPECTED_WORDS,
    TextEmbeddings,
    answer_and_expected,
    best_columns,
    has_words,
    no_words,
    sentence_fragments,
    without_words,
)
from pytest_evalstudio.evaluators._support import DIGITS
from pytest_evalstudio.metrics.detectors import redact
from pytest_evalstudio.metrics.overlap import exact_match, normalized_edit_similarity, token_jaccard
from pytest_evalstudio.metrics.quoting import one_line
from pytest_evalstudio.metrics.similarity import mean_and_min
from pytest_evalstudio.text.claims import Claim, claims_of
from pytest_evalstudio.text.figures import figure

_STRING_METRICS = {
    "normalized_edit_distance": normalized_edit_similarity,
    "exact_match": exact_match,
    "token_jaccard": token_jaccard,
}


@embedding_evaluator(
    "groundedness",
    "Groundedness",
    ("context", "actual_output"),
    difference=(
        "Minimum cosine of the sentences; TruLens and Azure AI ask a judge, as groundedness_judge does."
    ),
    systems=RAG,
    keywords=(*KEYWORDS, "capability-answer-highlight"),
    avid="P0100",
)
@dataclass(frozen=True)
class Groundedness(SentenceAlignment):
    """Minimum support of any sentence of the answer by the retrieved context.

    Support is the best cosine with a sentence of the context. Cosines measure whether the context has the
    same topic, not whether it agrees: a negated sentence is close to the original.

    Source: H2O Eval Studio, groundedness (semantic similarity).
    """

    measures_support: ClassVar[bool] = True
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "groundedness",
            "Groundedness",
            primary=True,
            description="Minimum over the answer's sentences of the best cosine with the context.",
        ),
    )
    fragment_metric: ClassVar[str] = "groundedness"
    lowest: ClassVar[str] = "least grounded sentence"

    def aggregate_sentences(self, values: Sequence[float], answer: Sequence[Claim]) -> Mapping[str, float]:
        return {"groundedness": min(values)}


@embedding_evaluator(
    "answer_semantic_sentence_similarity",
    "Answer s. sentence similarity",
    ("expected_output", "actual_output"),
)
@dataclass(frozen=True)
class AnswerSemanticSentenceSimilarity(SentenceAlignment):
    """Mean and minimum of the best cosine of each sentence of the answer with the expected answer.

    Source: H2O Eval Studio, answer semantic sentence similarity.
    """

    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "mean_answer_similarity",
            "Mean answer similarity",
            primary=True,
            description="Mean over the answer's sentences of the best cosine.",
        ),
        Metric(
            "min_answer_similarity",
            "Min answer similarity",
            description="Minimum over the answer's sentences of the best cosine.",
        ),
    )
    fragment_metric: ClassVar[str] = "min_answer_similarity"
    lowest: ClassVar[str] = "sentence least like the expected answer"
    missing: ClassVar[str] = NO_EXPECTED_WORDS

    def read(self, case: Case, tools: Tools) -> tuple[list[Claim], list[Claim]]:
        return answer_and_expected(case)

    def special_outcome(self, case: Case) -> Outcome | None:
        return without_words(case, self.metrics)

    def aggregate_sentences(self, values: Sequence[float], answer: Sequence[Claim]) -> Mapping[str, float]:
        mean, lowest = mean_and_min(values)
        return {"mean_answer_similarity": mean, "min_answer_similarity": lowest}


@embedding_evaluator(
    "answer_accuracy",
    "Answer accuracy (semantic similarity)",
    ("expected_output", "actual_output"),
    keywords=keywords("S", "C O", "evaluation-method-embeddings"),
    avid="P0100",
)
@dataclass(frozen=True)
class AnswerAccuracy(SentenceAlignment):
    """Lowest best cosine of an answer sentence with the expected answer; compares short texts as strings.

    Each sentence of the answer has its best cosine with the expected answer; the minimum is the score.
    Embeddings of short texts are unreliable: if either text has at most `short_string_threshold` characters,
    `short_string_metric` is used instead.

    Source: H2O Eval Studio, answer accuracy (semantic similarity).
    """

    short_string_threshold: int = 10
    short_string_metric: Literal["normalized_edit_distance", "exact_match", "token_jaccard", "embeddings"] = (
        "normalized_edit_distance"
    )
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "answer_accuracy",
            "Answer accuracy",
            primary=True,
            description="Minimum over the answer's sentences of the best cosine.",
        ),
    )
    fragment_metric: ClassVar[str] = "answer_accuracy"
    lowest: ClassVar[str] = "sentence least like the expected answer"
    missing: ClassVar[str] = NO_EXPECTED_WORDS

    def read(self, case: Case, tools: Tools) -> tuple[list[Claim], list[Claim]]:
        return answer_and_expected(case)

    def special_outcome(self, case: Case) -> Outcome | None:
        shorter = min(len(case.actual_output.strip()), len(case.expected_output.strip()))
        if self.short_string_metric == "embeddings" or shorter > self.short_string_threshold:
            return without_words(case, self.metrics)
        value = _STRING_METRICS[self.short_string_metric](case.actual_output, case.expected_output)
        reason = "" if value == 1 else f"compared by {self.short_string_metric}"
        return Outcome.score({"answer_accuracy": value}, reason=reason)

    def aggregate_sentences(self, values: Sequence[float], answer: Sequence[Claim]) -> Mapping[str, float]:
        return {"answer_accuracy": min(values)}


@embedding_evaluator(
    "answer_relevancy_sentence_similarity", "Answer relevancy (sentence s.)", ("question", "actual_output")
)
@dataclass(frozen=True)
class AnswerRelevancySentenceSimilarity:
    """Best cosine of the question with any sentence of the answer.

    Source: H2O Eval Studio, answer relevancy (sentence similarity).
    """

    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "answer_relevancy",
            "Answer relevancy",
            primary=True,
            description="Maximum over the answer's sentences of the cosine with the question.",
        ),
    )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        read = [claims_of(case.actual_output) for case in cases]
        texts = {
            text
            for case, answer in zip(cases, read, strict=True)
            # The question alone need not be embedded where there is nothing to compare it with.
            if answer
            for text in (case.question, *(sentence.text for sentence in answer))
        }
        vectors = TextEmbeddings(texts, tools.embedder)
        return [self._score(case, answer, vectors) for case, answer in zip(cases, read, strict=True)]

    def _score(self, case: Case, answer: Sequence[Claim], vectors: TextEmbeddings) -> Outcome:
        if not answer:
            return no_words(self.metrics)
        relevancy = best_columns(vectors, [sentence.text for sentence in answer], [case.question]).tolist()
        value = max(relevancy)
        nearest = answer[relevancy.index(value)]
        return Outcome.score(
            {"answer_relevancy": value},
            reason=(
                f"sentence nearest to the question ({figure(value)}):"
                f" {one_line(redact(case.actual_output)[nearest.start : nearest.end])}"
            ),
            fragments=sentence_fragments(answer, relevancy, "answer_relevancy"),
        )


@embedding_evaluator(
    "answer_semantic_similarity",
    "Answer semantic similarity",
    ("expected_output", "actual_output"),
    method=("embeddings", "cross-encoder"),
)
@dataclass(frozen=True)
class AnswerSemanticSimilarity:
    """Cosine, or cross-encoder score, of the whole answer and the whole expected answer.

    Source: Reimers and Gurevych, 2019 (Sentence-BERT).
    """

    similarity: Literal["embeddings", "cross-encoder"] = "embeddings"
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "answer_similarity",
            "Answer similarity",
            primary=True,
            description="Similarity of answer and expected answer.",
        ),
    )

    @property
    def requires(self) -> tuple[str, ...]:
        """Tools that the configured method needs."""
        return ("embedder",) if self.similarity == "embeddings" else ("cross_encoder",)

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        pairs = list(
            dict.fromkeys(
                (case.actual_output, case.expected_output)
                for case in cases
                if has_words(case.actual_output) and has_words(case.expected_output)
            )
        )
        values = dict(zip(pairs, self._similarities(pairs, tools), strict=True))
        return [self._outcome(case, values.get((case.actual_output, case.expected_output))) for case in cases]

    def _outcome(self, case: Case, value: float | None) -> Outcome:
        if (wordless := without_words(case, self.metrics)) is not None:
            return wordless
        if value is None:
            return no_words(self.metrics)
        return Outcome.score({"answer_similarity": value})

    def _similarities(self, pairs: Sequence[tuple[str, str]], tools: Tools) -> list[float]:
        if self.similarity == "embeddings":
            vectors = TextEmbeddings((text for pair in pairs for text in pair), tools.embedder)
            return [float(best_columns(vectors, [answer], [expected])[0]) for answer, expected in pairs]
        values = provided(tools.cross_encoder, "cross-encoder").score(pairs)
        # Heads of cross-encoders may give values slightly beyond 0 and 1.
        return [round(min(1.0, max(0.0, value)), DIGITS) for value in values]
