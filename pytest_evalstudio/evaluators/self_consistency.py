"""Self-consistency: does a model say the same when asked the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

from pytest_evalstudio.core.cases import Case, Turn
from pytest_evalstudio.core.contracts import Tools, evaluator
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.evaluators._common import is_empty, keywords, worst
from pytest_evalstudio.evaluators._rouge import Stems, rouge_l, rouge_n

_FULL = 0.9995


@evaluator(
    "self_consistency",
    name="Self-consistency",
    domain="generation",
    needs=("question", "actual_output"),
    method=("ngrams",),
    scope="group",
    keywords=keywords("S", "C O", "evaluation-method-ngram"),
)
@dataclass(frozen=True)
class SelfConsistency:
    """Mean ROUGE F1 over all pairs of answers of one model to one question asked several times.

    All answers of a group get the group's figure. An empty answer counts 0 in each of its pairs and gets 0
    itself. Of a group larger than `max_group_size` the first that many are compared.
    """

    max_group_size: int = 100
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric("rouge_1", "ROUGE-1", description="Mean F1 of the words over pairs of answers."),
        Metric(
            "rouge_l",
            "ROUGE-L",
            primary=True,
            description="Mean F1 of the longest common subsequence of words over pairs of answers.",
        ),
    )

    def __post_init__(self) -> None:
        if self.max_group_size < 2:
            raise ConfigurationError(
                f"self_consistency: max_group_size is at least 2, not {self.max_group_size}"
            )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        groups: dict[tuple[str, str, tuple[Turn, ...]], list[Case]] = {}
        for case in cases:
            groups.setdefault((case.model_key, case.question, case.conversation), []).append(case)
        stems = Stems()
        verdicts = {key: self._verdict(group[: self.max_group_size], stems) for key, group in groups.items()}
        return [
            worst(self.metrics) if len(groups[key]) > 1 and is_empty(case) else verdicts[key]
            for case in cases
            for key in [(case.model_key, case.question, case.conversation)]
        ]

    def _verdict(self, group: Sequence[Case], stems: Stems) -> Outcome:
        if len(group) < 2:
            return Outcome.not_applicable("the question was asked once")
        texts = ["" if is_empty(case) else case.actual_output.strip() for case in group]
        pairs = [
            (first, second, *pair_scores(texts[first], texts[second], stems))
            for first, second in combinations(range(len(texts)), 2)
        ]
        means = {
            "rouge_1": sum(pair[2] for pair in pairs) / len(pairs),
            "rouge_l": sum(pair[3] for pair in pairs) / len(pairs),
        }
        first, second, _, least = min(pairs, key=lambda pair: pair[3])
        reason = (
            f"least alike of {len(group)} answers: {_named(group, first)} and {_named(group, second)}"
            f" (ROUGE-L {least:.3f})"
        )
        return Outcome.score(means, reason="" if means["rouge_l"] > _FULL else reason)


def pair_scores(first: str, second: str, stems: Stems) -> tuple[float, float]:
    """ROUGE-1 and ROUGE-L F1 of two answers; an empty one has nothing in common, texts without Latin letters
    are alike or not.
    """
    if not first or not second:
        return 0.0, 0.0
    if first == second:
        return 1.0, 1.0
    ours, theirs = stems(first), stems(second)
    return rouge_n(ours, theirs, 1), rouge_l(ours, theirs)


def _named(group: Sequence[Case], place: int) -> str:
    case = group[place]
    return f"{case.key!r} run {case.run}"
