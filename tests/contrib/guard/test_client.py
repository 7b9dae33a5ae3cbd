"""Clients of the service, and the decorator."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from pytest_evalstudio.contrib.guard.client import (
    AsyncGuardClient,
    GuardClient,
    GuardError,
    UnreliableAnswer,
    guarded_by,
)
from pytest_evalstudio.contrib.guard.results import CheckRequest, GuardVerdict
from support.guard_server import Serving, configure, serving


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    file = configure(tmp_path_factory.mktemp("guard") / "guardrails.json", "moody")
    with serving(file, token="t0ken") as running:
        yield running


@pytest.fixture
def client(service: Serving) -> Iterator[GuardClient]:
    with GuardClient(service.url, token="t0ken") as guard_client:
        yield guard_client


def test_a_client_returns_verdicts(client: GuardClient) -> None:
    assert client.check("Fee?", "fine", ["5 euros"]).verdict == "reliable"
    batch = client.check_batch([CheckRequest(answer="bad"), CheckRequest(answer="fine")])
    assert [verdict.verdict for verdict in batch] == ["unreliable", "reliable"]


def test_an_asynchronous_client_does_the_same(service: Serving) -> None:
    async def ask() -> list[str]:
        async with AsyncGuardClient(service.url, token="t0ken") as client:
            single_verdict = await client.check("Fee?", "bad")
            batch = await client.check_batch([CheckRequest(answer="fine")])
        return [single_verdict.verdict, *(verdict.verdict for verdict in batch)]

    assert asyncio.run(ask()) == ["unreliable", "reliable"]


def test_a_wrong_token_is_an_error_that_is_not_repeated(service: Serving) -> None:
    with GuardClient(service.url, token="wrong") as client, pytest.raises(GuardError) as exc_info:
        client.check("Fee?", "fine")
    assert exc_info.value.status == 401


def test_a_service_that_is_not_there_is_tried_again_and_named() -> None:
    with (
        GuardClient("http://127.0.0.1:9", retries=1) as client,
        pytest.raises(GuardError, match="not reached"),
    ):
        client.check("Fee?", "fine")


def test_a_service_that_is_busy_is_asked_again() -> None:
    statuses: list[int] = []

    class Busy(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            statuses.append(503 if len(statuses) < 2 else 200)
            content = (
                b'{"error": "busy"}' if statuses[-1] == 503 else b'{"verdict": "reliable", "metrics": []}'
            )
            self.send_response(statuses[-1])
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Busy) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with GuardClient(f"http://127.0.0.1:{server.server_port}", retries=2) as client:
            assert client.check("Fee?", "fine").verdict == "reliable"
        server.shutdown()
    assert statuses == [503, 503, 200]


def test_a_guarded_function_raises_or_answers_something_else(client: GuardClient) -> None:
    @guarded_by(client)
    def strict(question: str) -> str:
        return question

    @guarded_by(client, instead=lambda verdict: f"I cannot say ({verdict.verdict}).")
    def mild(question: str) -> str:
        return question

    assert strict("fine") == "fine"
    with pytest.raises(UnreliableAnswer) as exc_info:
        strict("bad")
    assert exc_info.value.verdict.verdict == "unreliable"
    assert mild("bad") == "I cannot say (unreliable)."


def test_an_uncertain_answer_passes_only_where_that_is_said(client: GuardClient) -> None:
    def answer(question: str) -> str:
        return question

    with pytest.raises(UnreliableAnswer):
        guarded_by(client)(answer)("raise")
    assert guarded_by(client, lets_uncertain_pass=True)(answer)("raise") == "raise"


def test_a_guarded_function_may_return_its_context() -> None:
    checks: list[tuple[str, str, list[str]]] = []

    class Recorder:
        def check(self, question: str, answer: str, context: Sequence[str] = ()) -> GuardVerdict:
            checks.append((question, answer, list(context)))
            return GuardVerdict(verdict="reliable", metrics=[], reasons=[])

    @guarded_by(Recorder())
    def answer(question: str) -> dict[str, object]:
        return {"answer": "5 USD", "context": ["It costs 5 USD."]}

    assert answer("Fee?") == {"answer": "5 USD", "context": ["It costs 5 USD."]}
    assert checks == [("Fee?", "5 USD", ["It costs 5 USD."])]
