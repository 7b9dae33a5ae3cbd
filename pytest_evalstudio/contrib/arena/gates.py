"""Terms of gates that speak of an arena: elo(MODEL) and win_rate(MODEL, OTHER)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pytest_evalstudio.analysis.gates import Gate, TermValue
from pytest_evalstudio.contrib.arena.results import Ratings
from pytest_evalstudio.core.errors import ConfigurationError, unknown_name


def check_terms(gates: Sequence[Gate], models: Collection[str] | None, *, is_configured: bool) -> None:
    """Check the models that gates name.

    Args:
        gates: parsed gates.
        models: labels of the models that play; None where they are not known.
        is_configured: whether there is an arena.

    Raises:
        ConfigurationError: if a model does not play, or there is no arena.
    """
    for gate in gates:
        if not is_configured:
            raise ConfigurationError(
                f"gate {gate.text!r}: there is no arena; add a table [arena] to evalstudio.toml"
            )
        for name in gate.names:
            if models is not None and name not in models:
                fault = unknown_name("model of the arena", name, models, f"Models: {', '.join(models)}.")
                raise ConfigurationError(f"gate {gate.text!r}: {fault}")


def term_values(ratings: Ratings) -> Mapping[str, TermValue]:
    """Return the values of the terms by name; a value is None for models without a game."""
    elo = {model.model: model.elo_median for model in ratings.models}
    rates: dict[tuple[str, str], float] = {}
    for pair in ratings.pairs:
        if pair.win_rate_a is not None:
            rates[pair.model_a, pair.model_b] = pair.win_rate_a
            rates[pair.model_b, pair.model_a] = 1 - pair.win_rate_a
    return {
        "elo": lambda names: elo.get(names[0]),
        "win_rate": lambda names: rates.get((names[0], names[1])),
    }
