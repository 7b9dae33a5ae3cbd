"""Step 1: cluster the documents by topic."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from pytest_evalstudio.contrib.questions.corpus import CorpusChunk, corpus_chunks
from pytest_evalstudio.contrib.validation.methods.texts.language import ENGLISH, NAMES, language_of
from pytest_evalstudio.contrib.validation.methods.texts.words import class_tf_idf, topic_words
from pytest_evalstudio.contrib.validation.methods.topics.clustering import (
    Clustering,
    ClusteringSettings,
    best,
    clusterings,
    plane,
)
from pytest_evalstudio.contrib.validation.methods.topics.plot import topic_map
from pytest_evalstudio.contrib.validation.methods.topics.results import Chunk, Topic, TopicResults
from pytest_evalstudio.contrib.validation.steps.topic_modeling.files import ID, MAP, TOPICS
from pytest_evalstudio.contrib.validation.vectors import Vectors, text_vectors
from pytest_evalstudio.contrib.validation.workflow.context import StepContext
from pytest_evalstudio.contrib.validation.workflow.documents import relative
from pytest_evalstudio.contrib.validation.workflow.parameters import Count, Fraction, VectorChoice
from pytest_evalstudio.core.plugins.step import StepResult, step
from pytest_evalstudio.formats.fields import write_json
from pytest_evalstudio.scoring.masking import masked
from pytest_evalstudio.stats.types import Floats
from pytest_evalstudio.text.figures import counted, figure


@dataclass(frozen=True, slots=True, kw_only=True)
class _Passage:
    """A chunk of a document without personal data and secrets.

    Attributes:
        text: all sentences, masked.
        sentences: those that need no masking.
        unsafe: the other sentences, masked.
    """

    text: str
    sentences: tuple[str, ...]
    unsafe: tuple[str, ...]
    document: str
    page: int

    @classmethod
    def of(cls, chunk: CorpusChunk) -> _Passage:
        pairs = [(sentence, masked(sentence)) for sentence in chunk.sentences]
        return cls(
            text=masked(chunk.text),
            sentences=tuple(sentence for sentence, safe in pairs if safe == sentence),
            unsafe=tuple(safe for sentence, safe in pairs if safe != sentence),
            document=chunk.document,
            page=chunk.page,
        )


@step(ID, name="Topic modeling", number=1, extra="mrm")
@dataclass(frozen=True)
class TopicModeling:
    """Split the documents into chunks and cluster them; each cluster is a topic with its key words.

    Attributes:
        top_n_words: number of key words of a topic.
        min_topic_size: minimum number of chunks of a topic.
        chunk_chars: maximum length of a chunk, in whole sentences.
        overlap_chars: maximum length of the end of a chunk that the next one repeats.
        vectors: "embeddings", "tf-idf", or "auto": embeddings if a model is available.
        reduction: "pca", "umap", or "auto": PCA, and UMAP too for 200 chunks or more.
        umap_neighbors, umap_components, umap_min_dist: of UMAP; PCA is tried with as many components,
            and with two and four times as many.
        hdbscan_min_cluster_size, hdbscan_min_samples, hdbscan_cluster_selection_epsilon: of HDBSCAN, which is
            tried beside k-means.
    """

    top_n_words: Count = 10
    min_topic_size: Annotated[int, Field(ge=2)] = 3
    chunk_chars: Count = 500
    overlap_chars: Annotated[int, Field(ge=0)] = 0
    vectors: VectorChoice = "auto"
    reduction: Literal["auto", "pca", "umap"] = "auto"
    umap_neighbors: Annotated[int, Field(ge=2)] = 15
    umap_components: Annotated[int, Field(ge=2)] = 5
    umap_min_dist: Fraction = 0.0
    hdbscan_min_cluster_size: Annotated[int, Field(ge=2)] = 5
    hdbscan_min_samples: Count | None = None
    hdbscan_cluster_selection_epsilon: Annotated[float, Field(ge=0, le=1e9)] = 0.0
    configured: ClassVar[tuple[str, ...]] = ("embeddings",)

    def __post_init__(self) -> None:
        if self.overlap_chars >= self.chunk_chars:
            raise ValueError(
                f"overlap_chars = {self.overlap_chars}: must be less than chunk_chars = {self.chunk_chars}"
            )

    def run(self, context: StepContext) -> StepResult:
        """Run the step."""
        read = list(
            corpus_chunks(
                context.documents,
                cache=context.cache,
                chunk_chars=self.chunk_chars,
                overlap_chars=self.overlap_chars,
                allow_private_hosts=context.config.allow_private_hosts,
            )
        )
        context.progress(1, 3, "chunks read")
        passages = [_Passage.of(chunk) for chunk in read]
        texts = [passage.text for passage in passages]
        if len(texts) < 2 * self.min_topic_size:
            reason = f"one topic: {len(texts)} chunks are fewer than two topics of {self.min_topic_size}"
            return self._result(context, passages, None, None, [], reason)
        vectors = text_vectors(context, texts, self.vectors)
        context.progress(2, 3, "chunks embedded")
        tried = list(clusterings(vectors.rows, self._settings(context.workflow.seed), context.progress))
        reason = "" if tried else f"one topic: no configuration has two of {self.min_topic_size} chunks"
        return self._result(context, passages, vectors, best(tried) if tried else None, tried, reason)

    def _settings(self, seed: int) -> ClusteringSettings:
        return ClusteringSettings(
            least=self.min_topic_size,
            reduction=self.reduction,
            neighbors=self.umap_neighbors,
            components=self.umap_components,
            min_dist=self.umap_min_dist,
            min_cluster_size=self.hdbscan_min_cluster_size,
            min_samples=self.hdbscan_min_samples,
            epsilon=self.hdbscan_cluster_selection_epsilon,
            seed=seed,
        )

    def _result(
        self,
        context: StepContext,
        passages: list[_Passage],
        vectors: Vectors | None,
        clustering: Clustering | None,
        tried: list[Clustering],
        reason: str,
    ) -> StepResult:
        """Write the artifacts and return the result; `clustering` is None for one topic."""
        labels = clustering.labels.tolist() if clustering is not None else [0] * len(passages)
        rows = _rows(len(passages), vectors, clustering)
        placed = _chunks(context, passages, labels, plane(rows, context.workflow.seed))
        topics = _topics(placed, self.top_n_words)
        notes = [
            reason,
            vectors.note if vectors is not None else "",
            _masking_note(passages),
            _language_note(context, passages, vectors),
        ]
        notes = [note for note in notes if note]
        results = TopicResults(
            topics=len(topics),
            chunks=len(placed),
            vectors=vectors.method if vectors is not None else "none",
            clustering=clustering.method if clustering is not None else "none",
            silhouette=clustering.silhouette if clustering is not None else None,
            outliers=clustering.outliers if clustering is not None else 0,
            sizes={topic.id: topic.size for topic in topics},
        )
        _write(context, results, notes, tried, topics, placed)
        summary = f"{counted(results.topics, 'topic')} in {counted(results.chunks, 'chunk')}"
        if results.silhouette is not None:
            summary += f" by {results.vectors}; {results.clustering}, silhouette {figure(results.silhouette)}"
        return StepResult(summary=summary, notes=tuple(notes), figures=results)


def _rows(count: int, vectors: Vectors | None, clustering: Clustering | None) -> Floats:
    """Return the vectors that the map shows: reduced ones, else the texts', else zeros."""
    rows: Floats = np.zeros((count, 2))
    if clustering is not None:
        rows = clustering.reduced
    elif vectors is not None:
        rows = vectors.rows
    return rows


def _write(
    context: StepContext,
    results: TopicResults,
    notes: list[str],
    tried: list[Clustering],
    topics: list[Topic],
    chunks: list[Chunk],
) -> None:
    content = {
        "version": 1,
        "notes": notes,
        "method": {
            "vectors": results.vectors,
            "clustering": results.clustering,
            "silhouette": results.silhouette,
            "outliers": results.outliers,
        },
        "tried": [
            {
                "clustering": clustering.method,
                "topics": clustering.count,
                "silhouette": clustering.silhouette,
                "outliers": clustering.outliers,
            }
            for clustering in tried
        ],
        "topics": [asdict(topic) for topic in topics],
        "chunks": [asdict(chunk) for chunk in chunks],
    }
    write_json(context.folder / TOPICS, content)
    title = f"Topics of {context.workflow.name or 'the corpus'}: {counted(results.chunks, 'chunk')}"
    (context.folder / MAP).write_bytes(topic_map(title, topics, chunks).encode("utf-8"))


def _masking_note(passages: list[_Passage]) -> str:
    # Chunks may overlap: a sentence counts once.
    count = len({sentence for passage in passages for sentence in passage.unsafe})
    if not count:
        return ""
    masked = counted(count, "sentence is", "sentences are")
    return f"{masked} masked, since personal data or secrets are in them; no questions are made from them"


def _language_note(context: StepContext, passages: list[_Passage], vectors: Vectors | None) -> str:
    """Return a note if the embedded model, which is English, has embedded texts of other languages."""
    if vectors is None or context.config.embeddings.is_chosen or not vectors.method.startswith("embeddings"):
        return ""
    texts: dict[str, list[str]] = {}
    for passage in passages:
        texts.setdefault(passage.document, []).append(passage.text)
    languages = {language_of(parts) for parts in texts.values()} - {"", ENGLISH}
    if not languages:
        return ""
    names = ", ".join(NAMES[code] for code in sorted(languages))
    return (
        f"some documents are in {names}, and the embedding model is an English one: configure [embeddings]"
        ' model, or set "vectors": "tf-idf"'
    )


def _chunks(context: StepContext, passages: list[_Passage], labels: list[int], points: Floats) -> list[Chunk]:
    return [
        Chunk(
            id=f"c{number}",
            text=passage.text,
            sentences=passage.sentences,
            document=relative(passage.document, context.folder),
            page=passage.page,
            topic=str(label + 1),
            x=float(x),
            y=float(y),
        )
        for number, (passage, label, (x, y)) in enumerate(zip(passages, labels, points, strict=True), 1)
    ]


def _topics(chunks: list[Chunk], max_words: int) -> list[Topic]:
    members: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        members.setdefault(chunk.topic, []).append(chunk)
    ids = sorted(members, key=int)
    words = class_tf_idf(
        [[word for chunk in members[id] for word in topic_words(chunk.text)] for id in ids], max_words
    )
    return [
        Topic(
            id=id,
            words=tuple(top_words),
            size=len(members[id]),
            chunks=tuple(chunk.id for chunk in members[id]),
        )
        for id, top_words in zip(ids, words, strict=True)
    ]
