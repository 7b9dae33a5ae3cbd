"""Scores beside the spans of viewers, whose interfaces services on loopback speak."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest

from support.command import evalstudio
from support.project import Project
from support.service import Request, Response, Service, running
from support.viewer_labs import run_lab

SPANS = [(f"{number:032x}", f"{number:016x}") for number in range(1, 6)]
METRICS = 5
"""Metrics of text matching, the only evaluator."""


class Phoenix:
    """Refuses a batch that has a span which it does not know, as the server does."""

    def __init__(self, *, unknown: str = "") -> None:
        self.unknown = unknown
        self.annotations: dict[tuple[str, str, str], dict[str, Any]] = {}

    def __call__(self, request: Request) -> Response:
        assert request.path == "/v1/span_annotations?sync=true"
        data = json.loads(request.content)["data"]
        if any(each["span_id"] == self.unknown for each in data):
            return Response(status=404)
        for each in data:
            self.annotations[each["span_id"], each["name"], each["identifier"]] = each
        return Response({"data": []})


class MLflow:
    """Keeps assessments by trace."""

    def __init__(self) -> None:
        self.traces: dict[str, list[dict[str, Any]]] = {f"tr-{trace}": [] for trace, _ in SPANS[1:]}

    def __call__(self, request: Request) -> Response:
        trace, _, action = request.path.removeprefix("/api/3.0/mlflow/traces/").partition("/")
        if trace not in self.traces:
            return Response(status=404)
        if action == "assessments":
            self.traces[trace].append(json.loads(request.content)["assessment"])
        return Response({"trace": {"trace_info": {"trace_id": trace, "assessments": self.traces[trace]}}})


@pytest.fixture
def run_project(project: Project) -> Project:
    run_lab(project, SPANS)
    return project


def export(project: Project, kind: str, *arguments: str) -> Any:
    return evalstudio("export", kind, "evalstudio-report", *arguments, folder=project.folder)


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PHOENIX_API_KEY", "MLFLOW_TRACKING_TOKEN", "MLFLOW_TRACKING_USERNAME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def phoenix() -> Iterator[tuple[Service, Phoenix]]:
    answering = Phoenix(unknown=SPANS[2][1])
    with running(answering) as service:
        yield service, answering


def test_phoenix_gets_all_scores_but_those_of_unknown_spans(
    run_project: Project, phoenix: tuple[Service, Phoenix], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PHOENIX_API_KEY", "phoenix-key")
    service, answering = phoenix
    result = export(run_project, "phoenix", "--endpoint", service.url, "--texts")
    assert result.returncode == 1
    assert result.stdout.splitlines() == [
        f"not sent: {METRICS} scores of answers without a span; run with [trace], or import the answers from"
        " traces",
        f"not sent: {METRICS} scores of spans that are not at {service.url}; send the application's spans"
        " there first",
        f"sent {4 * METRICS} scores to {service.url}",
    ]
    assert {span for span, _, _ in answering.annotations} == {span for _, span in SPANS} - {SPANS[2][1]}
    [wrong] = [
        each
        for (span, name, _), each in answering.annotations.items()
        if (span, name) == (SPANS[1][1], "text_matching.model_passes")
    ]
    assert wrong["result"]["score"] == 0.0
    assert wrong["result"]["label"] == "fail"
    assert "lacks" in wrong["result"]["explanation"]
    assert wrong["annotator_kind"] == "CODE"
    assert wrong["metadata"]["evalstudio.test"] == "fees_lab.json::case-1[m]"
    assert {request.headers["authorization"] for request in service.requests} == {"Bearer phoenix-key"}
    annotation_count = len(answering.annotations)
    export(run_project, "phoenix", "--endpoint", service.url)
    assert len(answering.annotations) == annotation_count


def test_mlflow_gets_each_score_once(run_project: Project) -> None:
    answering = MLflow()
    with running(answering) as service:
        first = export(run_project, "mlflow", "--endpoint", service.url)
        second = export(run_project, "mlflow", "--endpoint", service.url)
    assert (first.returncode, first.stdout) == (second.returncode, second.stdout)
    assert first.stdout.splitlines()[-1] == f"sent {4 * METRICS} scores to {service.url}"
    assert {len(assessments) for assessments in answering.traces.values()} == {METRICS}
    each = answering.traces[f"tr-{SPANS[1][0]}"][0]
    assert each["span_id"] == SPANS[1][1]
    assert each["source"] == {"source_type": "CODE", "source_id": "pytest-evalstudio"}
    assert "rationale" in each


def test_langfuse_gets_scores_with_ids_that_a_second_export_repeats(
    run_project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", "pk")
    monkeypatch.setenv("LANGFUSE_SECRET_KEY", "sk")
    with running(lambda request: Response({"successes": [], "errors": []}, status=207)) as service:
        for _ in range(2):
            assert export(run_project, "langfuse", "--endpoint", service.url).returncode == 0
    first, second = (json.loads(request.content)["batch"] for request in service.requests)
    assert len(first) == len(SPANS) * METRICS
    assert [event["body"] for event in first] == [event["body"] for event in second]
    assert len({event["body"]["id"] for event in first}) == len(first)
    assert service.requests[0].headers["authorization"] == f"Basic {base64.b64encode(b'pk:sk').decode()}"


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        ("phoenix", ("-o", "x.json"), "phoenix: scores are only sent to a service; give --endpoint URL"),
        ("phoenix", (), "phoenix: scores are only sent to a service; give --endpoint URL"),
        ("langfuse", ("--endpoint", "http://127.0.0.1:9"), "set LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY"),
        ("phoenix", ("--endpoint", "http://me:pw@h"), "set keys by PHOENIX_API_KEY"),
        ("phoenix", ("--endpoint", "phoenix"), "is not valid"),
    ],
)
def test_a_wrong_option_is_a_usage_error(
    run_project: Project, kind: str, arguments: tuple[str, ...], message: str
) -> None:
    result = export(run_project, kind, *arguments)
    assert (result.returncode, message in result.stderr, "pw@" in result.stderr) == (2, True, False)


@pytest.mark.parametrize("kind", ["phoenix", "mlflow"])
def test_a_server_that_refuses_is_named(run_project: Project, kind: str) -> None:
    with running(lambda request: Response(status=401)) as service:
        result = export(run_project, kind, "--endpoint", service.url)
    assert result.returncode == 2
    assert "refused the scores with status 401" in result.stderr
