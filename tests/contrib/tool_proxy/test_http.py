"""The proxy over HTTP: before the protocol's own server, and before tools by plain HTTP."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from contrib.tool_proxy.conftest import Desk, recorded
from pytest_evalstudio.core.disturbances import instruction_text
from support.service import Request, Response
from support.service import running as running_service

FEE = ("fee", {"country": "NO"})


def test_a_session_over_http_is_recorded_and_replayed_without_the_server(
    desk: Desk, running: Callable[[], str]
) -> None:
    url = running()
    calls = [FEE, ("count", {}), ("count", {})]
    live = desk.over_http(url, "--record", "calls.jsonl", calls=calls)
    ran = desk.called
    dead_url = "http://127.0.0.1:9/mcp"
    replay = desk.over_http(dead_url, "--replay", "calls.jsonl", calls=[*calls, ("fee", {"country": "SE"})])
    assert desk.called == ran
    assert replay.tools == live.tools
    assert [each.model_dump() for each in replay.results[:3]] == [each.model_dump() for each in live.results]
    assert replay.results[3].is_error
    options = ("--replay", "calls.jsonl", "--live", "fee")
    partial_replay = desk.over_http(url, *options, calls=[("count", {}), ("fee", {"country": "SE"})])
    assert partial_replay.texts[0] == live.texts[1]
    assert "5.50 EUR to SE" in partial_replay.texts[1]
    assert desk.called == [*ran, "fee"]


def test_a_recording_serves_both_transports(desk: Desk) -> None:
    live = desk.over_stdio("--record", "calls.jsonl", calls=[FEE])
    replay = desk.over_http("http://127.0.0.1:9/mcp", "--replay", "calls.jsonl", calls=[FEE])
    assert replay.texts == live.texts


def test_results_over_http_are_disturbed(desk: Desk, running: Callable[[], str]) -> None:
    session = desk.over_http(
        running(), "--poison", "instruction", "--break", "error:count", calls=[FEE, ("count", {})]
    )
    assert session.texts[0].endswith(instruction_text(0))
    assert session.results[1].is_error


class Rates:
    """Tools by plain HTTP."""

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def __call__(self, request: Request) -> Response:
        self.requests.append(request)
        if request.path.startswith("/moved"):
            return Response(status=302, headers={"Location": "/rates"})
        body = json.dumps({"rate": 9.0, "n": len(self.requests)}, indent=1).encode()
        return Response(body, headers={"Content-Type": "application/json"})


@pytest.fixture
def rates() -> Any:
    tools = Rates()
    with running_service(tools, lambda request: False) as service:
        tools.url = service.url  # type: ignore[attr-defined]
        yield tools


def test_plain_http_tools_are_replayed_byte_for_byte(desk: Desk, rates: Any) -> None:
    headers = {"Authorization": "Bearer planted-secret"}
    with desk.proxy("--kind", "http", "--http", rates.url, "--record", "calls.jsonl") as url:
        first = httpx.get(f"{url}/rates?to=NOK", headers=headers)
        second = httpx.post(f"{url}/rates", json={"to": "SEK"})
        moved = httpx.get(f"{url}/moved")
    assert rates.requests[0].headers["authorization"] == "Bearer planted-secret"
    recording = desk.folder / "calls.jsonl"
    assert "planted-secret" not in recording.read_text()
    assert stat.S_IMODE(recording.stat().st_mode) == 0o600
    assert moved.status_code == 502
    assert "final URL" in moved.json()["error"]
    count = len(rates.requests)
    with desk.proxy("--kind", "http", "--http", rates.url, "--replay", "calls.jsonl") as url:
        assert httpx.get(f"{url}/rates?to=NOK").content == first.content
        assert httpx.post(f"{url}/rates", json={"to": "SEK"}).content == second.content
        assert httpx.post(f"{url}/rates", json={"to": "DKK"}).status_code == 502
    assert len(rates.requests) == count
    assert [exchange["tool"] for exchange in recorded(recording)] == ["/rates", "/rates"]


def test_plain_http_tools_are_disturbed_as_each_call_says(desk: Desk, rates: Any) -> None:
    with desk.proxy("--kind", "http", "--http", rates.url, "--follow-baggage", "--timeout", "0.1") as url:
        replies = {
            kind: httpx.get(f"{url}/rates", headers={"baggage": f"evalstudio.tools={kind}"})
            for kind in ("error", "timeout", "empty", "truncated", "false_fact", "instruction")
        }
        assert httpx.get(f"{url}/rates").json()["rate"] == 9.0
    assert (replies["error"].status_code, replies["timeout"].status_code) == (503, 504)
    assert replies["empty"].content == b""
    assert replies["truncated"].content == b'{\n "rate": 9.0,\n "n": 2\n}'[:12]
    assert replies["false_fact"].json()["rate"] == 1.0
    assert replies["instruction"].json()["note"] == instruction_text(0)


def test_a_page_of_a_browser_does_not_reach_the_tools(desk: Desk, rates: Any) -> None:
    with desk.proxy("--kind", "http", "--http", rates.url) as url:
        assert httpx.get(f"{url}/rates", headers={"Host": "evil.example"}).status_code == 403
        assert httpx.get(f"{url}/rates", headers={"Origin": "https://evil.example"}).status_code == 403
        assert httpx.get(f"{url}/rates", headers={"Origin": url}).status_code == 200
    assert len(rates.requests) == 1


class HidingServer:
    """A server that answers in a batch, or on the stream of its own requests."""

    def __call__(self, request: Request) -> Response:
        if request.method == "GET":
            reply = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "t"}]}})
            ping = json.dumps({"jsonrpc": "2.0", "id": 5, "method": "ping"})
            body = f"data: {reply}\n\ndata: {ping}\n\n".encode()
            return Response(body, headers={"Content-Type": "text/event-stream"})
        replies = [{"jsonrpc": "2.0", "id": request.body["id"], "result": {"tools": [{"name": "t"}]}}]
        return Response(json.dumps(replies).encode(), headers={"Content-Type": "application/json"})


def test_a_server_over_http_hides_no_definition(desk: Desk) -> None:
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    with (
        running_service(HidingServer()) as service,
        desk.proxy("--http", f"{service.url}/mcp", "--pins", "pins.json") as url,
    ):
        assert httpx.post(url, json=request).content == b""
        stream = httpx.get(url).text
    assert "result" not in stream
    assert '"method": "ping"' in stream
