"""Questions among things that do not matter."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_evalstudio.core.plugins.generator import generator


@generator(
    "irrelevant_information",
    name="Irrelevant information",
    instruction=(
        "Each question asks for a fact of the excerpt after two or three sentences that have nothing to do"
        " with it: what the asker did today, other numbers and names, a second thought. None of it changes"
        " the right answer, which is what the excerpt says."
    ),
)
@dataclass(frozen=True)
class IrrelevantInformation:
    """A question with circumstances around it that have nothing to do with the answer."""
