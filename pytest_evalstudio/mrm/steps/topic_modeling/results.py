"""Id, artifacts and results of the step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

ID = "topic_modeling"
TOPICS = "topics.json"
MAP = "topic_map.svg"


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicResults:
    """Topics of the documents.

    Attributes:
        topics: number of topics.
        chunks: number of chunks.
        vectors: how texts became vectors: "embeddings", "tf-idf" or "none".
        clustering: the chosen configuration, "none" for one topic.
        silhouette: of the chosen configuration, −1.0 to 1.0; None for one topic.
        outliers: chunks that the clustering left out and that joined the nearest topic.
        sizes: number of chunks by topic id.
    """

    topics: int
    chunks: int
    vectors: str
    clustering: str
    silhouette: float | None
    outliers: int
    sizes: Mapping[str, int]
