"""Sets that are kept apart, against comparing all with all."""

from __future__ import annotations

import random

import pytest

from pytest_evalstudio.contrib.validation.methods.texts.distinct import DistinctSets
from pytest_evalstudio.contrib.validation.methods.texts.words import jaccard


@pytest.mark.parametrize("most", [0.0, 0.3, 0.5, 2 / 3, 0.7, 0.9, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_it_keeps_what_comparing_all_with_all_keeps(most: float, seed: int) -> None:
    rng = random.Random(seed)
    sets = [
        frozenset(rng.choices("abcdefghijkl", weights=range(1, 13), k=rng.randint(0, 8))) for _ in range(150)
    ]
    survivors: list[frozenset[str]] = []
    expected = []
    for words in sets:
        expected.append(all(jaccard(words, other) <= most for other in survivors))
        survivors += [words] if expected[-1] else []
    distinct = DistinctSets(most, sets)
    assert [distinct.keep(words) for words in sets] == expected
