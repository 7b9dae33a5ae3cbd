"""Forms of tokens."""

from __future__ import annotations

import re
from re import _parser as parser

import pytest

from pytest_evalstudio.metrics.detectors import tokens


@pytest.mark.parametrize("token", tokens._TOKENS, ids=lambda token: token.kind)
def test_a_token_without_blanks_is_in_a_long_run(token: tokens._Token) -> None:
    pattern = token.pattern()
    shortest = parser.parse(pattern.pattern, pattern.flags).getwidth()[0]
    assert token.has_blanks or shortest >= tokens.MIN_CHARS
    assert token.has_blanks == bool(re.search(r"\\s| ", pattern.pattern))
