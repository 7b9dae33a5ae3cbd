"""Tokens of a text and their nearest tokens of another, by the last layer of the embedder."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.tools import TokenMatch
from pytest_evalstudio.models.embedder import SentenceEmbedder
from pytest_evalstudio.models.language_model import SURROGATE
from pytest_evalstudio.models.windows import windows

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

_REMEMBERED_TEXTS = 16
_REMEMBERED_TOKENS = 50_000
_BLOCK = 4096
"""Tokens of the source that are compared at once; bounds the memory."""
_DIGITS = 5


@dataclass(frozen=True, slots=True)
class _Tokens:
    """Spans of the tokens of a text, and a vector of length 1 for each."""

    spans: list[tuple[int, int]]
    vectors: NDArray[float32]


class EmbeddingAligner:
    """Token-level alignment of texts by a loaded embedder.

    Args:
        embedder: the embedder of the run; it loads the model.
    """

    def __init__(self, embedder: SentenceEmbedder) -> None:
        self.name = embedder.name
        self._embedder = embedder
        self._read: OrderedDict[str, _Tokens] = OrderedDict()

    def align(self, pairs: Sequence[tuple[str, str]]) -> list[list[TokenMatch]]:
        """Return the tokens of the first text of each pair with their nearest tokens of the second.

        A text beyond the model's limit is read in windows.

        Raises:
            EvaluationError: if the model cannot be loaded, or gives no vectors of tokens.
        """
        return [_matches(self._tokens(text), self._tokens(source)) for text, source in pairs]

    def _tokens(self, text: str) -> _Tokens:
        if text in self._read:
            self._read.move_to_end(text)
            return self._read[text]
        tokens = self._embedded(text)
        self._read[text] = tokens
        while len(self._read) > 1 and (
            len(self._read) > _REMEMBERED_TEXTS
            or sum(len(entry.spans) for entry in self._read.values()) > _REMEMBERED_TOKENS
        ):
            self._read.popitem(last=False)
        return tokens

    def _embedded(self, text: str) -> _Tokens:
        import numpy as np

        model = self._embedder.loaded
        clean = SURROGATE.sub("\ufffd", text)
        parts = _located(model, clean)
        spans: list[tuple[int, int]] = []
        rows: list[Any] = []
        if parts:
            vectors = model.encode(
                [part for part, _ in parts],
                batch_size=self._embedder.batch_size,
                output_value="token_embeddings",
                show_progress_bar=False,
                convert_to_numpy=False,
            )
            for (part, start), matrix in zip(parts, vectors, strict=True):
                offsets = _offsets(model, part)
                if len(offsets) != len(matrix):
                    raise EvaluationError(
                        f"the embedder {self.name} gives no vector for each token, which an alignment needs;"
                        " use one without prompts and token pooling"
                    )
                indices = [index for index, (first, last) in enumerate(offsets) if last > first]
                spans += [(start + offsets[index][0], start + offsets[index][1]) for index in indices]
                rows.append(matrix.float().cpu().numpy()[indices])
        if not spans:
            return _Tokens([], np.zeros((0, 1), dtype=np.float32))
        joined = np.concatenate(rows).astype(np.float32)
        lengths = np.linalg.norm(joined, axis=1, keepdims=True)
        if not np.isfinite(joined).all() or not lengths.all():
            raise EvaluationError(
                f"the embedder {self.name} gave no usable vector for a token; try embeddings.dtype ="
                " 'float32'"
            )
        return _Tokens(spans, np.asarray(joined / lengths, dtype=np.float32))


def _located(model: Any, text: str) -> list[tuple[str, int]]:
    """Split a text at the model's limit; return the parts with their positions."""
    if not text.strip():
        return []
    limit = int(model.max_seq_length or 512) - int(model.tokenizer.num_special_tokens_to_add())
    located, position = [], 0
    for part, _ in windows(model.tokenizer, text, max(1, limit)):
        position = text.index(part, position)
        located.append((part, position))
        position += len(part)
    return located


def _offsets(model: Any, part: str) -> list[tuple[int, int]]:
    """Return the characters of each token, with empty spans for special tokens."""
    stripped = part.strip()  # as sentence-transformers does
    encoded = model.tokenizer(
        stripped,
        truncation=True,
        max_length=model.max_seq_length,
        return_offsets_mapping=True,
        verbose=False,
    )
    shift = part.index(stripped)
    return [(first + shift, last + shift) for first, last in encoded["offset_mapping"]]


def _matches(text: _Tokens, source: _Tokens) -> list[TokenMatch]:
    import numpy as np

    if not text.spans or not source.spans:
        return []
    # Below every cosine, so that the first block always gives a position.
    best = np.full(len(text.spans), -2.0, dtype=np.float32)
    positions = np.zeros(len(text.spans), dtype=np.int64)
    for start in range(0, len(source.spans), _BLOCK):
        cosines = text.vectors @ source.vectors[start : start + _BLOCK].T
        nearest = cosines.argmax(axis=1)
        values = cosines[np.arange(len(nearest)), nearest]
        better = values > best
        best[better], positions[better] = values[better], start + nearest[better]
    return [
        TokenMatch(
            start=first,
            end=last,
            similarity=round(float(similarity), _DIGITS),
            place=int(position),
            position=source.spans[position][0],
        )
        for (first, last), similarity, position in zip(text.spans, best, positions, strict=True)
    ]
