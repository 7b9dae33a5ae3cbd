"""Two texts compared token by token in their contexts, by the bert-score package."""

from __future__ import annotations

import functools
import json
import warnings
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.formats.weights_tables import LanguageModels
from pytest_evalstudio.models.classifying import device_of
from pytest_evalstudio.models.language_model import NO_LIMIT, SURROGATE, UNBOUNDED
from pytest_evalstudio.models.loading import no_progress_bar, share_threads
from pytest_evalstudio.models.weights import Weights
from pytest_evalstudio.models.windows import windows

Numbers = tuple[float, float, float]


class BertMatcher:
    """A model of bert-score, loaded when the first pair comes.

    Args:
        weights: what to load.
        settings: device, dtype and batch size.
        layers: how many of the model's layers are used; None for as many as bert-score's authors found best
            for a model of that name, all of one that they did not look at.
        workers: processes that share the machine's cores.
    """

    def __init__(
        self, weights: Weights, settings: LanguageModels, layers: int | None, *, workers: int = 1
    ) -> None:
        self.name = weights.name
        self._weights = weights
        self._settings = settings
        self._layers = layers
        self._workers = workers

    def match(self, pairs: Sequence[tuple[str, str]]) -> list[Numbers]:
        """Return precision, recall and F1 of each (text, reference), as `bert_score.score` does.

        Idf weights and rescaling are not used.

        Each distinct text is read once; one without tokens matches nothing. One that is longer than the
        model's limit, where bert-score cuts it off, is read in windows; its tokens are then matched together.

        Raises:
            EvaluationError: if the model cannot be loaded, or gives no number.
        """
        if not pairs:
            return []
        clean = [
            (SURROGATE.sub("\ufffd", first).strip(), SURROGATE.sub("\ufffd", second).strip())
            for first, second in pairs
        ]
        cut = {text: self._windows(text) for text in sorted({text for pair in clean for text in pair})}
        read = self._read(
            sorted({part for parts in cut.values() for part in parts}, key=lambda part: (-len(part), part))
        )
        scores = {
            pair: self._matched([read[part] for part in cut[pair[0]]], [read[part] for part in cut[pair[1]]])
            for pair in set(clean)
        }
        return [scores[pair] for pair in clean]

    def _windows(self, text: str) -> list[str]:
        # A token has a byte or more, but normalisation may add some: so short a text need not be counted.
        if 2 * len(text.encode()) <= self._limit:
            return [text]
        return [part for part, _ in windows(self._scorer._tokenizer, text, self._limit)]

    def _read(self, parts: Sequence[str]) -> dict[str, tuple[Any, Any]]:
        """Return vectors and weights of the tokens of each text; special tokens have no weight."""
        from bert_score.utils import get_bert_embedding

        scorer, size = self._scorer, self._settings.batch_size
        weights: dict[int, float] = defaultdict(lambda: 1.0)
        weights |= dict.fromkeys((scorer._tokenizer.sep_token_id, scorer._tokenizer.cls_token_id), 0.0)
        embedded = {}
        for start in range(0, len(parts), size):
            batch = parts[start : start + size]
            vectors, mask, heavy = get_bert_embedding(
                batch, scorer._model, scorer._tokenizer, weights, device=scorer.device
            )
            for part, rows, length, part_weights in zip(
                batch, vectors, mask.sum(dim=1).tolist(), heavy, strict=True
            ):
                embedded[part] = rows[:length].float().cpu(), part_weights[:length].cpu()
        return embedded

    def _matched(self, text: Sequence[tuple[Any, Any]], reference: Sequence[tuple[Any, Any]]) -> Numbers:
        import torch
        from bert_score.utils import greedy_cos_idf

        joined = []
        for parts in (reference, text):
            vectors = torch.cat([rows for rows, _ in parts]).unsqueeze(0)
            weights = torch.cat([part_weights for _, part_weights in parts]).unsqueeze(0)
            if not weights.any():
                return 0.0, 0.0, 0.0
            joined += [vectors, torch.ones(vectors.shape[:2], dtype=torch.bool), weights]
        precision, recall, f1 = (float(value) for value in greedy_cos_idf(*joined))
        # NaN alone is not equal to itself.
        if not all(value == value for value in (precision, recall)):
            raise EvaluationError(
                f"the model {self.name} gave no number for a text; try language_model.dtype = 'float32'"
            )
        return precision, recall, f1

    @functools.cached_property
    def _limit(self) -> int:
        """Tokens that the model reads at once, without the special ones."""
        tokenizer = self._scorer._tokenizer
        return max(1, int(tokenizer.model_max_length) - int(tokenizer.num_special_tokens_to_add()))

    @functools.cached_property
    def _scorer(self) -> Any:
        """bert-score's scorer, loaded on first use."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                import torch
                from bert_score import BERTScorer

                share_threads(self._workers)
                with no_progress_bar():
                    folder = _Folder(self._weights.folder)
                    scorer = BERTScorer(
                        model_type=folder, num_layers=self._used_layers(), device=device_of(self._settings)
                    )
                scorer._model.to(getattr(torch, self._settings.dtype))
                scorer._tokenizer.model_max_length = _limit_of(scorer)
                return scorer
        except Exception as exc:
            fact = " ".join(str(exc).split())[:300]
            raise EvaluationError(
                f"the model {self.name} ({self._weights.folder}) cannot be loaded: {type(exc).__name__}:"
                f" {fact}"
            ) from exc

    def _used_layers(self) -> int:
        from bert_score.utils import model2layers
        from transformers import AutoConfig

        if self._layers is not None:
            return self._layers
        name = self.name.partition("@")[0]
        return int(
            model2layers.get(name)
            or AutoConfig.from_pretrained(str(self._weights.folder), local_files_only=True).num_hidden_layers
        )


class _Folder(str):
    """Return a folder's name with "t5" only for a T5 model; bert-score detects these models by it."""

    def __contains__(self, part: str) -> bool:  # type: ignore[override]
        if part != "t5":
            return super().__contains__(part)
        return "t5" in str(
            json.loads((Path(self) / "config.json").read_text(encoding="utf-8")).get("model_type")
        )


def _limit_of(scorer: Any) -> int:
    """Return the tokens that a model reads at once; the tokenizer's limit may be missing or too high."""
    limit, positions = (
        int(scorer._tokenizer.model_max_length),
        getattr(scorer._model.config, "max_position_embeddings", None),
    )
    if limit >= NO_LIMIT:
        return (
            int(positions) - 2 if positions else UNBOUNDED
        )  # RoBERTa's first two positions are for no token
    return min(limit, int(positions)) if positions else limit
