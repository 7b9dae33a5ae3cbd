"""The first screen: verdict, first failure, eye, heatmap and main findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from pytest_evalstudio.analysis.leaderboards import Leaderboard
from pytest_evalstudio.plots.labels import short_labels
from pytest_evalstudio.report.assessment import is_safety
from pytest_evalstudio.report.conclusions import CONFORMING, CONFORMITIES, PLURALS
from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.sections import section
from pytest_evalstudio.report.sign_offs import sign_offs_of

FINDINGS = 3
FURTHER_FINDINGS = 6
"""Findings that the brief has besides, a line each."""
LABEL_CHARS = 22
FEW_MODELS = 8
"""Models from which on the brief has two reasons for each, so that all of them fit on two pages."""


def _rank(board: Leaderboard) -> tuple[bool, bool]:
    """Return the sort key of a column: safety comes first, what was not scored last."""
    return not any(line.scored for line in board.standings), not is_safety(board.evaluator)


@section("summary", title="Summary", order=10, tab="overview")
def summary(content: Content) -> Mapping[str, object]:
    """Show the verdict with the first failure, all models on all evaluators, and up to three findings."""
    analysis = content.analysis
    boards = list(analysis.leaderboards.values())
    conformity = Counter(model.conformity for model in content.conclusions)
    first = content.failed.first
    failed = content.failed.total["failed"] + content.failed.total["error"]
    return {
        "first": first,
        "others": failed - 1 if first is not None else 0,
        "conformity": [
            (word, conformity[word], word if conformity[word] == 1 else PLURALS[word])
            for word in CONFORMITIES
            if conformity[word]
        ],
        "gates": analysis.gates,
        "sign_offs": sign_offs_of(analysis.run),
        "boards": boards,
        "places": sorted(range(len(boards)), key=lambda index: _rank(boards[index])),
        "worst_first": sorted(
            content.conclusions,
            key=lambda model: (model.conformity in CONFORMING, model.share if model.share is not None else 2),
        ),
        "reasons_shown": 2 if len(content.conclusions) > FEW_MODELS else 3,
        "labels": short_labels([board.evaluator.name for board in boards], LABEL_CHARS),
        "top": content.findings[:FINDINGS],
        "further": content.findings[FINDINGS : FINDINGS + FURTHER_FINDINGS],
        "more_findings": max(0, len(content.findings) - FINDINGS),
    }
