"""The checks of processor time find what is slow, and no machine that halts for a while."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import pytest

from support.processor_time import TRIES, assert_linear, assert_within

HALT_S = 10.0


def quadratic(text: str) -> int:
    return sum("hotel" in text[start:] for start in range(0, len(text), 4))


def linear(text: str) -> int:
    return sum(char == "b" for char in text * 8)


def calls_of(function: Callable[[str], object], size: int) -> Callable[[], object]:
    return partial(function, "a" * size)


@pytest.fixture
def halting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the clock of processor time jump within the second of three measurements."""
    clock, readings = time.process_time, [0]

    def halted() -> float:
        readings[0] += 1
        return clock() + HALT_S * ((readings[0] + 2) // 6)

    monkeypatch.setattr(time, "process_time", halted)


def test_quadratic_time_is_found() -> None:
    with pytest.raises(AssertionError, match="for 8 times the size"):
        assert_linear(partial(calls_of, quadratic), 5_000)


@pytest.mark.usefixtures("halting")
def test_linear_time_passes_on_a_machine_that_halts() -> None:
    assert_linear(partial(calls_of, linear), 20_000)


def test_a_call_that_is_always_slow_is_found() -> None:
    turns: list[int] = []
    with pytest.raises(AssertionError, match="allowed: 0"):
        assert_within(0, turns.append)
    assert turns == list(range(TRIES))


@pytest.mark.usefixtures("halting")
def test_a_call_that_is_slow_once_passes() -> None:
    turns: list[int] = []
    for _ in range(2):
        assert_within(HALT_S / 2, turns.append)
    assert turns == [0, 0, 1]
