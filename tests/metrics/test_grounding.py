"""Content words and numbers of a text."""

from __future__ import annotations

from pytest_evalstudio.metrics.grounding import tokens_of


def test_words_are_compared_by_their_stems() -> None:
    assert [token.keys[0] for token in tokens_of("raising raised raises")] == ["rais"] * 3
    assert tokens_of("The bank's")[0].keys == tokens_of("banks")[0].keys
