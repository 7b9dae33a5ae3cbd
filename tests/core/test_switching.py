"""Frequent turns of threads while a model is loaded beside judging."""

from __future__ import annotations

import sys

import pytest

from pytest_evalstudio.core.switching import SWITCH_INTERVAL_S, frequent_switches


def test_the_earlier_interval_returns_when_the_last_context_ends() -> None:
    before = sys.getswitchinterval()
    outer, inner = frequent_switches(), frequent_switches()

    outer.__enter__()
    inner.__enter__()
    outer.__exit__(None, None, None)

    assert sys.getswitchinterval() == pytest.approx(SWITCH_INTERVAL_S, rel=0.05)
    inner.__exit__(None, None, None)
    assert sys.getswitchinterval() == pytest.approx(before, rel=0.05)


def test_a_shorter_interval_of_the_user_is_kept() -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.0001)
    try:
        with frequent_switches():
            assert sys.getswitchinterval() == pytest.approx(0.0001, rel=0.05)
    finally:
        sys.setswitchinterval(before)
