"""Opens what evaluators require, once per process, and lends it to them."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pytest_evalstudio.core.contracts import CrossEncoder, Embedder, Tools
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.formats.config import Configuration, WeightsTable
from pytest_evalstudio.models.sentences import split_sentences
from pytest_evalstudio.models.vectors import VectorCache
from pytest_evalstudio.models.weights import Unfetched, Weights, find_weights

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from pytest_evalstudio.engine.plan import Selected

EMBEDDER = "embedder"
CROSS_ENCODER = "cross_encoder"
MODULE = "module:"
_MODELS = {EMBEDDER: "embeddings", CROSS_ENCODER: "cross_encoder"}
"""What an evaluator may require to the configuration's table for it."""


class Lender:
    """What the evaluators of a process are lent.

    Args:
        cache: folder of the embedding cache; None to keep vectors in memory only.
        workers: processes that share the machine.
    """

    def __init__(self, *, cache: Path | None = None, workers: int = 1) -> None:
        self._workers = workers
        self._cached = VectorCache(cache)
        self._uncached = VectorCache(None)
        self._weights: dict[tuple[Any, ...], Weights] = {}
        self._models: dict[tuple[Any, ...], Any] = {}

    def tools(self, config: Configuration) -> Tools:
        """The tools under a configuration; a model among them is opened when it is first used."""
        return Tools(
            max_text_chars=config.max_text_chars,
            split_sentences=split_sentences,
            embedder=_LentEmbedder(config.embeddings.model, functools.partial(self._embedder, config)),
            cross_encoder=_LentCrossEncoder(config.cross_encoder.model, functools.partial(self._cross_encoder, config)),
        )

    def open(self, config: Configuration, selected: Iterable[Selected]) -> None:
        """Find all that these evaluators require, before the run; a hub's model is fetched.

        Raises:
            ConfigurationError: naming the evaluators, what they lack, and how to get it.
        """
        lacking: dict[str, list[str]] = {}
        for one in selected:
            for requirement in one.requires:
                if reason := self._reason(config, one, requirement, fetch=True):
                    lacking.setdefault(reason, []).append(one.id)
        if lacking:
            raise ConfigurationError("\n".join(f"evaluator {', '.join(dict.fromkeys(ids))}: {reason}" for reason, ids in lacking.items()))

    def lacks(self, config: Configuration, selected: Selected) -> str:
        """Why an evaluator cannot be had here, "" if it can; asks no network: a model that somebody named may yet be fetched."""
        reasons = (self._reason(config, selected, requirement, fetch=False) for requirement in selected.requires)
        return next(filter(None, reasons), "")

    def warnings(self) -> list[str]:
        """What went wrong without stopping the run."""
        return self._cached.warnings

    def close(self) -> None:
        self._cached.close()

    def _reason(self, config: Configuration, selected: Selected, requirement: str, *, fetch: bool) -> str:
        if requirement.startswith(MODULE):
            name = requirement.removeprefix(MODULE)
            if importlib.util.find_spec(name) is not None:
                return ""
            remedy = f'`pip install "pytest-evalstudio[{selected.spec.extra}]"`' if selected.spec.extra else f"install {name}"
            return f"there is no module {name!r}: {remedy}"
        if requirement not in _MODELS:
            return f"requires {requirement!r}, which nobody can lend; known: {', '.join(_MODELS)}, {MODULE}NAME"
        try:
            self._found(config, requirement, fetch=fetch)
        except ConfigurationError as exc:
            return str(exc)
        return ""

    def _found(self, config: Configuration, requirement: str, *, fetch: bool) -> Weights | None:
        """Where a model is; None where the hub would have to be asked and must not be."""
        table = _MODELS[requirement]
        settings: WeightsTable = getattr(config, table)
        identity = (table, settings.model, settings.revision, str(config.folder))
        if identity not in self._weights:
            try:
                self._weights[identity] = find_weights(
                    settings.model,
                    revision=settings.revision,
                    table=table,
                    start=Path(config.folder),
                    fetch=fetch and settings.is_chosen,
                    digest=self._vectors(config).digest,
                )
            except Unfetched:
                if fetch or not settings.is_chosen:
                    raise
                return None
        return self._weights[identity]

    def _vectors(self, config: Configuration) -> VectorCache:
        return self._cached if config.embeddings.cache else self._uncached

    def _embedder(self, config: Configuration) -> Embedder:
        from pytest_evalstudio.models.embedder import SentenceEmbedder

        vectors = self._vectors(config)
        return cast(
            Embedder,
            self._opened(config, EMBEDDER, lambda weights: SentenceEmbedder(weights, config.embeddings, vectors, workers=self._workers)),
        )

    def _cross_encoder(self, config: Configuration) -> CrossEncoder:
        from pytest_evalstudio.models.cross_encoder import PairScorer

        return cast(
            CrossEncoder, self._opened(config, CROSS_ENCODER, lambda weights: PairScorer(weights, config.cross_encoder, workers=self._workers))
        )

    def _opened(self, config: Configuration, requirement: str, make: Callable[[Weights], Any]) -> Any:
        settings: WeightsTable = getattr(config, _MODELS[requirement])
        weights = self._found(config, requirement, fetch=True)
        assert weights is not None
        identity = (requirement, weights.identity, settings.model_dump_json())
        if identity not in self._models:
            self._models[identity] = make(weights)
        return self._models[identity]


def left_out(reasons: Mapping[str, str]) -> str:
    """What to say of the evaluators that "all" leaves out.

    >>> left_out({"groundedness": "no embedder", "answer_accuracy": "no embedder"})
    "evaluators = 'all' leaves out groundedness, answer_accuracy: no embedder"
    """
    by_reason: dict[str, list[str]] = {}
    for id, reason in reasons.items():
        by_reason.setdefault(reason, []).append(id)
    return "evaluators = 'all' leaves out " + "; ".join(f"{', '.join(ids)}: {reason}" for reason, ids in by_reason.items())


class _LentEmbedder:
    """An embedder that is opened when the first texts come."""

    def __init__(self, name: str, open: Callable[[], Embedder]) -> None:
        self.name = name
        self._open = open

    def encode(self, texts: Sequence[str]) -> NDArray[float32]:
        return self._open().encode(texts)


class _LentCrossEncoder:
    """A cross-encoder that is opened when the first pairs come."""

    def __init__(self, name: str, open: Callable[[], CrossEncoder]) -> None:
        self.name = name
        self._open = open

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        return self._open().score(pairs)
