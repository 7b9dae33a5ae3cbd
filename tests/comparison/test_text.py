"""A metric's line says what is known of it, and nothing that is not."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_evalstudio.comparison.results import MetricComparison
from pytest_evalstudio.comparison.text import metric_line


def compared(**fields: Any) -> MetricComparison:
    known: dict[str, Any] = {
        "evaluator": "rouge",
        "metric": "rouge_l",
        "model": "m",
        "n": 20,
        "verdict": "inconclusive",
        "base": 0.5,
        "new": 0.45,
        "difference": -0.05,
        "low": None,
        "high": None,
        "p": 0.2,
        "p_adjusted": 0.2,
        "smallest_detectable": None,
    }
    return MetricComparison(**{**known, **fields})


@pytest.mark.parametrize(
    ("cases_needed", "end"), [(None, "20 pairs"), (1200, "20 pairs; about 1,200 cases would settle it")]
)
def test_the_number_of_cases_is_stated_where_it_is_known(cases_needed: int | None, end: str) -> None:
    line = metric_line(compared(cases_needed=cases_needed))
    assert line.endswith(end)
    assert line.startswith("inconclusive: rouge.rouge_l of m: 0.5 -> 0.45, difference -0.05, p 0.2, ")


@pytest.mark.parametrize(
    ("smallest", "changed", "is_stated"), [(0.1, 3, True), (0.1, 0, False), (None, 3, False)]
)
def test_the_smallest_detectable_drop_is_stated_where_something_changed(
    smallest: float | None, changed: int, is_stated: bool
) -> None:
    line = metric_line(compared(smallest_detectable=smallest, changed=changed))
    assert ("smallest detectable drop 0.1" in line) is is_stated


def test_a_decided_metric_needs_no_more_cases() -> None:
    line = metric_line(compared(verdict="worse", smallest_detectable=0.1, cases_needed=10))
    assert "cases would settle" not in line
    assert "smallest detectable" not in line


@pytest.mark.parametrize(("changed", "is_unchanged"), [(0, True), (1, False)])
def test_a_metric_without_a_changed_case_names_the_drop_that_cannot_be_excluded(
    changed: int, is_unchanged: bool
) -> None:
    line = metric_line(compared(changed=changed, low=-0.12, high=0.1))
    assert ("no case changed; drops below 0.12 cannot be excluded" in line) is is_unchanged
