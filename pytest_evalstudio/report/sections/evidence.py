"""Evidence for a decision on the models: conditions, scope, thresholds, calibration, limits, sign-off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from pytest_evalstudio.analysis.analyse import Analysis
from pytest_evalstudio.analysis.causes import is_safety
from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.sections import section
from pytest_evalstudio.report.sign_offs import sign_offs_of
from pytest_evalstudio.text.figures import figure

_FIGURES = 14


class CalibrationLine(Struct, frozen=True, kw_only=True):
    """Calibration of an evaluator by people's labels.

    Attributes:
        source: file of the calibration.
        figures: how well it agrees with the labels, by name.
    """

    name: str
    source: str
    figures: Mapping[str, str]


@section("evidence", title="Evidence", order=10, tab="evidence")
def evidence(content: Content) -> Mapping[str, object] | None:
    """Show what each model meets and misses, with everything that this rests on; nothing without models."""
    analysis = content.analysis
    if not content.summary.models:
        return None
    return {
        "gates": analysis.gates,
        "thresholds": content.thresholds,
        "calibrations": list(_calibrations(analysis)),
        "sign_offs": sign_offs_of(analysis.run),
        "safety": [info.name for info in analysis.evaluators.values() if is_safety(info)],
    }


def _calibrations(analysis: Analysis) -> Iterator[CalibrationLine]:
    for info in analysis.evaluators.values():
        if info.calibration:
            figures = info.calibration.get("figures")
            yield CalibrationLine(
                name=info.name,
                source=str(info.calibration.get("file", "")),
                figures=_plain(figures) if isinstance(figures, Mapping) else {},
            )


def _plain(figures: Mapping[str, object]) -> dict[str, str]:
    """Return the numbers and texts among the figures of a calibration."""
    plain = {
        name.replace("_", " "): figure(value) if isinstance(value, float) else str(value)
        for name, value in figures.items()
        if isinstance(value, int | float | str)
    }
    return dict(list(plain.items())[:_FIGURES])
