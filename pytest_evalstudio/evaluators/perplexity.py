"""Perplexity: how surprised a small language model is at the answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Passage, Tools, evaluator
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.evaluators._common import is_empty, keywords
from pytest_evalstudio.evaluators._likelihood import (
    NO_TOKENS,
    language_model,
    mean_negative_log_likelihood,
    unscorable,
)


@evaluator(
    "perplexity",
    name="Perplexity",
    domain="generation",
    needs=("actual_output",),
    requires=("language_model:distilgpt2",),
    method=("language-model",),
    extra="models",
    keywords=keywords("S", "C O", "evaluation-method-language-model"),
)
@dataclass(frozen=True)
class Perplexity:
    """How surprised a language model is at the answer: exp of the mean cross-entropy of its tokens.

    The model's start token stands before the answer, so that the first token counts too and a single word has
    a perplexity. A long answer is read in windows that move on by `stride` tokens, each token after at least
    half the model's context. An empty answer has no perplexity: it is an error. The default threshold is
    infinite: the evaluator informs until one is set.
    """

    model: str = "distilgpt2"
    stride: int = 512
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "perplexity",
            "Perplexity",
            better="lower",
            range=(1.0, math.inf),
            threshold=math.inf,
            primary=True,
            description="Number of tokens between which the model is, on average, undecided.",
        ),
    )

    def __post_init__(self) -> None:
        if self.stride < 1:
            raise ConfigurationError(f"stride = {self.stride}: expected 1 or more tokens")

    @property
    def requires(self) -> tuple[str, ...]:
        """What it cannot score without, with the options it has."""
        return (f"language_model:{self.model}",)

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        texts = list(dict.fromkeys(case.actual_output for case in cases if not is_empty(case)))
        found: dict[str, tuple[float, ...]] = {}
        if texts:
            read = language_model(tools, self.model).read(
                [Passage(text=text) for text in texts], stride=self.stride
            )
            found = {text: one.tokens for text, one in zip(texts, read, strict=True)}
        return [unscorable() if is_empty(case) else _outcome(found[case.actual_output]) for case in cases]


def _outcome(tokens: tuple[float, ...]) -> Outcome:
    return (
        Outcome.score({"perplexity": perplexity(tokens)})
        if tokens
        else unscorable(f"the answer has no tokens: {NO_TOKENS}")
    )


def perplexity(log_likelihoods: Sequence[float]) -> float:
    """Perplexity of a text.

    Args:
        log_likelihoods: natural logarithms of the tokens' probabilities; at least one.

    Returns:
        1.0 (each token was certain) to infinity; lower is better.

    Raises:
        ValueError: if there is no token.

    Source: Jelinek et al., 1977.

    >>> perplexity([math.log(0.5), math.log(0.125)])  # a coin, then one of eight
    4.0
    """
    return round(math.exp(mean_negative_log_likelihood(log_likelihoods)), 4)
