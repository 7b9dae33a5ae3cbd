"""One part per evaluator: what it measures, how the models stand, where they fail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.exports import own
from pytest_evalstudio.report.plots import plot
from pytest_evalstudio.report.sections import section


@section("evaluators", title="Evaluators", order=50)
def evaluators(content: Content) -> Mapping[str, Any] | None:
    """All evaluators of the run, in its order."""
    if not content.analysis.evaluators:
        return None
    return {"parts": [evaluator_part(content, id) for id in content.analysis.evaluators]}


def evaluator_part(content: Content, id: str) -> dict[str, Any]:
    """What the template of one evaluator needs."""
    analysis = content.analysis
    board = analysis.leaderboards[id]
    return {
        "info": board.evaluator,
        "board": board,
        "plot": plot(board),
        "problems": own(analysis.problems, id)[:10],
        "problem_count": len(own(analysis.problems, id)),
        "failures": content.failures.worst(id),
        "rendered": content.rendered,
        "left_out": content.failures.left_out(id),
        "hardest": analysis.hardest[id],
        "files": content.folders[id].files(),
        "results_file": content.folders[id].files()[0][1],
    }
