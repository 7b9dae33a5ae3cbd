"""Knowledge bases of Amazon Bedrock."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.codes import CONTENT_FILTER
from pytest_evalstudio.core.plugins.host import CollectionDocument, HostFault, host
from pytest_evalstudio.hosts._bedrock import Bedrock, request_id
from pytest_evalstudio.hosts._collections import read_documents
from pytest_evalstudio.hosts._corpora import INGESTION_TIMEOUT_S, check_ingestion, in_time
from pytest_evalstudio.hosts._knowledge_bases import StoredDocument, stored_documents, text_in_s3
from pytest_evalstudio.hosts._messages import conversation_text
from pytest_evalstudio.hosts._tools import HostTools


@host(
    "amazon_bedrock_rag",
    name="Amazon Bedrock knowledge base",
    kind="rag",
    extra="bedrock",
    client="boto3",
    finds_credentials=True,
    collection_option="knowledge_base_id",
)
@dataclass(kw_only=True)
class AmazonBedrockRAG(Bedrock):
    """A knowledge base of Amazon Bedrock, asked by `retrieve_and_generate`.

    The knowledge base has its documents already; those of a test are not sent.

    Attributes:
        llm_model_name: ARN or id of the model that writes the answers.
        knowledge_base_id: of the knowledge base.
        ingest_timeout_s: seconds that the texts of a knowledge base may take, where test cases are generated
            from it; each request is limited by `timeout_s` too.
        guardrailConfiguration, inferenceConfig, promptTemplate, orchestrationConfiguration,
        retrievalConfiguration: passed through as they are.
    """

    knowledge_base_id: str
    guardrailConfiguration: Mapping[str, Any] = field(default_factory=dict)  # noqa: N815
    inferenceConfig: Mapping[str, Any] = field(default_factory=dict)  # noqa: N815
    promptTemplate: Mapping[str, Any] = field(default_factory=dict)  # noqa: N815
    orchestrationConfiguration: Mapping[str, Any] = field(default_factory=dict)  # noqa: N815
    retrievalConfiguration: Mapping[str, Any] = field(default_factory=dict)  # noqa: N815
    ingest_timeout_s: float = INGESTION_TIMEOUT_S
    _progress: Callable[[str, int, int], None] = field(default=lambda *_: None, init=False, repr=False)

    def open(self, tools: HostTools) -> None:
        """Check what can be checked without a request; see `Bedrock.open_account`."""
        self.open_account("amazon_bedrock_rag", tools)
        check_ingestion(existing="", keep=False, timeout_s=self.ingest_timeout_s)
        self._progress = tools.progress

    async def answer(self, prompt: Prompt) -> Answer:
        request = self._request(prompt)
        return await self.call(
            "bedrock-agent-runtime", lambda client: self._read(client.retrieve_and_generate(**request))
        )

    async def documents(self, collection: str) -> list[CollectionDocument]:
        """Return the documents of a knowledge base, their texts read from S3 with the same credentials.

        Raises:
            HostFault: if there is no such knowledge base, or its documents are not in S3 or cannot be read.
        """
        listing = self.call("bedrock-agent", partial(stored_documents, collection))
        entries = await in_time(listing, self._timeout_s, f"the list of collection {collection!r}")

        async def read(entry: StoredDocument) -> CollectionDocument:
            try:
                return await self.call("s3", partial(text_in_s3, entry))
            except HostFault as fault:
                raise HostFault(f"{entry.uri}: {fault}", retry=fault.retry) from fault

        return await read_documents(collection, entries, read, self._timeout_s, self._progress)

    def _read(self, reply: Mapping[str, Any]) -> Answer:
        """Return the answer in a reply.

        Raises:
            HostFault: if it has none.
        """
        text = reply.get("output", {}).get("text")
        if not isinstance(text, str):
            raise self.without_answer()
        chunks = dict(_chunks(reply))
        return Answer(
            text=text,
            context=tuple(text for text, _ in chunks),
            context_sources=tuple(source for _, source in chunks),
            served_model=self.llm_model_name,
            request_id=request_id(reply),
            finish_reason=CONTENT_FILTER if reply.get("guardrailAction") == "INTERVENED" else "",
        )

    def _request(self, prompt: Prompt) -> dict[str, Any]:
        generation = {
            "guardrailConfiguration": self.guardrailConfiguration,
            "inferenceConfig": self.inferenceConfig,
            "promptTemplate": self.promptTemplate,
        }
        parts = {
            "generationConfiguration": {name: dict(value) for name, value in generation.items() if value},
            "orchestrationConfiguration": dict(self.orchestrationConfiguration),
            "retrievalConfiguration": dict(self.retrievalConfiguration),
        }
        return {
            "input": {"text": conversation_text(prompt)},
            "retrieveAndGenerateConfiguration": {
                "type": "KNOWLEDGE_BASE",
                "knowledgeBaseConfiguration": {
                    "knowledgeBaseId": self.knowledge_base_id,
                    "modelArn": self.llm_model_name,
                    **{name: value for name, value in parts.items() if value},
                },
            },
        }


def _chunks(reply: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], None]]:
    """Yield text and source of each cited chunk; a chunk that is cited again is the same key."""
    for citation in reply.get("citations", ()):
        for reference in citation.get("retrievedReferences", ()):
            text = reference.get("content", {}).get("text")
            if isinstance(text, str):
                yield (text, _source(reference.get("location", {}))), None


def _source(location: Mapping[str, Any]) -> str:
    """Return the address of a document, whatever kind of store it is in."""
    for entry in location.values():
        if isinstance(entry, Mapping):
            for name in ("uri", "url", "id", "query"):
                if isinstance(entry.get(name), str):
                    return str(entry[name])
    return ""
