"""Enterprise h2oGPTe with retrieval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from msgspec import structs

from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.plugins.host import CollectionDocument, HostFault, host
from pytest_evalstudio.hosts._chunks import joined_chunks
from pytest_evalstudio.hosts._collections import check_number, read_documents, still_ingested
from pytest_evalstudio.hosts._corpora import (
    INGESTION_TIMEOUT_S,
    Collections,
    LocalDocument,
    check_ingestion,
    in_time,
    uploaded,
)
from pytest_evalstudio.hosts._documents import is_url
from pytest_evalstudio.hosts._h2ogpte import AGENT_OPTION, H2OGPTEService, check_job, in_batches
from pytest_evalstudio.hosts._messages import conversation_text
from pytest_evalstudio.hosts._tools import HostTools

BATCH = 50
"""Documents per ingestion job: the client puts their ids into the address of the request."""
PAGE = 100
"""Documents per request of a list."""
_UNFINISHED, _WITHOUT_TEXT = ("scheduled", "queued", "running"), ("failed", "canceled")
"""States of documents."""


@host(
    "h2ogpte",
    name="Enterprise h2oGPTe RAG",
    kind="rag",
    extra="h2ogpte",
    client="h2ogpte",
    takes_system=True,
    agent_option=AGENT_OPTION,
    collection_option="collection_id",
)
@dataclass(kw_only=True)
class H2OGPTE(H2OGPTEService):
    """Retrieval and answers of Enterprise h2oGPTe, over the documents of a test.

    Attributes:
        collection_id: an existing collection in place of one that is made of the documents.
        keep_collection: whether a collection that was made, and the chats, stay at the service.
        ingest_timeout_s: seconds that the documents of a test may take, over all attempts; creation and each
            upload are limited by `timeout_s` too.
        collection_settings: settings of a collection that is made, passed through.
        embedding_model, prompt_template_id: of a collection that is made; None for the service's default.
        pre_prompt_query, prompt_query, pre_prompt_summary, prompt_summary, self_reflection_config,
        rag_config: passed through as they are.
    """

    embedding_model: str | None = None
    prompt_template_id: str | None = None
    pre_prompt_summary: str | None = None
    prompt_summary: str | None = None
    self_reflection_config: Mapping[str, Any] | None = None
    rag_config: Mapping[str, Any] | None = None
    collection_settings: Mapping[str, Any] | None = None
    collection_id: str = ""
    keep_collection: bool = False
    ingest_timeout_s: float = INGESTION_TIMEOUT_S
    _collections: Collections | None = field(default=None, init=False, repr=False)

    def open(self, tools: HostTools) -> None:
        """Check what can be checked without a request; see `H2OGPTEService.open_service`."""
        self.open_service("h2ogpte", tools)
        check_ingestion(
            existing=self.collection_id, keep=self.keep_collection, timeout_s=self.ingest_timeout_s
        )
        settings = {
            "embedding_model": self.embedding_model,
            "prompt_template_id": self.prompt_template_id,
            "collection_settings": self.collection_settings,
        }
        self._collections = Collections.of(
            tools, keep=self.keep_collection, service=("h2ogpte", self.url, self.api_key), settings=settings
        )

    @property
    def collections(self) -> Mapping[tuple[str, ...], str]:
        """Return the ids of the collections by corpus."""
        return self._collections.ids if self._collections is not None else {}

    async def prepare(self, corpus: tuple[str, ...]) -> None:
        assert self._collections is not None
        if self.collection_id:
            self._collections.ids[corpus] = self.collection_id
        else:
            await self._collections.ingest(corpus, self._ingest, self._exists)

    async def answer(self, prompt: Prompt) -> Answer:
        return await self.call(partial(self._answered, prompt, self.collections[prompt.corpus]))

    async def documents(self, collection: str) -> list[CollectionDocument]:
        """Return the documents of a collection, their texts joined from their chunks.

        Raises:
            HostFault: if there is no such collection, or its documents cannot be read.
        """
        assert self._tools is not None
        listing = self.call(partial(_listed, collection))
        entries = await in_time(listing, self._tools.timeout_s, f"the list of collection {collection!r}")

        async def read(entry: Any) -> CollectionDocument:
            if entry.status in _WITHOUT_TEXT:
                return CollectionDocument(name=str(entry.name), text="")
            chunks = await self.call(lambda client: client.list_document_chunks(entry.id, collection))
            texts = [str(chunk.text) for chunk in sorted(chunks, key=lambda chunk: int(chunk.id))]
            return CollectionDocument(name=str(entry.name), text=joined_chunks(texts))

        return await read_documents(collection, entries, read, self._tools.timeout_s, self._tools.progress)

    async def close(self) -> None:
        if self._sessions and not self.keep_collection:
            await self.start_removal(self.remove_sessions)
        if self._collections is not None:
            await self._collections.release(self._remove)

    def _answered(self, prompt: Prompt, collection: str, client: Any) -> Answer:
        system = "\n\n".join(filter(None, (self.system_prompt, prompt.system)))
        settings = {
            "system_prompt": system or self.system_prompt,
            "pre_prompt_query": self.pre_prompt_query,
            "prompt_query": self.prompt_query,
            "pre_prompt_summary": self.pre_prompt_summary,
            "prompt_summary": self.prompt_summary,
            "llm": self.model,
            "llm_args": dict(self.llm_args),
            "self_reflection_config": _plain(self.self_reflection_config),
            "rag_config": _plain(self.rag_config),
        }
        template = self.prompt_template_id if self.collection_id else None
        reply = self.asked(client, collection, conversation_text(prompt), settings, template)
        chunks = [chunk for chunk in client.list_chat_message_references(reply.id) if chunk.content.strip()]
        return structs.replace(
            self.described(client, reply),
            context=tuple(chunk.content for chunk in chunks),
            context_sources=tuple(map(_source, chunks)),
            context_scores=tuple(float(chunk.score) for chunk in chunks),
        )

    async def _ingest(self, documents: Sequence[LocalDocument], key: str) -> str:
        """Return the id of a new collection with all documents.

        Raises:
            HostFault: if one of them cannot be ingested; the collection is then removed.
        """
        assert self._tools is not None
        creation = self.call(partial(self._created, key))
        collection = await in_time(creation, self._tools.timeout_s, "a new collection")
        try:
            await self._fill(collection, documents)
        except BaseException:
            with suppress(Exception):  # the reason that filling failed is the error to report
                await self._remove(collection)
            raise
        return collection

    def _created(self, key: str, client: Any) -> str:
        return str(
            client.create_collection(
                name=f"evalstudio-{key[:12]}",
                description="Documents of a test suite of pytest-evalstudio",
                embedding_model=self.embedding_model,
                prompt_template_id=self.prompt_template_id,
                collection_settings=_plain(self.collection_settings),
            )
        )

    async def _fill(self, collection: str, documents: Sequence[LocalDocument]) -> None:
        assert self._tools is not None
        uploads = await uploaded(documents, self._upload, self._tools.timeout_s, self._tools.progress)
        ingested = 0
        for batch in in_batches(uploads, BATCH):
            job = await self.call(partial(self._ingested, collection, batch))
            check_job(job, "the documents could not be ingested", self._mask)
            ingested += len(batch)
            self._tools.progress("ingested documents", ingested, len(documents))

    async def _upload(self, document: LocalDocument) -> str:
        return await self.call(partial(_uploaded, document))

    def _ingested(self, collection: str, uploads: Sequence[str], client: Any) -> Any:
        return client.ingest_uploads(collection, uploads, timeout=self.ingest_timeout_s)

    async def _exists(self, collection: str) -> bool:
        try:
            await self.call(lambda client: client.get_collection(collection))
        except HostFault as fault:
            if type(fault.__cause__).__name__ == "ObjectNotFoundError":
                return False
            raise
        return True

    async def _remove(self, collection: str) -> None:
        await self.start_removal(
            lambda client: client.delete_collections([collection], timeout=self.patience_s)
        )


def _uploaded(document: LocalDocument, client: Any) -> str:
    with document.path.open("rb") as content:
        uri = document.location if is_url(document.location) else None
        return str(client.upload(document.name, content, uri=uri))


def _listed(collection: str, client: Any) -> list[Any]:
    """Return the entries of all documents of a collection.

    Raises:
        HostFault: if one is still being ingested, or there are too many.
    """
    entries: dict[str, Any] = {}
    while True:
        page = client.list_documents_in_collection(collection, offset=len(entries), limit=PAGE)
        count = len(entries)
        entries.update((entry.id, entry) for entry in page)
        for entry in page:
            if entry.status in _UNFINISHED:
                raise still_ingested(collection, str(entry.name))
        check_number(len(entries), collection)
        if len(entries) == count:  # not by the length of a page: the service may limit it further
            return list(entries.values())


def _plain(settings: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if settings is None else dict(settings)


def _source(chunk: Any) -> str:
    """Return the address of a chunk: that of its document, with the page where there is one."""
    document = chunk.uri if chunk.uri and is_url(chunk.uri) else chunk.document_name
    return f"{document}#page={chunk.pages}" if str(chunk.pages).isdecimal() else str(document)
