"""Likelihood of texts."""

from __future__ import annotations

import pytest

from pytest_evalstudio.metrics.likelihood import mean_negative_log_likelihood


def test_of_no_tokens_there_is_no_mean() -> None:
    with pytest.raises(ValueError, match="without tokens"):
        mean_negative_log_likelihood([])
