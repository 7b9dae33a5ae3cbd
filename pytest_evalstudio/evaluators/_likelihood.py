"""What the evaluators on language models share: the model by its name, and the mean surprise at a text."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.contracts import LanguageModel, Likelihood, Tools
from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.evaluators._common import EMPTY_ANSWER

NO_TOKENS = "the language model knows no token of it"
CUT = "the texts are longer than the model reads at once: of what stands before, the beginning was left out"
_DIGITS = 5
"""Decimals of a mean: what a model computes in batches of other sizes differs from the sixth on."""


def language_model(tools: Tools, name: str) -> LanguageModel:
    """The language model of that name.

    Raises:
        EvaluationError: if the engine lends none.
    """
    if tools.language_model is None:
        raise EvaluationError("there is no language model to ask")
    return tools.language_model(name)


def unscorable(reason: str = EMPTY_ANSWER) -> Outcome:
    """The outcome of an answer without a token: its likelihood has no value, and what is worst is infinite,
    so that it is an error.
    """
    return Outcome.error(
        f"{reason}; there is nothing whose likelihood could be measured", OutcomeCode.ANSWER_EMPTY
    )


def mean_negative_log_likelihood(log_likelihoods: Sequence[float]) -> float:
    """Mean surprise of a language model at the tokens of a text, in nats.

    Args:
        log_likelihoods: natural logarithms of the tokens' probabilities; at least one.

    Returns:
        0.0 (each token was certain) to infinity; lower is better. Rounded to five decimals.

    Raises:
        ValueError: if there is no token.

    Source: Fu et al., 2023 (GPTScore), with the sign changed and all tokens weighing the same.

    >>> mean_negative_log_likelihood([-0.5, -1.5])
    1.0
    """
    if not log_likelihoods:
        raise ValueError("a text without tokens has no likelihood")
    return round(-math.fsum(log_likelihoods) / len(log_likelihoods), _DIGITS) + 0.0


def mean_of(likelihood: Likelihood) -> float | None:
    """The same of what a model said; None if it knows no token of the text."""
    return mean_negative_log_likelihood(likelihood.tokens) if likelihood.tokens else None
