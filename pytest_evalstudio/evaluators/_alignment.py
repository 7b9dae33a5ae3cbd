"""Base of the evaluators that compare each sentence of a text with the sentences of another text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._similarity import (
    NO_CONTEXT_WORDS,
    TextEmbeddings,
    answer_and_context,
    best_columns,
    nothing_to_compare,
    sentence_fragments,
    worst_sentence,
)
from pytest_evalstudio.text.claims import Claim


@dataclass(frozen=True)
class SentenceAlignment:
    """Evaluator on the best cosine of each sentence of the answer with a sentence of a reference text.

    Class attributes:
        metrics: declared metrics.
        fragment_metric: metric shown for each sentence.
        lowest: description of the sentence with the lowest score.
        missing: reason if the reference text has no words.

    Attributes:
        negative_cosines: keep negative cosines, which count 0 by default; scores may then be below the
            metric's range.
    """

    negative_cosines: bool = False

    metrics: ClassVar[tuple[Metric, ...]]
    fragment_metric: ClassVar[str]
    lowest: ClassVar[str]
    missing: ClassVar[str] = NO_CONTEXT_WORDS

    def read(self, case: Case, tools: Tools) -> tuple[list[Claim], list[Claim]]:
        """Return the sentences of the answer and those of the reference text."""
        return answer_and_context(case)

    def aggregate_sentences(self, values: Sequence[float], answer: Sequence[Claim]) -> Mapping[str, float]:
        """Return the scores of an answer from the best cosine of each of its sentences."""
        raise NotImplementedError

    def special_outcome(self, case: Case) -> Outcome | None:
        """Return the outcome of a case that is not scored by sentences, None otherwise."""
        return None

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        special = [self.special_outcome(case) for case in cases]
        texts = [
            ([], []) if outcome is not None else self.read(case, tools)
            for case, outcome in zip(cases, special, strict=True)
        ]
        vectors = TextEmbeddings(
            (
                sentence.text
                for answer, reference in texts
                if answer and reference
                for sentence in (*answer, *reference)
            ),
            tools.embedder,
        )
        return [
            outcome if outcome is not None else self._score(case, answer, reference, vectors)
            for case, outcome, (answer, reference) in zip(cases, special, texts, strict=True)
        ]

    def _score(
        self, case: Case, answer: Sequence[Claim], reference: Sequence[Claim], vectors: TextEmbeddings
    ) -> Outcome:
        nothing = nothing_to_compare(answer, reference, self.metrics, self.missing)
        if nothing is not None:
            return nothing
        values = best_columns(
            vectors,
            [sentence.text for sentence in answer],
            [sentence.text for sentence in reference],
            keep_negative=self.negative_cosines,
        ).tolist()
        return Outcome.score(
            self.aggregate_sentences(values, answer),
            reason=worst_sentence(case.actual_output, answer, values, self.lowest),
            fragments=sentence_fragments(answer, values, self.fragment_metric),
        )
