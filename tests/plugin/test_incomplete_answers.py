"""Answers that were cut or filtered are named on terminal, summary and page, and fail a run that says so."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import pytest

from pytest_evalstudio.analysis.analyse import analyse
from support.openai_server import OpenAIServer, Reply, serve
from support.project import Project

CONFIG = """
evaluators = ["text_matching"]

[[model]]
name = "served"
host = "openai_compatible"
url = "URL"
llm_model_name = "m"
"""
CASES = [
    {"key": "whole", "prompt": "whole?", "condition": '"4"'},
    {"key": "filtered", "prompt": "filtered?", "condition": '"4"'},
    {"key": "cut", "prompt": "cut?", "condition": '"4"'},
]
REPLIES = {
    "whole?": Reply(text="It is 4."),
    "filtered?": Reply(text="It is 4, and", finish="content_filter"),
    "cut?": Reply(text="It is 4, which", finish="length"),
}
SENTENCE = (
    "1 answer filtered by the service, 1 answer cut at the length limit, e.g."
    " sums_suite.json::filtered[served]"
)


@pytest.fixture
def service() -> Iterator[OpenAIServer]:
    with serve() as running:
        running.default = REPLIES.__getitem__
        yield running


@pytest.fixture
def project(pytester: pytest.Pytester, service: OpenAIServer) -> Project:
    project = Project(pytester, with_app=False)
    project.write("evalstudio.toml", CONFIG.replace("URL", service.url))
    project.suite(*CASES)
    return project


def test_incomplete_answers_are_named_everywhere(project: Project) -> None:
    result = project.run("--junitxml=junit.xml")

    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["result: *, 2 incomplete", f"incomplete: {SENTENCE.replace('[', '[[]')}"])
    report = project.folder / "evalstudio-report"
    assert f"Incomplete: {SENTENCE.partition(',')[0]}" in (report / "summary.md").read_text("utf-8")
    assert SENTENCE.partition(",")[0] in (report / "interpretation.html").read_text("utf-8")
    _, items = project.record()
    reasons = {key: item["rows"][0]["answer"].get("finish_reason") for key, item in items.items()}
    assert reasons == {"whole[served]": "stop", "filtered[served]": "content_filter", "cut[served]": "length"}
    [summary] = report.glob("**/interpretation*.json")
    assert json.loads(summary.read_text("utf-8"))["run"]["incomplete_answers"] == {
        "content_filter": 1,
        "length": 1,
    }
    properties = [
        (each.get("name"), each.get("value"))
        for each in ET.parse(project.folder / "junit.xml").iter("property")
    ]
    assert ("evalstudio.incomplete", "2") in properties
    assert ("evalstudio.incomplete", "content_filter") in properties


@pytest.mark.parametrize("place", ["option", "configuration"])
def test_they_fail_a_run_that_forbids_them(project: Project, place: str) -> None:
    if place == "configuration":
        config = (project.folder / "evalstudio.toml").read_text("utf-8")
        project.write("evalstudio.toml", f'incomplete_answers = "fail"\n{config}')
    result = project.run(*(["-o", "evalstudio_incomplete_answers=fail"] if place == "option" else []))

    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(
        [
            "incomplete answer: it was filtered by the service",
            "incomplete answer: it was cut at the length limit",
        ]
    )
    _, items = project.record()
    assert items["cut[served]"]["code"] == "answer_incomplete"
    assert "code" not in items["whole[served]"]


def test_complete_answers_have_no_mark(project: Project, service: OpenAIServer) -> None:
    service.default = Reply(text="It is 4.")
    result = project.run("-o", "evalstudio_incomplete_answers=fail")
    result.assert_outcomes(passed=3)
    result.stdout.no_fnmatch_line("*incomplete*")


def test_a_wrong_value_is_a_usage_error(project: Project) -> None:
    config = (project.folder / "evalstudio.toml").read_text("utf-8")
    project.write("evalstudio.toml", f'incomplete_answers = "skip"\n{config}')
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_a_conversation_is_incomplete_where_a_turn_is(project: Project) -> None:
    turns = [{"prompt": "filtered?", "condition": '"4"'}, {"prompt": "whole?", "condition": '"4"'}]
    project.suite({"key": "talk", "turns": turns})
    project.run().stdout.fnmatch_lines(["incomplete: 1 answer filtered by the service*"])


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({"finish_reason": "MAX_TOKENS"}, "length"),
        ({"finish_reason": "SAFETY"}, "content_filter"),
    ],
    ids=["Gemini's length", "Gemini's filter"],
)
def test_reasons_in_a_data_set_are_read_whatever_their_service_calls_them(
    project: Project, keys: dict[str, object], reason: str
) -> None:
    row = {"key": "a", "input": "2+2?", "actual_output": "4", "output_condition": '"4"', "model_key": "m"}
    project.write("answers_dataset.json", json.dumps({"inputs": [{**row, **keys}]}))
    result = project.run("answers_dataset.json")
    result.assert_outcomes(passed=1)
    record = project.folder / "evalstudio-report" / "record.jsonl"
    assert analyse(record, {}).incomplete.reasons == {reason: 1}
