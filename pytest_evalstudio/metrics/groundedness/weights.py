"""Published weights of the signals of groundedness."""

from __future__ import annotations

import functools
import importlib.resources
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_evalstudio.metrics.groundedness.signals import ENTAILMENT

FILE_NAME = "weights.json"
_ENTAILMENT_KEYS = (f"{ENTAILMENT}.mean", f"{ENTAILMENT}.min")


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearModel:
    """Logistic regression on aggregated signals.

    Attributes:
        intercept: log-odds of an answer whose signals are all zero.
        weights: aggregated signal to log-odds per unit; none is negative.
    """

    intercept: float
    weights: Mapping[str, float]

    def log_odds(self, signals: Mapping[str, float]) -> float:
        """Return the log-odds that a text is grounded.

        Args:
            signals: value of each aggregated signal that has a weight; others are ignored.

        Raises:
            KeyError: if a signal is missing.
        """
        return self.intercept + math.fsum(weight * signals[key] for key, weight in self.weights.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedModels:
    """Published models.

    Attributes:
        lexical: model on the signals that need no embedder.
        embedding: model on all signals of words and embeddings.
        entailment: log-odds per unit of the entailment signal; not fitted.
        best: value of each signal for a text that the context supports word by word.
    """

    lexical: LinearModel
    embedding: LinearModel
    entailment: float
    best: Mapping[str, float]

    def log_odds(self, signals: Mapping[str, float], has_embeddings: bool) -> float:
        """Return the log-odds that a text is grounded, with its entailment if that is among the signals."""
        model = self.embedding if has_embeddings else self.lexical
        return model.log_odds(signals) + math.fsum(
            self.entailment * signals[key] / len(_ENTAILMENT_KEYS)
            for key in _ENTAILMENT_KEYS
            if key in signals
        )

    def costs(self, signals: Mapping[str, float], has_embeddings: bool) -> dict[str, float]:
        """Return the log-odds that each signal costs, compared with a text that the context has word by word.

        The mean and the minimum of a signal count together.

        Args:
            signals: value of each aggregated signal.
            has_embeddings: use the model with embeddings.

        Returns:
            Signal to log-odds, 0.0 or less.
        """
        model = self.embedding if has_embeddings else self.lexical
        costs: dict[str, float] = {}
        for key, weight in model.weights.items():
            name = key.rpartition(".")[0]
            costs[name] = costs.get(name, 0.0) + min(0.0, weight * (signals[key] - self.best[name]))
        if _ENTAILMENT_KEYS[0] in signals:
            costs[ENTAILMENT] = min(0.0, self.entailment * signals[_ENTAILMENT_KEYS[0]])
        return costs


def probability(log_odds: float) -> float:
    """Return the logistic function.

    >>> probability(0.0), probability(-1000.0)
    (0.5, 0.0)
    """
    power = math.exp(-abs(log_odds))
    return 1.0 / (1.0 + power) if log_odds >= 0 else power / (1.0 + power)


@functools.lru_cache(maxsize=1)
def load_models() -> FittedModels:
    """Read the published weights."""
    file = importlib.resources.files("pytest_evalstudio.metrics.groundedness") / FILE_NAME
    content = json.loads(file.read_text(encoding="utf-8"))
    return FittedModels(
        lexical=LinearModel(**content["lexical"]),
        embedding=LinearModel(**content["embedding"]),
        entailment=float(content["entailment"]["weight"]),
        best=content["best"],
    )
