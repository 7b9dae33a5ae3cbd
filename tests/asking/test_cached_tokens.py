"""Tokens that a service reads from its prompt cache, or writes to it: counted and priced."""

from __future__ import annotations

import pytest

from pytest_evalstudio.core.usage import TokenPrices, usage_of

OPENAI = {"prompt_tokens": 10_000, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 9_900}}
RESPONSES = {"input_tokens": 10_000, "output_tokens": 10, "input_tokens_details": {"cached_tokens": 9_900}}
ANTHROPIC = {
    "input_tokens": 60,
    "output_tokens": 10,
    "cache_read_input_tokens": 9_900,
    "cache_creation_input_tokens": 40,
}
BEDROCK = {"inputTokens": 60, "outputTokens": 10, "cacheReadInputTokens": 9_900, "cacheWriteInputTokens": 40}
GEMINI = {"promptTokenCount": 10_000, "candidatesTokenCount": 10, "cachedContentTokenCount": 9_900}
LITELLM = {**OPENAI, "cache_read_input_tokens": 9_900, "cache_creation_input_tokens": 0}
LANGCHAIN = {
    "input_tokens": 10_000,
    "output_tokens": 10,
    "input_token_details": {"cache_read": 9_900, "cache_creation": 40},
}
PYDANTIC_AI = {
    "input_tokens": 10_000,
    "output_tokens": 10,
    "cache_read_tokens": 9_900,
    "cache_write_tokens": 40,
}


class Object:
    def __init__(self, values):
        for name, value in values.items():
            setattr(self, name, Object(value) if isinstance(value, dict) else value)


@pytest.mark.parametrize("form", [dict, Object], ids=["mapping", "object"])
@pytest.mark.parametrize(
    ("report", "written_tokens"),
    [
        (OPENAI, None),
        (RESPONSES, None),
        (ANTHROPIC, 40),
        (BEDROCK, 40),
        (GEMINI, None),
        (LITELLM, 0),
        (LANGCHAIN, 40),
        (PYDANTIC_AI, 40),
    ],
    ids=["openai", "responses", "anthropic", "bedrock", "gemini", "litellm", "langchain", "pydantic-ai"],
)
def test_each_service_reports_the_same_counts(form, report, written_tokens):
    expected = {"input_tokens": 10_000, "output_tokens": 10, "cached_tokens": 9_900}
    if written_tokens is not None:
        expected["cache_write_tokens"] = written_tokens
    assert usage_of(form(report)) == expected


@pytest.mark.parametrize(
    ("report", "usage"),
    [
        (None, {}),
        ({}, {}),
        ({"prompt_tokens": True, "completion_tokens": "3"}, {}),
        ({"prompt_tokens": 3, "prompt_tokens_details": None}, {"input_tokens": 3}),
        ({"input_tokens": 3, "output_tokens": 2}, {"input_tokens": 3, "output_tokens": 2}),
    ],
)  # fmt: skip
def test_what_a_service_leaves_out_is_not_counted(report, usage):
    assert usage_of(report) == usage


def test_the_cost_by_hand():
    prices = TokenPrices(input_usd=2.0, output_usd=8.0, cached_usd=0.2, cache_write_usd=2.5)
    # 100 at 2 + 9,900 at 0.2 + 10 at 8 dollars per million
    assert prices.cost_usd(usage_of(OPENAI)) == pytest.approx(0.00226)
    # 60 at 2 + 9,900 at 0.2 + 40 at 2.5 + 10 at 8
    assert prices.cost_usd(usage_of(ANTHROPIC)) == pytest.approx(0.00228)
    assert prices.cost_usd({"input_tokens": 3}) is None


def test_cached_tokens_without_a_price_of_their_own_cost_as_others():
    assert TokenPrices(input_usd=2.0, output_usd=8.0).cost_usd(usage_of(OPENAI)) == pytest.approx(0.02008)


def test_more_cached_tokens_than_input_cost_no_less_than_they_do():
    prices = TokenPrices(input_usd=2.0, output_usd=8.0, cached_usd=0.2)
    usage = {"input_tokens": 10, "output_tokens": 0, "cached_tokens": 100}
    assert prices.cost_usd(usage) == pytest.approx(100 * 0.2 / 1e6)
