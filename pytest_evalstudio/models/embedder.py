"""Texts to vectors, by sentence-transformers."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.progress import report_progress
from pytest_evalstudio.formats.weights_tables import Embeddings
from pytest_evalstudio.models.classifying import plain
from pytest_evalstudio.models.loading import load
from pytest_evalstudio.models.vectors import VectorCache, key_of
from pytest_evalstudio.models.weights import Weights
from pytest_evalstudio.models.windows import token_counts, windows

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    Vector = NDArray[float32]

_STORED_AT_ONCE = 4096
"""Texts that are embedded before their vectors are stored: what a killed run has computed is not lost."""


class SentenceEmbedder:
    """The embedder of a run.

    Nothing is imported and no weights are read before a text comes whose vector is not in the cache.

    Args:
        weights: what to load.
        settings: device, dtype and batch size.
        vectors: where vectors are kept.
        workers: processes that share the machine's cores.
    """

    def __init__(
        self, weights: Weights, settings: Embeddings, vectors: VectorCache, *, workers: int = 1
    ) -> None:
        self.name = weights.name
        self._weights = weights
        self._settings = settings
        self._vectors = vectors
        self._workers = workers
        # Vectors of half precision differ from those in the cache; the usual precision keeps the old keys.
        self._identity = weights.identity + ("" if settings.dtype == "float32" else f"/{settings.dtype}")

    def encode(self, texts: Sequence[str]) -> Vector:
        """Return one row of length 1 per text, in order; each distinct text is embedded once.

        A text beyond the model's limit is embedded window by window: its vector is the windows' mean,
        weighted by their numbers of tokens.

        Raises:
            EvaluationError: if the model cannot be loaded, or gives no usable numbers.
        """
        import numpy as np

        keys = {text: key_of(self._identity, text) for text in texts}
        stored = self._vectors.get(list(keys.values()))
        waiting = sorted(
            (text for text, key in keys.items() if key not in stored), key=lambda text: (-len(text), text)
        )
        for start in range(0, len(waiting), _STORED_AT_ONCE):
            report_progress(start, len(waiting), "texts embedded")
            part = waiting[start : start + _STORED_AT_ONCE]
            new = dict(zip((keys[text] for text in part), self._embedded(part), strict=True))
            self._vectors.put(new)
            stored |= new
        if waiting:
            report_progress(len(waiting), len(waiting), "texts embedded")
        return (
            np.stack([stored[keys[text]] for text in texts]) if texts else np.zeros((0, 0), dtype=np.float32)
        )

    @property
    def loaded(self) -> Any:
        """The model of sentence-transformers; loaded on first use."""
        return self._model

    @property
    def batch_size(self) -> int:
        """Texts that are read at once."""
        return self._settings.batch_size

    def _embedded(self, texts: Sequence[str]) -> Vector:
        import numpy as np

        model = self._model
        parts, owners, weights = _parts(model, [plain(text) for text in texts])
        rows = np.asarray(
            model.encode(
                parts,
                batch_size=self._settings.batch_size,
                show_progress_bar=False,
                convert_to_numpy=True,
                normalize_embeddings=True,
            ),
            dtype=np.float32,
        )
        if len(parts) != len(texts):
            sums = np.zeros((len(texts), rows.shape[1]), dtype=np.float64)
            # `sums[owners] += ...` would count only one of the windows of a text.
            np.add.at(sums, owners, rows * np.asarray(weights, dtype=np.float64)[:, None])
            rows = sums.astype(np.float32)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not np.isfinite(rows).all() or not lengths.all():
            raise EvaluationError(
                f"the embedder {self.name} gave no usable vector for a text; try embeddings.dtype = 'float32'"
            )
        return np.asarray(rows / lengths, dtype=np.float32)

    @functools.cached_property
    def _model(self) -> Any:
        """The model, loaded on first use."""
        return load("SentenceTransformer", self._weights, self._settings, self._workers)


def _parts(model: Any, texts: Sequence[str]) -> tuple[list[str], list[int], list[int]]:
    """Split texts at the model's limit; return the parts, the text of each part, and its weight."""
    limit = _limit(model)
    parts: list[str] = []
    owners: list[int] = []
    weights: list[int] = []
    doubtful = [
        index for index, text in enumerate(texts) if limit is not None and 2 * len(text.encode()) > limit
    ]
    long = _too_long(model, texts, doubtful, limit)
    for index, text in enumerate(texts):
        for part, tokens in (
            windows(model.tokenizer, text, limit) if index in long and limit is not None else [(text, 1)]
        ):
            parts.append(part)
            owners.append(index)
            weights.append(tokens)
    return parts, owners, weights


def _too_long(model: Any, texts: Sequence[str], doubtful: Sequence[int], limit: int | None) -> frozenset[int]:
    """Return the indices of the texts beyond the limit.

    A token is at least one byte, except for what normalisation adds, so short texts need not be counted.
    """
    counts = token_counts(model.tokenizer, [texts[index] for index in doubtful])
    return frozenset(
        index for index, count in zip(doubtful, counts, strict=True) if limit is not None and count > limit
    )


def _limit(model: Any) -> int | None:
    """Return the tokens of a text that the model reads, or None for no limit.

    The special tokens and the model's prompt are not included.
    """
    longest = getattr(model, "max_seq_length", None)
    if not longest:
        return None
    tokenizer = model.tokenizer
    prompts: Mapping[str, str] = getattr(model, "prompts", None) or {}
    prompt = prompts.get(getattr(model, "default_prompt_name", None) or "", "") or ""
    return max(
        1,
        int(longest)
        - int(tokenizer.num_special_tokens_to_add())
        - (token_counts(tokenizer, [prompt])[0] if prompt else 0),
    )
