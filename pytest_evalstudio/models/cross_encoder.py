"""Two texts read together to a similarity, by sentence-transformers."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.formats.weights_tables import CrossEncoding
from pytest_evalstudio.models.classifying import plain
from pytest_evalstudio.models.loading import load
from pytest_evalstudio.models.premises import Pair
from pytest_evalstudio.models.weights import Weights
from pytest_evalstudio.models.windows import token_counts, windows

Plan = list[tuple[list[Pair], int]]
"""For each window of the first text: the pairs to read, and the window's tokens."""


class PairScorer:
    """The cross-encoder of a run, loaded when the first pair comes.

    Args:
        weights: what to load; a model with one output.
        settings: device, dtype and batch size.
        workers: processes that share the machine's cores.
    """

    def __init__(self, weights: Weights, settings: CrossEncoding, *, workers: int = 1) -> None:
        self.name = weights.name
        self._weights = weights
        self._settings = settings
        self._workers = workers

    def score(self, pairs: Sequence[Pair]) -> list[float]:
        """Return the logistic function of the model's output for each pair, 0.0 to 1.0, in order.

        Each distinct pair is read once.

        A pair beyond the model's limit is read window by window: each window of the first text with each of
        the second, the best of them counts, and the mean is weighted by the first text's tokens.

        Raises:
            EvaluationError: if the model cannot be loaded, has not one output, or gives no number.
        """
        if not pairs:
            return []
        clean = [(plain(first), plain(second)) for first, second in pairs]
        plans = self._plans(list(dict.fromkeys(clean)))
        parts = sorted(
            {part for plan in plans.values() for row, _ in plan for part in row},
            key=lambda part: (-len(part[0]) - len(part[1]), part),
        )
        scores = dict(zip(parts, self._scores(parts), strict=True))
        return [
            _mean([(max(scores[part] for part in row), tokens) for row, tokens in plans[pair]])
            for pair in clean
        ]

    def _plans(self, pairs: Sequence[Pair]) -> dict[Pair, Plan]:
        """Return how each pair is read; the tokens of all texts are counted together."""
        tokenizer = self._model.tokenizer
        longest = min(self._limit() or math.inf, tokenizer.model_max_length)
        if not math.isfinite(longest) or longest > 1_000_000:
            return {pair: [([pair], 1)] for pair in pairs}
        room = max(2, int(longest) - int(tokenizer.num_special_tokens_to_add(pair=True)))
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        counts = dict(zip(texts, token_counts(tokenizer, texts), strict=True))
        return {pair: _plan(tokenizer, pair, (counts[pair[0]], counts[pair[1]]), room) for pair in pairs}

    def _limit(self) -> int | None:
        name = (
            "max_seq_length" if hasattr(type(self._model), "max_seq_length") else "max_length"
        )  # its older name
        limit: int | None = getattr(self._model, name)
        return limit

    def _scores(self, parts: Sequence[Pair]) -> list[float]:
        import torch

        values = self._model.predict(
            list(parts),
            batch_size=self._settings.batch_size,
            activation_fn=torch.nn.Sigmoid(),
            show_progress_bar=False,
        )
        scores = [float(value) for value in values]
        if not all(map(math.isfinite, scores)):
            raise EvaluationError(
                f"the cross-encoder {self.name} gave no number for a pair; try cross_encoder.dtype ="
                " 'float32'"
            )
        return scores

    @functools.cached_property
    def _model(self) -> Any:
        """The model, loaded on first use."""
        model = load("CrossEncoder", self._weights, self._settings, self._workers)
        if model.num_labels != 1:
            raise EvaluationError(
                f"the cross-encoder {self.name} has {model.num_labels} outputs; a model of similarity has one"
            )
        return model


def _plan(tokenizer: Any, pair: Pair, tokens: tuple[int, int], room: int) -> Plan:
    """Return the windows of the first text, each with the pairs to read; no pair has more tokens than `room`.

    Args:
        tokens: of each text, without special ones.
    """
    first, second = tokens
    if first + second <= room:
        return [([pair], 1)]
    # What a short text leaves belongs to the other one; else each has half of the room.
    parts = windows(tokenizer, pair[0], max(room // 2, room - second))
    others = [other for other, _ in windows(tokenizer, pair[1], max(room // 2, room - first))]
    return [([(part, other) for other in others], count) for part, count in parts]


def _mean(weighted: Sequence[tuple[float, int]]) -> float:
    return math.fsum(value * tokens for value, tokens in weighted) / sum(tokens for _, tokens in weighted)
