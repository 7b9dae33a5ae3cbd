"""Rules that choose a calibrated threshold, as users write them."""

from __future__ import annotations

import math

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.stats.risk_rule import RiskRule


def risk_rule(
    max_type_i: float | None = None, max_type_ii: float | None = None, cost: str | None = None
) -> RiskRule:
    """Return the rule that at most one of the arguments names; balanced error without any.

    Args:
        max_type_i: largest share of good answers that may fail, between 0 and 1.
        max_type_ii: largest share of bad answers that may pass, between 0 and 1.
        cost: "A:B", the costs of a good answer that fails and of a bad one that passes.

    Raises:
        ConfigurationError: if several are given, or one is out of range.

    >>> risk_rule(cost="1:20").cost_type_ii
    20.0
    """
    options = {"max_type_i": max_type_i, "max_type_ii": max_type_ii, "cost": cost or None}
    named = [name for name, value in options.items() if value is not None]
    if len(named) > 1:
        raise ConfigurationError(f"{' and '.join(named)} exclude each other; give one of them")
    if cost:
        type_i, type_ii = costs(cost)
        return RiskRule(rule="cost", cost_type_i=type_i, cost_type_ii=type_ii)
    if max_type_i is not None:
        return RiskRule(rule="max_type_i", limit=share("max_type_i", max_type_i))
    if max_type_ii is not None:
        return RiskRule(rule="max_type_ii", limit=share("max_type_ii", max_type_ii))
    return RiskRule()


def share(name: str, value: float) -> float:
    """Return a limit of an error rate.

    Raises:
        ConfigurationError: if it is not between 0 and 1.
    """
    if not 0 < value < 1:
        raise ConfigurationError(f"{name} = {value}: must lie between 0 and 1, e.g. 0.2")
    return value


def costs(text: str) -> tuple[float, float]:
    """Return the two costs of "A:B".

    Raises:
        ConfigurationError: if the text has another form.

    >>> costs("1:20")
    (1.0, 20.0)
    """
    parts = text.split(":")
    try:
        values = [float(part) for part in parts]
    except ValueError:
        values = []
    if len(values) != 2 or not all(math.isfinite(value) and value > 0 for value in values):
        raise ConfigurationError(
            f"cost = {text!r}: expected two positive numbers, e.g. 1:20 if a bad answer that passes costs"
            f" 20 times"
            " as much as a good one that fails"
        )
    return values[0], values[1]


def describe_rule(rule: RiskRule) -> str:
    """Return a rule in words.

    >>> describe_rule(RiskRule(rule="max_type_ii", limit=0.2))
    'type II at most 0.2, smallest type I'
    """
    if rule.rule == "max_type_i":
        return f"type I at most {rule.limit:g}, smallest type II"
    if rule.rule == "max_type_ii":
        return f"type II at most {rule.limit:g}, smallest type I"
    if rule.rule == "cost":
        return (
            f"smallest cost, {rule.cost_type_i:g} per good answer that fails and {rule.cost_type_ii:g} per"
            " bad one that passes"
        )
    return "smallest balanced error, the mean of type I and type II"
