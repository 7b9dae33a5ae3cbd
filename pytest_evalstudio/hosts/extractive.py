"""The embedded RAG: no network, no model, the same answer every time."""

from __future__ import annotations

import math
import re
import tempfile
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.host import HostFault, host
from pytest_evalstudio.hosts._documents import MAX_DOCUMENT_BYTES, is_url, read_document
from pytest_evalstudio.hosts._threads import in_thread
from pytest_evalstudio.hosts._tools import HostTools

_WORD = re.compile(r"\w+(?:[.,']\w+)*")
SHARE_OF_TIMEOUT = 0.9
"""Share of `timeout_s` for a document: its own error comes before the timeout, which is retried."""

STOP_WORDS = frozenset(
    _WORD.findall(
        "a about all also am an and any are as at be been but by can could did do does for from had has have"
        " he her his how i if in into is it its may me more most my no not of on one or our she should so"
        " some than that the their them then there these they this to was we were what when where which who"
        " whom whose why will with would you your"
    )
)


@dataclass(frozen=True, slots=True)
class DocumentChunk:
    """Stretch of a document in whole sentences, with its position."""

    text: str
    sentences: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True)
class Index:
    """Index of one corpus; `owners[i]` is the chunk of sentence i."""

    chunks: tuple[DocumentChunk, ...]
    sentences: tuple[str, ...]
    owners: tuple[int, ...]
    chunk_scores: Callable[[list[str]], Sequence[float]]
    sentence_scores: Callable[[list[str]], Sequence[float]]


@host("extractive", name="Extractive RAG", kind="rag", caches=False, deterministic=True)
@dataclass(kw_only=True)
class Extractive:
    """Answers with the best sentences of the document chunks that share most words with the question.

    Ranking is BM25 (Robertson and Zaragoza, 2009) over words without stop words and plural endings.

    Attributes:
        top_k: number of retrieved chunks, which are the context.
        answer_sentences: number of their sentences in the answer, in the order of the documents.
        chunk_chars: maximum length of a chunk of whole sentences; a longer sentence is a separate chunk.
        overlap_chars: maximum overlap of consecutive chunks, in whole sentences.
        stem: whether "fee" matches "fees".
        stop_words: whether the most common English words are ignored.
        no_answer: the answer if no sentence shares a word with the question.
        max_document_bytes: larger documents are errors.
    """

    top_k: int = 3
    answer_sentences: int = 2
    chunk_chars: int = 800
    overlap_chars: int = 150
    stem: bool = True
    stop_words: bool = True
    no_answer: str = "The documents do not answer this question."
    max_document_bytes: int = MAX_DOCUMENT_BYTES
    _tools: HostTools | None = field(default=None, init=False, repr=False)
    _indices: dict[tuple[str, ...], Index] = field(default_factory=dict, init=False, repr=False)
    _temporary: tempfile.TemporaryDirectory[str] | None = field(default=None, init=False, repr=False)

    def open(self, tools: HostTools) -> None:
        """Take the tools and check the parameters.

        Raises:
            ConfigurationError: if a parameter makes no sense.
        """
        for name, least in (
            ("top_k", 1),
            ("answer_sentences", 1),
            ("chunk_chars", 1),
            ("overlap_chars", 0),
            ("max_document_bytes", 1),
        ):
            if getattr(self, name) < least:
                raise ConfigurationError(f"{name} = {getattr(self, name)}: must be {least} or more")
        if self.overlap_chars >= self.chunk_chars:
            raise ConfigurationError(
                f"overlap_chars = {self.overlap_chars}: must be less than chunk_chars = {self.chunk_chars}"
            )
        self._tools = tools

    async def prepare(self, corpus: tuple[str, ...]) -> None:
        if not corpus:
            raise HostFault(
                "no documents in this test's corpus; a RAG answers from documents: give the test a `corpus`"
            )
        if self._tools is None:
            raise ConfigurationError("host 'extractive' was not opened; ask it through open_model")
        self._indices[corpus] = await in_thread(
            partial(self._index, corpus, self._tools, self._downloads(self._tools))
        )

    async def answer(self, prompt: Prompt) -> Answer:
        index = self._indices[prompt.corpus]
        words = self._words(prompt.text)
        retrieved = best(index.chunk_scores(words), self.top_k)
        context = [index.chunks[at] for at in retrieved]
        # Sentences of chunks that were not retrieved must not be in the answer.
        scores = [
            score if owner in retrieved else 0.0
            for score, owner in zip(index.sentence_scores(words), index.owners, strict=True)
        ]
        positions: dict[str, int] = {}  # by sentence: overlapping chunks share some
        for at in best(scores, len(scores)):
            positions.setdefault(index.sentences[at], at)
        # By rank until here, now in the order of the documents.
        sentence_positions = sorted(list(positions.values())[: self.answer_sentences])
        return Answer(
            text=" ".join(index.sentences[at] for at in sentence_positions) or self.no_answer,
            context=tuple(chunk.text for chunk in context),
            context_sources=tuple(chunk.source for chunk in context),
            cost_usd=0.0,
        )

    async def close(self) -> None:
        self._indices.clear()
        if self._temporary is not None:
            self._temporary.cleanup()
            self._temporary = None

    def _index(self, corpus: tuple[str, ...], tools: HostTools, downloads: Path) -> Index:
        chunks = tuple(chunk for document in corpus for chunk in self._chunks(document, tools, downloads))
        owned = [(sentence, at) for at, chunk in enumerate(chunks) for sentence in chunk.sentences]
        return Index(
            chunks,
            tuple(sentence for sentence, _ in owned),
            tuple(at for _, at in owned),
            bm25([self._words(chunk.text) for chunk in chunks]),
            bm25([self._words(sentence) for sentence, _ in owned]),
        )

    def _chunks(self, document: str, tools: HostTools, downloads: Path) -> list[DocumentChunk]:
        chunks = []
        parts = read_document(
            document,
            downloads=downloads,
            max_bytes=self.max_document_bytes,
            timeout_s=SHARE_OF_TIMEOUT * tools.timeout_s,
            allow_private_hosts=tools.allow_private_hosts,
            trusted_hosts=tools.trusted_hosts,
        )
        for part in parts:
            source = _source(document, tools.folder) + (f"#page={part.page}" if part.page else "")
            sentences = [
                sentence
                for paragraph in part.text.split("\n\n")
                for sentence in (paragraph[start:end] for start, end in tools.split_sentences(paragraph))
            ]
            chunks += [
                DocumentChunk(" ".join(group), tuple(group), source)
                for group in grouped(sentences, self.chunk_chars, self.overlap_chars)
            ]
        return chunks

    def _downloads(self, tools: HostTools) -> Path:
        if tools.downloads is not None:
            return tools.downloads
        if self._temporary is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="evalstudio-")
        return Path(self._temporary.name)

    def _words(self, text: str) -> list[str]:
        words = _WORD.findall(text.lower())
        if self.stop_words:
            words = [word for word in words if word not in STOP_WORDS]
        return [singular(word) for word in words] if self.stem else words


def grouped(sentences: Sequence[str], most_chars: int, overlap_chars: int) -> list[list[str]]:
    """Group sentences into chunks of at most `most_chars` characters.

    Each group repeats as much of the end of the previous group as the overlap allows.

    >>> grouped(["aaaa", "bb", "cccc"], 8, 3)
    [['aaaa', 'bb'], ['bb', 'cccc']]
    """
    groups: list[list[str]] = []
    group: deque[str] = deque()
    length = -1  # of the group, one blank between sentences
    for sentence in sentences:
        if group and length + 1 + len(sentence) > most_chars:
            groups.append(list(group))
            length -= len(group.popleft()) + 1
            while group and (length > overlap_chars or length + 1 + len(sentence) > most_chars):
                length -= len(group.popleft()) + 1
        group.append(sentence)
        length += len(sentence) + 1
    return [*groups, list(group)] if group else groups


def best(scores: Sequence[float], most: int) -> list[int]:
    """Return the indices of the greatest scores above 0, greatest first; the earlier of equal scores first.

    >>> best([0.0, 2.0, 1.0, 2.0], 2)
    [1, 3]
    """
    return sorted(
        (at for at, score in enumerate(scores) if score > 0),
        key=lambda at: (-round(float(scores[at]), 6), at),
    )[:most]


def singular(word: str) -> str:
    """Return an English word without its plural ending.

    Source: Harman, 1991 ("How effective is suffixing?"), the S stemmer.

    >>> [singular(word) for word in ("fees", "policies", "boxes", "class", "status", "bus")]
    ['fee', 'policy', 'boxe', 'class', 'status', 'bus']
    """
    if len(word) > 3 and word.endswith("ies") and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("es") and not word.endswith(("aes", "ees", "oes")):
        return word[:-1]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("us", "ss")):
        return word[:-1]
    return word


def bm25(texts: Sequence[list[str]], k1: float = 1.2, b: float = 0.75) -> Callable[[list[str]], list[float]]:
    """Index texts for ranking by BM25.

    Args:
        texts: words of each text.
        k1: saturation of the term frequency, at least 0.
        b: normalisation by length, 0 to 1.

    Returns:
        A function from the words of a query to the score of each text; higher is more relevant.

    Source: Robertson and Zaragoza, 2009, with the inverse document frequency of Lucene; identical to bm25s
        with method="lucene", which takes half a second to import.

    >>> [round(score, 3) for score in bm25([["opening", "hours"], ["fees"]])(["fees"])]
    [0.0, 0.365]
    """
    mean_length = sum(map(len, texts)) / max(len(texts), 1)
    postings: dict[str, list[tuple[int, float]]] = {}
    for number, words in enumerate(texts):
        for word, count in Counter(words).items():
            saturation = count + k1 * (1 - b + b * len(words) / mean_length)
            postings.setdefault(word, []).append((number, count / saturation))

    def scores(query: list[str]) -> list[float]:
        totals = [0.0] * len(texts)
        for word in query:
            matches = postings.get(word, [])
            idf = math.log1p((len(texts) - len(matches) + 0.5) / (len(matches) + 0.5))
            for number, frequency in matches:
                totals[number] += idf * frequency
        return totals

    return scores


def _source(document: str, folder: Path) -> str:
    """Return a document's name in the record: its URL, or its path from the configuration's folder.

    For a file outside that folder it is the file name.
    """
    if is_url(document):
        return document
    path = Path(document).resolve()
    root = folder.resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
