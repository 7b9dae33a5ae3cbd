"""Questions that turn on a not."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_evalstudio.core.plugins.generator import generator


@generator(
    "negation_and_contradiction",
    name="Negation and contradiction",
    instruction=(
        "Each question turns on a negation: what is not covered, not allowed, excepted, or whether the"
        " contrary of what the excerpt says is so. A reader who overlooks the negation answers wrongly. The"
        " answer is one sentence."
    ),
)
@dataclass(frozen=True)
class NegationAndContradiction:
    """Ask for exceptions, negations and contraries of statements."""
