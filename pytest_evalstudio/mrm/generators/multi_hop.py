"""Questions that two places of the documents answer together."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_evalstudio.core.plugins.generator import generator


@generator(
    "multi_hop",
    name="Multi-hop",
    excerpts=2,
    instruction=(
        "Each question can be answered only by putting together one fact of excerpt 1 and one fact of excerpt"
        " 2; neither excerpt alone is enough. The evidence holds at least one quotation from each excerpt."
    ),
)
@dataclass(frozen=True)
class MultiHop:
    """Two facts, each from another chunk of a topic, that only together answer the question."""
