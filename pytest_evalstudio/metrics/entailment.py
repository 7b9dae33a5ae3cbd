"""Entailment scores: SummaC and NLI groundedness."""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_evalstudio.core.errors import ConfigurationError

PERCENTILES = (
    0.0, 0.01, 0.02, 0.03, 0.04, 0.07, 0.13, 0.37, 0.90, 0.91, 0.92, 0.93,
    0.94, 0.95, 0.955, 0.96, 0.965, 0.97, 0.975, 0.98, 0.985, 0.99, 0.995, 1.0,
)  # fmt: skip
"""Bin edges of the published weights: percentiles of entailment in a large number of summaries."""

_SHAPE = (
    "expected mlp.weight (1 row, a number per bin), mlp.bias (1 number), layer_final.weight (2 rows of 3"
    " numbers), layer_final.bias (2 numbers)"
)
CONV_FILE = "https://github.com/tingofurro/summac/raw/master/summac_conv_vitc_sent_perc_e.bin"
"""Published weights of SummaC Conv, trained with tals/albert-xlarge-vitaminc-mnli."""


@dataclass(frozen=True, slots=True)
class ConvWeights:
    """Trained weights of SummaC Conv.

    Attributes:
        edges: bin edges, rising from 0 to 1.
        kernel: weight of each bin in the layer over a histogram.
        bias: bias of that layer.
        slopes: weights of the last layer per class (inconsistent, consistent), its three equal inputs summed.
        shifts: biases of the last layer per class.
    """

    edges: tuple[float, ...]
    kernel: tuple[float, ...]
    bias: float
    slopes: tuple[float, float]
    shifts: tuple[float, float]


def summac_zs(entailment: Sequence[Sequence[float]]) -> float:
    """Return the mean over the summary's sentences of the best entailment by a sentence of the document.

    Args:
        entailment: for each sentence of the summary, the probabilities of entailment by each sentence of the
            document; at least one of each.

    Returns:
        Fraction from 0.0 to 1.0; higher is better.

    Raises:
        ValueError: if the summary has no sentences.

    Source: Laban et al., 2022 (SummaC), section 4.1: SummaC ZS on sentences with the entailment scores.

    >>> summac_zs([[0.1, 0.9], [0.4, 0.3]])
    0.65
    """
    if not entailment:
        raise ValueError("the summary has no sentences")
    return round(math.fsum(max(row) for row in entailment) / len(entailment), 9)


def summac_conv(entailment: Sequence[Sequence[float]], weights: ConvWeights) -> float:
    """Return the probability that a summary is consistent.

    A trained layer scores the histogram of each sentence's entailments; a last layer classifies the mean.

    Args:
        entailment: for each sentence of the summary, the probabilities of entailment by each sentence of the
            document; at least one of each.
        weights: trained weights.

    Returns:
        Probability from 0.0 to 1.0; higher is better.

    Raises:
        ValueError: if the summary has no sentences.

    Source: Laban et al., 2022 (SummaC), section 4.2, with the mean of the sentences' scores as in the
        published code, over all sentences.

    >>> even = ConvWeights((0.0, 0.5, 1.0), (0.0, 1.0), 0.0, (0.0, 1.0), (0.0, -2.0))
    >>> summac_conv([[0.2, 0.9, 1.0]], even)  # a mean of two counts in the upper half, less two
    0.5
    """
    if not entailment:
        raise ValueError("the summary has no sentences")
    scores = [
        math.fsum(
            weight * count
            for weight, count in zip(weights.kernel, histogram(row, weights.edges), strict=True)
        )
        + weights.bias
        for row in entailment
    ]
    mean = math.fsum(scores) / len(scores)
    inconsistent, consistent = (
        slope * mean + shift for slope, shift in zip(weights.slopes, weights.shifts, strict=True)
    )
    power = math.exp(-abs(consistent - inconsistent))
    return round((1.0 if consistent >= inconsistent else power) / (1.0 + power), 6)


def histogram(values: Sequence[float], edges: Sequence[float]) -> list[int]:
    """Count the values in each bin; a bin includes its lower edge, the last bin its upper edge as well.

    Args:
        values: numbers from the first to the last edge.
        edges: rising bin edges.

    Returns:
        Count per bin.

    >>> histogram([0.0, 0.5, 0.7, 1.0], [0.0, 0.5, 1.0])
    [1, 3]
    """
    counts = [0] * (len(edges) - 1)
    for value in values:
        counts[min(bisect_right(edges, value) - 1, len(counts) - 1)] += 1
    return counts


def read_conv_weights(path: Path) -> ConvWeights:
    """Read trained weights of SummaC Conv.

    Args:
        path: the published file (*.bin, saved by torch), or a JSON file with the same names and numbers and,
            optionally, bin edges as `bins`.

    Returns:
        The weights.

    Raises:
        ConfigurationError: if the file cannot be read or has another form.
    """
    try:
        return conv_weights(
            _torch_file(path) if path.suffix != ".json" else json.loads(path.read_text(encoding="utf-8"))
        )
    except (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError) as exc:
        raise ConfigurationError(
            f"conv_weights: {path} has no weights of SummaC Conv: {type(exc).__name__}: {exc}; {_SHAPE}."
            f" Download the published file once from {CONV_FILE}"
        ) from None


def conv_weights(state: Mapping[str, Any]) -> ConvWeights:
    """Build weights from the parameters of the published model by name.

    Args:
        state: names of parameters to nested lists of numbers.

    Returns:
        The weights.

    Raises:
        ValueError, KeyError, IndexError, TypeError: if names or shapes differ from the published model.
    """
    edges = tuple(float(edge) for edge in state.get("bins", PERCENTILES))
    kernel = tuple(float(value) for value in state["mlp.weight"][0])
    if (
        len(kernel) != len(edges) - 1
        or list(edges) != sorted(set(edges))
        or (edges[0], edges[-1]) != (0.0, 1.0)
    ):
        raise ValueError(
            f"{len(kernel)} numbers for {len(edges) - 1} bins between edges that must rise from 0 to 1"
        )
    first, second = ([float(value) for value in row] for row in state["layer_final.weight"])
    inconsistent, consistent = (float(value) for value in state["layer_final.bias"])
    weights = ConvWeights(
        edges=edges,
        kernel=kernel,
        bias=float(state["mlp.bias"][0]),
        slopes=(math.fsum(first), math.fsum(second)),
        shifts=(inconsistent, consistent),
    )
    if not all(map(math.isfinite, (*kernel, weights.bias, *weights.slopes, *weights.shifts))):
        raise ValueError("not all of them are numbers")
    return weights


def _torch_file(path: Path) -> dict[str, Any]:
    import pickle

    import torch

    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError) as exc:
        raise ValueError(" ".join(str(exc).split())[:200]) from None
    return {name: value.tolist() for name, value in state.items()}


def nli_groundedness(distance: float) -> float:
    """Return the logistic function of the signed distance to the boundary of entailment.

    Args:
        distance: D = (w·x + b) / |w|, positive on the side of entailment.

    Returns:
        0.0 to 1.0, above 0.5 for an entailed sentence; higher is better.

    Source: Sudjianto et al., 2024 (HCAT), section 3.2.2.

    >>> nli_groundedness(0.0), nli_groundedness(2.0)
    (0.5, 0.880797)
    """
    power = math.exp(-abs(distance))
    return round((1.0 if distance >= 0 else power) / (1.0 + power), 6)
