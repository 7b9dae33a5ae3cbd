"""Politeness of an answer, by its words."""

from dataclasses import dataclass

from pytest_evalstudio import Metric, Outcome, evaluator


@evaluator("politeness", name="Politeness", domain="generation", needs=("actual_output",))
@dataclass(frozen=True)
class Politeness:
    """Whether the answer has none of the rude words."""

    metrics = (Metric("polite", threshold=1.0, primary=True),)
    rude_words: tuple[str, ...] = ("obviously", "stupid")

    def score(self, cases, tools):
        return [self.outcome(case.actual_output) for case in cases]

    def outcome(self, text):
        words = text.lower().split()
        return Outcome.score({"polite": 0.0 if any(word in words for word in self.rude_words) else 1.0})
