"""Worker processes of the service: slow, hanging and dying checks harm no other request."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from pytest_evalstudio.contrib.guard.batching import LONG_CHARS
from pytest_evalstudio.contrib.guard.service import ServiceLimits
from pytest_evalstudio.contrib.guard.worker_process import GuardDescription
from pytest_evalstudio.contrib.guard.workers import Worker, WorkerRefused
from support.children import LONGEST_WAIT_S, Children, wait_until
from support.guard_plugin import DyingSource, RefusedSource
from support.guard_server import Serving, configure, guard_service, serving
from support.openai_server import Reply, serve

LONG = "x" * (LONG_CHARS + 1)


def ask(service: Serving, answer: str) -> int:
    return service.post("/v1/check", {"answer": answer}).status_code


def wait_for(service: Serving, figure: str, value: float) -> None:
    wait_until(lambda: service.figure(figure) >= value, f"{figure} of {value}")


def workers_of(pid: int) -> list[int]:
    """Return the worker processes of a service, by Linux's list of children."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    if not children.exists():
        pytest.skip("needs /proc")
    pids = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        pids += [int(child) for child in (task / "children").read_text().split()]
    return [child for child in pids if b"spawn_main" in command_of(child)]


def command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return configure(tmp_path_factory.mktemp("guard") / "guardrails.json", "moody")


@pytest.fixture(scope="module")
def service(file: Path) -> Iterator[Serving]:
    with serving(file, limits=ServiceLimits(workers=2)) as running:
        yield running


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["hang", LONG + "hang"], ids=["short", "long"])
def test_a_check_that_never_returns_is_stopped_and_blocks_no_other(file: Path, answer: str) -> None:
    with serving(file, limits=ServiceLimits(check_s=2.0, workers=2)) as service:
        with ThreadPoolExecutor() as threads:
            hanging = threads.submit(ask, service, answer)
            wait_for(service, "batch_size_count", 1)
            statuses = []
            while not hanging.done():
                statuses.append(ask(service, "fine"))
            assert hanging.result() == 504
        assert set(statuses) == {200}
        assert len(statuses) > 2
        wait_for(service, 'workers_replaced_total{reason="timeout"}', 1)


@pytest.mark.slow
def test_long_requests_leave_a_worker_for_short_ones(service: Serving) -> None:
    with ThreadPoolExecutor() as threads:
        waiting = [threads.submit(ask, service, LONG + "wait") for _ in range(4)]
        answer_count = 0
        while not all(each.done() for each in waiting):
            assert ask(service, "fine") == 200
            answer_count += 1
        assert [each.result() for each in waiting] == [200] * 4
    assert answer_count > 4, "requests that wait for long ones would be answered one by one with them"


@pytest.mark.slow
def test_a_worker_that_dies_is_replaced_and_innocent_requests_are_checked_again(service: Serving) -> None:
    with ThreadPoolExecutor() as threads:
        innocent = [threads.submit(ask, service, f"wait {number}") for number in range(2)]
        crashing = threads.submit(ask, service, "crash")
        assert crashing.result() == 503
        assert [each.result() for each in innocent] == [200, 200]
    wait_until(lambda: ask(service, "fine") == 200, "answer after the crash")
    assert any("ended by itself" in note for note in service.notes)
    assert not any("crash" in note for note in service.notes)


def post(url: str, answer: str) -> httpx.Response:
    return httpx.post(f"{url}/v1/check", json={"answer": answer}, timeout=LONGEST_WAIT_S)


@pytest.mark.parametrize(
    ("source", "fact"),
    [
        (RefusedSource(), "there is no model"),
        (DyingSource(), "while it loaded its models .exit status 3"),
    ],
    ids=["refused", "dying"],
)
def test_a_worker_that_cannot_be_started_gives_the_reason(source: GuardDescription, fact: str) -> None:
    with pytest.raises(WorkerRefused, match=fact):
        asyncio.run(Worker.start(source, 1.0, lambda: None))


@pytest.mark.slow
def test_a_killed_worker_is_replaced(tmp_path: Path, children: Children) -> None:
    process, url = guard_service(tmp_path, children, "--workers", "1")
    [worker] = workers_of(process.pid)
    os.kill(worker, signal.SIGKILL)
    process.wait_until(
        lambda: any(pid != worker for pid in workers_of(process.pid)), "another worker, without a request"
    )
    assert post(url, "fine").status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["hang", "backtrack"])
def test_a_killed_service_leaves_no_process(tmp_path: Path, children: Children, answer: str) -> None:
    process, url = guard_service(tmp_path, children, "--timeout", "1")
    workers = workers_of(process.pid)
    assert len(workers) == 2
    with ThreadPoolExecutor() as threads:
        running = threads.submit(post, url, answer)
        wait_until(
            lambda: "evalstudio_guard_batch_size_count 1.0" in httpx.get(f"{url}/metrics").text, "a batch"
        )
        os.kill(process.pid, signal.SIGKILL)
        assert isinstance(running.exception(), httpx.TransportError)
    wait_until(lambda: not any(command_of(pid) for pid in workers), "the end of all workers")


@pytest.mark.slow
def test_sigterm_to_all_processes_finishes_running_requests(tmp_path: Path, children: Children) -> None:
    process, url = guard_service(tmp_path, children)
    with ThreadPoolExecutor() as threads:
        running = threads.submit(post, url, "wait")
        wait_until(
            lambda: "evalstudio_guard_batch_size_count 1.0" in httpx.get(f"{url}/metrics").text, "a batch"
        )
        os.killpg(process.pid, signal.SIGTERM)
        assert running.result().status_code == 200
    _, err, status = process.finish()
    assert (status, err) == (0, "")


@pytest.mark.slow
def test_a_worker_that_is_replaced_keeps_the_accepted_configuration(
    tmp_path: Path, children: Children
) -> None:
    process, url = guard_service(tmp_path, children, "--workers", "1", evaluators=("moody", "pii_leakage"))
    [worker] = workers_of(process.pid)
    (tmp_path / "g.json").write_text('{"evaluator_ids": ["nobody"]}')
    process.wait_until(lambda: "refused" in process.err, "the refusal")
    process.wait_until(lambda: workers_of(process.pid) == [worker], "the end of the refused worker")
    os.kill(worker, signal.SIGKILL)
    process.wait_until(lambda: any(pid != worker for pid in workers_of(process.pid)), "another worker")
    metrics = post(url, "fine").json()["metrics"]
    assert [metric["evaluator"] for metric in metrics] == ["moody", "pii_leakage"]


@pytest.mark.slow
def test_workers_share_the_stored_replies_and_the_budget_of_judges(
    tmp_path: Path, children: Children
) -> None:
    with serve() as judge:
        judge.default = Reply('{"reason": "it fits", "verdict": "true"}', delay_s=0.05)
        (tmp_path / "evalstudio.toml").write_text(
            '[evaluator.fit]\ntype = "byop"\nprompt = "Is {actual_output} good?"\n'
            f'[judge]\nhost = "openai_compatible"\nurl = "{judge.url}"\nllm_model_name = "m"\nmax_calls = 6\n'
        )
        _, url = guard_service(tmp_path, children, "--cache", "cache", evaluators=["fit"])
        with ThreadPoolExecutor(8) as threads:
            verdicts = list(threads.map(lambda n: post(url, f"Answer {n % 4}.").json()["verdict"], range(40)))
        assert verdicts == ["reliable"] * 40
        assert len(judge.requests) == 5, "one of them warms the workers"
        words = [post(url, f"Another {n}.").json()["verdict"] for n in range(3)]
        assert words == ["reliable", "uncertain", "uncertain"], "the sixth call was the last one"
