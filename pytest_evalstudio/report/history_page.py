"""Page of a history: trend, cases that flip, and runs, without scripts."""

from __future__ import annotations

from importlib.metadata import version
from itertools import groupby

from pytest_evalstudio.analysis.comparison.flipping import CaseTrend
from pytest_evalstudio.analysis.comparison.history import OUTCOME_SIGNS, History
from pytest_evalstudio.report import assets
from pytest_evalstudio.report.history import drawn_models, models_of, pictures
from pytest_evalstudio.report.page import environment, trusted_markup
from pytest_evalstudio.text.figures import counted

MAX_FLIPPING = 100
"""Flipping cases that the page lists."""
SHOWN_RUNS = 60
"""Runs whose outcomes are in the row of a case."""


def history_page(history: History) -> str:
    """Return the page of a history of at least one run."""
    drawn = pictures(history)
    operations = {series.name for series in history.operations}
    style = assets.history_style()
    return (
        environment()
        .get_template("history_page.html")
        .render(
            history=history,
            last=history.runs[-1],
            rates=[series for series in history.operations if series.metric == "pass_rate"],
            operations=[svg for name, svg in drawn.items() if name in operations],
            metrics=[svg for name, svg in drawn.items() if name not in operations],
            models=len(models_of(history)),
            drawn=len(drawn_models(history)),
            flipping=history.flipping[:MAX_FLIPPING],
            shown_runs=SHOWN_RUNS,
            earlier=max(0, len(history.runs) - SHOWN_RUNS),
            signs=OUTCOME_SIGNS,
            spoken=spoken_outcomes,
            signed=_signed_points,
            version=version("pytest-evalstudio"),
            style=trusted_markup(style),
            policy=trusted_markup(assets.policy(scripts=False, css=style)),
        )
    )


def spoken_outcomes(trend: CaseTrend) -> str:
    """Return the outcomes of a case in words, equal ones in a row counted.

    >>> outcomes = ("passed", "passed", "", "failed")
    >>> spoken_outcomes(CaseTrend(file="f", key="k", model="m", outcomes=outcomes))
    'passed in 2 runs, not there in 1 run, failed in 1 run'
    """
    return ", ".join(
        f"{(outcome or 'not there').replace('_', ' ')} in {counted(len([*runs]), 'run')}"
        for outcome, runs in groupby(trend.outcomes)
    )


def _signed_points(change: float) -> str:
    """Return a change of a rate in percentage points."""
    return f"{100 * change:+.1f} percentage points"
