"""Services with an existing collection, for tests that read its texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Self
from urllib.parse import unquote

import pytest

from pytest_evalstudio.formats.config import Configuration
from support.h2ogpte_server import H2OGPTe, H2OGPTeHandler
from support.openai_protocol import OpenAIFiles
from support.protocols import AWS, knowledge_base
from support.service import KEY, Request, Response, Service, running


class CollectionService:
    """A service with one collection.

    Attributes:
        host: that reaches it.
        option: of the host, with the id of a collection.
        collection: id.
        unfinished, failed: states of a document that is being ingested, and of one that could not be.
        access: credentials of the connection.
    """

    host: ClassVar[str]
    option: ClassVar[str]
    collection: ClassVar[str]
    unfinished: ClassVar[str]
    failed: ClassVar[str] = "failed"
    access: ClassVar[Mapping[str, Any]] = {"api_key": KEY}
    handler: ClassVar[Any] = None
    path: ClassVar[str] = ""
    state: Any
    service: Service | None = None

    def fill(self, documents: Mapping[str, Sequence[str]]) -> None:
        """Replace the documents: name to the texts of the chunks."""
        raise NotImplementedError

    def set_status(self, name: str, status: str) -> None:
        """Set the state of the ingestion of a document."""
        raise NotImplementedError

    def searched(self) -> list[str]:
        """Return the id of the collection of each question."""
        raise NotImplementedError

    def creations(self) -> int:
        """Return the number of collections that were made."""
        return 0

    @property
    def url(self) -> str:
        return f"{self.service.url if self.service else 'http://127.0.0.1:9'}{self.path}"

    @property
    def requests(self) -> list[Request]:
        assert self.service is not None
        return self.service.requests

    @property
    def faults(self) -> list[Response]:
        assert self.service is not None
        return self.service.faults

    @property
    def always(self) -> Response | None:
        assert self.service is not None
        return self.service.always

    @always.setter
    def always(self, response: Response | None) -> None:
        assert self.service is not None
        self.service.always = response

    @classmethod
    @contextmanager
    def running(cls) -> Iterator[Self]:
        """Run the service on loopback; it is S3, too."""
        instance = cls()
        with (
            running(instance.state, handler=cls.handler) as instance.service,
            pytest.MonkeyPatch.context() as patch,
        ):
            patch.setenv("AWS_ENDPOINT_URL_S3", instance.service.url)
            yield instance


class OpenAIVectorStore(CollectionService):
    host, option, collection, unfinished, path = "openai_rag", "vector_store_id", "vs_1", "in_progress", "/v1"

    def __init__(self) -> None:
        self.state = OpenAIFiles()

    def fill(self, documents: Mapping[str, Sequence[str]]) -> None:
        ids = {f"file-{number}": name for number, name in enumerate(documents, 1)}
        self.state.files = {id: (name, b"") for id, name in ids.items()}
        self.state.texts = {id: list(documents[name]) for id, name in ids.items()}
        self.state.stores = {self.collection: list(ids)}

    def set_status(self, name: str, status: str) -> None:
        [id] = [id for id, (other, _) in self.state.files.items() if other == name]
        self.state.statuses[id] = status

    def searched(self) -> list[str]:
        questions = [request for request in self.requests if request.path.endswith("/responses")]
        return [request.body["tools"][0]["vector_store_ids"][0] for request in questions]

    def creations(self) -> int:
        return int(self.state.creations)


class H2OGPTeCollection(CollectionService):
    host, option, collection, unfinished = "h2ogpte", "collection_id", "collection-1", "running"
    handler = H2OGPTeHandler

    def __init__(self) -> None:
        self.state = H2OGPTe()

    def fill(self, documents: Mapping[str, Sequence[str]]) -> None:
        self.state.collections = {self.collection: list(documents)}
        self.state.chunks = {name: list(texts) for name, texts in documents.items()}

    def set_status(self, name: str, status: str) -> None:
        self.state.statuses[name] = status

    def searched(self) -> list[str]:
        return [str(collection) for collection in self.state.sessions.values()]

    def creations(self) -> int:
        return len(self.state.created)


class BedrockKnowledgeBase(CollectionService):
    """A knowledge base of two data sources, whose documents are in S3 of the same server."""

    host, option, collection = "amazon_bedrock_rag", "knowledge_base_id", "KB12345678"
    unfinished, failed = "IN_PROGRESS", "FAILED"
    access = AWS
    page = 40
    bucket = "bank"
    sources = ("DSFIRST001", "DSLAST0002")

    def __init__(self) -> None:
        self.state = self._respond
        self.contents: dict[str, bytes] = {}
        self.statuses: dict[str, str] = {}
        self.custom = ""

    def fill(self, documents: Mapping[str, Sequence[str]]) -> None:
        self.contents = {name: "\n\n".join(texts).encode() for name, texts in documents.items()}

    def set_status(self, name: str, status: str) -> None:
        self.statuses[name] = status

    def searched(self) -> list[str]:
        retrievals = [
            request.body["retrieveAndGenerateConfiguration"]["knowledgeBaseConfiguration"]
            for request in self.requests
            if request.path.endswith("/retrieveAndGenerate")
        ]
        return [str(settings["knowledgeBaseId"]) for settings in retrievals]

    def _respond(self, request: Request) -> Response:
        path = unquote(request.path.partition("?")[0])
        if path.startswith(f"/{self.bucket}/"):
            content = self.contents.get(path.removeprefix(f"/{self.bucket}/docs/"))
            return Response(content) if content is not None else Response(b"", status=404)
        steps = path.strip("/").split("/")
        if steps[0] != "knowledgebases":
            return knowledge_base(request)
        if steps[1] != self.collection:
            body = {"message": f"no knowledge base {steps[1]}"}
            return Response(body, status=404, headers={"x-amzn-ErrorType": "ResourceNotFoundException"})
        if len(steps) == 3:
            sources = [
                {"dataSourceId": id, "name": id, "status": "AVAILABLE"} for id in ("DSFIRST001", "DSLAST0002")
            ]
            return Response({"dataSourceSummaries": [{**source, **self._head()} for source in sources]})
        names = list(self.contents)
        half = len(names) // 2
        names = names[:half] if steps[3] == self.sources[0] else names[half:]
        start = int((request.body or {}).get("nextToken", 0))
        details = [self._detail(name, steps[3]) for name in names[start : start + self.page]]
        more = {"nextToken": str(start + self.page)} if start + self.page < len(names) else {}
        return Response({"documentDetails": details, **more})

    def _head(self) -> dict[str, str]:
        return {"knowledgeBaseId": self.collection, "updatedAt": "2025-01-01T00:00:00Z"}

    def _detail(self, name: str, source: str) -> dict[str, Any]:
        identifier: dict[str, Any] = {
            "dataSourceType": "S3",
            "s3": {"uri": f"s3://{self.bucket}/docs/{name}"},
        }
        if name == self.custom:
            identifier = {"dataSourceType": "CUSTOM", "custom": {"id": name}}
        status = self.statuses.get(name, "INDEXED")
        return {**self._head(), "dataSourceId": source, "status": status, "identifier": identifier}


COLLECTION_SERVICES: tuple[type[CollectionService], ...] = (
    OpenAIVectorStore,
    H2OGPTeCollection,
    BedrockKnowledgeBase,
)


def settings(service: CollectionService, **more: Any) -> dict[str, Any]:
    """Return the tables of a configuration that reach a service in several ways."""
    reached = {"host": service.host, "url": service.url, **service.access, **more}
    openai = {"host": "openai_rag", "llm_model_name": "m", "api_key": KEY}
    return {
        "connection": {"kb": reached, "plain": {"host": "openai_llm", "api_key": KEY}},
        "model": [
            {"name": "existing", "llm_model_name": "m", service.option: service.collection, **reached},
            {"name": "environment", "vector_store_id": "${STORE}", **openai},
            {
                "name": "without retrieval",
                "host": "h2ogpte_llm",
                "url": "https://h2ogpte.example",
                "api_key": KEY,
            },
        ],
    }


def configuration(service: CollectionService, **more: Any) -> Configuration:
    """Return a configuration that reaches a service; further settings are those of the connection."""
    return Configuration.model_validate({"folder": Path.cwd(), **settings(service, **more)})
