"""Matrix of tools and models: calls, missing calls, wrong arguments, forbidden calls."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.sections import section

FAULT_WORDS: Mapping[str, str] = {
    "missing": "missing",
    "wrong_arguments": "wrong arguments",
    "unexpected": "unexpected",
    "forbidden": "forbidden",
    "failed": "failed",
}


@section("tools", title="Tools", order=20, tab="matrix")
def tools(content: Content) -> Mapping[str, object] | None:
    """Show how each model calls each tool; nothing where no tool is called or expected."""
    table = content.tools
    if table is None or not table.names:
        return None
    models = content.analysis.models
    return {
        "models": [(model, content.summary.label(model.key)) for model in models],
        "rows": [
            (name, [(model, table.counts(name, model.key)) for model in models]) for name in table.names
        ],
        "cases": table.cases,
        "words": FAULT_WORDS,
        "left_out": table.left_out,
    }
