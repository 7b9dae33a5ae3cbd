"""Answer accuracy: does the expected answer say everything that the answer says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools, evaluator
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.evaluators._common import is_empty, keywords, worst
from pytest_evalstudio.evaluators._similarity import (
    NO_EXPECTED_WORDS,
    Sentence,
    Vectors,
    answer_and_expected,
    best_columns,
    nothing_to_compare,
    sentence_fragments,
    worst_sentence,
)


@evaluator(
    "answer_accuracy",
    name="Answer accuracy (semantic similarity)",
    domain="generation",
    needs=("expected_output", "actual_output"),
    requires=("embedder",),
    method=("embeddings",),
    systems=("llm", "rag"),
    extra="models",
    keywords=keywords("S", "C O", "evaluation-method-embeddings"),
    problem_type="accuracy",
    avid="P0100",
)
@dataclass(frozen=True)
class AnswerAccuracy:
    """Worst likeness of any sentence of the answer to the expected answer's nearest one; short texts are
    compared as strings.

    Where either text has at most `short_string_threshold` characters, embeddings say little:
    `short_string_metric` is taken instead.
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
            description="Least over the answer's sentences of the best cosine.",
        ),
    )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        read = [([], []) if self._is_short(case) else answer_and_expected(case, tools) for case in cases]
        vectors = Vectors(
            (one.text for answer, expected in read if answer and expected for one in (*answer, *expected)),
            tools.embedder,
        )
        return [
            self._score(case, answer, expected, vectors)
            for case, (answer, expected) in zip(cases, read, strict=True)
        ]

    def _is_short(self, case: Case) -> bool:
        shorter = min(len(case.actual_output.strip()), len(case.expected_output.strip()))
        return self.short_string_metric != "embeddings" and shorter <= self.short_string_threshold

    def _score(
        self, case: Case, answer: Sequence[Sentence], expected: Sequence[Sentence], vectors: Vectors
    ) -> Outcome:
        if is_empty(case):
            return worst(self.metrics)
        if self._is_short(case):
            value = _STRING_METRICS[self.short_string_metric](case.actual_output, case.expected_output)
            return Outcome.score(
                {"answer_accuracy": value},
                reason="" if value == 1 else f"compared by {self.short_string_metric}",
            )
        if (
            nothing := nothing_to_compare(case, answer, expected, self.metrics, NO_EXPECTED_WORDS)
        ) is not None:
            return nothing
        accuracy = best_columns(
            vectors, [one.text for one in answer], [one.text for one in expected]
        ).tolist()
        return Outcome.score(
            {"answer_accuracy": answer_accuracy(accuracy)},
            reason=worst_sentence(
                case.actual_output, answer, accuracy, "sentence least like the expected answer"
            ),
            fragments=sentence_fragments(answer, accuracy, "answer_accuracy"),
        )


def answer_accuracy(similarity: Sequence[float]) -> float:
    """Least likeness of any sentence of an answer.

    Args:
        similarity: per sentence of the answer the best cosine with an expected sentence, negative ones as 0;
            at least one.

    Returns:
        A fraction, 0.0 to 1.0; higher is better.

    Raises:
        ValueError: if there is no sentence.

    Source: H2O Eval Studio, answer accuracy (semantic similarity).

    >>> answer_accuracy([0.9, 0.4])
    0.4
    """
    return min(similarity)


def normalized_edit_similarity(first: str, second: str) -> float:
    """One less the edit distance by the longer text's length; case and blanks around the texts are ignored.

    Returns:
        A fraction, 0.0 (nothing in common, or an empty text against another) to 1.0 (the same); higher is
        better.

    Source: Levenshtein, 1966.

    >>> normalized_edit_similarity("kitten", "Sitting")
    0.5714285714285714
    """
    ours, theirs = sorted((first.strip().casefold(), second.strip().casefold()), key=len)
    if not theirs:
        return 1.0
    row = list(range(len(ours) + 1))
    for place, sign in enumerate(theirs, start=1):
        diagonal, row[0] = row[0], place
        for column, own in enumerate(ours, start=1):
            diagonal, row[column] = (
                row[column],
                min(row[column] + 1, row[column - 1] + 1, diagonal + (own != sign)),
            )
    return 1 - row[-1] / len(theirs)


def exact_match(first: str, second: str) -> float:
    """1.0 if two texts are the same but for case and the blanks around them, else 0.0.

    >>> exact_match(" Paris", "paris"), exact_match("Paris", "Rome")
    (1.0, 0.0)
    """
    return float(first.strip().casefold() == second.strip().casefold())


def token_jaccard(first: str, second: str) -> float:
    """Share of the distinct words of two texts that are in both; case is ignored.

    Returns:
        A fraction, 0.0 to 1.0; higher is better. Two texts without words are the same.

    Source: Jaccard, 1912.

    >>> token_jaccard("New York", "york")
    0.5
    """
    ours, theirs = set(first.casefold().split()), set(second.casefold().split())
    return len(ours & theirs) / len(ours | theirs) if ours | theirs else 1.0


_STRING_METRICS = {
    "normalized_edit_distance": normalized_edit_similarity,
    "exact_match": exact_match,
    "token_jaccard": token_jaccard,
}
