"""Budget of the judges in one run: calls and US dollars, reserved before a call and settled after it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeVar

WAIT_S = 0.02
"""Interval at which a call looks again whether the budget admits it."""
PROBE_S = 30.0
"""After this time without a reply, another call may find out the price."""
_ROUNDING = 1e-9

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetLimits:
    """Limits of a budget.

    Attributes:
        max_calls: requests to judges' services, retries among them; None for any number.
        max_cost_usd: US dollars; None for any sum.
    """

    max_calls: int | None = None
    max_cost_usd: float | None = None

    def share(self, workers: int) -> BudgetLimits:
        """Return the part of one of several processes that have no common purse.

        >>> BudgetLimits(max_calls=10).share(4).max_calls
        2
        """
        if workers <= 1:
            return self
        return BudgetLimits(
            max_calls=None if self.max_calls is None else self.max_calls // workers,
            max_cost_usd=None if self.max_cost_usd is None else self.max_cost_usd / workers,
        )


@dataclass(slots=True, kw_only=True)
class Spending:
    """Spending of all processes that share one purse.

    Attributes:
        calls: requests made or being made.
        cost_usd: price of the answered ones.
        reserved_usd: estimated price of those without an answer yet.
        highest_usd: highest price of a call; None as long as none is known.
        highest_usd_per_char: the same, per character of its prompt.
        is_unpriced: an answer came without a price.
        probed_until: until this time others wait for the price of the first call; seconds since the epoch.
    """

    calls: int = 0
    cost_usd: float = 0.0
    reserved_usd: float = 0.0
    highest_usd: float | None = None
    highest_usd_per_char: float = 0.0
    is_unpriced: bool = False
    probed_until: float = 0.0


class Purse(Protocol):
    """Count of the spending."""

    def update(self, change: Callable[[Spending], T]) -> T:
        """Change the spending atomically, and return the result of `change`."""
        ...


@dataclass(slots=True)
class LocalPurse:
    """The purse of one process."""

    spending: Spending = field(default_factory=Spending)

    def update(self, change: Callable[[Spending], T]) -> T:
        return change(self.spending)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """Permission for one call; it is settled with `Budget.settle`.

    Attributes:
        reserved_usd: the estimated price.
        chars: of the prompt.
    """

    reserved_usd: float
    chars: int


@dataclass(slots=True, kw_only=True)
class Budget:
    """Stops the asking of judges when enough has been spent; stored replies cost nothing.

    Attributes:
        limits: of all who share the purse.
        purse: where spending is counted.
        calls, cost_usd, input_tokens, output_tokens: what this process spent.
    """

    limits: BudgetLimits = field(default_factory=BudgetLimits)
    purse: Purse = field(default_factory=LocalPurse)
    calls: int = 0
    cost_usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    _open: int = 0

    async def reserve(self, chars: int) -> Grant | str:
        """Return a grant for a call, or why there is none.

        It waits while the first call finds out the price, and while calls of this process are open whose
        price may turn out lower than estimated.

        Args:
            chars: length of the prompt.
        """
        while True:
            admitted = self.purse.update(lambda spending: _admit(spending, self.limits, chars))
            if admitted == "unknown price" or (admitted == "reserved" and self._open):
                await asyncio.sleep(WAIT_S)
                continue
            if isinstance(admitted, Grant):
                self.calls += 1
                self._open += 1
                return admitted
            return self._refusal(admitted)

    def settle(
        self,
        grant: Grant,
        *,
        answered: bool,
        cost_usd: float | None = None,
        input_tokens: int = 0,
        output_tokens: int = 0,
    ) -> None:
        """Count the price of a call.

        Args:
            grant: of the call.
            answered: whether the service answered; other calls cost nothing.
            cost_usd: US dollars; None where the host does not say.
            input_tokens, output_tokens: of the answer.
        """
        self._open -= 1
        if answered:
            self.cost_usd += cost_usd or 0.0
            self.input_tokens += input_tokens
            self.output_tokens += output_tokens
        if self.limits.max_cost_usd is not None:
            self.purse.update(lambda spending: _settle(spending, grant, answered, cost_usd))

    def _refusal(self, reason: str) -> str:
        if reason == "calls":
            return f"the budget of calls is used up (judge.max_calls = {self.limits.max_calls})"
        if reason == "unpriced":
            return (
                "judge.max_cost cannot be held, since the host does not say what a call costs: give it"
                " prices, or set judge.max_calls"
            )
        return (
            f"the budget of {self.limits.max_cost_usd:g} US dollars does not suffice for another call"
            " (judge.max_cost)"
        )


Refusal = Literal["calls", "unpriced", "cost", "reserved", "unknown price"]


def _admit(spending: Spending, limits: BudgetLimits, chars: int) -> Grant | Refusal:
    """Reserve a call; the refusals "reserved" and "unknown price" may pass."""
    if limits.max_calls is not None and spending.calls >= limits.max_calls:
        return "calls"
    estimate = 0.0
    if limits.max_cost_usd is not None:
        if spending.is_unpriced:
            return "unpriced"
        if spending.cost_usd >= limits.max_cost_usd:
            return "cost"
        if spending.highest_usd is None:
            now = time.time()
            if spending.probed_until > now:
                return "unknown price"
            spending.probed_until = now + PROBE_S
        else:
            estimate = max(spending.highest_usd, spending.highest_usd_per_char * chars)
        if spending.cost_usd + estimate > limits.max_cost_usd + _ROUNDING:
            return "cost"
        if spending.cost_usd + spending.reserved_usd + estimate > limits.max_cost_usd + _ROUNDING:
            return "reserved"
    spending.calls += 1
    spending.reserved_usd += estimate
    return Grant(reserved_usd=estimate, chars=chars)


def _settle(spending: Spending, grant: Grant, answered: bool, cost_usd: float | None) -> None:
    spending.reserved_usd = max(0.0, spending.reserved_usd - grant.reserved_usd)
    if not answered:
        if spending.highest_usd is None:
            spending.probed_until = 0.0
    elif cost_usd is None:
        spending.is_unpriced = True
        spending.probed_until = 0.0
    else:
        spending.cost_usd += cost_usd
        spending.highest_usd = max(spending.highest_usd or 0.0, cost_usd)
        spending.highest_usd_per_char = max(spending.highest_usd_per_char, cost_usd / max(1, grant.chars))
