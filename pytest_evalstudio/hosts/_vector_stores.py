"""Files of OpenAI's vector stores and their texts."""

from __future__ import annotations

from typing import Any

from pytest_evalstudio.core.plugins.host import CollectionDocument
from pytest_evalstudio.hosts._chunks import joined_chunks
from pytest_evalstudio.hosts._collections import check_number, still_ingested

MAX_PAGE = 100
"""Files per request of a list; the service allows no more."""
READ_RETRIES = 3
"""Retries of each request by the client: a vector store takes two requests per document."""


async def files_of(client: Any, store: str) -> list[Any]:
    """Return the entries of all files of a vector store.

    Raises:
        HostFault: if one is still being indexed, or there are too many.
    """
    files = []
    async for file in client.vector_stores.files.list(store, limit=MAX_PAGE, order="asc"):
        if file.status == "in_progress":
            raise still_ingested(store, str(file.id))
        files.append(file)
        check_number(len(files), store)
    return files


async def text_of(client: Any, store: str, file: Any) -> CollectionDocument:
    """Return a file of a vector store with its text; a file that was removed since is named by its id."""
    import openai

    try:
        name = str((await client.files.retrieve(file.id)).filename)
    except openai.NotFoundError:
        name = str(file.id)
    if file.status != "completed":
        return CollectionDocument(name=name, text="")
    parts = [part async for part in client.vector_stores.files.content(file.id, vector_store_id=store)]
    return CollectionDocument(name=name, text=joined_chunks(part.text or "" for part in parts))
