"""Base of the evaluators on sentence embeddings: sentences, embeddings of a batch, the worst sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.outcomes import Finding, Fragment, Metric, Outcome
from pytest_evalstudio.core.tools import Embedder, provided
from pytest_evalstudio.evaluators._common import MAX_FRAGMENTS
from pytest_evalstudio.metrics.detectors import redact
from pytest_evalstudio.metrics.quoting import one_line
from pytest_evalstudio.metrics.similarity import Weighting, best_matches, cosines, sentence_weights
from pytest_evalstudio.text.claims import Claim, claims_of
from pytest_evalstudio.text.figures import figure
from pytest_evalstudio.text.folding import same_characters

if TYPE_CHECKING:
    from pytest_evalstudio.metrics.similarity import Floats

NO_WORDS = "the answer has no words"
NO_CONTEXT_WORDS = "the context has no words"
NO_EXPECTED_WORDS = "the expected output has no words"
_WORD = re.compile(r"\w")
_PERFECT = 0.9995  # prints as 1.000, so that no sentence is to blame


def has_words(text: str) -> bool:
    """Return True if a text has a letter, digit or ideograph."""
    return bool(_WORD.search(text))


class TextEmbeddings:
    """Embeddings of all texts of a batch, from one call of the embedder."""

    def __init__(self, texts: Iterable[str], embedder: Embedder | None) -> None:
        import numpy as np

        # The order of a set differs from process to process, and with it the batches of the embedder.
        self._places = {text: position for position, text in enumerate(sorted(set(texts)))}
        vectors = provided(embedder, "embedder").encode(list(self._places))
        self._matrix = np.asarray(vectors, dtype=np.float64)

    def of(self, texts: Sequence[str]) -> Floats:
        """Return a row per text."""
        rows: Floats = self._matrix[[self._places[text] for text in texts]]
        return rows

    def cosines(self, first: Sequence[str], second: Sequence[str]) -> Floats:
        """Return the cosine of each of the first texts (rows) with each of the second (columns)."""
        return cosines(self.of(first), self.of(second))


def best_columns(
    vectors: TextEmbeddings, first: Sequence[str], second: Sequence[str], *, keep_negative: bool = False
) -> Floats:
    """Return the best cosine of each of the first texts with any of the second.

    Each distinct pair is computed once. Negative cosines count 0 unless they are to be kept.
    """
    import numpy as np

    rows = {text: position for position, text in enumerate(dict.fromkeys(first))}
    matrix = vectors.cosines(list(rows), list(dict.fromkeys(second)))
    best = best_matches(matrix, keep_negative=keep_negative)
    return np.asarray(best[[rows[text] for text in first]])


def check_weighting(weighting: Weighting) -> None:
    """Check weights that the user gives.

    Raises:
        ConfigurationError: if there is none, or one is not positive.
    """
    if isinstance(weighting, tuple) and not (weighting and all(weight > 0 for weight in weighting)):
        raise ConfigurationError(
            f"weights: expected 'uniform', 'length' or positive numbers, found {list(weighting)}"
        )


def weights_of(texts: Sequence[Claim], weighting: Weighting) -> list[float]:
    """Return the weight of each sentence; see `metrics.similarity.sentence_weights`."""
    return sentence_weights([len(sentence.text) for sentence in texts], weighting)


def no_words(metrics: Sequence[Metric], reason: str = NO_WORDS) -> Outcome:
    """Return the worst outcome, with a data problem, for an answer without words."""
    finding = Finding(
        description=f"{reason}: it is too short to embed",
        severity="low",
        problem_type="data_quality",
        avid="P0100",
        actions="Inspect the answer; if such answers are right, use text_matching for them.",
    )
    return replace(Outcome.worst(metrics, reason), findings=(finding,))


def sentence_fragments(
    texts: Sequence[Claim], scores: Sequence[float], metric: str, part: str = "answer"
) -> tuple[Fragment, ...]:
    """Return a fragment per sentence with its score, in order; of very many only the lowest."""
    top = sorted(sorted(range(len(texts)), key=lambda position: (scores[position], position))[:MAX_FRAGMENTS])
    return tuple(
        Fragment(
            start=texts[position].start,
            end=texts[position].end,
            part=part,
            scores={metric: float(scores[position])},
        )
        for position in top
    )


def worst_sentence(text: str, texts: Sequence[Claim], scores: Sequence[float], what: str) -> str:
    """Return the lowest sentence without secrets as the reason of a score; "" if no sentence is low."""
    position = min(range(len(texts)), key=lambda index: scores[index])
    if scores[position] > _PERFECT:
        return ""
    start, end = texts[position].start, texts[position].end
    # The whole text is masked before the sentence is cut out: a secret may go beyond the sentence.
    return f"{what} ({figure(scores[position])}): {one_line(redact(text)[start:end])}"


def answer_and_context(case: Case) -> tuple[list[Claim], list[Claim]]:
    """Return the sentences of answer and context."""
    return claims_of(case.actual_output), [
        sentence for chunk in case.context for sentence in claims_of(chunk)
    ]


def answer_and_expected(case: Case) -> tuple[list[Claim], list[Claim]]:
    """Return the sentences of answer and expected answer."""
    return claims_of(case.actual_output), claims_of(case.expected_output)


def without_words(case: Case, metrics: Sequence[Metric]) -> Outcome | None:
    """Return the outcome of texts that cannot be embedded, None for others.

    Equal texts of emoji or signs are as similar as can be; a text has no similarity with an expected one
    without words. An answer without words where words are expected is left to the evaluator.
    """
    if has_words(case.expected_output):
        return None
    if same_characters(case.actual_output.strip(), case.expected_output.strip()):
        return Outcome.score({metric.key: 1.0 for metric in metrics})
    return Outcome.not_applicable(f"{NO_EXPECTED_WORDS}, and the answer is another text")


def nothing_to_compare(
    answer: Sequence[Claim],
    other: Sequence[Claim],
    metrics: Sequence[Metric],
    reason: str = NO_CONTEXT_WORDS,
) -> Outcome | None:
    """Return the worst outcome if the answer or the text that it is compared with has no words, else None."""
    if not answer:
        return no_words(metrics)
    return None if other else Outcome.worst(metrics, reason)
