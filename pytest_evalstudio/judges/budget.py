"""Budget of a run: calls, US dollars and tokens, reserved before a call and settled after it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Literal, Protocol, TypeVar

from msgspec import Struct, field

from pytest_evalstudio.core.leases import valid_expiry

WAIT_S = 0.02
"""Interval at which a call looks again whether the budget admits it."""
PROBE_S = 30.0
"""After this time without a reply, another call may find out the price."""
_ROUNDING = 1e-9  # sums of prices such as 0.1 + 0.2 must not exceed a limit of 0.3

T = TypeVar("T")


def part_of(total: int, workers: int, index: int) -> int:
    """Return the part of a process in a number; the parts of all processes add up to it."""
    return total // workers + (index < total % workers)


class BudgetLimits(Struct, frozen=True, kw_only=True):
    """Limits of a budget; None for no limit.

    Attributes:
        max_calls: requests to the services, retries among them.
        max_cost_usd: US dollars.
        max_tokens: tokens of prompts and answers.
    """

    max_calls: int | None = None
    max_cost_usd: float | None = None
    max_tokens: int | None = None

    def share(self, workers: int, index: int) -> BudgetLimits:
        """Return the part of one of several processes that have no common purse.

        Args:
            workers: number of processes.
            index: of the process, from 0; the first ones have the calls and tokens that are left over.

        >>> [BudgetLimits(max_calls=10).share(4, index).max_calls for index in range(4)]
        [3, 3, 2, 2]
        """
        if workers <= 1:
            return self
        return BudgetLimits(
            max_calls=None if self.max_calls is None else part_of(self.max_calls, workers, index),
            max_cost_usd=None if self.max_cost_usd is None else self.max_cost_usd / workers,
            max_tokens=None if self.max_tokens is None else part_of(self.max_tokens, workers, index),
        )


class BudgetNames(Struct, frozen=True, kw_only=True):
    """Names of the settings of a budget, for messages."""

    calls: str = "judge.max_calls"
    cost: str = "judge.max_cost"
    tokens: str = "judge.max_tokens"


class Amount(Struct, kw_only=True):
    """Spending of US dollars or of tokens.

    Attributes:
        spent: of the answered calls.
        reserved: estimate for the calls without an answer yet.
        highest: highest amount of a call; None as long as none is known.
        highest_per_char: the same, per character of its prompt.
        is_unknown: an answer came without this amount.
    """

    spent: float = 0.0
    reserved: float = 0.0
    highest: float | None = None
    highest_per_char: float = 0.0
    is_unknown: bool = False

    def estimate(self, chars: int, expected: float) -> float:
        """Return the estimate for a call: at least what is expected, and what earlier calls took."""
        return max(expected, self.highest or 0.0, self.highest_per_char * chars)

    def settle(self, reserved: float, chars: int, amount: float | None) -> None:
        """Count an answered call."""
        # Sums of floats may end slightly below zero.
        self.reserved = max(0.0, self.reserved - reserved)
        if amount is None:
            self.is_unknown = True
            return
        self.spent += amount
        self.highest = max(self.highest or 0.0, amount)
        self.highest_per_char = max(self.highest_per_char, amount / max(1, chars))


class Spending(Struct, kw_only=True):
    """Spending of all processes that share one purse.

    Attributes:
        calls: requests made or being made.
        probed_until: until this time others wait for the price of the first call; seconds since the epoch.
    """

    calls: int = 0
    usd: Amount = field(default_factory=Amount)
    tokens: Amount = field(default_factory=Amount)
    probed_until: float = 0.0


class Purse(Protocol):
    """Count of the spending."""

    def update(self, change: Callable[[Spending], T]) -> T:
        """Change the spending atomically, and return the result of `change`."""
        ...


class LocalPurse(Struct):
    """The purse of one process."""

    spending: Spending = field(default_factory=Spending)

    def update(self, change: Callable[[Spending], T]) -> T:
        return change(self.spending)


class Expected(Struct, frozen=True, kw_only=True):
    """Amounts that a call takes at least, as far as they are known before it."""

    usd: float = 0.0
    tokens: float = 0.0


NOTHING_EXPECTED = Expected()


class Grant(Struct, frozen=True, kw_only=True):
    """Permission for one call; it is settled with `Budget.settle`.

    Attributes:
        usd, tokens: the estimates.
        chars: of the prompt.
    """

    usd: float
    tokens: float
    chars: int


class Budget(Struct, kw_only=True):
    """Stops the asking when enough has been spent; stored answers cost nothing.

    Attributes:
        limits: of all who share the purse.
        purse: where spending is counted.
        names: of the settings, for messages.
        calls, cost_usd, input_tokens, output_tokens: what this process spent.
    """

    limits: BudgetLimits = field(default_factory=BudgetLimits)
    purse: Purse = field(default_factory=LocalPurse)
    names: BudgetNames = field(default_factory=BudgetNames)
    calls: int = 0
    cost_usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    _open: int = 0
    _queue: list[object] = field(default_factory=list)

    async def reserve(self, chars: int, expected: Expected = NOTHING_EXPECTED) -> Grant | str:
        """Return a grant for a call, or why there is none.

        It waits while the first call finds out the price, and while calls of this process are open whose
        price may turn out lower than estimated. Calls are admitted in the order in which they came, so that
        the first items are complete when the budget is used up.

        Args:
            chars: length of the prompt.
            expected: known before the call.
        """
        ticket = object()
        self._queue.append(ticket)
        try:
            while True:
                if self._queue[0] is ticket:
                    admitted = self._admitted(chars, expected)
                    if admitted is not None:
                        return admitted
                await asyncio.sleep(WAIT_S)
        finally:
            self._queue.remove(ticket)

    def _admitted(self, chars: int, expected: Expected) -> Grant | str | None:
        """Return a grant, why there is none, or None while one may come."""
        admitted = self.purse.update(lambda spending: _admit(spending, self.limits, chars, expected))
        # Only calls of this process are waited for: another one may never settle its reservations.
        if admitted == "unknown price" or (admitted == "reserved" and self._open):
            return None
        if isinstance(admitted, Grant):
            self.calls += 1
            self._open += 1
            return admitted
        return self._refusal(admitted)

    def exhausted(self) -> str:
        """Return why no further call will be granted, "" if one may be."""
        refusal = self.purse.update(lambda spending: _spent(spending, self.limits))
        return self._refusal(refusal) if refusal else ""

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
            input_tokens, output_tokens: of the answer; both 0 where the host does not say.
        """
        self._open -= 1
        if answered:
            self.cost_usd += cost_usd or 0.0
            self.input_tokens += input_tokens
            self.output_tokens += output_tokens
        # Calls are counted when they are admitted; an update of a shared purse takes a lock on a file.
        if self.limits.max_cost_usd is None and self.limits.max_tokens is None:
            return
        # 0 means that the host does not report them.
        tokens = float(input_tokens + output_tokens) or None
        self.purse.update(lambda spending: _settle(spending, grant, answered, cost_usd, tokens))

    def _refusal(self, reason: Refusal) -> str:
        names, limits = self.names, self.limits
        match reason:
            case "calls":
                return f"the budget of calls is used up ({names.calls} = {limits.max_calls})"
            case "unpriced":
                return (
                    f"{names.cost} cannot be held, since the host does not say what a call costs: give it"
                    f" prices, or set {names.calls}"
                )
            case "unmetered":
                return (
                    f"{names.tokens} cannot be held, since the host does not report tokens: set {names.calls}"
                )
            case "tokens":
                return (
                    f"the budget of {limits.max_tokens} tokens does not suffice for another call"
                    f" ({names.tokens})"
                )
            case _:
                return (
                    f"the budget of {limits.max_cost_usd or 0.0:g} US dollars does not suffice for another"
                    f" call ({names.cost})"
                    if limits.max_cost_usd is not None
                    else f"the budget of {limits.max_tokens} tokens does not suffice for another call"
                    f" ({names.tokens})"
                )


Refusal = Literal["calls", "unpriced", "unmetered", "cost", "tokens", "reserved", "unknown price"]


def _spent(spending: Spending, limits: BudgetLimits) -> Refusal | None:
    """Return the refusal that every further call will get."""
    if limits.max_calls is not None and spending.calls >= limits.max_calls:
        return "calls"
    if limits.max_cost_usd is not None:
        if spending.usd.is_unknown:
            return "unpriced"
        if spending.usd.spent >= limits.max_cost_usd:
            return "cost"
    if limits.max_tokens is not None:
        if spending.tokens.is_unknown:
            return "unmetered"
        if spending.tokens.spent >= limits.max_tokens:
            return "tokens"
    return None


def _admit(spending: Spending, limits: BudgetLimits, chars: int, expected: Expected) -> Grant | Refusal:
    """Reserve a call; the refusals "reserved" and "unknown price" may pass."""
    if refusal := _spent(spending, limits):
        return refusal
    usd = spending.usd.estimate(chars, expected.usd)
    tokens = spending.tokens.estimate(chars, expected.tokens)
    limited: tuple[tuple[Amount, float, float | None, Refusal], ...] = (
        (spending.usd, usd, limits.max_cost_usd, "cost"),
        (spending.tokens, tokens, limits.max_tokens, "tokens"),
    )
    open_limits = [entry for entry in limited if entry[2] is not None]
    # What is spent decides first: a refusal for it is final, while one for open reservations may pass.
    for amount, estimate, limit, refusal in open_limits:
        if amount.spent + estimate > (limit or 0.0) + _ROUNDING:
            return refusal
    now = time.time()
    is_unknown = any(amount.highest is None for amount, _, _, _ in open_limits)
    # A clock that was set back must not make everyone wait for a time far in the future.
    earliest, latest = valid_expiry(now, PROBE_S)
    if is_unknown and earliest < spending.probed_until <= latest:
        return "unknown price"
    for amount, estimate, limit, _ in open_limits:
        if amount.spent + amount.reserved + estimate > (limit or 0.0) + _ROUNDING:
            return "reserved"
    if is_unknown:
        spending.probed_until = now + PROBE_S
    spending.calls += 1
    spending.usd.reserved += usd if limits.max_cost_usd is not None else 0.0
    spending.tokens.reserved += tokens if limits.max_tokens is not None else 0.0
    return Grant(usd=usd, tokens=tokens, chars=chars)


def _settle(
    spending: Spending, grant: Grant, answered: bool, cost_usd: float | None, tokens: float | None
) -> None:
    if not answered:
        spending.usd.reserved = max(0.0, spending.usd.reserved - grant.usd)
        spending.tokens.reserved = max(0.0, spending.tokens.reserved - grant.tokens)
    else:
        spending.usd.settle(grant.usd, grant.chars, cost_usd)
        spending.tokens.settle(grant.tokens, grant.chars, tokens)
    # Also after a failure: the next call may then find out the price.
    spending.probed_until = 0.0
