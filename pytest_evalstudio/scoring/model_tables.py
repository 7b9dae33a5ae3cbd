"""Models that evaluators may require, and the configuration's table of each."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.formats.weights_tables import WeightsTable

EMBEDDER = "embedder"
WORD_ALIGNER = "word_aligner"
MODEL_TABLES = {
    EMBEDDER: "embeddings",
    WORD_ALIGNER: "embeddings",
    "cross_encoder": "cross_encoder",
    "nli": "nli",
    "hallucination_model": "hallucination_model",
    "toxicity_model": "toxicity_model",
    "bias_model": "bias_model",
    "sentiment_model": "sentiment_model",
}
"""Requirements of evaluators, with the configuration's table of each."""


def chosen_models(config: Configuration, names: Sequence[str]) -> tuple[str, ...]:
    """Return the models whose table in the configuration names one."""
    tables: dict[str, WeightsTable] = {name: getattr(config, MODEL_TABLES[name]) for name in names}
    return tuple(name for name, table in tables.items() if table.is_chosen)
