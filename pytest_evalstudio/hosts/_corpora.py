"""Collections of documents at services: one per content and configuration, shared by all that use it."""

from __future__ import annotations

import asyncio
import hashlib
import json
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urlsplit

from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.plugins.host import HostFault
from pytest_evalstudio.core.reading import file_sha256
from pytest_evalstudio.hosts._documents import download, is_url
from pytest_evalstudio.hosts._threads import in_thread

if TYPE_CHECKING:
    from pytest_evalstudio.hosts._tools import Corpora, HostTools

S = TypeVar("S")
T = TypeVar("T")
INGESTION_TIMEOUT_S = 3600.0
UPLOADS = 8
"""Documents that are uploaded, or read from a collection, at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalDocument:
    """A document to ingest.

    Attributes:
        name: file name that the service gets; unique in its corpus.
        location: as the suite names it: path or URL.
        digest: SHA-256 of the content.
    """

    name: str
    path: Path
    location: str
    digest: str


@dataclass(kw_only=True)
class Collections:
    """The collections of one model.

    Args:
        register: of all collections.
        keep: whether they stay at the service at the end.
        configuration: of the collections: service, account, embedding model, …; a part of their address.
        downloads: folder of downloaded documents.
        allow_private_hosts, trusted_hosts: as of `HostTools`.
    """

    register: Corpora
    keep: bool
    configuration: Mapping[str, Any]
    downloads: Path
    allow_private_hosts: bool
    trusted_hosts: frozenset[str]
    ids: dict[tuple[str, ...], str] = field(default_factory=dict)
    _keys: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        tools: HostTools,
        *,
        keep: bool,
        service: Sequence[str],
        settings: Mapping[str, Any] | None = None,
    ) -> Collections:
        """Make the collections of a host.

        Args:
            keep: whether they stay at the service at the end.
            service: host, address and account; the account is a part of a digest only.
            settings: of the collections, e.g. the embedding model.

        Raises:
            ConfigurationError: if the host is not opened by the engine.
        """
        if tools.corpora is None:
            raise ConfigurationError(f"host {service[0]!r} was not opened; ask it through open_model")
        return cls(
            register=tools.corpora,
            keep=keep,
            configuration={"service": list(service), "settings": dict(settings or {})},
            downloads=tools.downloads or Path(tempfile.gettempdir()) / "evalstudio-documents",
            allow_private_hosts=tools.allow_private_hosts,
            trusted_hosts=tools.trusted_hosts,
        )

    async def ingest(
        self,
        corpus: tuple[str, ...],
        make: Callable[[Sequence[LocalDocument], str], Awaitable[str]],
        is_usable: Callable[[str], Awaitable[bool]],
    ) -> None:
        """Find or make the collection of a corpus.

        Args:
            corpus: paths and URLs of its documents.
            make: takes the documents and the address of the collection, and returns its id.
            is_usable: whether the service still has a collection.

        Raises:
            HostFault: if there are no documents, or they cannot be ingested.
        """
        if not corpus:
            raise HostFault(
                "no documents in this test's corpus; a RAG answers from documents: give the test a `corpus`"
            )
        documents = await in_thread(partial(self._documents, corpus))
        content = sorted((document.name, document.digest) for document in documents)
        key = hashlib.sha256(json.dumps([self.configuration, content], sort_keys=True).encode()).hexdigest()
        self.ids[corpus] = await self.register.acquire(key, lambda: make(documents, key), is_usable)
        self._keys[key] = self.ids[corpus]

    async def release(self, remove: Callable[[str], Awaitable[None]]) -> None:
        """Stop using all collections; `remove` gets the id of each that nobody else uses."""
        for key in list(self._keys):
            del self._keys[key]
            if collection := await self.register.release(key, keep=self.keep):
                await remove(collection)

    def _documents(self, corpus: Sequence[str]) -> list[LocalDocument]:
        """Return the documents of a corpus on the disk, each content once."""
        documents: dict[str, LocalDocument] = {}
        names: set[str] = set()
        for location in dict.fromkeys(corpus):
            path = self._path(location)
            try:
                digest = file_sha256(path)
            except OSError as exc:
                raise DataError(f"the document cannot be read: {exc.strerror}", source=location) from None
            if digest not in documents:
                name = _unique(_name(location, path), names)
                documents[digest] = LocalDocument(name=name, path=path, location=location, digest=digest)
        return list(documents.values())

    def _path(self, location: str) -> Path:
        if not is_url(location):
            return Path(location)
        return download(
            location,
            self.downloads,
            allow_private_hosts=self.allow_private_hosts,
            trusted_hosts=self.trusted_hosts,
        )


async def in_time(request: Awaitable[T], timeout_s: float, what: str) -> T:
    """Return the result of one request of an ingestion.

    Args:
        timeout_s: limit of the request; that of the whole ingestion is `ingest_timeout_s`.
        what: subject of the request, for the message.

    Raises:
        HostFault: if it takes longer.
    """
    try:
        async with asyncio.timeout(timeout_s) as limit:
            return await request
    except TimeoutError as exc:
        if not limit.expired():
            raise
        fact = f"{what}: no answer within {timeout_s:g} s (`timeout_s`)"
        raise HostFault(f"{fact}; raise it, or check the service", retry=True) from exc


async def uploaded(
    documents: Sequence[LocalDocument],
    upload: Callable[[LocalDocument], Awaitable[str]],
    timeout_s: float,
    progress: Callable[[str, int, int], None],
) -> list[str]:
    """Return the ids of the uploaded documents, in order.

    Args:
        upload: uploads one document and returns its id.
        timeout_s: limit of each upload.
        progress: as of `HostTools`.
    """

    def upload_in_time(document: LocalDocument) -> Awaitable[str]:
        return in_time(upload(document), timeout_s, f"the upload of {document.location}")

    return await in_parallel(
        documents, upload_in_time, lambda done: progress("uploaded documents", done, len(documents))
    )


async def in_parallel(
    items: Sequence[S], request: Callable[[S], Awaitable[T]], progress: Callable[[int], None]
) -> list[T]:
    """Return the results of a request for each item, in order; the first failure ends the others.

    Args:
        request: up to `UPLOADS` run at the same time.
        progress: called with the number of items that are done.
    """
    slots, done = asyncio.Semaphore(UPLOADS), 0

    async def result(item: S) -> T:
        nonlocal done
        async with slots:
            value = await request(item)
        done += 1
        progress(done)
        return value

    failure: Exception | None = None
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(result(item)) for item in items]
    except ExceptionGroup as exc:
        failure = exc.exceptions[0]
    if failure is not None:
        raise failure  # not within `except`, where it would lose its cause and have the group as its context
    return [task.result() for task in tasks]


def check_ingestion(*, existing: str, keep: bool, timeout_s: float) -> None:
    """Check the options of a host that ingests.

    Args:
        existing: id of a collection that the user made, "" for none.

    Raises:
        ConfigurationError: if they do not fit together.
    """
    if existing and keep:
        raise ConfigurationError("keep_collection: an existing collection is always kept; remove the key")
    if timeout_s <= 0:
        raise ConfigurationError(f"ingest_timeout_s = {timeout_s!r}: must be more than 0")


def _name(location: str, path: Path) -> str:
    """Return a document's file name, with a suffix by which the service can tell its kind."""
    name = PurePosixPath(unquote(urlsplit(location).path)).name if is_url(location) else path.name
    return name if Path(name).suffix else f"{name or 'document'}{path.suffix or '.txt'}"


def _unique(name: str, names: set[str]) -> str:
    """Return a name that no other document of the corpus has, and note it."""
    stem, suffix = Path(name).stem, Path(name).suffix
    number = 1
    while name in names:
        number += 1
        name = f"{stem}-{number}{suffix}"
    names.add(name)
    return name
