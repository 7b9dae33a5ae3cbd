"""The header `traceparent` of hosts: one trace for each question, one span for each attempt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio import Registry
from pytest_evalstudio.asking.hosts import open_model
from pytest_evalstudio.asking.resolve import ModelSession
from pytest_evalstudio.asking.tracing import Tracing
from pytest_evalstudio.core.cases import Prompt
from pytest_evalstudio.core.tracing import trace_and_span
from support.protocols import PROTOCOLS, Protocol
from support.service import Response, running

PREFIX = "0123456789abcdef"
SENDING = (
    *("http", "openai_compatible", "openai_llm", "azure_openai_llm", "anthropic_llm"),
    *("ollama", "h2ogpt", "h2ollmops"),
)
by_id = pytest.mark.parametrize(
    "protocol", [each for each in PROTOCOLS if each.id in SENDING], ids=lambda protocol: protocol.id
)


def session_of(
    protocol: Protocol, url: str, folder: Path, *, traced: bool = True, **more: Any
) -> ModelSession:
    settings = {"host": protocol.id, **protocol.settings(url), **more}
    tracing = (lambda: Tracing(prefix=PREFIX)) if traced else None
    return open_model("m", settings, Registry(), folder=folder, cache=None, tracing=tracing)


@by_id
def test_each_question_has_a_trace_and_each_attempt_a_span(protocol: Protocol, tmp_path: Path) -> None:
    with running(protocol.respond, protocol.asks) as service:
        service.faults = [Response({}, status=503, headers={"Retry-After": "0"})]
        with session_of(protocol, service.url, tmp_path, concurrency=1) as model:
            answers = model.ask([Prompt(text="Fee?"), Prompt(text="Limit?")])
        headers = [request.headers["traceparent"] for request in service.questions]
    (first_trace, first_span), (second_trace, second_span), (third_trace, third_span) = map(
        trace_and_span, headers
    )
    assert first_trace == second_trace != third_trace
    assert len({first_span, second_span, third_span}) == 3
    assert {first_trace[:16], third_trace[:16]} == {PREFIX}
    assert [answer.traceparent for answer in answers] == [headers[1], headers[2]]


@by_id
def test_without_trace_no_header_is_sent(protocol: Protocol, tmp_path: Path) -> None:
    with running(protocol.respond, protocol.asks) as service:
        with session_of(protocol, service.url, tmp_path, traced=False) as model:
            [answer] = model.ask([Prompt(text="Fee?")])
        assert answer.traceparent == ""
        assert all("traceparent" not in request.headers for request in service.requests)


def test_a_header_of_the_user_stays_and_other_requests_have_none(tmp_path: Path) -> None:
    [protocol] = [each for each in PROTOCOLS if each.id == "http"]
    header = f"00-{'1' * 32}-{'2' * 16}-01"
    with running(protocol.respond, protocol.asks) as service:
        settings = {"headers": {"Traceparent": header}, "state_url": f"{service.url}/state"}
        with session_of(protocol, service.url, tmp_path, **settings) as model:
            model.ask([Prompt(text="Fee?")])
        assert [request.headers.get("traceparent") for request in service.requests] == [None, header, None]
