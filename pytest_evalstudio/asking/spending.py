"""Budget of a model: each request is reserved before it is made, and settled after it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, structs
from pydantic import ValidationError

from pytest_evalstudio.asking.prices import CACHE_PRICE_KEYS, PRICE_KEYS, Prices
from pytest_evalstudio.asking.purse import SharedPurse
from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.host import Host, HostFault
from pytest_evalstudio.core.store import Store
from pytest_evalstudio.formats.fields import fact
from pytest_evalstudio.formats.model_tables import BudgetTable
from pytest_evalstudio.judges.budget import Budget, BudgetLimits, BudgetNames, Expected, Grant, LocalPurse

if TYPE_CHECKING:
    from pytest_evalstudio.core.usage import TokenPrices

CHARS_PER_TOKEN = 4
"""Usual length of a token of English text."""


class NotAsked(Exception):
    """A request that the budget does not allow."""


def model_budget(
    table: BudgetTable,
    name: str,
    *,
    store: Store | None = None,
    run_id: str = "",
    workers: int = 1,
    worker_index: int = 0,
) -> Budget:
    """Return the budget of a model.

    Args:
        table: the limits.
        name: of the model.
        store: of the answers cache, in which the workers of a run count their spending.
        run_id: the same for all workers of a run; "" where there is none.
        workers: processes that share the budget; without a common store each has its part.
        worker_index: of this process among them, from 0.
    """
    limits = BudgetLimits(max_calls=table.calls, max_cost_usd=table.cost_usd, max_tokens=table.tokens)
    names = BudgetNames(calls="budget.calls", cost="budget.cost_usd", tokens="budget.tokens")
    if workers <= 1:
        return Budget(limits=limits, names=names, purse=LocalPurse())
    if run_id and store is not None and store.is_writable:
        return Budget(limits=limits, names=names, purse=SharedPurse(store, f"{run_id} model {name}"))
    return Budget(limits=limits.share(workers, worker_index), names=names)


def budget_of(table: Mapping[str, object]) -> Budget | None:
    """Return the budget of a `[[model]]` table with a name, None without one.

    Raises:
        ConfigurationError: if it is wrong.
    """
    value = table.get("budget")
    if value is None:
        return None
    try:
        limits = BudgetTable.model_validate(value)
    except ValidationError as exc:
        error = exc.errors(include_url=False)[0]
        location = ".".join(map(str, ("budget", *error["loc"])))
        raise ConfigurationError(f"model {table['name']!r}: {location}: {fact(error)}") from None
    return model_budget(limits, str(table["name"]))


class ExpectedPrices(Struct, frozen=True):
    """Prices and limits that are known before a request.

    Attributes:
        tokens: prices of the model; None where they are not configured.
        max_output_tokens: of an answer; None where it is not limited.
        is_of_host: the prices are parameters of the host, which computes costs from them.
    """

    tokens: TokenPrices | None = None
    max_output_tokens: int | None = None
    is_of_host: bool = False

    @classmethod
    def of(cls, host: Host, prices: Prices) -> ExpectedPrices:
        """Return what a host's parameters of these names say, else the prices of the configuration."""
        configured = prices.of_asked
        by_key: dict[str, float | None] = {}
        for key in (*PRICE_KEYS, *CACHE_PRICE_KEYS):
            price = getattr(host, key, None)
            if not isinstance(price, int | float) and configured is not None:
                price = getattr(configured, key)
            by_key[key] = price if isinstance(price, int | float) else None
        # In the order of PRICE_KEYS and CACHE_PRICE_KEYS.
        input_usd, output_usd, cached_usd, cache_write_usd = by_key.values()
        tokens = None
        if input_usd is not None and output_usd is not None:
            from pytest_evalstudio.core.usage import TokenPrices

            tokens = TokenPrices(
                input_usd=input_usd,
                output_usd=output_usd,
                cached_usd=cached_usd,
                cache_write_usd=cache_write_usd,
            )
        limit = getattr(host, "max_tokens", None)
        return cls(
            tokens,
            limit if isinstance(limit, int) else None,
            is_of_host=all(isinstance(getattr(host, key, None), int | float) for key in PRICE_KEYS),
        )

    def repriced(self, answer: Answer) -> Answer:
        """Return a stored answer at the present prices of its host, where it has any."""
        # Only prices of the host: those of the configuration are applied by `Prices`, to any host's answers.
        cost = self.tokens.cost_usd(answer.usage) if self.is_of_host and self.tokens is not None else None
        return answer if cost is None else structs.replace(answer, cost_usd=cost)

    def least(self, prompt: Prompt) -> Expected:
        """Return the amounts of a prompt without its answer."""
        tokens = chars_of(prompt) / CHARS_PER_TOKEN
        per_token = 0.0 if self.tokens is None else self.tokens.input_usd / 1e6
        return Expected(usd=tokens * per_token, tokens=tokens)


def unpriced_limit(host: Host, prices: ExpectedPrices, model: str, limit: str, consequence: str) -> str:
    """Return that a limit in US dollars lacks the prices of its model, "" where it does not.

    Args:
        host: of the model; only hosts that compute costs from prices are known to need them.
        prices: that are configured.
        model: name of the language model.
        limit: the setting with its value.
        consequence: of the missing prices.
    """
    if prices.tokens is not None or not all(hasattr(host, key) for key in PRICE_KEYS):
        return ""
    return (
        f"{limit}, and no price of {model!r} is configured: {consequence}; add [prices.{json.dumps(model)}],"
        f" or {' and '.join(PRICE_KEYS)}"
    )


UNHELD = "asking ends with the first reply, whose cost is not known"
"""Consequence of missing prices for a budget."""


def chars_of(prompt: Prompt) -> int:
    """Return the length of all texts of a prompt, and the estimated one of its images and files."""
    texts = len(prompt.text) + len(prompt.system) + sum(len(turn.content) for turn in prompt.conversation)
    return texts + sum(attachment.estimated_chars for attachment in prompt.media)


async def within_budget(
    budget: Budget,
    prices: ExpectedPrices,
    prompt: Prompt,
    request: Callable[[Prompt], Awaitable[Answer]],
    cost_of: Callable[[Answer], float | None],
) -> Answer:
    """Make one request within a budget.

    Args:
        budget: of the model.
        prices: that are known before the request.
        prompt: the question.
        request: makes the request.
        cost_of: returns the cost of an answer in US dollars, None where it is not known.

    Raises:
        NotAsked: if the budget does not allow it.
    """
    grant = await budget.reserve(chars_of(prompt), prices.least(prompt))
    if not isinstance(grant, Grant):
        raise NotAsked(grant)
    answer: Answer | None = None
    is_unusable = False
    try:
        answer = await request(prompt)
        return answer
    except HostFault as exc:
        is_unusable = exc.answered
        raise
    finally:
        # Also after a fault or a cancellation: what was reserved would otherwise stay reserved.
        budget.settle(
            grant,
            # An answer that cannot be used was paid for, too.
            answered=is_unusable or (answer is not None and not answer.error),
            cost_usd=cost_of(answer) if answer is not None else None,
            input_tokens=answer.usage.get("input_tokens", 0) if answer is not None else 0,
            output_tokens=answer.usage.get("output_tokens", 0) if answer is not None else 0,
        )
