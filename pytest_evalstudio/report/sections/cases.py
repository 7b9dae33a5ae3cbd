"""Table of all test cases, with search and filters."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.sections import section


@section("cases", title="Test cases", order=10, tab="matrix")
def cases(content: Content) -> Mapping[str, object] | None:
    """Show the table of cases, which a script draws, or links to the files without scripts."""
    if not len(content.columns):
        return None
    return {"files": [(folder.info.name, folder.files()[0][1]) for folder in content.folders.values()]}
