"""No view of the page has an address or a secret of any text or key of a run's sources."""

from __future__ import annotations

import pytest

from support.canaries import Canaries
from support.canary_sources import write_sources
from support.project import Project

pytestmark = pytest.mark.browser
TABS = ("overview", "failures", "matrix", "explore", "evidence", "evaluators", "run")


def test_no_view_shows_a_text_of_the_sources(visit, pytester: pytest.Pytester) -> None:
    project, canaries = Project(pytester), Canaries()
    write_sources(project, canaries)
    project.run("sums_suite.json", "answers_lab.json")
    path = project.folder / "evalstudio-report" / "interpretation.html"
    page = visit(path)
    views = [f"#{tab}" for tab in TABS]
    page.goto(path.as_uri() + "#matrix")
    page.locator("tr[data-place]").first.wait_for()
    cases = page.locator("tr[data-place]").count()
    assert cases >= 4
    sources = {}
    for view in views:
        page.goto(path.as_uri() + view)
        sources[view] = page.content()
    for number in range(cases):
        page.goto(path.as_uri() + "#matrix")
        page.locator("tr[data-place]").nth(number).click()
        page.locator("#panel .key").first.wait_for()
        page.evaluate("document.querySelectorAll('#panel details').forEach((part) => (part.open = true))")
        sources[f"case {number}"] = page.content()
    assert any("****@" in source for source in sources.values()), "nothing of the sources is shown"
    leaks = {view: canaries.leaks(source.encode()) for view, source in sources.items()}
    assert not any(leaks.values()), leaks
