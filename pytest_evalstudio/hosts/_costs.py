"""Costs that gateways and services report with an answer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

_HEADERS = ("x-litellm-response-cost", "llm_provider-x-litellm-response-cost")
"""US dollars of the answer: LiteLLM's proxy, and one behind another."""
_IN_USAGE = ("cost", "estimated_cost")
"""US dollars beside the tokens: OpenRouter and LiteLLM's streams, DeepInfra; Perplexity has an object."""
_TOTAL = "total_cost"
_HEADER_COST: ContextVar[float | None] = ContextVar("header_cost", default=None)
"""Cost in the headers of the last response to this question."""


async def note_cost(response: Any) -> None:
    """Keep the cost that the headers of a response report; a hook of httpx."""
    values = (_dollars(response.headers.get(name)) for name in _HEADERS)
    _HEADER_COST.set(next((value for value in values if value is not None), None))


def reported_cost_usd(usage: object = None) -> float | None:
    """Return the cost that the service reports for the answer that has just arrived, None where it does not.

    Args:
        usage: object or mapping of the reply that may have a cost beside the tokens.
    """
    if (cost := _HEADER_COST.get()) is not None:
        return cost
    for name in _IN_USAGE:
        value = _field(usage, name)
        total = _field(value, _TOTAL)
        cost = _dollars(value if total is None else total)
        if cost is not None:
            return cost
    return None


def _field(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _dollars(value: object) -> float | None:
    """Return an amount that is a number of 0 or more; services write it as text or as number."""
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        return None
    try:
        amount = float(value)
    except ValueError:
        return None
    return amount if math.isfinite(amount) and amount >= 0 else None
