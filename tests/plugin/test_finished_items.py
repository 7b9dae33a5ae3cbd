"""Content of items that have finished, and of their reports."""

from __future__ import annotations

import json

import pytest

from support.project import Project

LIST_KEPT = """
import json

import pytest
from _pytest.runner import runtestprotocol

from pytest_evalstudio.plugin.items import FINISHED

reports = {}


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report):
    reports.setdefault(report.nodeid, []).append(report)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session):
    phases = list(reports.values())
    kept = {
        "finished": [item.planned.task is FINISHED and item.task is FINISHED for item in session.items],
        "lines": [item.reportinfo()[1] for item in session.items],
        "keywords": [len({id(report.keywords) for report in each}) for each in phases],
        "names": [list(each[-1].keywords)[0] for each in phases],
        "properties": [dict(each[-1].user_properties)["evalstudio.case"] for each in phases],
        "again": runtestprotocol(session.items[0], log=False)[0].longreprtext,
    }
    (session.config.rootpath / "kept.json").write_text(json.dumps(kept))
"""


@pytest.fixture
def facts(project: Project) -> dict[str, list[object]]:
    project.write("conftest.py", LIST_KEPT)
    project.lab(
        {"key": "passes", "input": "Fee?", "actual_output": "A fee.", "output_condition": '"fee"'},
        {"key": "fails", "input": "Fee?", "actual_output": "None.", "output_condition": '"fee"'},
    )
    project.run("answers_lab.json").assert_outcomes(passed=1, failed=1)
    content: dict[str, list[object]] = json.loads((project.folder / "kept.json").read_text())
    return content


def test_a_finished_item_keeps_no_texts_but_its_location(facts: dict[str, list[object]]) -> None:
    assert facts["finished"] == [True, True]
    assert facts["lines"] == [0, 0]
    assert facts["again"] == (
        "the test case has finished and its texts are released; plugins must run it again within"
        " pytest_runtest_protocol"
    )


def test_the_reports_of_an_items_phases_share_their_keywords(
    facts: dict[str, list[object]],
) -> None:
    assert facts["keywords"] == [1, 1]
    assert facts["names"] == ["passes[m]", "fails[m]"]
    assert facts["properties"] == ["passes", "fails"]
