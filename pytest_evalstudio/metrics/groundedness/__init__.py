"""Groundedness of an answer from explainable signals, combined by published weights."""

from __future__ import annotations

from pytest_evalstudio.metrics.groundedness.context import ContextIndex, index_context
from pytest_evalstudio.metrics.groundedness.signals import (
    EMBEDDING_SIGNALS,
    ENTAILMENT,
    LEXICAL_SIGNALS,
    SENTENCE_SIMILARITY,
    Signal,
    aggregate_signals,
    alignment_signals,
    describe_signal,
    entailment_signal,
    lexical_signals,
)
from pytest_evalstudio.metrics.groundedness.weights import FittedModels, LinearModel, load_models, probability

__all__ = [
    "EMBEDDING_SIGNALS",
    "ENTAILMENT",
    "LEXICAL_SIGNALS",
    "SENTENCE_SIMILARITY",
    "ContextIndex",
    "FittedModels",
    "LinearModel",
    "Signal",
    "aggregate_signals",
    "alignment_signals",
    "describe_signal",
    "entailment_signal",
    "index_context",
    "lexical_signals",
    "load_models",
    "probability",
]
