"""The hint that a run in several workers would be quicker in one process."""

from __future__ import annotations

import time

import pytest

from pytest_evalstudio.plugin.session import SharedTimes
from support.project import Project


@pytest.mark.parametrize(
    ("workers", "start_s", "tests_s", "is_hinted"),
    [
        (2, 0.5, 0.4, True),
        (2, 0.5, 0.6, False),
        (4, 0.5, 0.2, False),
        (4, 0.5, 0.1, True),
        (1, 0.5, 0.0, False),
    ],
)
def test_one_process_is_advised_where_it_is_surely_quicker(
    monkeypatch: pytest.MonkeyPatch, workers: int, start_s: float, tests_s: float, is_hinted: bool
) -> None:
    monkeypatch.setattr(time, "process_time", lambda: start_s)
    monkeypatch.setattr(time, "perf_counter", iter([10.0, 10.0 + tests_s]).__next__)
    times = SharedTimes(workers=workers)
    times.end()

    assert bool(times.hint) is is_hinted


@pytest.mark.slow
def test_the_end_of_a_run_in_workers_has_the_hint(project: Project) -> None:
    project.write(
        "conftest.py",
        "from pytest_evalstudio.plugin.session import SharedTimes\n\nSharedTimes.hint = 'no workers'\n",
    )
    project.suite({"key": "four", "prompt": "2+2?", "condition": '"4"'})

    project.run("-n", "2").stdout.fnmatch_lines(["workers: no workers"])
    project.run_process().stdout.no_fnmatch_line("workers:*")
