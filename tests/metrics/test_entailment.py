"""SummaC and NLI groundedness against their formulas."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.metrics.entailment import (
    PERCENTILES,
    conv_weights,
    histogram,
    nli_groundedness,
    read_conv_weights,
    summac_conv,
)


def sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def test_the_logistic_function_does_not_overflow() -> None:
    assert (nli_groundedness(-5000.0), nli_groundedness(5000.0)) == (0.0, 1.0)
    assert nli_groundedness(-1.5) == pytest.approx(sigmoid(-1.5), abs=1e-6)


def state(seed: int = 0) -> dict[str, Any]:
    """Weights of SummaC Conv by the names of the published model, random."""
    random = np.random.default_rng(seed)
    return {
        "mlp.weight": random.normal(size=(1, len(PERCENTILES) - 1)).tolist(),
        "mlp.bias": random.normal(size=1).tolist(),
        "layer_final.weight": random.normal(size=(2, 3)).tolist(),
        "layer_final.bias": random.normal(size=2).tolist(),
    }


@pytest.mark.parametrize("seed", range(5))
def test_summac_conv_is_the_papers_layers(seed: int) -> None:
    """Against numpy's histogram and matrices."""
    weights = {name: np.array(value) for name, value in state(seed).items()}
    image = np.random.default_rng(seed).random((3, 20)).round(2)
    features = []
    for row in image:
        counts = np.histogram(row, bins=PERCENTILES)[0]
        assert histogram(row.tolist(), PERCENTILES) == counts.tolist()
        features.append(weights["mlp.weight"] @ counts + weights["mlp.bias"])
    logits = weights["layer_final.weight"] @ np.repeat(np.mean(features), 3) + weights["layer_final.bias"]
    expected = np.exp(logits[1] - logits.max()) / np.exp(logits - logits.max()).sum()
    assert summac_conv(image.tolist(), conv_weights(state(seed))) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"mlp.weight": [[1]]}',
        json.dumps({**state(), "mlp.weight": [[1, 2]]}),
        json.dumps({**state(), "mlp.bias": [math.nan]}),
    ],
)
def test_files_without_conv_weights_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "conv.json").write_text(text)
    with pytest.raises(ConfigurationError, match=r"conv\.json has no weights of SummaC Conv"):
        read_conv_weights(tmp_path / "conv.json")
