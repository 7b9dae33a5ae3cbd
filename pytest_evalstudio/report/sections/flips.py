"""How much perturbed questions change the verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_evalstudio.engine.analysis.flip_rates import GROUPS
from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.sections import section


@section("flips", title="Robustness", order=40)
def flips(content: Content) -> Mapping[str, Any] | None:
    """Flip rates, group by group; nothing where no question was perturbed."""
    rates = content.analysis.flip_rates
    if not rates:
        return None
    return {"groups": [(group, [rate for rate in rates if rate.group == group]) for group in GROUPS if any(rate.group == group for rate in rates)]}
