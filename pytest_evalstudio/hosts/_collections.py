"""Texts of the documents of an existing collection, within limits of number, size and time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from pytest_evalstudio.core.plugins.host import CollectionDocument, HostFault
from pytest_evalstudio.hosts._corpora import in_parallel, in_time

T = TypeVar("T")
MAX_DOCUMENTS = 10_000
MAX_CHARS = 50_000_000
"""Maximum number of documents, and of their characters, that are read from a collection."""


async def read_documents(
    collection: str,
    entries: Sequence[T],
    read: Callable[[T], Awaitable[CollectionDocument]],
    timeout_s: float,
    progress: Callable[[str, int, int], None],
) -> list[CollectionDocument]:
    """Return the documents of a collection, in the order of its list.

    Args:
        collection: id, for messages.
        entries: of the list of documents.
        read: returns the text of one.
        timeout_s: limit of each document.
        progress: as of `HostTools`.

    Raises:
        HostFault: if there are none or too many, or one cannot be read.
    """
    if not entries:
        raise HostFault(f"collection {collection!r} has no documents; add some, or name another collection")
    chars = 0

    async def document_of(entry: T) -> CollectionDocument:
        nonlocal chars
        document = await in_time(read(entry), timeout_s, f"a document of collection {collection!r}")
        chars += len(document.text)
        if chars > MAX_CHARS:
            raise HostFault(f"collection {collection!r} has more than {MAX_CHARS:,} characters; divide it")
        return document

    def report(done: int) -> None:
        progress("read documents", done, len(entries))

    return await in_parallel(entries, document_of, report)


def check_number(count: int, collection: str) -> None:
    """Check the number of documents of a collection while it is listed.

    Raises:
        HostFault: if there are too many.
    """
    if count > MAX_DOCUMENTS:
        raise HostFault(f"collection {collection!r} has more than {MAX_DOCUMENTS:,} documents; divide it")


def still_ingested(collection: str, name: str) -> HostFault:
    """Return the fault of a document whose ingestion has not ended."""
    return HostFault(
        f"collection {collection!r}: the service still ingests {name}; try again when it has ended",
        retry=True,
    )
