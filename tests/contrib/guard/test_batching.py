"""Batches of the service: short requests share one, long ones are alone, too many are refused."""

from __future__ import annotations

import asyncio
import math

import pytest

from pytest_evalstudio.contrib.guard.batching import (
    LONG_CHARS,
    MAX_BATCH,
    MAX_BATCH_CHARS,
    MAX_WAITING,
    Busy,
    RequestQueue,
)
from pytest_evalstudio.contrib.guard.results import CheckRequest

LONG = "x" * (LONG_CHARS + 1)


def queued(*answers: str) -> RequestQueue:
    queue = RequestQueue()
    queue.put([CheckRequest(answer=answer) for answer in answers])
    return queue


async def batches(answers: list[str], *, allows_alone: bool) -> list[list[str]]:
    queue = queued(*answers)
    groups = []
    while (batch := queue.take(allows_alone=allows_alone)) is not None:
        groups.append([texts.answer for texts in batch.texts])
    return groups


def test_a_long_request_is_a_batch_of_its_own() -> None:
    assert asyncio.run(batches(["a", LONG, "b"], allows_alone=True)) == [["a", "b"], [LONG]]
    assert asyncio.run(batches([LONG, "a"], allows_alone=True)) == [[LONG], ["a"]]


def test_a_worker_that_may_not_check_long_requests_takes_the_short_ones() -> None:
    assert asyncio.run(batches([LONG, "a", "b"], allows_alone=False)) == [["a", "b"]]


def test_the_characters_of_a_batch_are_limited() -> None:
    answers = ["x" * LONG_CHARS] * (MAX_BATCH_CHARS // LONG_CHARS + 1)
    sizes = [len(batch) for batch in asyncio.run(batches(answers, allows_alone=True))]
    assert sizes == [MAX_BATCH_CHARS // LONG_CHARS, 1]


def test_too_many_answers_are_refused_together() -> None:
    async def fill() -> int:
        queue = queued(*["a"] * (MAX_WAITING - 1))
        with pytest.raises(Busy):
            queue.put([CheckRequest(answer="b")] * 2)
        queue.put([CheckRequest(answer="b")])
        return sum(1 for _ in iter(lambda: queue.take(allows_alone=True), None))

    assert asyncio.run(fill()) == math.ceil(MAX_WAITING / MAX_BATCH)
