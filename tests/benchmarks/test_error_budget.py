"""Unchanged streams seldom alarm and drops are found; see the script for more streams."""

from __future__ import annotations

import numpy as np

from tests.benchmarks.error_budget import POPULATIONS, alarms_by_itself, delay, false_alarms, stream


def test_streams_of_unchanged_runs_do_not_alarm_though_single_tests_do() -> None:
    shares = [false_alarms(name, cases=60, runs=40, streams=8) for name in POPULATIONS]
    assert sum(shares) / len(shares) <= 0.05
    rng = np.random.default_rng(5)
    assert sum(alarms_by_itself(stream(np.full(60, 0.8), 100, rng)) for _ in range(20)) >= 4


def test_a_drop_of_a_tenth_is_found_soon_after_many_unchanged_runs() -> None:
    assert delay("80 % each", cases=200, drop=0.1, beginning=20, streams=5, is_single=False) <= 10
