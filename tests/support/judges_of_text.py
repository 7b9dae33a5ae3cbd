"""Models without weights: what they say of texts is counted in words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pytest_evalstudio.core.tools import Entailment


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def share(premise: str, hypothesis: str) -> float:
    """Share of the hypothesis's words that the premise has."""
    claim_words = words(hypothesis)
    return len(claim_words & words(premise)) / len(claim_words) if claim_words else 0.0


class WordNli:
    """Entailment is the share of words that the premise has; the rest is neutral.

    Args:
        fixed: (premise, hypothesis) to what the test chooses.
    """

    name = "words"

    def __init__(self, fixed: Mapping[tuple[str, str], Entailment] | None = None) -> None:
        self._fixed = dict(fixed or {})
        self.calls: list[list[tuple[str, str]]] = []

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        self.calls.append(list(pairs))
        return [self._fixed.get(pair) or self._judged(share(*pair)) for pair in pairs]

    def _judged(self, value: float) -> Entailment:
        return Entailment(
            entailment=value,
            neutral=1 - value,
            contradiction=0.0,
            distance=4 * value - 2,
            margin=2 * value - 1,
        )


class WordSupport:
    """Support is the share of words that the premise has."""

    name = "words"

    def __init__(self) -> None:
        self.calls: list[list[tuple[str, str]]] = []

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        self.calls.append(list(pairs))
        return [share(*pair) for pair in pairs]


class WordLabels:
    """A label's probability is 0.9 where one of its words is in the text, else 0.01.

    Args:
        labels: label to words.
    """

    name = "words"

    def __init__(self, labels: Mapping[str, set[str]]) -> None:
        self._labels = labels
        self.calls: list[list[str]] = []

    def classify(self, texts: Sequence[str]) -> list[Mapping[str, float]]:
        self.calls.append(list(texts))
        return [
            {label: 0.9 if words(text) & vocabulary else 0.01 for label, vocabulary in self._labels.items()}
            for text in texts
        ]


TOXIC = {
    "toxicity": {"idiot", "kill"},
    "severe_toxicity": set(),
    "obscene": set(),
    "threat": {"kill"},
    "insult": {"idiot"},
    "identity_attack": set(),
}
BIASED = {"Non-biased": {"fact"}, "Biased": {"lazy"}}
