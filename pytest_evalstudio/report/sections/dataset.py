"""The data that the models were asked."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.sections import section

CATEGORIES = 40


@section("dataset", title="Data set", order=30, tab="evidence")
def dataset(content: Content) -> Mapping[str, object]:
    """Show sizes, columns with their cardinalities, lengths of texts, categories."""
    figures = content.analysis.dataset
    categories = list(figures.categories.items())
    return {
        "dataset": figures,
        "parts": content.columns.parts.parts(),
        "categories": categories[:CATEGORIES],
        "left_out": max(0, len(categories) - CATEGORIES),
    }
