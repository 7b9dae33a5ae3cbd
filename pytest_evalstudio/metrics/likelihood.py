"""Likelihood of texts under a language model: mean negative log-likelihood (GPTScore), perplexity."""

from __future__ import annotations

import math
from collections.abc import Sequence

_DIGITS = 5
"""Decimals of a mean: results of models for batches of other sizes differ from the sixth decimal on."""


def mean_negative_log_likelihood(log_likelihoods: Sequence[float]) -> float:
    """Return the mean negative log-likelihood of the tokens of a text, in nats.

    Args:
        log_likelihoods: natural logarithms of the tokens' probabilities; at least one.

    Returns:
        0.0 (every token is certain) to infinity; lower is better; rounded to five decimals.

    Raises:
        ValueError: if there are no tokens.

    Source: Fu et al., 2023 (GPTScore), with inverted sign and equal weights of all tokens.

    >>> mean_negative_log_likelihood([-0.5, -1.5])
    1.0
    """
    if not log_likelihoods:
        raise ValueError("a text without tokens has no likelihood")
    return round(-math.fsum(log_likelihoods) / len(log_likelihoods), _DIGITS) + 0.0


def perplexity(log_likelihoods: Sequence[float]) -> float:
    """Return the perplexity of a text.

    Args:
        log_likelihoods: natural logarithms of the tokens' probabilities; at least one.

    Returns:
        1.0 (every token is certain) to infinity; lower is better.

    Raises:
        ValueError: if there are no tokens.

    Source: Jelinek et al., 1977.

    >>> perplexity([math.log(0.5), math.log(0.125)])
    4.0
    """
    return round(math.exp(mean_negative_log_likelihood(log_likelihoods)), 4)
