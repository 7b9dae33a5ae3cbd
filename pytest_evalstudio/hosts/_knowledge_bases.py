"""Documents of Amazon Bedrock's knowledge bases: their list, and their texts in S3."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.plugins.host import CollectionDocument, HostFault
from pytest_evalstudio.hosts._collections import check_number, still_ingested
from pytest_evalstudio.hosts._documents import MAX_DOCUMENT_BYTES, READERS, converted

_UNFINISHED = ("PENDING", "STARTING", "IN_PROGRESS")
_INDEXED = ("INDEXED", "PARTIALLY_INDEXED", "METADATA_PARTIALLY_INDEXED", "METADATA_UPDATE_FAILED")
_REMOVED = ("DELETING", "DELETE_IN_PROGRESS", "NOT_FOUND")
MAX_PAGES = 10_000
"""Pages of a list: a service could send empty ones without an end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDocument:
    """A document of a knowledge base.

    Attributes:
        uri: in S3, e.g. "s3://bank/fees.md".
        is_indexed: whether the knowledge base has it.
    """

    uri: str
    is_indexed: bool


def stored_documents(knowledge_base: str, client: Any) -> list[StoredDocument]:
    """Return the documents of all data sources of a knowledge base.

    Args:
        client: of "bedrock-agent".

    Raises:
        HostFault: if one is still being ingested, is not in S3, or there are too many.
    """
    documents: list[StoredDocument] = []
    for source in _entries(
        client.list_data_sources, "dataSourceSummaries", {"knowledgeBaseId": knowledge_base}
    ):
        of_source = {"knowledgeBaseId": knowledge_base, "dataSourceId": source["dataSourceId"]}
        for entry in _entries(client.list_knowledge_base_documents, "documentDetails", of_source):
            if entry["status"] in _REMOVED:
                continue
            uri = entry["identifier"].get("s3", {}).get("uri", "")
            if not uri:
                raise HostFault(
                    f"data source {source['dataSourceId']} is not in S3, and Amazon Bedrock does not return"
                    " its texts; give the documents as files or URLs"
                )
            if entry["status"] in _UNFINISHED:
                raise still_ingested(knowledge_base, uri)
            documents.append(StoredDocument(uri=uri, is_indexed=entry["status"] in _INDEXED))
            check_number(len(documents), knowledge_base)
    return documents


def text_in_s3(document: StoredDocument, client: Any) -> CollectionDocument:
    """Return a document with its text; "" if it is not indexed, or of a kind that is not read.

    Args:
        client: of "s3".

    Raises:
        HostFault: if it is too large.
    """
    parts = urlsplit(document.uri)
    key = document.uri.partition("://")[2].partition("/")[2]  # "?" and "#" are characters of a key
    name = PurePosixPath(key).name or document.uri
    suffix = PurePosixPath(key).suffix.lower()
    if not document.is_indexed or suffix not in READERS:
        return CollectionDocument(name=name, text="")
    body = client.get_object(Bucket=parts.netloc, Key=key)["Body"]
    try:
        content = body.read(MAX_DOCUMENT_BYTES + 1)
    finally:
        body.close()
    if len(content) > MAX_DOCUMENT_BYTES:
        raise HostFault(f"larger than {MAX_DOCUMENT_BYTES:,} bytes; give a smaller document")
    try:
        pages = converted(content, suffix, document.uri)
    except DataError:  # damaged, or without text
        return CollectionDocument(name=name, text="")
    return CollectionDocument(name=name, text="\n\n".join(page.text for page in pages))


def _entries(
    request: Callable[..., Mapping[str, Any]], key: str, arguments: Mapping[str, str]
) -> Iterator[Mapping[str, Any]]:
    """Yield the entries of a list, page by page.

    Raises:
        HostFault: if it has no end.
    """
    token: dict[str, str] = {}
    for _ in range(MAX_PAGES):
        page = request(**arguments, **token)
        yield from page.get(key, ())
        if not page.get("nextToken"):
            return
        token = {"nextToken": page["nextToken"]}
    name = arguments["knowledgeBaseId"]
    raise HostFault(f"the list of {name!r} has more than {MAX_PAGES:,} pages; check the service")
