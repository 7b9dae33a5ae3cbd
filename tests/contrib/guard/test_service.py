"""The service over real HTTP: right statuses, nothing leaks, nothing hangs."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from pytest_evalstudio.contrib.guard.service import ServiceLimits
from support.children import LONGEST_WAIT_S, Children, wait_until
from support.guard_server import Serving, configure, serving

pytestmark = pytest.mark.slow

SECRET = "the passphrase is swordfish"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    file = configure(tmp_path_factory.mktemp("guard") / "guardrails.json", "moody", "pii_leakage")
    with serving(file) as running:
        yield running


def test_a_check_has_the_documented_keys(service: Serving) -> None:
    response = service.post("/v1/check", {"question": "Fee?", "context": ["5 euros"], "answer": "bad"})
    assert response.status_code == 200
    body = response.json()
    assert set(body) == {"verdict", "metrics", "reasons", "uncalibrated"}
    assert body["verdict"] == "unreliable"
    assert set(body["metrics"][0]) == {
        "evaluator",
        "metric",
        "score",
        "threshold",
        "passed",
        "conformal_set",
        "uncalibrated",
    }


def test_a_batch_keeps_its_order(service: Serving) -> None:
    checks = [{"answer": text} for text in ("fine", "bad", "jane@bank.com")]
    response = service.post("/v1/check/batch", {"checks": checks})
    verdicts = [result["verdict"] for result in response.json()["results"]]
    assert verdicts == ["reliable", "unreliable", "unreliable"]


def test_health_readiness_metrics_and_openapi(service: Serving) -> None:
    assert service.get("/healthz").json() == {"status": "ok"}
    assert service.get("/readyz").json()["evaluators"] == ["moody", "pii_leakage"]
    service.post("/v1/check", {"answer": "fine"})
    figures = service.get("/metrics").text
    assert 'evalstudio_guard_checks_total{verdict="reliable"}' in figures
    assert {"/v1/check", "/v1/check/batch"} <= set(service.get("/openapi.json").json()["paths"])


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"{", 422),
        (b"[]", 422),
        (b"\xff\xfe", 422),
        (b'{"question": "q"}', 422),
        (json.dumps({"answer": SECRET, "extra": SECRET}).encode(), 422),
        (json.dumps({"answer": [SECRET]}).encode(), 422),
        (json.dumps({"answer": "a", "context": [SECRET] * 201}).encode(), 422),
        (b'{"answer": "' + b"a" * 1_000_001 + b'"}', 413),
        (b"[" * 100_000, 422),
    ],
)
def test_malformed_requests_are_refused_and_not_repeated(
    service: Serving, content: bytes, status: int
) -> None:
    response = httpx.post(
        f"{service.url}/v1/check",
        content=content,
        headers={"Content-Type": "application/json"},
        timeout=LONGEST_WAIT_S,
    )
    assert response.status_code in (status, 400)
    assert "error" in response.json() or "detail" in response.json()
    assert SECRET not in response.text


def test_a_chunked_body_has_the_same_limit(service: Serving) -> None:
    def parts():
        for _ in range(20):
            yield b"a" * 100_000

    response = httpx.post(f"{service.url}/v1/check", content=parts(), timeout=LONGEST_WAIT_S)
    assert response.status_code == 413


def test_a_failing_evaluator_leaks_nothing_of_the_machine(service: Serving) -> None:
    response = service.post("/v1/check", {"answer": "raise"})
    assert response.status_code == 200
    assert response.json()["verdict"] == "uncertain"
    assert "Traceback" not in response.text


@pytest.mark.parametrize("path", ["/", "/docs", "/v1/nothing"])
def test_there_are_no_other_pages(service: Serving, path: str) -> None:
    assert service.get(path).status_code == 404


@pytest.mark.slow
def test_a_thousand_requests_at_once_are_answered(service: Serving) -> None:
    async def ask(client: httpx.AsyncClient, number: int) -> int:
        return (await client.post("/v1/check", json={"answer": f"answer {number}"})).status_code

    async def ask_all() -> list[int]:
        # One client takes time in the square of its open requests.
        clients = [httpx.AsyncClient(base_url=service.url, timeout=LONGEST_WAIT_S) for _ in range(20)]
        try:
            return await asyncio.gather(*(ask(clients[number % 20], number) for number in range(1000)))
        finally:
            await asyncio.gather(*(client.aclose() for client in clients))

    assert set(asyncio.run(ask_all())) == {200}


def test_a_token_is_required_where_it_is_set(tmp_path: Path) -> None:
    file = configure(tmp_path / "guardrails.json", "pii_leakage")
    with serving(file, token="t0ken") as service:
        body = {"answer": "fine"}
        assert service.post("/v1/check", body).status_code == 401
        for wrong in ("Bearer t0ke", "Bearer t0ken2", "Basic t0ken", "t0ken", "Bearer"):
            response = service.post("/v1/check", body, headers={"Authorization": wrong})
            assert response.status_code == 401
        assert response.headers["www-authenticate"] == "Bearer"
        right = {"Authorization": "Bearer t0ken"}
        assert service.post("/v1/check", body, headers=right).status_code == 200
        assert service.get("/metrics").status_code == 401
        assert service.get("/healthz").status_code == 200


def test_a_body_that_never_ends_is_given_up(tmp_path: Path) -> None:
    file = configure(tmp_path / "guardrails.json", "pii_leakage")
    with serving(file, limits=ServiceLimits(body_s=0.3)) as service:
        host, port = service.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=LONGEST_WAIT_S) as connection:
            connection.sendall(b"POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
            assert connection.recv(1000).startswith(b"HTTP/1.1 408")


def test_a_slow_check_is_given_up(tmp_path: Path) -> None:
    file = configure(tmp_path / "guardrails.json", "moody")
    with serving(file, limits=ServiceLimits(check_s=0.1)) as service:
        assert service.post("/v1/check", {"answer": "wait"}).status_code == 504
        wait_until(
            lambda: service.post("/v1/check", {"answer": "fine"}).status_code == 200,
            "answer after the slow check",
        )


def test_a_changed_configuration_is_taken_and_a_broken_one_refused(tmp_path: Path) -> None:
    file = configure(tmp_path / "guardrails.json", "pii_leakage")
    with serving(file) as service:

        def noted(word: str) -> str:
            return wait_until(
                lambda: next((note for note in service.notes if word in note), ""), f"note with {word!r}"
            )

        file.write_text('{"evaluator_ids": ["nobody"]}')
        assert "the earlier one stays in force" in noted("refused")
        assert service.get("/readyz").json()["evaluators"] == ["pii_leakage"]
        configure(file, "looping_detection")
        noted("reloaded")
        assert service.get("/readyz").json()["evaluators"] == ["looping_detection"]


def guard(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pytest_evalstudio.cli", "guard", *arguments]


def test_the_command_prints_its_address_and_ends_with_sigterm(tmp_path: Path, children: Children) -> None:
    configure(tmp_path / "g.json", "pii_leakage")
    process = children.start(guard("serve", "--config", "g.json"), tmp_path)
    process.wait_until(lambda: "\n" in process.out, "the address")
    line = process.out.splitlines()[0]
    assert line.startswith("the guard is ready at http://127.0.0.1:")
    url = line.split()[-1]
    response = httpx.post(f"{url}/v1/check", json={"answer": SECRET}, timeout=LONGEST_WAIT_S)
    assert response.status_code == 200
    process.send_signal(signal.SIGTERM)
    out, err, status = process.finish()
    assert status == 0
    assert SECRET not in out + err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host", "0.0.0.0"], "--token-env"),
        (["--token-env", "NOT_SET_ANYWHERE"], "NOT_SET_ANYWHERE"),
        (["--port", "70000"], "0 to 65535"),
        (["--port", "{taken}"], "in use"),
        (["--config", "nothing.json"], "nothing.json"),
        (["--max-kb", "0"], "--max-kb"),
    ],
)
def test_what_cannot_be_served_is_a_usage_error(
    tmp_path: Path, arguments: list[str], words: str, children: Children
) -> None:
    configure(tmp_path / "g.json", "pii_leakage")
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        options = [part.replace("{taken}", str(listener.getsockname()[1])) for part in arguments]
        _, err, status = children.start(guard("serve", "--config", "g.json", *options), tmp_path).finish()
    assert status == 2
    assert words in err
    assert "Traceback" not in err


def test_guard_check_names_the_evaluators(tmp_path: Path, children: Children) -> None:
    configure(tmp_path / "g.json", "pii_leakage", "looping_detection")
    out, _, status = children.start(guard("check", "g.json"), tmp_path).finish()
    checked, uncalibrated = out.splitlines()
    assert (status, checked) == (0, "g.json: fine; it checks pii_leakage, looping_detection")
    # Its thresholds are defaults; that of `pii_leakage` is yes or no.
    assert uncalibrated.startswith("not calibrated by people's labels: looping_detection.")
    assert "pii_leakage" not in uncalibrated
