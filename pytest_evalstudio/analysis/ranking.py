"""Ranking of models by paired tests on the questions that both were asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

LEVEL = 0.05
_ABSENT, _FAILED, _PASSED = 0, 1, 2
_OUTCOMES: Mapping[str, int] = {
    "passed": _PASSED,
    "xpassed": _PASSED,
    "failed": _FAILED,
    "xfailed": _FAILED,
    # A question without an answer, or one that could not be judged, did not pass.
    "error": _FAILED,
}


class PairedModels(Struct, frozen=True, kw_only=True):
    """Two models on the questions that both were asked.

    Attributes:
        first, second: keys; the first passes at least as many of these questions.
        questions: number of these questions.
        first_alone, second_alone: questions that one model passes and the other does not.
        p: two-sided, of the sign-flip test over original questions; McNemar's exact test without
            perturbations.
        p_adjusted: by Holm over all pairs of the run.
    """

    first: str
    second: str
    questions: int
    first_alone: int
    second_alone: int
    p: float
    p_adjusted: float

    @property
    def is_proven(self) -> bool:
        """Return whether the first model is better by more than chance."""
        return self.p_adjusted <= LEVEL


class OutcomeBook:
    """Keeps whether each model passes each question: a byte per question and model."""

    def __init__(self) -> None:
        self._outcomes: dict[str, bytearray] = {}

    def add(self, case: int, model: str, verdict: str) -> None:
        """Take one item.

        Args:
            case: number of its question.
        """
        outcome = _OUTCOMES.get(verdict, _ABSENT)
        if outcome == _ABSENT:
            return
        of_model = self._outcomes.setdefault(model, bytearray())
        if len(of_model) <= case:
            of_model.extend(bytes(case + 1 - len(of_model)))
        # A test in Python may check one question several times: all of them must pass.
        of_model[case] = outcome if of_model[case] == _ABSENT else min(outcome, of_model[case])

    def pairs(self, originals: Sequence[int]) -> tuple[PairedModels, ...]:
        """Return all pairs of models that were asked a common question.

        Args:
            originals: for each question the number of its original; perturbations of one question are not
                independent of each other.
        """
        models, clusters = sorted(self._outcomes), np.asarray(originals, dtype=np.int64)
        if len(models) < 2:
            return ()
        from pytest_evalstudio.stats.comparison import holm

        table = np.zeros((len(models), len(originals)), dtype=np.int8)
        for row, model in zip(table, models, strict=True):
            outcomes = np.frombuffer(self._outcomes[model], dtype=np.int8)
            row[: len(outcomes)] = outcomes
        pairs = []
        for (one, row), (other, other_row) in combinations(zip(models, table, strict=True), 2):
            common = (row != _ABSENT) & (other_row != _ABSENT)
            if common.any():
                gains = (row == _PASSED).astype(np.int8) - (other_row == _PASSED)
                pairs.append(_pair(one, other, gains[common], clusters[common]))
        adjusted = holm([pair.p for pair in pairs])
        return tuple(replace(pair, p_adjusted=p) for pair, p in zip(pairs, adjusted, strict=True))


def _pair(one: str, other: str, gains: np.ndarray, clusters: np.ndarray) -> PairedModels:
    alone, other_alone = int((gains > 0).sum()), int((gains < 0).sum())
    sums = np.bincount(clusters, weights=gains)
    first, second = (one, other) if alone >= other_alone else (other, one)
    from pytest_evalstudio.stats.sign_flip import sign_flip  # most runs have one model

    p = sign_flip(sums[sums != 0])
    return PairedModels(
        first=first,
        second=second,
        questions=len(gains),
        first_alone=max(alone, other_alone),
        second_alone=min(alone, other_alone),
        p=p,
        p_adjusted=p,
    )


def ranks_of(models: Sequence[str], pairs: Sequence[PairedModels]) -> dict[str, int | None]:
    """Return the rank of each model: 1 and the number of models that are proven to be better.

    None for a model that shares no question with another.
    """
    compared = {key for pair in pairs for key in (pair.first, pair.second)}
    return {
        model: 1 + sum(pair.is_proven and pair.second == model for pair in pairs)
        if model in compared
        else None
        for model in models
    }
