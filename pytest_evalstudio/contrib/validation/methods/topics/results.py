"""Topics of documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A cluster of chunks.

    Attributes:
        words: key words, the most characteristic first.
        size: number of chunks.
        chunks: their ids.
    """

    id: str
    words: tuple[str, ...]
    size: int
    chunks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A passage of a document.

    Attributes:
        sentences: those that questions may be made from.
        document: path from the step's folder, or a URL.
        page: 0 if the document has no pages.
        topic: id.
        x, y: position on the map, 0.0 to 1.0.
    """

    id: str
    text: str
    sentences: tuple[str, ...]
    document: str
    page: int = 0
    topic: str
    x: float = 0.0
    y: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicsFile:
    """Topics and chunks as later steps read them."""

    topics: tuple[Topic, ...]
    chunks: tuple[Chunk, ...]
