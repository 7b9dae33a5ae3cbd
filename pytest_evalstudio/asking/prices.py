"""Costs of answers whose host reports none, by the prices of the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from pytest_evalstudio.core.cases import Answer

if TYPE_CHECKING:
    from pytest_evalstudio.core.usage import TokenPrices

PRICE_KEYS = ("input_usd_per_million", "output_usd_per_million")
CACHE_PRICE_KEYS = ("cached_usd_per_million", "cache_write_usd_per_million")
"""Parameters of hosts that say what tokens cost; they are no part of a model's identity."""


def without_prices(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that an answer depends on: a changed price asks nothing again.

    >>> without_prices({"seed": 0, "input_usd_per_million": 0.15})
    {'seed': 0}
    """
    return {key: value for key, value in settings.items() if key not in (*PRICE_KEYS, *CACHE_PRICE_KEYS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Price of a model's tokens.

    Attributes:
        as_of: date of the price, as YYYY-MM-DD.
        cached_usd_per_million: of input tokens that the service reads from its prompt cache; None for the
            price of other input tokens.
        cache_write_usd_per_million: of input tokens that it writes to the cache; None as before.
    """

    input_usd_per_million: float
    output_usd_per_million: float
    as_of: str
    cached_usd_per_million: float | None = None
    cache_write_usd_per_million: float | None = None

    @property
    def of_tokens(self) -> TokenPrices:
        """Return the prices by kind of token."""
        from pytest_evalstudio.core.usage import TokenPrices  # most runs have no prices

        return TokenPrices(
            input_usd=self.input_usd_per_million,
            output_usd=self.output_usd_per_million,
            cached_usd=self.cached_usd_per_million,
            cache_write_usd=self.cache_write_usd_per_million,
        )

    def cost_usd(self, usage: Mapping[str, int]) -> float | None:
        """Return the cost of an answer, None where its tokens are not known.

        >>> Price(input_usd_per_million=1, output_usd_per_million=4, as_of="2026-01-31").cost_usd(
        ...     {"input_tokens": 1_000_000, "output_tokens": 500_000}
        ... )
        3.0
        """
        return self.of_tokens.cost_usd(usage)


class Prices:
    """Prices by model; the model that served an answer comes before the one that was asked for.

    Args:
        tables: name of a model to its price.
        asked: name of the model that is asked for.

    Attributes:
        used: prices that costs were computed from, as reports show them.
    """

    def __init__(self, tables: Mapping[str, Mapping[str, object]], requested_model: str) -> None:
        self._prices = {name: Price(**table) for name, table in tables.items()}  # type: ignore[arg-type]
        self._asked = requested_model
        self.used: dict[str, dict[str, object]] = {}

    @property
    def of_asked(self) -> Price | None:
        """Return the price of the model that is asked for."""
        return self._prices.get(self._asked)

    def cost_of(self, answer: Answer) -> float | None:
        """Return the cost of an answer: that of its host, else that of its tokens, else None."""
        if answer.cost_usd is not None:
            return answer.cost_usd
        for name in (answer.served_model, self._asked):
            price = self._prices.get(name)
            if price is not None and (cost := price.cost_usd(answer.usage)) is not None:
                self.used[name] = {key: value for key, value in asdict(price).items() if value is not None}
                return cost
        return None
