"""Comparisons of generated scores, shaped like human-labelled data sets, against scipy and statsmodels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from pytest_evalstudio.analysis.comparison.compare import compare
from pytest_evalstudio.analysis.comparison.sides import Side, read_side
from support.records import RecordBuilder, evaluator, score
from support.reference_comparison import reference

METRICS = ("factual", "overlap", "support")
Scores = dict[str, list[float]]


def generated(seed: int, items: int, drop: float) -> tuple[Scores, Scores]:
    """Return the scores of two models on the same items.

    A yes/no label by people, an overlap with a reference, and a share of supported sentences with many ties.
    """
    rng = np.random.default_rng(seed)
    ease = rng.normal(0.0, 1.0, items)

    def model(shift: float) -> Scores:
        latent = ease + rng.normal(0.0, 0.7, items) + 0.6 - shift
        return {
            "factual": (latent > 0).astype(float).tolist(),
            "overlap": np.clip(rng.beta(4, 6, items) + 0.1 * ease - 0.1 * shift, 0, 1).round(4).tolist(),
            "support": (np.clip(np.round(4 * (0.7 + 0.15 * latent)), 0, 4) / 4).tolist(),
        }

    return model(0.0), model(drop)


def side(scores: Scores) -> Side:
    builder = RecordBuilder(*(evaluator(name) for name in METRICS))
    for number, values in enumerate(zip(*(scores[name] for name in METRICS), strict=True)):
        outcomes = {name: score(value) for name, value in zip(METRICS, values, strict=True)}
        builder.add(f"k{number}", "one", {"outcomes": outcomes})
    return read_side(builder.run, builder.typed_items)


@pytest.mark.parametrize(
    ("items", "drop", "verdicts"),
    [
        pytest.param(12, 0.0, None, id="twelve summaries, no drop"),
        pytest.param(13, 2.5, None, id="thirteen summaries, a large drop"),
        pytest.param(60, 0.0, None, id="sixty dialogues, no drop"),
        pytest.param(240, 0.6, ("worse",), id="two hundred and forty dialogues, a drop"),
        pytest.param(240, -0.6, ("not worse",), id="two hundred and forty dialogues, a gain"),
    ],
)
def test_verdicts_p_values_and_intervals_are_those_of_the_reference(
    items: int, drop: float, verdicts: Sequence[str] | None
) -> None:
    base, new = generated(items, items, drop)
    expected = reference({name: (base[name], new[name]) for name in METRICS})
    compared = {metric.evaluator: metric for metric in compare(side(base), side(new)).metrics}

    are_exact = all(target.is_exact for target in expected.values())
    for name, metric in compared.items():
        expectation = expected[name]
        width = expectation.interval[1] - expectation.interval[0]
        assert metric.n == items
        assert metric.difference == pytest.approx(expectation.difference)
        assert metric.p == pytest.approx(expectation.p, abs=1e-9 if expectation.is_exact else 0.03)
        assert metric.p_adjusted == pytest.approx(expectation.p_adjusted, abs=1e-9 if are_exact else 0.09)
        assert (metric.low, metric.high) == pytest.approx(expectation.interval, abs=0.03 * width)
        assert metric.verdict == expectation.verdict
    assert set(compared) == set(METRICS)
    if verdicts is not None:
        assert compared["factual"].verdict in verdicts
