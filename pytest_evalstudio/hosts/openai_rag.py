"""Answers from documents by OpenAI's file search."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeVar

from pytest_evalstudio.core.attachments import MEDIA_TYPES
from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.codes import CONTENT_FILTER, LENGTH, STOP, finish_reason, is_incomplete
from pytest_evalstudio.core.errors import EvalStudioError
from pytest_evalstudio.core.json_data import non_empty
from pytest_evalstudio.core.plugins.host import CollectionDocument, HostFault, host
from pytest_evalstudio.core.usage import usage_of
from pytest_evalstudio.hosts._attachments import response_content
from pytest_evalstudio.hosts._collections import read_documents
from pytest_evalstudio.hosts._connected import check_arguments, require_key
from pytest_evalstudio.hosts._corpora import (
    INGESTION_TIMEOUT_S,
    Collections,
    LocalDocument,
    check_ingestion,
    in_time,
    uploaded,
)
from pytest_evalstudio.hosts._faults import quoted, withheld
from pytest_evalstudio.hosts._malformed import CHECK_REPLY
from pytest_evalstudio.hosts._messages import messages, system_text
from pytest_evalstudio.hosts._openai import OpenAIService
from pytest_evalstudio.hosts._threads import in_thread
from pytest_evalstudio.hosts._tools import HostTools
from pytest_evalstudio.hosts._vector_stores import READ_RETRIES, files_of, text_of

T = TypeVar("T")
POLL_S = 0.2  # small files are ready in less than a second
MAX_POLL_S = 2.0  # large ones take minutes, and each look is a request
REMOVALS = 8
"""Documents that are removed at the same time."""
REMOVAL_S = 10.0
"""Seconds for the removal of a vector store that could not be completed."""
NO_CONTEXTS = (
    "the Assistants interface does not return the retrieved chunks: evaluators that need the context score"
    ' nothing; use api = "responses"'
)


@host(
    "openai_rag",
    name="OpenAI file search",
    kind="rag",
    extra="openai",
    client="openai",
    takes_system=True,
    media_types=MEDIA_TYPES,
    collection_option="vector_store_id",
)
@dataclass(kw_only=True)
class OpenAIRag(OpenAIService):
    """OpenAI's models with file search over the documents of a test.

    Attributes:
        url: base of the service; another one for a gateway or a region.
        api: "responses" returns the retrieved chunks; "assistants" does not.
        vector_store_id: an existing vector store in place of one that is made of the documents.
        keep_collection: whether a vector store that was made stays at the service.
        ingest_timeout_s: seconds that the documents of a test may take, over all attempts; each request is
            limited by `timeout_s` too.
        file_search: settings of the tool (max_num_results, filters, ranking_options), passed through.
        arguments: further arguments of a response, passed through as they are.
        assistant_kwargs, thread_kwargs, run_kwargs: arguments of assistants, threads and runs.
    """

    url: str = "https://api.openai.com/v1"
    llm_model_name: str
    api: Literal["responses", "assistants"] = "responses"
    system_prompt: str = ""
    temperature: float | None = None
    max_tokens: int | None = None
    vector_store_id: str = ""
    keep_collection: bool = False
    ingest_timeout_s: float = INGESTION_TIMEOUT_S
    file_search: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    assistant_kwargs: Mapping[str, Any] = field(default_factory=dict)
    thread_kwargs: Mapping[str, Any] = field(default_factory=dict)
    run_kwargs: Mapping[str, Any] = field(default_factory=dict)
    _set_by_host: ClassVar = ("model", "input", "instructions", "stream")
    _collections: Collections | None = field(default=None, init=False, repr=False)
    _progress: Any = field(default=None, init=False, repr=False)
    _timeout_s: float = field(default=120.0, init=False, repr=False)
    _assistants: dict[str, asyncio.Task[str]] = field(default_factory=dict, init=False, repr=False)

    def open(self, tools: HostTools) -> None:
        """Check what can be checked without a request.

        Raises:
            ConfigurationError: if the client or the key is missing, or a parameter cannot be right.
        """
        require_key("api_key", self.api_key, "OPENAI_API_KEY")
        self.check_service(tools)
        check_ingestion(
            existing=self.vector_store_id, keep=self.keep_collection, timeout_s=self.ingest_timeout_s
        )
        check_arguments(self.arguments, self._set_by_host)
        if self.api == "assistants":
            tools.note(NO_CONTEXTS)
        self._progress, self._timeout_s = tools.progress, tools.timeout_s
        self._collections = Collections.of(
            tools, keep=self.keep_collection, service=("openai_rag", self.url, self.api_key)
        )

    @property
    def collections(self) -> Mapping[tuple[str, ...], str]:
        """Return the ids of the vector stores by corpus."""
        return self._collections.ids if self._collections is not None else {}

    async def prepare(self, corpus: tuple[str, ...]) -> None:
        assert self._collections is not None
        if self.vector_store_id:
            self._collections.ids[corpus] = self.vector_store_id
            return
        try:
            await self._collections.ingest(corpus, self._ingest, self._exists)
        except Exception as exc:
            raise self._hosts_fault(exc) from exc

    async def answer(self, prompt: Prompt) -> Answer:
        store = self.collections[prompt.corpus]
        try:
            if self.api == "assistants":
                return await self._answer_of_assistant(prompt, store)
            return self._read(await self.client().responses.create(**self._request(prompt, store)))
        except Exception as exc:
            raise self._hosts_fault(exc) from exc

    async def documents(self, collection: str) -> list[CollectionDocument]:
        """Return the files of a vector store with the texts that the service extracted from them.

        Raises:
            HostFault: if there is no such vector store, or its files cannot be read.
        """
        client = self.client().with_options(max_retries=READ_RETRIES)
        try:
            listing = files_of(client, collection)
            files = await in_time(listing, self._timeout_s, f"the list of collection {collection!r}")

            async def read(file: Any) -> CollectionDocument:
                return await text_of(client, collection, file)

            return await read_documents(collection, files, read, self._timeout_s, self._progress)
        except Exception as exc:
            raise self._hosts_fault(exc) from exc

    async def close(self) -> None:
        try:
            # Also after a failure to make one: the others must still be removed.
            for task in self._assistants.values():
                with suppress(Exception):
                    await _without_warning(self.client().beta.assistants.delete, await task)
            if self._collections is not None:
                await self._collections.release(self._remove)
        except Exception as exc:
            raise self._hosts_fault(exc) from exc
        finally:
            await super().close()

    def _request(self, prompt: Prompt, store: str) -> dict[str, Any]:
        system = system_text(self.system_prompt, prompt)
        settings = {"temperature": self.temperature, "max_output_tokens": self.max_tokens}
        return {
            "model": self.llm_model_name,
            "input": messages(prompt, response_content),
            **non_empty(instructions=system),
            **{name: value for name, value in settings.items() if value is not None},
            "tools": [{"type": "file_search", "vector_store_ids": [store], **self.file_search}],
            # Without it the service does not send the chunks that it found.
            "include": ["file_search_call.results"],
            # Last, so that the user's own arguments win.
            **self.arguments,
        }

    def _read(self, reply: Any) -> Answer:
        """Return the answer in a response.

        Raises:
            HostFault: if it has no text.
        """
        output = getattr(reply, "output", None)
        if error := getattr(reply, "error", None):
            reason = quoted(str(getattr(error, "message", error) or "it names no reason"), self._mask)
            raise HostFault(f"{self.url} answered with an error: {reason}; check the service", retry=True)
        if not isinstance(output, list):
            reason = quoted(str(reply), self._mask)
            raise HostFault(f"{self.url} sent a reply without an answer: {reason}; {CHECK_REPLY}")
        parts = [
            part
            for item in output
            if getattr(item, "type", "") == "message"
            for part in getattr(item, "content", None) or ()
        ]
        text = "".join(str(getattr(part, "text", None) or getattr(part, "refusal", "")) for part in parts)
        usage = usage_of(reply.usage)
        reason = _finish_reason(reply)
        # Before the check of parts: an incomplete response may have no message at all.
        if is_incomplete(reason) and not text:
            raise _without_text(reason)
        if not parts:
            raise HostFault(f"{self.url} sent a response without a message; check arguments and file_search")
        chunks = list(_results(output))
        if not all(isinstance(chunk.text, str) for chunk in chunks):
            raise HostFault(f"{self.url} sent a retrieved chunk without a text; {CHECK_REPLY}")
        return Answer(
            text=text,
            context=tuple(chunk.text for chunk in chunks),
            context_sources=tuple(str(chunk.filename or chunk.file_id or "") for chunk in chunks),
            context_scores=tuple(float(chunk.score or 0.0) for chunk in chunks),
            usage=usage,
            cost_usd=self.reported_cost((str(reply.model), self.llm_model_name), reply.usage),
            served_model=str(reply.model or ""),
            request_id=str(getattr(reply, "_request_id", None) or reply.id or ""),
            finish_reason=reason,
        )

    async def _answer_of_assistant(self, prompt: Prompt, store: str) -> Answer:
        """Return the answer of an assistant, which is made once per vector store."""
        if prompt.media:
            raise HostFault('api = "assistants" takes no images and files; set api = "responses"')
        beta: Any = getattr(self.client(), "beta", None)
        if not hasattr(beta, "assistants"):
            remedy = 'set api = "responses", or install an older one'
            raise HostFault(f"the installed openai package has no assistants; {remedy}")
        # One that failed is made again: a limit of the service may be over by the next question.
        if store not in self._assistants or _failed(self._assistants[store]):
            self._assistants[store] = asyncio.create_task(self._made_assistant(store))
        # Several questions wait for one assistant; a cancelled one must not cancel it for the others.
        assistant = await asyncio.shield(self._assistants[store])
        thread = await _without_warning(
            beta.threads.create, **{"messages": _for_threads(messages(prompt)), **self.thread_kwargs}
        )
        system = {"additional_instructions": prompt.system} if prompt.system else {}
        run = await _without_warning(
            beta.threads.runs.create,
            thread_id=thread.id,
            assistant_id=assistant,
            **{**system, **self.run_kwargs},
        )
        run = await self._finished_run(beta, run, thread.id)
        replies = await _without_warning(beta.threads.messages.list, thread_id=thread.id, run_id=run.id)
        text = "\n".join(
            part.text.value
            # The service lists the latest message first.
            for message in reversed(replies.data)
            for part in message.content
            if part.type == "text"
        )
        with suppress(Exception):  # the answer is there; a thread that stays holds up no verdict
            await _without_warning(beta.threads.delete, thread.id)
        reason = _finish_reason(run)
        if is_incomplete(reason) and not text:
            raise _without_text(reason)
        return Answer(
            text=text,
            usage=usage_of(run.usage),
            served_model=str(run.model or ""),
            request_id=str(run.id or ""),
            finish_reason=reason,
        )

    async def _made_assistant(self, store: str) -> str:
        settings = {
            "model": self.llm_model_name,
            **non_empty(instructions=self.system_prompt, temperature=self.temperature),
            "tools": [{"type": "file_search", **non_empty(file_search=dict(self.file_search))}],
            "tool_resources": {"file_search": {"vector_store_ids": [store]}},
            **self.assistant_kwargs,
        }
        return str((await _without_warning(self.client().beta.assistants.create, **settings)).id)

    async def _finished_run(self, beta: Any, run: Any, thread: str) -> Any:
        wait_s = POLL_S
        while run.status in ("queued", "in_progress", "cancelling"):
            await asyncio.sleep(wait_s)
            wait_s = min(MAX_POLL_S, 1.5 * wait_s)
            run = await _without_warning(beta.threads.runs.retrieve, run.id, thread_id=thread)
        if run.status not in ("completed", "incomplete"):
            text = quoted(str(getattr(run.last_error, "message", "") or run.status), self._mask)
            raise HostFault(
                f"{self.url} ended the run of the assistant with {run.status}: {text}; {CHECK_REPLY}"
            )
        return run

    async def _ingest(self, documents: Sequence[LocalDocument], key: str) -> str:
        """Return the id of a new vector store with all documents.

        Raises:
            HostFault: if one of them cannot be ingested; the store is then removed.
        """
        creation = self.client().vector_stores.create(name=f"evalstudio-{key[:12]}")
        store = await in_time(creation, self._timeout_s, "a new vector store")
        try:
            files = await uploaded(documents, self._upload, self._timeout_s, self._progress)
            await self._index(store.id, files, documents)
        # A cancelled run, too, must not leave a store that costs money each day.
        except BaseException:
            with suppress(Exception):
                async with asyncio.timeout(REMOVAL_S):
                    await self._remove(store.id)
            raise
        return str(store.id)

    async def _upload(self, document: LocalDocument) -> str:
        content = await in_thread(document.path.read_bytes)
        file = await self.client().files.create(file=(document.name, content), purpose="assistants")
        return str(file.id)

    async def _index(self, store: str, files: Sequence[str], documents: Sequence[LocalDocument]) -> None:
        batches = self.client().vector_stores.file_batches
        creation = batches.create(vector_store_id=store, file_ids=list(files))
        batch = await in_time(creation, self._timeout_s, "the indexing of the documents")
        wait_s = POLL_S
        while batch.status == "in_progress":
            await asyncio.sleep(wait_s)
            wait_s = min(MAX_POLL_S, 1.5 * wait_s)
            state = batches.retrieve(batch.id, vector_store_id=store)
            batch = await in_time(state, self._timeout_s, "the state of the indexing")
            self._progress("indexed documents", batch.file_counts.completed, len(files))
        # A batch is "completed" although some of its files failed.
        if batch.status != "completed" or batch.file_counts.completed < len(files):
            failures = self.client().vector_stores.files.list(store, filter="failed")
            failed = await in_time(failures, self._timeout_s, "the list of failed documents")
            names = dict(zip(files, (document.location for document in documents), strict=True))
            reasons = [
                f"{names.get(file.id, file.id)}: {getattr(file.last_error, 'message', 'failed')}"
                for file in failed.data
            ]
            text = quoted("; ".join(reasons) or batch.status, self._mask)
            raise HostFault(f"the documents could not be ingested: {text}")

    async def _exists(self, store: str) -> bool:
        import openai

        try:
            return bool((await self.client().vector_stores.retrieve(store)).status != "expired")
        except openai.NotFoundError:
            return False

    async def _remove(self, store: str) -> None:
        """Remove a vector store and the files in it."""
        client = self.client()
        files = [file.id async for file in client.vector_stores.files.list(store)]
        await client.vector_stores.delete(store)
        slots = asyncio.Semaphore(REMOVALS)

        async def remove(file: str) -> None:
            async with slots:
                await client.files.delete(file)

        await asyncio.gather(*map(remove, files), return_exceptions=True)

    def _hosts_fault(self, exc: Exception) -> Exception:
        """Return the fault for an exception of the client; errors of this package stay as they are."""
        return exc if isinstance(exc, EvalStudioError) else self.fault(exc)


def _results(output: Sequence[Any]) -> Iterator[Any]:
    """Yield the chunks that the file search returned, in its order."""
    for item in output:
        if getattr(item, "type", "") == "file_search_call":
            yield from getattr(item, "results", None) or ()


def _for_threads(turns: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return turns in the roles of threads, which have no system role."""
    return [{**turn, "role": "assistant" if turn["role"] == "assistant" else "user"} for turn in turns]


def _without_warning(call: Callable[..., T], *arguments: Any, **options: Any) -> T:
    """Call a method of the client that warns that it is deprecated, which the user has chosen."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return call(*arguments, **options)


def _failed(task: asyncio.Task[str]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


def _finish_reason(reply: Any) -> str:
    """Return the reason for the end of a response or run."""
    if getattr(reply, "status", "") != "incomplete":
        return STOP
    return finish_reason(getattr(reply.incomplete_details, "reason", None)) or LENGTH


def _without_text(reason: str) -> HostFault:
    """Return the fault of an incomplete answer that has no text."""
    if reason == CONTENT_FILTER:
        return withheld()
    return HostFault("the answer was cut before its first word; raise max_tokens")
