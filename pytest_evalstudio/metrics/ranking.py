"""Ranking of retrieved chunks: reciprocal rank, precision, average precision, labelled relevance."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from pytest_evalstudio.text.comparison import has_whole
from pytest_evalstudio.text.folding import fold


def reciprocal_rank(relevancies: Sequence[float], *, threshold: float = 0.7, last: int = 10) -> float:
    """Return 1 divided by the rank of the first relevant chunk.

    Args:
        relevancies: relevancy of each chunk in the order of retrieval.
        threshold: minimum relevancy of a relevant chunk.
        last: highest rank that counts.

    Returns:
        Fraction from 0.0 (no relevant chunk up to `last`) to 1.0 (first rank); higher is better.

    Source: Voorhees, 1999 (TREC-8 question answering).

    >>> reciprocal_rank([0.2, 0.7, 0.9])
    0.5
    """
    ranks = (rank for rank, relevancy in enumerate(relevancies[:last], start=1) if relevancy >= threshold)
    first = next(ranks, None)
    return 1 / first if first else 0.0


def soft_relevancy(relevancies: Sequence[float]) -> tuple[float, float]:
    """Return mean and maximum relevancy, the soft precision and recall of a retrieval.

    Args:
        relevancies: relevancy of each chunk from 0.0 to 1.0; at least one.

    Returns:
        Two fractions from 0.0 to 1.0; higher is better.

    Raises:
        ZeroDivisionError: if there are no chunks.

    Source: H2O Eval Studio, context relevancy (soft recall and precision).

    >>> soft_relevancy([0.25, 0.75])
    (0.5, 0.75)
    """
    return round(sum(relevancies) / len(relevancies), 9), max(relevancies)


def precision(relevant: Sequence[bool]) -> float:
    """Return the share of relevant items.

    Args:
        relevant: True for each relevant item; at least one item.

    Returns:
        Fraction from 0.0 to 1.0; higher is better.

    Raises:
        ZeroDivisionError: if there are no items.

    Source: Manning et al., 2008 (Introduction to Information Retrieval), section 8.4, precision at k.

    >>> precision([True, False, True, True])
    0.75
    """
    return sum(relevant) / len(relevant)


def average_precision(relevant: Sequence[bool]) -> float:
    """Return the mean of the precision at the rank of each relevant item.

    Args:
        relevant: True for each relevant item, in the order of retrieval.

    Returns:
        Fraction from 0.0 (no relevant item) to 1.0 (all relevant items precede all others); higher is better.

    Source: Es et al., 2023 (RAGAS), context precision.

    >>> average_precision([True, False, True])
    0.8333333333333333
    """
    hits, total = 0, 0.0
    for rank, is_relevant in enumerate(relevant, 1):
        if is_relevant:
            hits += 1
            total += hits / rank
    return total / hits if hits else 0.0


def missing_documents(expected: Sequence[str], sources: Sequence[str]) -> list[str]:
    """Return the expected documents that are not among the sources.

    Args:
        expected: URIs, paths or names of documents.
        sources: URIs, paths or names of the retrieved chunks' documents.

    Returns:
        A subset of `expected` in its order.

    >>> missing_documents(["a.pdf", "docs/b.pdf"], ["https://host/files/a.pdf#page=3", "/other/b.pdf"])
    ['docs/b.pdf']
    """
    names = {source.strip() for source in sources}
    return [
        name
        for name in expected
        if name not in names and not any(same_document(name, source) for source in names)
    ]


def same_document(expected: str, source: str) -> bool:
    """Return True if two URIs or paths can denote the same document.

    Scheme, query, fragment, percent encoding and the kind of slash are ignored. A shorter path matches every
    path that ends with it, by whole names: `b.pdf` matches `/docs/b.pdf`, `x/b.pdf` does not.

    Args:
        expected: URI or path.
        source: URI or path.

    >>> same_document("docs/a b.pdf", "https://host/docs/a%20b.pdf?v=2")
    True
    """
    first, second = _names(expected), _names(source)
    length = min(len(first), len(second))
    return length > 0 and first[-length:] == second[-length:]


@functools.lru_cache(maxsize=4096)
def _names(uri: str) -> tuple[str, ...]:
    scheme, separator, rest = uri.strip().partition("://")
    path = rest if separator else scheme.removeprefix("file:")
    path = path.partition("#")[0]
    if separator:
        path = path.partition("?")[0]
    names = [name for name in fold(unquote(path)).replace("\\", "/").split("/") if name not in ("", ".")]
    if separator and scheme.lower() in ("http", "https") and names:
        names[0] = names[0].lower()
    return tuple(names)


@dataclass(frozen=True, slots=True)
class RankingFigures:
    """Figures of a ranking against labels; fractions from 0.0 to 1.0, higher is better.

    Attributes:
        recall: relevant items among the first k / all relevant items.
        precision: relevant items among the first k / k; without a limit, / number of items.
        hit_rate: 1.0 if any of the first k is relevant.
        reciprocal_rank: 1 / rank of the first relevant item.
        ndcg: discounted cumulative gain / that of a perfect ranking, with gain 1 and discount log2(rank + 1).
    """

    recall: float
    precision: float
    hit_rate: float
    reciprocal_rank: float
    ndcg: float


def ranking_figures(matches: Sequence[int], total: int, k: int = 0) -> RankingFigures:
    """Compare a ranking with labels.

    Args:
        matches: number of expected items that each retrieved item is, in the order of retrieval: 0 for an
            irrelevant one, 1 for a relevant one, more where it contains several expected ones.
        total: number of expected items; at least 1 and at least the sum of `matches`.
        k: number of the first items that count; 0 for all.

    Source: Manning et al., 2008 (Introduction to Information Retrieval), section 8.4; Järvelin and
        Kekäläinen, 2002 (Cumulated gain-based evaluation of IR techniques).

    >>> figures = ranking_figures([0, 1, 1], total=4, k=2)
    >>> figures.recall, figures.precision, figures.reciprocal_rank
    (0.25, 0.5, 0.5)
    """
    first = [count > 0 for count in (matches[:k] if k else matches)]
    hits = sum(first)
    gains = math.fsum(_discount(rank) for rank, is_relevant in enumerate(first, 1) if is_relevant)
    relevant = total - sum(count - 1 for count in matches if count)
    best = math.fsum(map(_discount, range(1, min(relevant, k or relevant) + 1)))
    return RankingFigures(
        recall=sum(matches[: len(first)]) / total,
        precision=hits / (k or len(first)) if hits else 0.0,
        hit_rate=float(hits > 0),
        reciprocal_rank=1 / (first.index(True) + 1) if hits else 0.0,
        ndcg=gains / best,
    )


def _discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def document_matches(expected: Sequence[str], sources: Sequence[str]) -> tuple[list[int], list[str]]:
    """Return how many expected documents each retrieved one is, and the expected ones that are missing.

    Args:
        expected: distinct URIs, paths or names of documents.
        sources: URI of each retrieved chunk; the first chunk of a document gives its rank, and chunks without
            a URI are documents of their own.

    >>> document_matches(["a.pdf", "b.pdf"], ["docs/c.pdf", "docs/a.pdf", "docs/a.pdf"])
    ([0, 1], ['b.pdf'])
    """
    open_names = list(expected)
    counts: list[int] = []
    documents: set[str] = set()
    for source in map(str.strip, sources):
        if source and source in documents:
            continue
        documents.add(source)
        matching = [name for name in open_names if name == source or same_document(name, source)]
        counts.append(len(matching))
        open_names = [name for name in open_names if name not in matching]
    return counts, open_names


def chunk_matches(expected: Sequence[str], chunks: Sequence[str]) -> tuple[list[int], list[str]]:
    """Return how many expected chunks each retrieved one is, and the expected ones that are missing.

    Case, blanks and look-alikes do not count; words and numbers count as a whole ("c1" is not in "c10"). A
    chunk is an expected one if it contains its text, or is contained in it and has at least half of its
    length, since splitters set other ends. Each expected chunk counts once, for the first chunk that is it.

    Args:
        expected: texts.
        chunks: texts in the order of retrieval.

    >>> chunk_matches(["Cards are free.", "It costs 5 USD."], ["Fees", "Note: cards are  free. Enjoy."])
    ([0, 1], ['It costs 5 USD.'])
    """
    open_texts = {text: _plain(text) for text in expected}
    counts: list[int] = []
    for chunk in map(_plain, chunks):
        matching = [
            text
            for text, plain in open_texts.items()
            if has_whole(chunk, plain) or (len(chunk) >= len(plain) / 2 and has_whole(plain, chunk))
        ]
        counts.append(len(matching))
        for text in matching:
            del open_texts[text]
    return counts, list(open_texts)


def _plain(text: str) -> str:
    return " ".join(fold(text).casefold().split())
