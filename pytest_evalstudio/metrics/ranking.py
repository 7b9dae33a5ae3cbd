"""Ranking of retrieved chunks: reciprocal rank, precision, average precision, document recall."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from urllib.parse import unquote


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
    names = [name for name in unquote(path).replace("\\", "/").split("/") if name not in ("", ".")]
    if separator and scheme.lower() in ("http", "https") and names:
        names[0] = names[0].lower()
    return tuple(names)
