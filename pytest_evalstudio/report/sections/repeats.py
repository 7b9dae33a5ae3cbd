"""Reliability over repeats."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.repeats import FLAKY_HEAD, HEAD, flaky_rows, repeat_rows, stopping_lines
from pytest_evalstudio.report.sections import section


@section("repeats", title="Repeats", order=20, tab="robustness")
def repeats(content: Content) -> Mapping[str, object] | None:
    """Show pass@k, pass^k, flaky cases and sequential tests; nothing where no question was repeated."""
    analysed = content.analysis.repeats
    confirmations = content.analysis.confirmations
    if not (analysed.figures or analysed.flaky or analysed.stopping or confirmations.sentence):
        return None
    return {
        "head": HEAD,
        "rows": list(repeat_rows(analysed)),
        "flaky_head": FLAKY_HEAD,
        "flaky": list(flaky_rows(analysed)),
        "left_out": analysed.flaky_items - len(analysed.flaky),
        "confirmation": confirmations.sentence,
        "unconfirmed_head": ["Not confirmed", "Question", "Repeats that fail"],
        "unconfirmed": [
            [case.nodeid, case.question, f"{case.failed} of {case.passed + case.failed}"]
            for case in confirmations.listed
        ],
        "stopping": [list(stopping_lines(figures)) for figures in analysed.stopping],
    }
