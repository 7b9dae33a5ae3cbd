"""The documents of a corpus in chunks, read and cut as the embedded RAG reads and cuts them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.plugins.host import HostFault
from pytest_evalstudio.hosts._documents import read_document
from pytest_evalstudio.hosts.extractive import STOP_WORDS, grouped, singular
from pytest_evalstudio.text.prose import prose_sentences

__all__ = ["STOP_WORDS", "CorpusChunk", "corpus_chunks", "singular"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusChunk:
    """A stretch of a document, in whole sentences.

    Attributes:
        document: as it was given: path or URL.
        page: 1-based, 0 where the document has no pages.
    """

    sentences: tuple[str, ...]
    document: str
    page: int

    @property
    def text(self) -> str:
        return " ".join(self.sentences)


def corpus_chunks(
    documents: Sequence[str],
    *,
    cache: Path,
    chunk_chars: int,
    overlap_chars: int,
    allow_private_hosts: bool = False,
) -> Iterator[CorpusChunk]:
    """Yield the chunks of documents, in order.

    Args:
        documents: paths or URLs; a URL is downloaded once.
        cache: folder of answers and downloads.
        chunk_chars: a chunk's most characters; a longer sentence is a chunk of its own.
        overlap_chars: how much of a chunk's end the next one repeats, at most, in whole sentences.
        allow_private_hosts: whether a URL may lead to an address that is not public.

    Raises:
        DataError: if a document cannot be read.
        EvaluationError: if one cannot be downloaded.
    """
    for document in documents:
        try:
            parts = read_document(
                document, downloads=cache / "documents", allow_private_hosts=allow_private_hosts
            )
        except HostFault as exc:
            raise EvaluationError(str(exc)) from None
        for part in parts:
            sentences = [
                sentence for paragraph in part.text.split("\n\n") for sentence in _sentences(paragraph)
            ]
            for group in grouped(sentences, chunk_chars, overlap_chars):
                yield CorpusChunk(sentences=tuple(group), document=document, page=part.page)


def _sentences(paragraph: str) -> list[str]:
    """Return the sentences of a paragraph; a table is one, although its cells may end with full stops."""
    if paragraph.startswith("|"):
        return [" ".join(paragraph.split())]
    return [paragraph[start:end] for start, end in prose_sentences(paragraph)]
