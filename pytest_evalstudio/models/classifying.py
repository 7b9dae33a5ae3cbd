"""Texts and pairs of texts to logits, by sequence classifiers of transformers."""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.formats.weights_tables import LanguageModels, WeightsTable
from pytest_evalstudio.models.loading import no_progress_bar, share_threads
from pytest_evalstudio.models.weights import Weights

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    Floats = NDArray[float64]

Part = str | tuple[str, str]
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_NO_LIMIT = 1_000_000
"""Tokenizers without a limit give a number beyond this one."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A classifier that is loaded.

    Attributes:
        labels: of its outputs, in order.
        independent: whether each label has a probability of its own (sigmoid), not one among all (softmax).
    """

    model: Any
    tokenizer: Any
    labels: tuple[str, ...]
    independent: bool


def open_classifier(weights: Weights, settings: WeightsTable) -> Opened:
    """Open a classifier from local files only; code that comes with weights is not run."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(
        str(weights.folder), local_files_only=True, trust_remote_code=False
    )
    model = AutoModelForSequenceClassification.from_pretrained(
        str(weights.folder),
        local_files_only=True,
        trust_remote_code=False,
        dtype=getattr(torch, settings.dtype),
    )
    labels = tuple(str(model.config.id2label[index]) for index in range(model.config.num_labels))
    independent = len(labels) == 1 or model.config.problem_type == "multi_label_classification"
    return Opened(model.to(device_of(settings)).eval(), tokenizer, labels, independent)


def device_of(settings: WeightsTable | LanguageModels) -> str:
    """Return the device that torch computes on."""
    import torch

    if settings.device != "auto":
        return settings.device
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


class Classifier:
    """A sequence classifier, loaded when the first text comes.

    Args:
        weights: what to load.
        settings: device, dtype and batch size.
        table: the configuration's table, for messages.
        workers: processes that share the machine's cores.
        open: how to load it.
    """

    def __init__(
        self,
        weights: Weights,
        settings: WeightsTable,
        *,
        table: str,
        workers: int = 1,
        open: Callable[[Weights, WeightsTable], Opened] = open_classifier,
    ) -> None:
        self.name = weights.name
        self._weights = weights
        self._settings = settings
        self._table = table
        self._workers = workers
        self._open = open

    def room(self, *, pair: bool) -> int | None:
        """Return the tokens available for a text or pair besides the special tokens; None for no limit."""
        tokenizer, model = self.opened.tokenizer, self.opened.model
        limits = [
            limit for limit in (tokenizer.model_max_length, _positions(model)) if limit and limit < _NO_LIMIT
        ]
        return max(2, min(limits) - int(tokenizer.num_special_tokens_to_add(pair=pair))) if limits else None

    def logits(self, parts: Sequence[Part]) -> Floats:
        """Return one row per part and one column per label; parts must be `plain` and fit the model.

        Raises:
            EvaluationError: if the model cannot be loaded, or gives no numbers.
        """
        import numpy as np
        import torch

        opened = self.opened
        tokenizer = opened.tokenizer
        # Texts of different lengths cannot share a batch without a token for padding.
        size = self._settings.batch_size if tokenizer.pad_token is not None else 1
        # Texts of similar length share a batch, which then has little padding.
        order = sorted(range(len(parts)), key=lambda index: (-_chars(parts[index]), parts[index]))
        logits = np.zeros((len(parts), len(opened.labels)), dtype=np.float64)
        for start in range(0, len(order), size):
            batch = order[start : start + size]
            encoded = tokenizer(
                [parts[index] for index in batch],
                padding=size > 1,
                truncation=False,
                verbose=False,
                return_tensors="pt",
            )
            with torch.inference_mode():
                logits[batch] = opened.model(**encoded.to(opened.model.device)).logits.float().cpu().numpy()
        if not np.isfinite(logits).all():
            raise EvaluationError(
                f"the model {self.name} gave no number for a text; try {self._table}.dtype = 'float32'"
            )
        return logits

    @functools.cached_property
    def opened(self) -> Opened:
        """The model, loaded on first use."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                share_threads(self._workers)
                with no_progress_bar():
                    return self._open(self._weights, self._settings)
        except Exception as exc:
            fact = " ".join(str(exc).split())[:300]
            raise EvaluationError(
                f"the model {self.name} ({self._weights.folder}) cannot be loaded: {type(exc).__name__}:"
                f" {fact}"
            ) from exc

    @functools.cached_property
    def head(self) -> Floats | None:
        """Weights of the layer that gives the logits, a row per label; None without one linear layer."""
        import numpy as np
        import torch

        model = self.opened.model
        body = set() if model.base_model is model else set(model.base_model.modules())
        layers = [
            layer
            for layer in model.modules()
            if isinstance(layer, torch.nn.Linear)
            and layer.out_features == len(self.opened.labels)
            and layer not in body
        ]
        return (
            np.asarray(layers[0].weight.detach().float().cpu().numpy(), dtype=np.float64)
            if len(layers) == 1
            else None
        )


def softmax(logits: Floats) -> Floats:
    """Return probabilities of mutually exclusive classes, row by row.

    >>> import numpy as np
    >>> softmax(np.array([[0.0, 0.0]])).tolist()
    [[0.5, 0.5]]
    """
    import numpy as np

    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def sigmoid(logits: Floats) -> Floats:
    """Return probabilities of labels that are independent of each other.

    >>> import numpy as np
    >>> sigmoid(np.array([[0.0, -1000.0]])).tolist()
    [[0.5, 0.0]]
    """
    import numpy as np

    # Unlike 1 / (1 + exp(-x)), this does not overflow for large negative logits.
    return np.asarray(np.exp(-np.logaddexp(0.0, -logits)))


def _positions(model: Any) -> int | None:
    """Return the number of the model's positions; RoBERTa models use the first ones for padding."""
    count = getattr(model.config, "max_position_embeddings", None) or getattr(
        model.config, "n_positions", None
    )
    if not isinstance(count, int) or count < 1:
        return None
    embeddings = getattr(model.base_model, "embeddings", None)
    padding = getattr(getattr(embeddings, "position_embeddings", None), "padding_idx", None)
    return count if padding is None else count - padding - 1


def _chars(part: Part) -> int:
    return len(part) if isinstance(part, str) else len(part[0]) + len(part[1])


def plain(text: str) -> str:
    """Return a text that a tokenizer accepts; half of a surrogate pair is replaced."""
    return _SURROGATE.sub("\ufffd", text)
