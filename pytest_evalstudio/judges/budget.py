"""What judging may cost in one run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True, kw_only=True)
class Budget:
    """Stops the asking of judges when enough has been spent; stored replies cost nothing.

    Attributes:
        max_calls: questions that may be put; None for any number.
        max_cost_usd: US dollars that they may cost; None for any sum. Questions that are on their way when it
            is reached are paid for.
        calls, cost_usd, input_tokens, output_tokens: what was spent by this process.
    """

    max_calls: int | None = None
    max_cost_usd: float | None = None
    calls: int = 0
    cost_usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    is_unpriced: bool = False

    def share(self, workers: int) -> Budget:
        """The part of one of so many processes; what cannot be divided is left over.

        >>> Budget(max_calls=10).share(4).max_calls
        2
        """
        if workers <= 1:
            return self
        return Budget(
            max_calls=None if self.max_calls is None else self.max_calls // workers,
            max_cost_usd=None if self.max_cost_usd is None else self.max_cost_usd / workers,
        )

    def refuses(self) -> str:
        """Why nothing more is to be asked, "" as long as something is left."""
        if self.max_calls is not None and self.calls >= self.max_calls:
            return f"the budget of calls is used up (judge.max_calls, {self.max_calls} of this process)"
        if self.max_cost_usd is None:
            return ""
        if self.is_unpriced:
            return (
                "judge.max_cost cannot be held, since the host does not say what a call costs: give it"
                " prices, or set judge.max_calls"
            )
        if self.cost_usd >= self.max_cost_usd:
            return (
                f"the budget of {self.max_cost_usd:g} US dollars is used up (judge.max_cost, the part of this"
                " process)"
            )
        return ""

    def pay(self, cost_usd: float | None, input_tokens: int, output_tokens: int) -> None:
        """Count what a question took; None: the host does not say."""
        self.is_unpriced = self.is_unpriced or cost_usd is None
        self.cost_usd += cost_usd or 0.0
        self.input_tokens += input_tokens
        self.output_tokens += output_tokens
