"""SummaC, from its paper: zero-shot and convolution over the entailment of every summary sentence by every
document sentence.
"""

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
"""Edges of the bins of the published weights: percentiles of entailment in a large number of summaries."""

_SHAPE = (
    "expected mlp.weight (1 row, a number per bin), mlp.bias (1 number), layer_final.weight (2 rows of 3"
    " numbers), layer_final.bias (2 numbers)"
)


@dataclass(frozen=True, slots=True)
class ConvWeights:
    """The trained part of SummaC Conv.

    Attributes:
        edges: of the bins, rising from 0 to 1.
        kernel, bias: of the layer over a histogram; a number per bin, and one.
        slopes, shifts: of the last layer, per class (inconsistent, consistent), its three equal inputs taken
            together.
    """

    edges: tuple[float, ...]
    kernel: tuple[float, ...]
    bias: float
    slopes: tuple[float, float]
    shifts: tuple[float, float]


def summac_zs(entailment: Sequence[Sequence[float]]) -> float:
    """Mean over the summary's sentences of the best entailment by a sentence of the document.

    Args:
        entailment: per sentence of the summary the probabilities of entailment by each sentence of the
            document; at least one of each.

    Returns:
        A fraction, 0.0 to 1.0; higher is better.

    Raises:
        ValueError: if there is nothing.

    Source: Laban et al., 2022 (SummaC), section 4.1: SummaC ZS on sentences with the entailment scores.

    >>> summac_zs([[0.1, 0.9], [0.4, 0.3]])
    0.65
    """
    if not entailment:
        raise ValueError("there are no sentences of a summary")
    return round(math.fsum(max(row) for row in entailment) / len(entailment), 9)


def summac_conv(entailment: Sequence[Sequence[float]], weights: ConvWeights) -> float:
    """Probability that a summary is consistent: a trained layer over the histogram of each sentence's
    entailments, their mean, a last layer.

    Args:
        entailment: per sentence of the summary the probabilities of entailment by each sentence of the
            document; at least one of each.

    Returns:
        0.0 to 1.0; higher is better.

    Raises:
        ValueError: if there is nothing.

    Source: Laban et al., 2022 (SummaC), section 4.2, with the mean of the sentences' scores as in the
        published code, over all sentences.

    >>> even = ConvWeights((0.0, 0.5, 1.0), (0.0, 1.0), 0.0, (0.0, 1.0), (0.0, -2.0))
    >>> summac_conv([[0.2, 0.9, 1.0]], even)  # a mean of two counts in the upper half, less two
    0.5
    """
    if not entailment:
        raise ValueError("there are no sentences of a summary")
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
    """How many values lie in each bin, the lower edge within it; in the last one the upper edge too.

    >>> histogram([0.0, 0.5, 0.7, 1.0], [0.0, 0.5, 1.0])
    [1, 3]
    """
    counts = [0] * (len(edges) - 1)
    for value in values:
        counts[min(bisect_right(edges, value) - 1, len(counts) - 1)] += 1
    return counts


def read_conv_weights(path: Path) -> ConvWeights:
    """Trained weights: the published file (*.bin, as torch saves), or the same names and numbers as JSON,
    `bins` with edges of one's own.

    Raises:
        ConfigurationError: if the file cannot be read, or is not of that form.
    """
    try:
        return conv_weights(
            _torch_file(path) if path.suffix != ".json" else json.loads(path.read_text(encoding="utf-8"))
        )
    except (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError) as exc:
        raise ConfigurationError(
            f"conv_weights: {path} holds no weights of SummaC Conv: {type(exc).__name__}: {exc}; {_SHAPE}"
        ) from None


def conv_weights(state: Mapping[str, Any]) -> ConvWeights:
    """Weights by the names of the published model.

    Raises:
        ValueError, KeyError, IndexError, TypeError: if they are not of its form.
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
    one, other = (float(value) for value in state["layer_final.bias"])
    found = ConvWeights(
        edges, kernel, float(state["mlp.bias"][0]), (math.fsum(first), math.fsum(second)), (one, other)
    )
    if not all(map(math.isfinite, (*kernel, found.bias, *found.slopes, *found.shifts))):
        raise ValueError("not all of them are numbers")
    return found


def _torch_file(path: Path) -> dict[str, Any]:
    import pickle

    import torch

    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError) as exc:
        raise ValueError(" ".join(str(exc).split())[:200]) from None
    return {name: value.tolist() for name, value in state.items()}
