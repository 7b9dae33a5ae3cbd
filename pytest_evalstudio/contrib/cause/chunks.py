"""Chunks of the baseline that today's answer lacks: gone, outranked, or changed with their document."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.core.text import excerpt
from pytest_evalstudio.text.sentences import split_sentences
from pytest_evalstudio.text.words import words_of

MASK = "****"
"""Part of a text that a record does not hold."""
MAX_DOCUMENT_BYTES = 5_000_000
QUOTE_CHARS = 60
LABEL_CHARS = 60
_TEXT_SUFFIXES = (".md", ".txt", ".rst", ".html", ".htm", ".csv", ".tsv", ".json", ".yaml", ".yml")
_WORD = re.compile(r"\w+(?:[.,]\w+)*")
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkChange:
    """Chunk of the baseline that today's chunks lack, or have at another rank.

    Attributes:
        label: its source, or the beginning of its text.
        text: as the baseline has it.
        rank: in the baseline, from 1.
        rank_now: of the chunk with the same text or source; 0 where it is not retrieved.
        has_text: whether a chunk of today has the same text.
        lost: sentences that no chunk of today has.
        lost_in_documents: those of them that no document has; None where the documents cannot be read.
        is_of_document: whether the documents have lost what the baseline's answer says and today's does not.
    """

    label: str
    text: str
    rank: int
    rank_now: int
    has_text: bool
    lost: tuple[str, ...]
    lost_in_documents: tuple[str, ...] | None
    is_of_document: bool


class Documents:
    """Texts of the documents that an application retrieves from, as they are today.

    Args:
        paths: of the files; those that are no text, or too long, are left out.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self._paths = tuple(dict.fromkeys(paths))

    @functools.cached_property
    def texts(self) -> Mapping[str, str]:
        """Return the folded text of each document by its name."""
        texts: dict[str, str] = {}
        for path in self._paths:
            try:
                if path.suffix.lower() in _TEXT_SUFFIXES and path.stat().st_size <= MAX_DOCUMENT_BYTES:
                    texts[path.name] = folded(path.read_text(encoding="utf-8", errors="replace"))
            except OSError:
                continue
        return texts

    @property
    def are_complete(self) -> bool:
        """Return whether there are documents, and all of them are known as texts."""
        return bool(self._paths) and len(self.texts) == len({path.name for path in self._paths})

    def have(self, sentence: str) -> bool:
        """Return whether a document has a sentence, whatever its blanks and capitals."""
        needle = folded(sentence)
        return any(needle in text for text in self.texts.values())

    def name_for(self, change: ChunkChange) -> str:
        """Return the document that a chunk comes from, by its source, else by its other sentences."""
        source = re.split(r"[#?]", change.label)[0].rpartition("/")[2]
        if source in self.texts:
            return source
        rest = [sentence for sentence in sentences_of(change.text) if sentence not in change.lost]
        for name, text in self.texts.items():
            if any(folded(sentence) in text for sentence in rest):
                return name
        return source if "." in source else ""


def folded(text: str) -> str:
    """Return a text with single blanks and without capitals, in which sentences are looked for."""
    return _BLANKS.sub(" ", text).strip().casefold()


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text."""
    return [text[start:end] for start, end in split_sentences(text)]


def changes_of(then: Answer, now: Answer, documents: Documents) -> tuple[ChunkChange, ...]:
    """Return the changes of the baseline's chunks, the one that its answer needs most first.

    Args:
        then: answer of the baseline.
        now: answer of today, as a record has it, so that both are masked alike.
        documents: as they are today.
    """
    needed = set(words_of(then.text)) - set(words_of(now.text))

    def need(change: ChunkChange) -> tuple[int, int]:
        text = " ".join(change.lost) or change.text
        return -len(needed.intersection(words_of(text))), change.rank

    return tuple(sorted(_changes(then, now, documents, needed), key=need))


def _changes(then: Answer, now: Answer, documents: Documents, needed: Set[str]) -> Iterator[ChunkChange]:
    ranks = {text: rank for rank, text in reversed(list(enumerate(now.context, 1)))}
    sources = {source: rank for rank, source in reversed(list(enumerate(now.context_sources, 1))) if source}
    text_now = folded(" \n ".join(now.context))
    for index, text in enumerate(then.context):
        source = then.context_sources[index] if index < len(then.context_sources) else ""
        if ranks.get(text) == index + 1:
            continue
        lost = tuple(sentence for sentence in sentences_of(text) if folded(sentence) not in text_now)
        lost_in_documents = _lost_in(documents, lost)
        words = {word for sentence in lost_in_documents or () for word in words_of(sentence)}
        yield ChunkChange(
            label=source or excerpt(text, LABEL_CHARS),
            text=text,
            rank=index + 1,
            rank_now=ranks.get(text) or sources.get(source, 0),
            has_text=text in ranks,
            lost=lost,
            lost_in_documents=lost_in_documents,
            is_of_document=bool(words & needed if needed else words),
        )


def _lost_in(documents: Documents, sentences: Sequence[str]) -> tuple[str, ...] | None:
    # A masked sentence is in no document as it stands.
    readable = [sentence for sentence in sentences if MASK not in sentence]
    if not documents.are_complete or len(readable) < len(sentences):
        return None
    return tuple(sentence for sentence in readable if not documents.have(sentence))


def quote_of(sentences: Sequence[str], answer: str) -> str:
    """Return the part of some sentences that an answer used: their longest common run of words.

    >>> quote_of(["A transfer abroad costs 12 USD."], "The fee is 12 USD.")
    '12 USD'
    """
    best = ""
    for sentence in sentences:
        first, second = _WORD.findall(sentence), _WORD.findall(answer)
        match = SequenceMatcher(
            None, [word.casefold() for word in first], [word.casefold() for word in second], autojunk=False
        ).find_longest_match()
        words = " ".join(first[match.a : match.a + match.size])
        best = max(best, words, key=len)
    return excerpt(best or sentences[0], QUOTE_CHARS)


def chunk_sentence(change: ChunkChange) -> str:
    """Return what became of a chunk."""
    label = f"`{change.label}`"
    baseline_rank = f"rank {change.rank} then"
    if change.has_text:
        return f"{label} is ranked {change.rank_now} in place of {change.rank}"
    if change.rank_now:
        missing = excerpt(" ".join(change.lost), QUOTE_CHARS)
        lack = f": {missing!r} is missing" if missing else ""
        return f"{label} has another text ({baseline_rank}){lack}"
    if not change.lost:
        return f"{label} is no longer retrieved ({baseline_rank}); its sentences are in other chunks"
    if change.lost_in_documents is None:
        return f"{label} is no longer retrieved ({baseline_rank})"
    if not change.lost_in_documents:
        return f"{label} is no longer retrieved ({baseline_rank}; its text is unchanged)"
    return f"{label} is no longer retrieved ({baseline_rank}); its document changed"


def document_sentence(change: ChunkChange, answer: str, document: str) -> str:
    """Return which sentence a document has lost."""
    assert change.lost_in_documents  # it has lost one
    quote = quote_of(change.lost_in_documents, answer)
    return f"the sentence with {quote!r} is gone" + (f" from `{document}`" if document else "")


def raw_chunks(then: Answer, now: Answer, recorded_now: Answer) -> tuple[str, ...]:
    """Return the baseline's chunks, unmasked where today's answer has them.

    Args:
        then: answer of the baseline, masked.
        now: answer of today.
        recorded_now: the same as a record has it.
    """
    raw = dict(zip(recorded_now.context, now.context, strict=True))
    return tuple(raw.get(text, text) for text in then.context)
