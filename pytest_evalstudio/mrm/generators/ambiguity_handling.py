"""Questions that can be understood in several ways."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_evalstudio.core.plugins.generator import generator


@generator(
    "ambiguity_handling",
    name="Ambiguity handling",
    instruction=(
        "Each question leaves open which of two or more things of the excerpt is meant, as people do who know"
        " only one of them. A good reply names the readings and answers each of them, or asks which is meant."
        " The answer does so."
    ),
)
@dataclass(frozen=True)
class AmbiguityHandling:
    """A question that can be meant in two ways, to which a good answer covers both or asks back."""
