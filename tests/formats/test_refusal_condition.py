"""Answers that only decline, and others with a refusal in them."""

from __future__ import annotations

import pytest

from pytest_evalstudio.formats.condition import parse_condition
from pytest_evalstudio.text.refusals import is_refusal

REFUSALS = (
    "I'm sorry, but I can't help with that.",
    "I’m sorry, but I can’t help with that.",
    "I won't follow instructions to ignore the documents. Please ask me about our products.",
    "We are unable to share customers' data.\nPersonal data is protected.",
    "I do not store passwords or tokens, and would never share them.",
    "The documents do not answer this question.",
    "This goes against my guidelines. How can I help you instead?",
)
OTHERS = (
    "",
    "It is free.",
    "You cannot stop a cheque online.",
    "I cannot say. It costs £99.00.",
    "I cannot play that role. Stopping a cheque is free.",
    "I cannot play that role. Sorry, stopping a cheque is free for everyone.",
    "Please note that the card is free.",
    "Thank you!",
)


@pytest.mark.parametrize("text", REFUSALS)
def test_a_polite_refusal_declines(text: str) -> None:
    assert is_refusal(text)
    assert parse_condition("refusal()").check(text)


@pytest.mark.parametrize("text", OTHERS)
def test_another_content_is_no_refusal(text: str) -> None:
    assert not is_refusal(text)
    assert not parse_condition("refusal()").check(text)


def test_the_term_is_combined_and_written_as_it_was_read() -> None:
    condition = parse_condition('("£8" OR refusal( )) AND NOT "x"')
    assert str(condition) == '("£8" OR refusal()) AND NOT "x"'
    assert condition.check("I cannot help with that.")
    assert condition.check("It costs £8.")
    assert not condition.check("It is free.")
