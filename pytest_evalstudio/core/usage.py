"""Tokens of an answer by kind, as all services count them, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

INPUT, OUTPUT = "input_tokens", "output_tokens"
CACHED, CACHE_WRITE = "cached_tokens", "cache_write_tokens"
"""Input tokens that were read from the service's prompt cache, and written to it; INPUT counts them, too."""

_NAMES: Mapping[str, Sequence[str]] = {
    INPUT: ("prompt_tokens", "input_tokens", "inputTokens", "promptTokenCount"),
    OUTPUT: ("completion_tokens", "output_tokens", "outputTokens", "candidatesTokenCount"),
    CACHED: (
        "prompt_tokens_details.cached_tokens",
        "input_tokens_details.cached_tokens",
        "input_token_details.cache_read",  # LangChain
        "cache_read_tokens",  # pydantic-ai
        "cachedContentTokenCount",
        "prompt_cache_hit_tokens",  # DeepSeek
        "cached_tokens",
    ),
    CACHE_WRITE: (
        "prompt_tokens_details.cache_write_tokens",  # OpenRouter
        "input_token_details.cache_creation",
        "cache_write_tokens",
    ),
}
"""Names of the kinds in the reports of services and frameworks."""
_BESIDE: Mapping[str, Sequence[str]] = {
    CACHED: ("cache_read_input_tokens", "cacheReadInputTokens"),
    CACHE_WRITE: ("cache_creation_input_tokens", "cacheWriteInputTokens"),
}
"""Names of Anthropic and Amazon Bedrock, whose input tokens are those that the cache has no part in."""
ALL_NAMES = frozenset(name for names in (*_NAMES.values(), *_BESIDE.values()) for name in names)
_WITHOUT_CACHED = ("input_tokens", "inputTokens")


class TokenPrices(Struct, frozen=True, kw_only=True):
    """Prices of a model's tokens in US dollars per million.

    Attributes:
        input_usd: of input tokens that are neither read from a cache nor written to it.
        output_usd: of output tokens.
        cached_usd: of input tokens that are read from the cache; None for that of other input tokens.
        cache_write_usd: of input tokens that are written to the cache; None for that of other input tokens.
    """

    input_usd: float
    output_usd: float
    cached_usd: float | None = None
    cache_write_usd: float | None = None

    def cost_usd(self, usage: Mapping[str, int]) -> float | None:
        """Return the cost of an answer, None where its tokens are not known.

        >>> prices = TokenPrices(input_usd=2, output_usd=8, cached_usd=0.5)
        >>> prices.cost_usd({"input_tokens": 1_000_000, "cached_tokens": 800_000, "output_tokens": 100_000})
        1.6
        """
        if INPUT not in usage or OUTPUT not in usage:
            return None
        cached_count, write_count = usage.get(CACHED, 0), usage.get(CACHE_WRITE, 0)
        cached_usd = self.input_usd if self.cached_usd is None else self.cached_usd
        cache_write_usd = self.input_usd if self.cache_write_usd is None else self.cache_write_usd
        dollars = (
            max(0, usage[INPUT] - cached_count - write_count) * self.input_usd
            + cached_count * cached_usd
            + write_count * cache_write_usd
            + usage[OUTPUT] * self.output_usd
        )
        return dollars / 1_000_000


def usage_of(report: object) -> dict[str, int]:
    """Return the counts of tokens that a service or framework reports, without those that it leaves out.

    Args:
        report: object or mapping with the names of a known service; None where it reports none.

    >>> usage_of({"prompt_tokens": 20, "prompt_tokens_details": {"cached_tokens": 15}})
    {'input_tokens': 20, 'cached_tokens': 15}
    >>> usage_of({"input_tokens": 5, "cache_read_input_tokens": 15})
    {'input_tokens': 20, 'cached_tokens': 15}
    """
    usage: dict[str, int] = {}
    for kind, names in _NAMES.items():
        if (count := _first(report, names)) is not None:
            usage[kind] = count
    # LiteLLM has both forms of the cached tokens, and a total under the name of OpenAI.
    is_without = _first(report, _WITHOUT_CACHED) is not None and _first(report, _NAMES[INPUT][:1]) is None
    for kind, names in _BESIDE.items():
        if kind not in usage and (count := _first(report, names)) is not None:
            usage[kind] = count
            if is_without and INPUT in usage:
                usage[INPUT] += count
    return usage


def total_usage(reports: Sequence[object]) -> dict[str, int]:
    """Return the sums over all requests; nothing where one of them does not report input and output.

    Args:
        reports: of each request; see `usage_of`.
    """
    usages = [usage_of(report) for report in reports]
    if not all(INPUT in usage and OUTPUT in usage for usage in usages):
        return {}
    kinds = dict.fromkeys(kind for usage in usages for kind in usage)
    return {kind: sum(usage.get(kind, 0) for usage in usages) for kind in kinds}


def cached_share(usage: Mapping[str, int]) -> float | None:
    """Return the share of input tokens that come from a cache, from 0 to 1; None where it is not known."""
    if not usage.get(INPUT) or CACHED not in usage:
        return None
    return min(1.0, usage[CACHED] / usage[INPUT])


def _first(report: object, names: Sequence[str]) -> int | None:
    for name in names:
        value = report
        for part in name.split("."):
            value = value.get(part) if isinstance(value, Mapping) else getattr(value, part, None)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None
