"""Services with an existing collection, for tests that read its texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Self

from pytest_evalstudio.formats.config import Configuration
from support.h2ogpte_server import H2OGPTe, H2OGPTeHandler
from support.openai_protocol import OpenAIFiles
from support.service import KEY, Request, Response, Service, running


class CollectionService:
    """A service with one collection.

    Attributes:
        host: that reaches it.
        option: of the host, with the id of a collection.
        collection: id.
        unfinished: state of a document that is being ingested.
    """

    host: ClassVar[str]
    option: ClassVar[str]
    collection: ClassVar[str]
    unfinished: ClassVar[str]
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
        """Run the service on loopback."""
        instance = cls()
        with running(instance.state, handler=cls.handler) as instance.service:
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


COLLECTION_SERVICES: tuple[type[CollectionService], ...] = (OpenAIVectorStore, H2OGPTeCollection)


def settings(service: CollectionService, **more: Any) -> dict[str, Any]:
    """Return the tables of a configuration that reach a service in several ways."""
    reached = {"host": service.host, "url": service.url, "api_key": KEY, **more}
    openai = {"host": "openai_rag", "llm_model_name": "m", "api_key": KEY}
    return {
        "connection": {"kb": reached, "plain": {"host": "openai_llm", "api_key": KEY}},
        "model": [
            {"name": "existing", "llm_model_name": "m", service.option: service.collection, **reached},
            {"name": "environment", "vector_store_id": "${STORE}", **openai},
            {
                "name": "bedrock",
                "host": "amazon_bedrock_rag",
                "llm_model_name": "m",
                "knowledge_base_id": "KB12345678",
            },
        ],
    }


def configuration(service: CollectionService, **more: Any) -> Configuration:
    """Return a configuration that reaches a service; further settings are those of the connection."""
    return Configuration.model_validate({"folder": Path.cwd(), **settings(service, **more)})
