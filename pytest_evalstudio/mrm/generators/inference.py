"""Questions for what follows."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_evalstudio.core.plugins.generator import generator


@generator(
    "inference",
    name="Inference",
    instruction=(
        "Each question asks for something that the excerpt does not say in so many words, and that follows"
        " from it in one or two plain steps, without knowledge from elsewhere. The answer says what follows,"
        " in one sentence."
    ),
)
@dataclass(frozen=True)
class Inference:
    """Ask for a conclusion from the documents that they do not state literally."""
