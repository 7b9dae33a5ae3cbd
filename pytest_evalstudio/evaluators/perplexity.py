"""Perplexity of the answer under a small language model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.tools import Passage, Tools
from pytest_evalstudio.evaluators._common import keywords
from pytest_evalstudio.evaluators._likelihood import (
    NO_TOKENS,
    language_model,
    unscorable,
)
from pytest_evalstudio.metrics.likelihood import perplexity


@evaluator(
    "perplexity",
    name="Perplexity",
    difference=(
        "Of the answer alone, by the configured model; values of different models are not comparable."
    ),
    domain="generation",
    needs=("actual_output",),
    requires=("language_model:distilgpt2",),
    method=("language-model",),
    extra="models",
    keywords=keywords("S", "C O", "evaluation-method-language-model"),
)
@dataclass(frozen=True)
class Perplexity:
    """Perplexity of the answer under a language model: exp of the mean cross-entropy of its tokens.

    The model's start token precedes the answer. A long answer is read in windows that move by `stride`
    tokens. The default threshold is infinite: without a configured threshold the evaluator only informs.

    Source: Jelinek et al., 1977; Eval Studio user guide, perplexity.
    """

    detector: ClassVar[bool] = True
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
            description="Mean number of equally likely tokens at each position.",
        ),
    )

    def __post_init__(self) -> None:
        if self.stride < 1:
            raise ConfigurationError(f"stride = {self.stride}: expected 1 or more tokens")

    @property
    def requires(self) -> tuple[str, ...]:
        """Tools that the configured model needs."""
        return (f"language_model:{self.model}",)

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        texts = list(dict.fromkeys(case.actual_output for case in cases))
        passages = [Passage(text=text) for text in texts]
        read = language_model(tools, self.model).read(passages, stride=self.stride)
        tokens = {text: likelihood.tokens for text, likelihood in zip(texts, read, strict=True)}
        return [_outcome(tokens[case.actual_output]) for case in cases]


def _outcome(tokens: tuple[float, ...]) -> Outcome:
    return (
        Outcome.score({"perplexity": perplexity(tokens)})
        if tokens
        else unscorable(f"the answer has no tokens: {NO_TOKENS}")
    )
