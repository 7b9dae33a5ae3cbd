"""Limits of concurrency and pace, which models of a connection share."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from pytest_evalstudio.asking import load
from pytest_evalstudio.asking.limits import Limits
from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.core.errors import ConfigurationError
from support.children import LONGEST_WAIT_S
from support.prompts import ask_for


def test_the_concurrency_limit_is_reached_and_kept(scripted):
    session = scripted(delay_s=0.2, concurrency=16)
    session.ask(ask_for(*map(str, range(64))))
    assert session.host.peak == 16


def test_the_limit_holds_across_threads_that_ask_at_the_same_time(scripted):
    session = scripted(delay_s=0.05, concurrency=4)
    threads = [threading.Thread(target=session.ask, args=(ask_for(*map(str, range(8))),)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (session.host.peak, len(session.host.asked)) == (4, 24)


def test_requests_per_minute_are_kept(scripted):
    session = scripted(requests_per_minute=300)
    start = time.perf_counter()
    session.ask(ask_for(*"abcdef"))
    assert time.perf_counter() - start >= 1.0  # five gaps of 0.2 s


def test_workers_divide_the_limits():
    shared = Limits(concurrency=8, requests_per_minute=60).share(4)
    assert (shared.concurrency, shared.requests_per_minute) == (2, 15)
    assert Limits(concurrency=2).share(4).concurrency == 1


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"concurrency": 0}, "concurrency = 0: must be more than 0"),
        ({"retries": -1}, "retries = -1: must be 0 or more"),
        ({"timeout_s": "long"}, "timeout_s: expected a number, found 'long'"),
        ({"concurrency": 1.5}, "concurrency: expected a whole number, found 1.5"),
        ({"requests_per_minute": 0}, "requests_per_minute = 0: must be more than 0"),
        ({"requests_per_minute": float("nan")}, "requests_per_minute = nan: must be a finite number"),
        ({"timeout_s": float("inf")}, "timeout_s = inf: must be a finite number"),
    ],
)
def test_limits_that_make_no_sense_are_told(scripted, settings, fault):
    with pytest.raises(ConfigurationError) as raised:
        scripted(**settings)
    assert fault in str(raised.value)


def test_fewer_requests_run_while_a_service_is_asked_too_much():
    async def use():
        slots = load.Slots(8)
        for _ in range(5):  # refusals of requests that run at the same time
            slots.throttled()
        halved = slots.limit
        for _ in range(halved):
            slots.answered()
        raised = slots.limit
        for _ in range(100):
            slots.answered()
        return halved, raised, slots.limit

    assert asyncio.run(use()) == (4, 5, 8)


def test_the_lowered_limit_is_kept_and_no_request_is_lost(monkeypatch):
    monkeypatch.setattr(load, "HALVING_S", 0.0)

    async def use():
        slots, busy, peak = load.Slots(8), 0, []

        async def request(number):
            nonlocal busy
            async with slots.slot():
                busy += 1
                peak.append(busy)
                if number < 3:
                    slots.throttled()
                await asyncio.sleep(0.002)
                busy -= 1

        await asyncio.gather(*(request(number) for number in range(40)))
        return max(peak[10:]), len(peak), slots.limit

    assert asyncio.run(use()) == (1, 40, 1)


def test_the_models_of_a_connection_share_its_slots(scripted):
    first, second = (
        scripted(name=name, connection="main", concurrency=2, delay_s=0.05) for name in ("a", "b")
    )
    separate_session = scripted(name="c", concurrency=2, delay_s=0.05)
    busy, peak, lock = {"shared": 0, "alone": 0}, {"shared": 0, "alone": 0}, threading.Lock()
    for session, kind in ((first, "shared"), (second, "shared"), (separate_session, "alone")):

        async def answer(prompt, kind=kind):
            with lock:
                busy[kind] += 1
                peak[kind] = max(peak[kind], busy[kind])
            await asyncio.sleep(0.02)
            with lock:
                busy[kind] -= 1
            return Answer(text="fine")

        session.host.answer = answer
    prompts = ask_for(*map(str, range(12)))
    threads = [
        threading.Thread(target=session.ask, args=(prompts,)) for session in (first, second, separate_session)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONGEST_WAIT_S)
    assert peak == {"shared": 2, "alone": 2}
    assert busy == {"shared": 0, "alone": 0}


def test_the_models_of_a_connection_share_its_pace(scripted):
    sessions = [scripted(name=name, connection="main", requests_per_minute=1200) for name in ("a", "b")]
    start = time.perf_counter()
    threads = [threading.Thread(target=session.ask, args=(ask_for("1", "2", "3"),)) for session in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONGEST_WAIT_S)
    assert time.perf_counter() - start >= 5 * 0.05  # six requests, one per 50 ms
