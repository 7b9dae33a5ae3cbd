"""Provenance of the run: parameters, settings, versions, log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.exports import log_lines
from pytest_evalstudio.report.sections import section

LOG_LINES = 200


@section("run", title="Run", order=20, tab="run")
def run(content: Content) -> Mapping[str, Any]:
    """Show metadata of the run and the evaluators' logs."""
    analysis = content.analysis
    log = [line for board in analysis.leaderboards.values() for line in log_lines(analysis, board)]
    return {
        "run": analysis.run,
        "settings": msgspec.to_builtins(analysis.run.settings),
        "warnings": content.warnings,
        "log": log[:LOG_LINES],
        "left_out": max(0, len(log) - LOG_LINES),
    }
