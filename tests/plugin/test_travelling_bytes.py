"""Bytes of an item's reports on their way from a worker of xdist to the controller."""

from __future__ import annotations

import json

import pytest

from support.project import Project

pytest.importorskip("xdist")

COUNT_BYTES = """
import json

import execnet
import pytest

sizes = {}


@pytest.hookimpl(tryfirst=True, wrapper=True)
def pytest_report_to_serializable(config, report):
    data = yield
    if data is not None and "when" in data:
        sizes.setdefault(report.nodeid, []).append(len(execnet.dumps(data)))
    return data


def pytest_unconfigure(config):
    if hasattr(config, "workerinput"):
        name = f"sizes_{config.workerinput['workerid']}.json"
        (config.rootpath / name).write_text(json.dumps(sizes))
"""
TEXT_CHARS = 2_000
MAX_OVERHEAD_BYTES = 6_200
"""Of three reports, besides the texts of the item: 5,600 for two evaluators of which one fails."""


@pytest.mark.slow
def test_the_reports_of_an_item_travel_in_few_bytes_besides_its_texts(project: Project) -> None:
    project.write("conftest.py", COUNT_BYTES)
    text = "The fee is charged when a transfer leaves. " * (TEXT_CHARS // 43)
    case = {"input": "Fee?", "actual_output": "None.", "output_condition": '"fee"', "context": [text]}
    project.lab(*({"key": f"case-{number}", **case} for number in range(40)))

    project.run_process("answers_lab.json", "-n", "2", "--evalstudio-evaluators", "text_matching,rouge")

    files = list(project.folder.glob("sizes_*.json"))
    sizes = [sum(phases) for file in files for phases in json.loads(file.read_text()).values()]
    assert len(sizes) == 40
    largest = sorted(sizes)[-4]  # the first items of a worker also bring tables of the header
    assert len(text) < largest <= len(text) + MAX_OVERHEAD_BYTES
