"""Hosts of models: their protocol, their declaration and the decorator that makes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, TypeVar, runtime_checkable

from msgspec import Struct

from pytest_evalstudio.core.attachments import MEDIA_TYPES, Attachment
from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.docstrings import summary_of
from pytest_evalstudio.core.plugins.declaring import attach, check_id, check_known, check_methods, has_method
from pytest_evalstudio.core.restored import RestorablePart

KIND = "host"
HostKind = Literal["llm", "rag", "both"]
HOST_KINDS: tuple[HostKind, ...] = ("llm", "rag", "both")
T = TypeVar("T", bound=type)


class HostSpec(Struct, frozen=True, kw_only=True):
    """The declaration of a host class.

    Attributes:
        kind: "rag" if its models retrieve, "llm" if they do not, "both" if that depends on the model.
        extra: the optional dependency group it needs, "" for none.
        caches: its answers are stored to continue interrupted runs, unless the configuration says otherwise.
            True for services that cost money, False for the user's own code.
        runs_user_code: its parameters name code to run; only the user's own configuration may choose such a
            host.
        takes_system: it sends `Prompt.system` in the system role; for other hosts it is a part of the text.
        opens: it has a method `open(tools)`, which checks its parameters and takes its tools before the
            first prompt.
        agent_option: dotted name of the parameter that makes an agent of a model, e.g. "llm_args.use_agent".
        finds_credentials: it finds the user's credentials by itself, e.g. in the environment; only the user's
            own configuration may choose such a host.
        deterministic: it gives the same answer to the same question, so that asking again tells nothing.
        lists: it has a method `async models()`, which returns the names of the models of its service.
        client: module of its service's client, imported before the first request; the time of the import
            counts against no limit. "" for none.
        media_types: types of images and files that it sends with a question, of
            `core.attachments.MEDIA_TYPES`; () for none.
        collection_option: name of the parameter with the id of an existing collection. A host that has it has
            a method `async documents(collection)`, which returns the texts of a collection. "" for none.
    """

    id: str
    name: str
    kind: HostKind
    extra: str
    caches: bool
    description: str
    runs_user_code: bool = False
    takes_system: bool = False
    opens: bool = False
    lists: bool = False
    client: str = ""
    agent_option: str = ""
    collection_option: str = ""
    finds_credentials: bool = False
    deterministic: bool = False
    media_types: tuple[str, ...] = ()

    def unsupported(self, prompt: Prompt) -> Attachment | None:
        """Return the first image or file of a prompt that the host cannot take, None where it takes all."""
        return next((each for each in prompt.media if each.media_type not in self.media_types), None)


class Host(Protocol):
    """A service that answers prompts; a dataclass whose fields are its parameters.

    `prepare` is awaited once per corpus before its first prompt (ingestion), `answer` once per prompt and
    attempt, `close` once at the end. `answer` raises HostFault, which says whether another attempt can help.
    An attribute `ingest_timeout_s` limits `prepare` with all its attempts in place of `timeout_s`, which
    limits one attempt; `collections` maps each corpus to its id at the service. The client of a service is
    imported inside functions.
    """

    __evalstudio__: ClassVar[HostSpec]

    async def prepare(self, corpus: tuple[str, ...]) -> None: ...

    async def answer(self, prompt: Prompt) -> Answer: ...

    async def close(self) -> None: ...


class Opens(Protocol):
    """A host that takes its tools before the first prompt; see `hosts._tools.HostTools`."""

    def open(self, tools: Any) -> None: ...


class Lists(Protocol):
    """A host that lists the models of its service; the request needs the same key as a prompt."""

    async def models(self) -> list[str]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionDocument:
    """A document of a collection at a service.

    Attributes:
        name: file name at the service; several documents of a collection may share it.
        text: that the service extracted, without the overlap of its chunks; "" if it has none, e.g. since the
            document could not be ingested.
    """

    name: str
    text: str


class ReadsCollections(Protocol):
    """A host that returns the texts of an existing collection; see `HostSpec.collection_option`.

    `documents` may take `ingest_timeout_s`, as `prepare`. It raises HostFault if there is no such collection,
    or its documents are still being ingested.
    """

    ingest_timeout_s: float

    async def documents(self, collection: str) -> list[CollectionDocument]: ...


@runtime_checkable
class OffersTools(Protocol):
    """A host whose service offers tools; their definitions can be kept and compared."""

    async def tools(self) -> list[dict[str, Any]]: ...


@runtime_checkable
class KeepsSessions(Protocol):
    """A host whose application remembers the earlier turns of a conversation.

    `keeps_sessions` is False where the configuration makes every question independent. `holds_session` says
    whether the application still knows the conversation of `Prompt.session`; a conversation that it does not
    know begins again. `end_session` is awaited when a conversation has ended.
    """

    @property
    def keeps_sessions(self) -> bool: ...

    def holds_session(self, session: str) -> bool: ...

    async def end_session(self, session: str) -> None: ...


@runtime_checkable
class ReadsCase(Protocol):
    """A host whose requests may name the test case; `reads_case` is True where its settings do."""

    @property
    def reads_case(self) -> bool: ...


@runtime_checkable
class Restores(Protocol):
    """A host whose application can use parts of an earlier answer: those of `Prompt.restored`.

    `restores` has the parts that its settings allow. `composes` is False where an answer with restored chunks
    goes another way than an ordinary one, so that both must be compared. `recorded_tools` are those that its
    answers have called so far, and that get recorded results.
    """

    @property
    def restores(self) -> frozenset[RestorablePart]: ...

    @property
    def composes(self) -> bool: ...

    @property
    def recorded_tools(self) -> frozenset[str]: ...


_END_OF_SENTENCE = re.compile(r"[.;:!]+; ")
"""End of a quoted sentence that goes on with a remedy."""


class HostFault(Exception):
    """A request that failed.

    Args:
        message: description without secrets.
        retry: whether another attempt can help (408, 409, 429, 5xx, connection errors).
        retry_after_s: seconds the service asks to wait, None if it did not say.
        ends_asking: whether no other prompt will be answered either, since the service refuses access: the
            key is refused, or the account has no credit. Later prompts are not asked.
        throttled: whether the service is asked too much; fewer requests are then made at the same time.
        not_supported: whether the configured host cannot take an image or file of the question.
        answered: whether the service gave an answer, which costs, though it cannot be used.
        cause: stable name of the cause, e.g. "http_401", by which equal faults are shown once; "" where only
            the message tells.
    """

    def __init__(
        self,
        message: str,
        *,
        retry: bool = False,
        retry_after_s: float | None = None,
        ends_asking: bool = False,
        throttled: bool = False,
        not_supported: bool = False,
        answered: bool = False,
        cause: str = "",
    ) -> None:
        super().__init__(_END_OF_SENTENCE.sub("; ", message))
        self.cause = cause
        self.retry = retry
        self.ends_asking = ends_asking
        self.throttled = throttled
        self.not_supported = not_supported
        self.answered = answered
        self.retry_after_s = retry_after_s


def host(
    id: str,
    *,
    name: str,
    kind: HostKind,
    extra: str = "",
    caches: bool = True,
    runs_user_code: bool = False,
    takes_system: bool = False,
    agent_option: str = "",
    collection_option: str = "",
    finds_credentials: bool = False,
    deterministic: bool = False,
    client: str = "",
    media_types: Collection[str] = (),
) -> Callable[[T], T]:
    """Declare a class as a host of models; see `HostSpec` for the arguments.

    Raises:
        TypeError: if the class lacks `prepare`, `answer`, `close`, or `documents` where it has a
            `collection_option`; or `kind` or a media type is unknown.
    """
    check_id(KIND, id)
    check_known(KIND, id, "kind", [kind], HOST_KINDS)
    check_known(KIND, id, "media_types", media_types, MEDIA_TYPES)

    def declare(cls: T) -> T:
        methods = {
            "prepare": "async def prepare(self, corpus)",
            "answer": "async def answer(self, prompt)",
            "close": "async def close(self)",
        }
        if collection_option:
            methods["documents"] = "async def documents(self, collection)"
        check_methods(KIND, id, cls, methods)
        spec = HostSpec(
            id=id,
            name=name,
            kind=kind,
            extra=extra,
            caches=caches,
            description=summary_of(cls),
            runs_user_code=runs_user_code,
            takes_system=takes_system,
            agent_option=agent_option,
            collection_option=collection_option,
            finds_credentials=finds_credentials,
            deterministic=deterministic,
            client=client,
            media_types=tuple(media_types),
            opens=has_method(KIND, id, cls, "open", "open(self, tools)"),
            lists=has_method(KIND, id, cls, "models", "async def models(self)"),
        )
        return attach(cls, spec)

    return declare
