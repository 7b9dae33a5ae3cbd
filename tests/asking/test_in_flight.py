"""Questions that are being asked: nobody asks them a second time, and nobody waits for a killed process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_evalstudio import Registry
from pytest_evalstudio.asking import answers
from pytest_evalstudio.asking.answers import AnswerCache
from pytest_evalstudio.asking.hosts import open_model
from pytest_evalstudio.asking.load import Slots
from pytest_evalstudio.asking.resolve import ModelSession
from pytest_evalstudio.asking.runs import AskingRun, fixed_run
from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.loops import LoopThread
from support.children import LONGEST_WAIT_S

HOURS_S = 3 * 3600.0


@pytest.fixture
def thread() -> Iterator[LoopThread]:
    running = LoopThread("test")
    yield running
    running.stop()


def model(
    cache: AnswerCache, *, refresh: bool = False, delay_s: float = 0.2, thread: LoopThread | None = None
) -> ModelSession:
    settings = {"host": "scripted", "default": "fine", "cache": True, "delay_s": delay_s}
    run = fixed_run(AskingRun.new(refreshes=refresh))
    return open_model("m", settings, Registry(), folder=Path(), cache=cache, run=run, thread=thread)


def question_count(*models: ModelSession) -> int:
    return sum(len(session.host.asked) for session in models)  # type: ignore[attr-defined]


def test_a_claimed_question_is_not_claimed_again_until_it_is_released(tmp_path: Path) -> None:
    with AnswerCache(tmp_path) as first, AnswerCache(tmp_path) as second:
        token = first.claim("k")
        assert token
        assert not second.claim("k")
        assert second.claim("other")
        first.release("k", token)
        assert second.claim("k")


def test_a_stored_answer_ends_the_claim(tmp_path: Path) -> None:
    with AnswerCache(tmp_path) as first, AnswerCache(tmp_path) as second:
        assert first.claim("k")
        assert first.claim("other")
        first.put("k", Answer(text="fine"), run="r")
        assert second.claim("k")
        assert not second.claim("other")


def test_a_claim_of_a_clock_that_was_set_back_is_void(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_s = time.time()
    with AnswerCache(tmp_path) as killed, AnswerCache(tmp_path) as other:
        for ahead_s, is_free in ((HOURS_S, True), (30.0, False), (-HOURS_S, True)):
            monkeypatch.setattr(time, "time", lambda ahead_s=ahead_s: start_s + ahead_s)
            token = killed.claim("k")
            assert token
            monkeypatch.setattr(time, "time", lambda: start_s)
            assert bool(other.claim("k")) is is_free
            killed.drop("k")
            killed.store.change("DELETE FROM in_flight", ())


def test_the_claim_of_a_killed_process_expires(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with AnswerCache(tmp_path) as killed, AnswerCache(tmp_path) as other:
        token = killed.claim("k")
        monkeypatch.setattr(answers, "LEASE_S", 60.0)
        killed.renew("k", token)
        assert not other.claim("k")
        monkeypatch.setattr(answers, "LEASE_S", 0.05)
        killed.renew("k", token)
        time.sleep(0.06)
        assert other.claim("k")


async def answers_of(*models: ModelSession) -> list[Answer]:
    return list(await asyncio.gather(*(session.answer(Prompt(text="q")) for session in models)))


def test_two_runs_ask_a_question_once(tmp_path: Path, thread: LoopThread) -> None:
    with (
        AnswerCache(tmp_path) as first,
        AnswerCache(tmp_path) as second,
        model(first, thread=thread) as first_model,
        model(second, thread=thread) as other_model,
    ):
        replies = thread.run(answers_of(first_model, other_model))
        assert [answer.text for answer in replies] == ["fine", "fine"]
        assert question_count(first_model, other_model) == 1


def test_a_long_request_keeps_its_claim(
    tmp_path: Path, thread: LoopThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "LEASE_S", 0.8)
    with (
        AnswerCache(tmp_path) as first,
        AnswerCache(tmp_path) as second,
        model(first, delay_s=2.0, thread=thread) as first_model,
        model(second, delay_s=2.0, thread=thread) as other_model,
    ):
        thread.run(answers_of(first_model, other_model))
        assert question_count(first_model, other_model) == 1


def test_refreshing_takes_the_answer_that_another_worker_has_just_refreshed(tmp_path: Path) -> None:
    with AnswerCache(tmp_path) as first, AnswerCache(tmp_path) as second:
        with model(first) as old:
            old.ask([Prompt(text="q")])
        with model(first, refresh=True) as first_model, model(second, refresh=True) as other_model:
            first_model.ask([Prompt(text="q")])
            other_model.ask([Prompt(text="q")])
            assert (question_count(first_model), question_count(other_model)) == (1, 0)


def test_an_answer_that_is_not_accepted_is_not_stored(tmp_path: Path, thread: LoopThread) -> None:
    with AnswerCache(tmp_path) as cache, model(cache, delay_s=0, thread=thread) as first_model:

        async def two_attempts() -> None:
            for _ in range(2):
                await first_model.answer(Prompt(text="q"), accept=lambda answer: False)

        thread.run(two_attempts())
        assert question_count(first_model) == 2


def test_a_free_slot_goes_to_the_lowest_priority_number() -> None:
    async def order() -> list[int]:
        slots, finished = Slots(1), []

        async def hold(priority: int) -> None:
            async with slots.slot(priority):
                await asyncio.sleep(0)
                finished.append(priority)

        await asyncio.gather(*(hold(priority) for priority in (5, 3, 4, 1)))
        return finished

    assert asyncio.run(order()) == [5, 1, 3, 4]


def test_a_cancelled_wait_loses_no_slot() -> None:
    async def run() -> None:
        slots = Slots(1)

        async def hold() -> None:
            async with slots.slot():
                await asyncio.sleep(0.01)

        first, second, third = (asyncio.create_task(hold()) for _ in range(3))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.wait_for(asyncio.gather(first, third), LONGEST_WAIT_S)
        await asyncio.wait_for(hold(), LONGEST_WAIT_S)

    asyncio.run(run())
