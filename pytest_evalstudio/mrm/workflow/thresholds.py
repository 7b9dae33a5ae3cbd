"""Thresholds that people's labels gave, for the steps after the calibration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CALIBRATION = "human_calibration"


def calibrated_thresholds(figures: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """`evaluator.metric` to threshold; empty where there is no completed calibration, or no threshold came of
    it.

    Args:
        figures: of completed steps, by id.
    """
    found = figures.get(CALIBRATION, {}).get("thresholds") or {}
    return {str(key): float(value) for key, value in found.items() if value is not None}
