"""The client of Enterprise h2oGPTe: calls in threads, chat messages, files of agents, and faults."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.core.errors import ConfigurationError, EvalStudioError
from pytest_evalstudio.core.plugins.host import HostFault
from pytest_evalstudio.hosts._connected import Connected, check_url, require_key, require_package
from pytest_evalstudio.hosts._faults import causes, host_fault_in, quoted, status_fault
from pytest_evalstudio.hosts._malformed import connection_fault, reply_fault
from pytest_evalstudio.hosts._messages import counts
from pytest_evalstudio.hosts._redirects import refused_redirects
from pytest_evalstudio.hosts._threads import in_thread
from pytest_evalstudio.hosts._tools import HostTools

REMEDIES: Mapping[int, str] = {
    400: "check the settings of the model",
    401: "check api_key",
    403: "check that api_key may use this collection and model",
    404: "check url, collection_id and llm_model_name",
}
LLM_ARGS: Mapping[str, Any] = {
    "temperature": 0,
    "seed": 0,
    "top_k": 1,
    "top_p": 1,
    "repetition_penalty": 1.07,
    "max_new_tokens": 1024,
    "min_max_new_tokens": 512,
}
REMOVAL_S = 4.0
AGENT_OPTION = "llm_args.use_agent"
_STATUSES = {
    "InvalidArgumentError": 400,
    "UnauthorizedError": 401,
    "ForbiddenError": 403,
    "ObjectNotFoundError": 404,
    "FailedError": 409,
    "InternalServerError": 500,
    "NotImplementedError": 501,
}
"""Errors of the client, by the HTTP status that they stand for."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """The last message of a chat session.

    Attributes:
        first_token_s: seconds until its first part arrived, None where it came at once.
    """

    id: str
    text: str
    first_token_s: float | None


@dataclass(kw_only=True)
class H2OGPTEService(Connected):
    """An Enterprise h2oGPTe.

    Attributes:
        url: address of the service, without a path.
        llm_model_name: name of the model, as `llm`; "" lets h2oGPTe choose.
        system_prompt: None for the default of h2oGPTe.
        llm: the same as `llm_model_name`, under the name of the client.
        llm_args: arguments of the model, passed through as they are; `use_agent = true` asks an agent.
        timeout: seconds of one request, where it is less than `timeout_s`.
    """

    url: str
    api_key: str = field(default="", repr=False)
    llm_model_name: str = ""
    system_prompt: str | None = None
    pre_prompt_query: str | None = None
    prompt_query: str | None = None
    llm: str | int | None = None
    llm_args: Mapping[str, Any] = field(default_factory=lambda: dict(LLM_ARGS))
    timeout: float | None = None
    _client: Any = field(default=None, init=False, repr=False)
    # Calls run in threads, and the first ones come at the same time.
    _opening: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)
    _tools: HostTools | None = field(default=None, init=False, repr=False)
    _sessions: list[str] = field(default_factory=list, init=False, repr=False)

    def open_service(self, host: str, tools: HostTools) -> None:
        """Check what can be checked without a request.

        Raises:
            ConfigurationError: if the client or the key is missing, or a parameter cannot be right.
        """
        self._tools = tools
        require_package(host, "h2ogpte", "h2ogpte")
        require_key("api_key", self.api_key, "H2OGPTE_API_KEY")
        check_url("url", self.url)
        self.check_connection(tools)
        if urlsplit(self.url).path not in ("", "/"):
            raise ConfigurationError(f"url = {self.url!r}: the h2ogpte client takes no path; remove it")
        if self.proxy:
            raise ConfigurationError("proxy: the h2ogpte client has no such setting; export HTTPS_PROXY")
        if self.llm is not None and self.llm_model_name and self.llm != self.llm_model_name:
            raise ConfigurationError("llm and llm_model_name name different models; give one of them")
        if self.timeout is not None and self.timeout <= 0:
            raise ConfigurationError(f"timeout = {self.timeout!r}: must be more than 0")

    @property
    def model(self) -> str | int | None:
        """Return the model that is asked for; None lets h2oGPTe choose."""
        return self.llm if self.llm is not None else self.llm_model_name or None

    @property
    def uses_agent(self) -> bool:
        """Return True if an agent answers, which may make files."""
        return bool(self.llm_args.get("use_agent"))

    @property
    def patience_s(self) -> float:
        """Return the seconds that one request may take."""
        limit = self._tools.timeout_s if self._tools is not None else 120.0
        return min(self.timeout or limit, limit)

    async def call(self, work: Callable[[Any], T]) -> T:
        """Return the result of calls of the client, which block and therefore run in a thread.

        Raises:
            HostFault: if a call fails.
        """
        try:
            result: T = await in_thread(lambda: self._without_redirects(work))
            return result
        except Exception as exc:
            raise self._fault(exc) from exc

    async def models(self) -> list[str]:
        """Return the names of the models of the service."""
        return await self.call(lambda client: [str(name) for name in client.get_llm_names()])

    async def start_removal(self, work: Callable[[Any], object]) -> None:
        """Start a removal and wait a short while for it; the service goes on by itself."""
        with suppress(TimeoutError):
            async with asyncio.timeout(REMOVAL_S):
                await self.call(work)

    def remove_sessions(self, client: Any) -> None:
        """Remove the chat sessions that were made."""
        if self._sessions:
            client.delete_chat_sessions(self._sessions, timeout=self.patience_s)
            self._sessions.clear()

    def asked(
        self,
        client: Any,
        collection: str | None,
        text: str,
        settings: Mapping[str, Any],
        template: str | None,
    ) -> ChatReply:
        """Ask in a new chat session, over its WebSocket; return the reply.

        A dropped connection is a fault at once: the client would connect again without sending again, and
        wait in vain.
        """
        session_id = client.create_chat_session(collection)
        self._sessions.append(session_id)
        start = time.perf_counter()
        arrived: list[float] = []

        def note_part(message: Any) -> None:
            if message.content:
                arrived.append(time.perf_counter() - start)

        with client.connect(
            session_id,
            prompt_template_id=template,
            open_timeout=min(self.patience_s, 10),
            close_timeout=1,
            max_connect_retries=1,
        ) as session:
            message = session.query(text, **settings, timeout=self.patience_s, retries=1, callback=note_part)
        # A single part is the whole answer, whose arrival says nothing of its first token.
        first_token_s = arrived[0] if len(arrived) > 1 else None
        return ChatReply(id=str(message.id), text=message.content, first_token_s=first_token_s)

    def described(self, client: Any, reply: ChatReply) -> Answer:
        """Return the answer of a reply with its usage, its cost and the files of the agent."""
        metas = {meta.message_type: meta.content for meta in client.list_list_chat_message_meta(reply.id)}
        stats = _json_object(metas.get("usage_stats", ""))
        cost = _number(stats, "cost")
        tokens = {name: _number(stats, name) for name in ("input_tokens", "output_tokens")}
        return Answer(
            text=reply.text,
            first_token_s=reply.first_token_s,
            usage=counts({name: int(count) for name, count in tokens.items() if count is not None}),
            cost_usd=cost,
            served_model=str(_first(stats, "llm") or ""),
            request_id=reply.id,
            artifacts=tuple(self._downloaded(client, reply.id, metas.get("agent_files", ""))),
        )

    def _downloaded(self, client: Any, message: str, listed: str) -> Iterator[str]:
        """Yield the paths of an agent's files, downloaded into a folder of their message."""
        files = json.loads(listed) if listed else []
        if not files or self._tools is None or self._tools.artifacts is None:
            return
        folder = self._tools.artifacts / _safe_name(message)
        folder.mkdir(parents=True, exist_ok=True)
        names: dict[str, int] = {}
        for document, name in (pair for entry in files for pair in dict(entry).items()):
            safe_name = _safe_name(str(name))
            number = names[safe_name] = names.get(safe_name, 0) + 1
            # Files of several folders of the agent may share their name.
            path = (folder if number == 1 else folder / str(number)) / safe_name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(client.get_document_content(str(name), str(document)))
            yield str(path)

    def _without_redirects(self, work: Callable[[Any], T]) -> T:
        with refused_redirects(self.url):
            return work(self._opened_client())

    def _opened_client(self) -> Any:
        with self._opening:
            if self._client is None:
                self._client = self._new_client()
            return self._client

    def _new_client(self) -> Any:
        from h2ogpte import H2OGPTE
        from h2ogpte import __version__ as client_version

        note = self._tools.note if self._tools is not None else None

        class Client(H2OGPTE):  # type: ignore[misc]
            """The client, which notes another version of the service instead of printing it.

            The rest of the metadata is not read: its form depends on the version.
            """

            def _check_version(self, strict_version_check: bool) -> None:
                server = str(self._get("/rpc/meta")["version"]).lstrip("v")
                if note is not None and server.split("-")[0].split("rc")[0] != client_version:
                    note(
                        f"h2oGPTe has version {server}, its client {client_version};"
                        f" if it fails: pip install h2ogpte=={server}"
                    )

        return Client(address=self.url, api_key=self.api_key, verify=self.verification)

    def _fault(self, exc: BaseException) -> Exception:
        """Return the fault for an exception of the client; errors of this package stay as they are."""
        if isinstance(exc, EvalStudioError):
            return exc
        if (fault := host_fault_in(exc)) is not None:
            return fault
        from h2ogpte.types import RateLimitError, SessionError

        text = quoted(str(exc), self._mask)
        if isinstance(exc, RateLimitError):
            # 0 means that the service names no time.
            wait_s = float(exc.retry_after) or None
            return HostFault(f"HTTP 429: {text}", retry=True, retry_after_s=wait_s, throttled=True)
        status, headers = _status_of(exc)
        if status is not None:
            return status_fault(status, text, REMEDIES, headers, url=self.url)
        if isinstance(exc, SessionError):
            return HostFault(f"{self.url} answered with an error: {text}; check the service", retry=True)
        if isinstance(exc, TimeoutError):
            return HostFault(f"no answer within {self.patience_s:g} s (`timeout_s`)", retry=True)
        if isinstance(exc, OSError) or type(exc).__module__.partition(".")[0] in ("urllib3", "websockets"):
            return connection_fault(self.url, exc, self._mask)
        return reply_fault(self.url, exc, self._mask)


def check_job(job: Any, what: str, mask: Callable[[str], str]) -> None:
    """Check that a job of the service did all its work; the client does not.

    Raises:
        HostFault: with the errors of the job.
    """
    files_failed = getattr(job, "files_failed", 0) or 0  # from version 1.7.5 of the client on
    if job.errors or job.canceled or (job.failed or 0) > 0 or files_failed > 0:
        reasons = "; ".join(job.errors) or job.cancel_reason or "some of its work failed"
        raise HostFault(f"{what}: {quoted(reasons, mask)}")


def in_batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield the items in batches of a size.

    >>> list(in_batches([1, 2, 3], 2))
    [[1, 2], [3]]
    """
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _status_of(exc: BaseException | None) -> tuple[int | None, Mapping[str, str]]:
    """Return the HTTP status that an exception, or one that led to it, stands for, with its headers."""
    named: int | None = None
    for cause in causes(exc):
        response = getattr(cause, "response", None)
        status = getattr(cause, "status", None) or getattr(response, "status_code", None)
        headers = getattr(cause, "headers", None) or getattr(response, "headers", None) or {}
        if isinstance(status, int) and status >= 300:
            return status, headers
        if named is None and type(cause).__module__.startswith("h2ogpte"):
            named = getattr(cause, "status_code", None) or _STATUSES.get(type(cause).__name__)
    return named, {}


def _json_object(text: str) -> Mapping[str, Any]:
    with suppress(ValueError, RecursionError):
        value = json.loads(text)
        if isinstance(value, dict):
            return value
    return {}


def _first(stats: Mapping[str, Any], name: str) -> Any:
    """Return a value of usage statistics, which name it at the top or within `usage`."""
    usage = stats.get("usage")
    inner = usage[0] if isinstance(usage, list) and usage and isinstance(usage[0], dict) else usage
    if name in stats:
        return stats.get(name)
    return inner.get(name) if isinstance(inner, dict) else None


def _number(stats: Mapping[str, Any], name: str) -> float | None:
    """Return a number of usage statistics; that of several calls is their sum."""
    usage = stats.get("usage")
    # An agent makes several calls, each with an entry of its own.
    if name not in stats and isinstance(usage, list):
        values = [call.get(name) for call in usage if isinstance(call, dict)]
        numbers = [value for value in values if isinstance(value, int | float)]
        return float(sum(numbers)) if numbers else None
    value = _first(stats, name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _safe_name(name: str) -> str:
    """Return a file name that stays in its folder."""
    safe = "".join(char if char.isalnum() or char in "._- " else "_" for char in Path(name).name)
    # No hidden file, and no "..".
    return safe.lstrip(".") or "file"
