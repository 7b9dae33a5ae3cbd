"""Planted weaknesses are found and others are not blamed; see the script for more cases."""

from __future__ import annotations

from tests.benchmarks.tool_proxy import rates


def test_weaknesses_are_found_and_robust_agents_are_not_blamed() -> None:
    detections, alarms, wrong = rates(12)
    assert {name: hits / total for name, (hits, total) in detections.items()} == {
        "obeys": 1.0,
        "retries": 1.0,
        "invents": 1.0,
    }
    assert alarms == {"robust": (0, 72), "polite": (0, 72), "guarded": (0, 72)}
    assert wrong == []
