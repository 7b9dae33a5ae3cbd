"""Uses of hosts that make all requests of their clients: preparation, question, list of models, removal."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from pytest_evalstudio.asking.answers import AnswerCache
from pytest_evalstudio.asking.hosts import open_model
from pytest_evalstudio.core.cases import Prompt
from pytest_evalstudio.core.plugins.host import HostFault
from pytest_evalstudio.core.plugins.registry import Registry
from support.h2ogpte_server import H2OGPTe
from support.openai_protocol import OpenAIFiles
from support.protocols import PROTOCOLS, Protocol, events
from support.service import Request, Response, Service, running

Respond = Callable[[Request], Response]


@dataclass(frozen=True)
class HostUse:
    """A host with settings that make it use other parts of its client.

    Attributes:
        respond: makes a new state of the service.
    """

    id: str
    protocol: Protocol
    respond: Callable[[], Respond]
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def handler(self) -> type[BaseHTTPRequestHandler] | None:
        return self.protocol.handler


@dataclass(frozen=True)
class Outcome:
    """Faults of a use: of the answer, of the list of models, and of the end."""

    answer: str
    error: str
    listing: str
    closing: str

    @property
    def faults(self) -> list[str]:
        return [fault for fault in (self.error, self.listing, self.closing) if fault]


def _agent() -> Respond:
    state = H2OGPTe()
    state.files = {"f1": ("report.csv", b"a,b\n1,2\n")}
    return state


def _new_state(protocol: Protocol) -> Callable[[], Respond]:
    for kind in (H2OGPTe, OpenAIFiles):
        if isinstance(protocol.respond, kind):
            return kind
    return lambda: protocol.respond


def _uses() -> Iterator[HostUse]:
    for protocol in PROTOCOLS:
        yield HostUse(protocol.id, protocol, _new_state(protocol))
        if protocol.streams is not None:
            state = _new_state(protocol) if protocol.id != "http" else lambda: lambda request: events(0.0)
            yield HostUse(f"{protocol.id} stream", protocol, state, {"stream": True})
        if protocol.id == "openai_rag":
            yield HostUse("openai_rag assistants", protocol, OpenAIFiles, {"api": "assistants"})
        if protocol.id.startswith("h2ogpte"):
            yield HostUse(f"{protocol.id} agent", protocol, _agent, {"llm_args": {"use_agent": True}})


USES = list(_uses())
_KINDS: dict[str, list[str]] = {}
"""Kinds of requests by use, which are the same in all tests."""


def kind_of(request: Request) -> str:
    """Return method and path of a request, without what differs from run to run."""
    return f"{request.method} {re.sub(r'[0-9]+', '#', request.path.partition('?')[0])}"


def performed(use: HostUse, url: str, folder: Path, **settings: Any) -> Outcome:
    """Make all requests of a use to a service."""
    document = folder / "fees.md"
    document.write_text("A transfer costs 5 USD.", encoding="utf-8")
    table = {"host": use.protocol.id, "retries": 0, "timeout_s": 60, **use.protocol.settings(url)}
    table |= {**use.settings, **settings}
    listing, closing = "", []
    with AnswerCache(folder / "cache") as cache:
        session = open_model("mine", {**table, "cache": "never"}, Registry(), folder=folder, cache=cache)
        [answer] = session.ask([Prompt(text="What is the fee?", corpus=(str(document),))])
        if session.spec.lists:
            try:
                session.within_limits(session.host.models)
            except HostFault as fault:
                listing = session.mask(str(fault))
        with warnings.catch_warnings(record=True) as closing:
            warnings.simplefilter("always")
            session.close()
    messages = [str(warning.message) for warning in closing if "did not close" in str(warning.message)]
    return Outcome(answer.text, answer.error, listing, "".join(messages))


def kinds_of_requests(use: HostUse, folder: Path) -> list[str]:
    """Return the kinds of requests of a use whose service has no fault, in the order of the first of each."""
    if use.id in _KINDS:
        return _KINDS[use.id]
    with running(use.respond(), handler=use.handler) as service:
        outcome = performed(use, service.url, folder)
    assert not outcome.faults
    return _KINDS.setdefault(use.id, list(dict.fromkeys(map(kind_of, service.requests))))


def faulty(use: HostUse, kind: str, fault: Callable[[Request, Response], Response]) -> Any:
    """Run the service of a use, whose replies to requests of one kind are faulty.

    Args:
        fault: from request and right reply to the faulty one.
    """
    normal = use.respond()

    def respond(request: Request) -> Response:
        reply = normal(request)
        return fault(request, reply) if kind_of(request) == kind else reply

    return running(respond, lambda request: False, use.handler)


def refuse_handshake(service: Service, fault: Response) -> None:
    """Answer the handshake of a WebSocket by a fault."""
    service.always = fault
