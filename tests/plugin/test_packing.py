from __future__ import annotations

import copy

import pytest

from pytest_evalstudio.plugin.packing import PACKED, pack, unpack
from support.project import Project

LOG = """
import json


def pytest_runtest_logreport(report):
    import log_of

    if hasattr(log_of.config, "workerinput"):
        return

    with open("log.jsonl", "a") as file:
        data = log_of.config.hook.pytest_report_to_serializable(config=log_of.config, report=report)
        file.write(json.dumps(sorted(data)) + "\\n")


def pytest_configure(config):
    import log_of

    log_of.config = config
"""
"""A plugin that serializes the reports in the process of the controller."""

FIELDS = {
    "nodeid": "a_lab.json::k[m]",
    "location": ("a_lab.json", 0, "k[m]"),
    "keywords": {"k[m]": 1},
    "longrepr": {"reprcrash": {"message": "rouge 0.1 < 0.75 \ud800"}, "sections": []},
    "user_properties": [("evalstudio.case", "k"), ("evalstudio.rouge.rouge_l", 0.1)],
    "evalstudio": ["a_lab.json::k[m]", "", []],
}


def test_a_report_is_restored_as_it_was_sent():
    data = dict(FIELDS)
    pack(data)
    assert set(data) == {"nodeid", "location", PACKED}
    unpack(data)
    assert data == FIELDS


def test_a_traceback_that_ends_the_chain_travels_once():
    traceback = {"reprentries": [{"data": {"lines": ["too low" * 50]}}], "style": "value"}
    crash = {"path": "a_lab.json", "lineno": 1, "message": "too low"}
    failure = {"reprtraceback": traceback, "reprcrash": crash, "sections": []}
    data = {**FIELDS, "longrepr": {**failure, "chain": [[traceback, crash, None]]}}
    original = copy.deepcopy(data)
    pack(data)
    assert data[PACKED].count("too low" * 50) == 1
    unpack(data)
    assert data == original
    restored = data["longrepr"]
    assert restored["reprtraceback"] is not restored["chain"][0][0]


def test_the_reason_of_a_skip_stays_a_tuple():
    data = {**FIELDS, "longrepr": ("a_lab.json", 1, "Skipped: not run")}
    pack(data)
    unpack(data)
    assert data["longrepr"] == ("a_lab.json", 1, "Skipped: not run")


def test_a_report_with_the_value_of_another_plugin_is_sent_as_it_is():
    data = {**FIELDS, "user_properties": [("theirs", {1, 2})]}
    original = dict(data)
    pack(data)
    assert data == original


@pytest.mark.slow
def test_a_plugin_that_logs_reports_sees_their_fields_under_xdist(project: Project) -> None:
    project.write("log_of.py", "config = None")
    project.write("conftest.py", LOG)
    project.suite({"key": "four", "prompt": "2+2?", "condition": '"4"'})
    project.run("-n", "2").assert_outcomes(passed=1)
    lines = (project.folder / "log.jsonl").read_text().splitlines()
    assert len(lines) == 3, "set-up, call and tear-down"
    assert all("user_properties" in line and PACKED not in line for line in lines)
