"""Reports of other plugins."""

from __future__ import annotations

import html

import pytest

from support.project import Project


@pytest.mark.neighbours("pytest_html")
@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_pytest_html_shows_scores_and_escapes_them(project: Project, workers: tuple[str, ...]) -> None:
    project.suite({"key": "<b>four", "prompt": "2+2?", "condition": '"4"'})

    project.run("--html=report.html", "--self-contained-html", *workers).assert_outcomes(passed=1)

    page = (project.folder / "report.html").read_text(encoding="utf-8")
    assert "evalstudio.text_matching.model_passes" in html.unescape(page)
    assert "<b>four" not in page
