"""A planned suite reaches the power that it promises; see the script for more populations."""

from __future__ import annotations

import pytest

from tests.benchmarks.plan_power import POPULATIONS, POWER, TOLERANCE, reached


@pytest.mark.parametrize("name", [list(POPULATIONS)[index] for index in (0, 2, 3, 5)])
def test_planned_suites_reach_the_promised_power(name: str) -> None:
    _, powers = reached(POPULATIONS[name], cases=300, pilots=3, comparisons=500)
    assert powers.mean() == pytest.approx(POWER, abs=TOLERANCE)


def test_half_the_planned_cases_would_not_reach_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.benchmarks import plan_power

    planned = plan_power.cases_for
    monkeypatch.setattr(plan_power, "cases_for", lambda *arguments: planned(*arguments) // 2)
    _, powers = reached(next(iter(POPULATIONS.values())), cases=300, pilots=2, comparisons=300)
    assert powers.mean() < POWER - 0.1
