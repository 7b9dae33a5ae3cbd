"""Questions in a mood."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_evalstudio.core.plugins.generator import generator


@generator(
    "sentiment_variation",
    name="Sentiment variation",
    instruction=(
        "Each question asks for a fact of the excerpt in a marked mood: angry, anxious, overjoyed, impatient"
        " or ironic, each question in another one. The mood changes nothing about the right answer, which is"
        " what the excerpt says, told calmly."
    ),
)
@dataclass(frozen=True)
class SentimentVariation:
    """A question that is put angrily, anxiously, happily or in irony, to which the answer is the same."""
