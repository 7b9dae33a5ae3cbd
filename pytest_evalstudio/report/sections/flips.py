"""Effect of perturbed questions on the verdicts."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_evalstudio.analysis.flip_rates import GROUPS
from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.sections import section


@section("flips", title="Robustness", order=10, tab="robustness")
def flips(content: Content) -> Mapping[str, object] | None:
    """Show flip rates by group, and a curve over the intensities.

    Perturbations that change the meaning are separate. There is no section if no question was perturbed.
    """
    rates = content.analysis.flip_rates
    if not rates:
        return None
    from pytest_evalstudio.report.sensitivity import charts

    preserving = [rate for rate in rates if rate.meaning_kept]
    return {
        "groups": [
            (group, rates_of_group)
            for group in GROUPS
            if (rates_of_group := [rate for rate in preserving if rate.group == group])
        ],
        "apart": [rate for rate in rates if not rate.meaning_kept],
        "has_noise": any(rate.noise is not None for rate in preserving),
        "charts": charts(content.analysis.sensitivities),
        "shrunk": content.analysis.shrunk_flips.sentence,
    }
