"""Base of the evaluators on language models: the model by its name, the mean likelihood of a text."""

from __future__ import annotations

from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.tools import LanguageModel, Likelihood, Tools, provided
from pytest_evalstudio.metrics.likelihood import mean_negative_log_likelihood

NO_TOKENS = "the language model knows no token of it"
CUT = "the texts exceed the model's context: the beginning of the preceding text was left out"


def language_model(tools: Tools, name: str) -> LanguageModel:
    """Return the language model of that name."""
    return provided(tools.language_model, "language model")(name)


def unscorable(reason: str) -> Outcome:
    """Return an error for a text without tokens: it has no likelihood, and the worst score is infinite."""
    return Outcome.error(f"{reason}; it has no likelihood", OutcomeCode.ANSWER_EMPTY)


def mean_of(likelihood: Likelihood) -> float | None:
    """Return the mean negative log-likelihood of a text, None without tokens."""
    return mean_negative_log_likelihood(likelihood.tokens) if likelihood.tokens else None
