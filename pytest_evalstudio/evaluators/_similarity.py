"""What the evaluators on sentence embeddings share: sentences, one embedding of a whole batch, cosines, the
worst sentence.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Embedder, Tools
from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.outcomes import Finding, Fragment, Metric, Outcome
from pytest_evalstudio.evaluators._common import MAX_FRAGMENTS, is_empty, one_line, worst
from pytest_evalstudio.metrics.detectors import redact

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Weighting = Literal["uniform", "length"]
"""How much each sentence of a text counts: all the same, or by its number of characters."""

SHORT_CHARS = 10
"""Sentences of at most so many characters ("Yes.", "1.") are left out of texts that have longer ones."""
NO_WORDS = "the answer has no words"
NO_CONTEXT_WORDS = "the context has no words"
NO_EXPECTED_WORDS = "the expected output has no words"
_WORD = re.compile(r"\w")
_DIGITS = 6
"""Decimals of a cosine: what a model computes in batches of other sizes differs from the seventh on."""
_PERFECT = 0.9995


@dataclass(frozen=True, slots=True)
class Sentence:
    """A stretch of a text, by which it is compared."""

    text: str
    start: int
    end: int


def sentences(text: str, tools: Tools) -> list[Sentence]:
    """The sentences by which a text is compared.

    Those without a letter, digit or ideograph say nothing, short ones little: they are left out, unless the
    text has no others.

    Returns:
        In order; [] for a text without words.
    """
    found = [Sentence(text[start:end], start, end) for start, end in tools.split_sentences(text)]
    found = [sentence for sentence in found if has_words(sentence.text)]
    return [sentence for sentence in found if len(sentence.text) > SHORT_CHARS] or found


def has_words(text: str) -> bool:
    """Whether there is a letter, digit or ideograph in a text."""
    return bool(_WORD.search(text))


class Vectors:
    """Vectors of all texts of a batch, from one call of the embedder.

    Raises:
        EvaluationError: if there is no embedder.
    """

    def __init__(self, texts: Iterable[str], embedder: Embedder | None) -> None:
        import numpy as np

        if embedder is None:
            raise EvaluationError("there is no embedder to ask")
        self._places = {text: place for place, text in enumerate(sorted(set(texts)))}
        self._matrix = np.asarray(embedder.encode(list(self._places)), dtype=np.float64)

    def of(self, texts: Sequence[str]) -> Floats:
        """One row per text."""
        rows: Floats = self._matrix[[self._places[text] for text in texts]]
        return rows

    def cosines(self, first: Sequence[str], second: Sequence[str]) -> Floats:
        """Cosine of each of the first texts (rows) with each of the second (columns), -1.0 to 1.0."""
        return cosines(self.of(first), self.of(second))


def cosines(first: Floats, second: Floats) -> Floats:
    """Cosines of rows with rows.

    Args:
        first, second: matrices of as many columns; rows of length 1.

    Returns:
        One row per row of `first`, one column per row of `second`; rounded to six decimals, -1.0 to 1.0.

    >>> import numpy as np
    >>> cosines(np.array([[1.0, 0.0]]), np.array([[0.6, 0.8], [-1.0, 0.0]])).tolist()
    [[0.6, -1.0]]
    """
    import numpy as np

    return np.asarray(np.clip(np.round(first @ second.T, _DIGITS), -1.0, 1.0) + 0.0, dtype=np.float64)


def best_matches(similarities: Floats) -> Floats:
    """For each row its best cosine, as a fraction: negative ones count 0.

    Args:
        similarities: cosines, rows and at least one column.

    Returns:
        0.0 to 1.0 per row; higher is better.

    Source: Sudjianto et al., 2024 (HCAT), S_max; Zhang et al., 2020 (BERTScore), greedy matching.

    >>> import numpy as np
    >>> best_matches(np.array([[0.2, 0.9], [-0.5, -0.1]])).tolist()
    [0.9, 0.0]
    """
    import numpy as np

    return np.asarray(np.clip(similarities.max(axis=1), 0.0, 1.0) + 0.0, dtype=np.float64)


def best_columns(vectors: Vectors, first: Sequence[str], second: Sequence[str]) -> Floats:
    """`best_matches` of texts with texts; each distinct pair is computed once."""
    import numpy as np

    rows = {text: place for place, text in enumerate(dict.fromkeys(first))}
    best = best_matches(vectors.cosines(list(rows), list(dict.fromkeys(second))))
    return np.asarray(best[[rows[text] for text in first]])


def weights_of(found: Sequence[Sentence], weights: Weighting) -> list[float]:
    """Weights of sentences: the same for each, or by their number of characters.

    Returns:
        Positive numbers with the sum 1.0.

    >>> weights_of([Sentence("ab", 0, 2), Sentence("cdefgh", 3, 9)], "length")
    [0.25, 0.75]
    """
    parts = [1 if weights == "uniform" else len(sentence.text) for sentence in found]
    return [part / sum(parts) for part in parts]


def weighted_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    """Mean of sentence scores.

    Args:
        values: a score per sentence.
        weights: none negative, their sum 1.0.

    Returns:
        A number between the least and the greatest value.

    Raises:
        ValueError: if the weights are not as many, or do not sum to 1.0.

    Source: Sudjianto et al., 2024 (HCAT), section 3: sum of w_i S_max(i).

    >>> weighted_mean([0.2, 0.6], [0.75, 0.25])
    0.3
    """
    if abs(math.fsum(weights) - 1.0) > 1e-9:
        raise ValueError(f"weights sum to {math.fsum(weights)}, not to 1")
    return round(math.fsum(value * weight for value, weight in zip(values, weights, strict=True)), 9)


def no_words(metrics: Sequence[Metric], reason: str = NO_WORDS) -> Outcome:
    """The outcome of an answer that there is nothing to embed of: the worst, and a problem of the data."""
    finding = Finding(
        description=f"{reason}: it is too short to embed",
        severity="low",
        problem_type="data_quality",
        avid="P0100",
        actions="Look at the answer; if such answers are right, judge them by text_matching.",
    )
    return Outcome(scores=worst(metrics).scores, reason=reason, findings=(finding,))


def sentence_fragments(
    found: Sequence[Sentence], scores: Sequence[float], metric: str, part: str = "answer"
) -> tuple[Fragment, ...]:
    """A fragment per sentence with its score, in order; of very many the lowest are kept."""
    kept = sorted(sorted(range(len(found)), key=lambda place: (scores[place], place))[:MAX_FRAGMENTS])
    return tuple(
        Fragment(
            start=found[place].start, end=found[place].end, part=part, scores={metric: float(scores[place])}
        )
        for place in kept
    )


def worst_sentence(text: str, found: Sequence[Sentence], scores: Sequence[float], what: str) -> str:
    """The reason of a score: its lowest sentence, without secrets; "" where none is low."""
    place = min(range(len(found)), key=lambda index: scores[index])
    if scores[place] > _PERFECT:
        return ""
    return f"{what} ({scores[place]:.4f}): {one_line(redact(text)[found[place].start : found[place].end])}"


def answer_and_context(case: Case, tools: Tools) -> tuple[list[Sentence], list[Sentence]]:
    """Sentences of an answer, and of its context chunk by chunk; of an empty answer neither."""
    if is_empty(case):
        return [], []
    return sentences(case.actual_output, tools), [
        sentence for chunk in case.context for sentence in sentences(chunk, tools)
    ]


def answer_and_expected(case: Case, tools: Tools) -> tuple[list[Sentence], list[Sentence]]:
    """Sentences of an answer, and of the expected one; of an empty answer neither."""
    if is_empty(case):
        return [], []
    return sentences(case.actual_output, tools), sentences(case.expected_output, tools)


def nothing_to_compare(
    case: Case,
    answer: Sequence[Sentence],
    other: Sequence[Sentence],
    metrics: Sequence[Metric],
    reason: str = NO_CONTEXT_WORDS,
) -> Outcome | None:
    """The worst outcome where the answer is empty or has no words, or what it is compared with has none; else
    None.
    """
    if is_empty(case):
        return worst(metrics)
    if not answer:
        return no_words(metrics)
    return None if other else worst(metrics, reason)
