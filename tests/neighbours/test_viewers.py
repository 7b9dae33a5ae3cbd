"""Real servers of Phoenix and MLflow show the scores of a run beside the spans of its answers."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.children import Children
from support.command import evalstudio
from support.project import Project
from support.real_servers import START_S, command, free_port, search_path, wait_for
from support.viewer_labs import run_lab

METRICS = 5
ANSWERS = 3


def sent_spans(url: str, headers: dict[str, str]) -> list[tuple[str, str]]:
    """Send a span for each answer by OpenTelemetry's own exporter; return the ids of trace and span."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    provider = TracerProvider()
    provider.add_span_processor(
        SimpleSpanProcessor(OTLPSpanExporter(endpoint=f"{url}/v1/traces", headers=headers))
    )
    ids = []
    for _ in range(ANSWERS):
        with provider.get_tracer("application").start_as_current_span("answer") as span:
            context = span.get_span_context()
            ids.append((f"{context.trace_id:032x}", f"{context.span_id:016x}"))
    provider.shutdown()
    return ids


@pytest.fixture
def phoenix(neighbour: Callable[[str], None], children: Children, tmp_path: Path) -> str:
    neighbour("phoenix")
    port = free_port()
    environment = {
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(free_port()),
        "PHOENIX_WORKING_DIR": str(tmp_path / "phoenix"),
        "PHOENIX_TELEMETRY_ENABLED": "false",
        "PYTHONPATH": "",
    }
    server = children.start([command("phoenix"), "serve"], tmp_path, environment=environment, is_group=True)
    url = f"http://127.0.0.1:{port}"
    wait_for(server, f"{url}/healthz")
    return url


@pytest.fixture
def mlflow(neighbour: Callable[[str], None], children: Children, tmp_path: Path) -> str:
    neighbour("mlflow")
    port = free_port()
    store = f"sqlite:///{(tmp_path / 'mlflow.db').as_posix()}"
    options = ("--port", str(port), "--workers", "1", "--backend-store-uri", store)
    environment = {"MLFLOW_DISABLE_TELEMETRY": "true", "PYTHONPATH": "", "PATH": search_path()}
    server = children.start(
        [command("mlflow"), "server", *options], tmp_path, environment=environment, is_group=True
    )
    url = f"http://127.0.0.1:{port}"
    wait_for(server, f"{url}/health")
    return url


def export(project: Project, kind: str, url: str) -> list[str]:
    result = evalstudio("export", kind, "evalstudio-report", "--endpoint", url, folder=project.folder)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout.splitlines()


def test_phoenix_has_the_scores_as_annotations_of_the_spans(project: Project, phoenix: str) -> None:
    spans = sent_spans(phoenix, {})
    run_lab(project, spans)
    last = f"sent {ANSWERS * METRICS} scores to {phoenix}"
    span_ids = [span for _, span in spans]

    def annotations() -> list[dict[str, Any]]:
        url = f"{phoenix}/v1/projects/default/span_annotations"
        reply = httpx.get(url, params={"span_ids": span_ids, "limit": 1_000}, timeout=30)
        data: list[dict[str, Any]] = reply.json()["data"]
        return data

    end = time.monotonic() + START_S  # spans are stored in the background
    while (status := export_status(project, phoenix)) and time.monotonic() < end:
        time.sleep(0.5)
    assert status == ""
    assert export(project, "phoenix", phoenix)[-1] == last
    entries = annotations()
    assert len(entries) == ANSWERS * METRICS
    assert {each["span_id"] for each in entries} == set(span_ids)
    [wrong] = [
        each
        for each in entries
        if (each["span_id"], each["name"]) == (span_ids[1], "text_matching.model_passes")
    ]
    assert (wrong["result"]["score"], wrong["result"]["label"]) == (0.0, "fail")


def export_status(project: Project, url: str) -> str:
    """Return why an export did not send all, "" where it did."""
    result = evalstudio("export", "phoenix", "evalstudio-report", "--endpoint", url, folder=project.folder)
    return "" if result.returncode == 0 else result.stdout + result.stderr


def test_mlflow_has_the_scores_as_assessments_of_the_traces_once(project: Project, mlflow: str) -> None:
    spans = sent_spans(mlflow, {"x-mlflow-experiment-id": "0"})
    run_lab(project, spans)
    for _ in range(2):
        assert export(project, "mlflow", mlflow)[-1] == f"sent {ANSWERS * METRICS} scores to {mlflow}"
    for number, (trace, span) in enumerate(spans):
        reply = httpx.get(f"{mlflow}/api/3.0/mlflow/traces/tr-{trace}", timeout=30).json()
        assessments = reply["trace"]["trace_info"]["assessments"]
        assert len(assessments) == METRICS
        assert {each["span_id"] for each in assessments} == {span}
        [passes] = [each for each in assessments if each["assessment_name"] == "text_matching.model_passes"]
        assert passes["feedback"]["value"] == 1.0 - number % 2
