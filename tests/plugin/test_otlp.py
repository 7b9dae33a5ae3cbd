"""Scores as events of OpenTelemetry: written to a file, sent to a collector, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.collector import accept, attributes_of, events_of, parsed
from support.command import evalstudio
from support.project import Project
from support.service import Response, running
from support.workers import WORKERS

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
SECRET = "sk-proj-Zx81kQm3vB7tYp2nLw9cRd5eFg"
LAB = {
    "name": "fees",
    "dataset": {
        "inputs": [
            {
                "key": "six",
                "model_key": "m",
                "input": "What is the fee?",
                "actual_output": f"It is six. Key {SECRET}",
                "output_condition": '"five"',
                "traceparent": f"00-{TRACE}-{SPAN}-01",
            },
            {
                "key": "five",
                "model_key": "m",
                "input": "What is the other fee?",
                "actual_output": "It is five.",
                "output_condition": '"five"',
                "request_id": "resp_42",
                "served_model": "small-1",
            },
        ]
    },
    "models": [{"key": "m", "name": "m", "model_type": "python"}],
}


@pytest.fixture
def lab(project: Project) -> Project:
    """A project with two answers: one fails and is a span, one passes and is a response."""
    project.write("evalstudio.toml", 'evaluators = ["text_matching", "pii_leakage"]\n')
    project.write("fees_lab.json", json.dumps(LAB))
    return project


def exported(project: Project, *arguments: str) -> list[Any]:
    run = evalstudio(
        "export", "otel", "evalstudio-report", "-o", "events.jsonl", *arguments, folder=project.folder
    )
    assert run.returncode == 0, run.stderr
    lines = (project.folder / "events.jsonl").read_text(encoding="utf-8").splitlines()
    return [event for line in lines for event in events_of(parsed(line))]


def test_each_score_is_an_event_under_its_span_or_response(lab: Project) -> None:
    lab.run()
    events = exported(lab)

    values = [(attributes_of(event), event) for event in events]
    matching = {
        attributes["test.case.name"].partition("::")[2]: (attributes, event)
        for attributes, event in values
        if attributes["gen_ai.evaluation.name"] == "text_matching.model_passes"
    }
    failed, event = matching["six[m]"]
    assert {event.event_name for event in events} == {"gen_ai.evaluation.result"}
    assert (event.trace_id.hex(), event.span_id.hex()) == (TRACE, SPAN)
    assert (failed["gen_ai.evaluation.score.value"], failed["gen_ai.evaluation.score.label"]) == (0.0, "fail")
    assert (failed["test.case.result.status"], "gen_ai.response.id" in failed) == ("fail", False)
    passed, event = matching["five[m]"]
    assert (passed["gen_ai.evaluation.score.value"], passed["gen_ai.evaluation.score.label"]) == (1.0, "pass")
    assert (passed["gen_ai.response.id"], passed["gen_ai.response.model"]) == ("resp_42", "small-1")
    assert not event.trace_id


def test_the_events_are_all_scores_of_the_record(lab: Project) -> None:
    lab.run()
    _, items = lab.record()
    scores = [
        (item["nodeid"], f"{evaluator}.{metric}", value)
        for item in items.values()
        for row in item["rows"]
        for evaluator, outcome in row["outcomes"].items()
        for metric, value in outcome.get("scores", {}).items()
        if value is not None
    ]

    attributes = [attributes_of(event) for event in exported(lab)]

    assert scores
    assert [
        (entry["test.case.name"], entry["gen_ai.evaluation.name"], entry["gen_ai.evaluation.score.value"])
        for entry in attributes
    ] == scores


def test_texts_are_exported_only_on_request_and_are_masked(lab: Project) -> None:
    lab.run()

    plain, with_texts = exported(lab), exported(lab, "--texts")

    names = {name for event in plain for name in attributes_of(event)}
    assert "gen_ai.evaluation.explanation" not in names
    content = (lab.folder / "events.jsonl").read_text(encoding="utf-8")
    assert any("gen_ai.evaluation.explanation" in attributes_of(event) for event in with_texts)
    assert SECRET not in content


@pytest.mark.parametrize("workers", WORKERS)
def test_a_run_sends_its_scores_once(lab: Project, workers: tuple[str, ...], monkeypatch: Any) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=a%20b, x-team = risk")
    with running(accept) as collector:
        collector.faults = [Response(status=503)]
        lab.run("-o", f"evalstudio_otlp={collector.url}", *workers)
        first, second = collector.requests
    assert (first.path, first.headers["content-type"]) == ("/v1/logs", "application/json")
    assert (second.headers["x-key"], second.headers["x-team"]) == ("a b", "risk")
    assert first.content == second.content
    assert len(events_of(parsed(second.content))) == len(exported(lab))


def test_without_the_option_nothing_is_sent(lab: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(accept) as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        lab.run()
        assert collector.requests == []


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (Response(status=400), "*the scores were not sent: */v1/logs refused the events with status 400*"),
        (
            Response(status=307, headers={"Location": "http://127.0.0.1:9/v1/logs"}),
            "*redirects to another address, which gets nothing*",
        ),
    ],
)
def test_a_collector_that_refuses_is_a_warning_and_no_failure(
    lab: Project, reply: Response, message: str
) -> None:
    with running(accept) as collector:
        collector.always = reply
        result = lab.run("-o", f"evalstudio_otlp={collector.url}")
    result.assert_outcomes(passed=1, failed=1, warnings=1)
    result.stdout.fnmatch_lines([message])
    assert len(collector.requests) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-o", "evalstudio_otlp=localhost:4318"), "*the address of the collector is not valid*"),
        (("-o", "evalstudio_otlp=http://me:pw@h/"), "*holds a user, a query or a fragment*"),
        (
            (
                "-o",
                "evalstudio_otlp_texts=true",
            ),
            "*evalstudio_otlp_texts needs evalstudio_otlp = URL*",
        ),
    ],
)
def test_a_wrong_option_is_a_usage_error(lab: Project, arguments: tuple[str, ...], message: str) -> None:
    result = lab.run(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])
    assert "pw@" not in result.stderr.str()


def test_a_report_is_sent_by_the_command(lab: Project) -> None:
    lab.run()
    with running(accept) as collector:
        run = evalstudio(
            "export", "otel", "evalstudio-report", "--endpoint", collector.url, folder=lab.folder
        )
        [request] = collector.requests
    count = len(events_of(parsed(request.content)))
    assert run.stdout.strip() == f"sent {count} events to {collector.url}"


def test_what_a_collector_rejects_is_not_counted(lab: Project) -> None:
    lab.run()
    with running(lambda request: Response({"partialSuccess": {"rejectedLogRecords": "1"}})) as collector:
        run = evalstudio(
            "export", "otel", "evalstudio-report", "--endpoint", collector.url, folder=lab.folder
        )
        [request] = collector.requests
    assert f"sent {len(events_of(parsed(request.content))) - 1} events" in run.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give the file that is written by -o OUT, or a collector by --endpoint URL"),
        (("-o", "events.json"), "a file name for otel ends with .jsonl"),
        (("-o", "e.jsonl", "--model", "m"), "--model is not an option of the kind otel"),
    ],
)
def test_a_wrong_command_is_explained(lab: Project, arguments: tuple[str, ...], message: str) -> None:
    lab.run()
    run = evalstudio("export", "otel", "evalstudio-report", *arguments, folder=lab.folder)
    assert run.returncode == 2
    assert message in run.stderr
    assert not Path(lab.folder, "events.json").exists()
