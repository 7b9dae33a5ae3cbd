"""Labels and prices that the configuration gives a model."""

from __future__ import annotations

from msgspec import Struct, field, structs

from pytest_evalstudio.asking.prices import Prices
from pytest_evalstudio.core.cases import Answer


class SessionLabels(Struct, frozen=True, kw_only=True):
    """Labels and prices of a model.

    Attributes:
        connection: name of its connection in the configuration, "" for none.
        description: text about it.
        prices: for costs that its host does not report.
    """

    connection: str = ""
    description: str = ""
    prices: Prices = field(default_factory=lambda: Prices({}, ""))

    def priced(self, answer: Answer) -> Answer:
        """Return an answer with its cost; it is stored without, so that a new price applies to it."""
        return structs.replace(answer, cost_usd=self.prices.cost_of(answer))

    def texts(self) -> dict[str, str]:
        """Return the labels that are given."""
        labels = {"connection": self.connection, "description": self.description}
        return {name: text for name, text in labels.items() if text}
