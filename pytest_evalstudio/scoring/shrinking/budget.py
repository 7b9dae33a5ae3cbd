"""Calls that a run may take to shrink its flips."""

from __future__ import annotations

from pytest_evalstudio.judges.budget import Purse, Spending


class CallBudget:
    """Number of calls of models and judges, taken before they are made.

    Args:
        max_calls: of all processes that share the purse.
        purse: counts the calls.
    """

    def __init__(self, max_calls: int, purse: Purse) -> None:
        self._max_calls = max_calls
        self._purse = purse

    @property
    def remaining(self) -> int:
        """Return the number of calls that are left."""
        return max(0, self._max_calls - self._purse.update(lambda spending: spending.calls))

    def take(self, calls: int) -> bool:
        """Take some calls; return False, and take none, if fewer are left."""

        def change(spending: Spending) -> bool:
            if spending.calls + calls > self._max_calls:
                return False
            spending.calls += calls
            return True

        return self._purse.update(change)

    def settle(self, reserved_calls: int, spent_calls: int) -> None:
        """Give back calls that were reserved and not spent, or count further ones."""

        def change(spending: Spending) -> None:
            spending.calls += spent_calls - reserved_calls

        self._purse.update(change)
