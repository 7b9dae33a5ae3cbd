"""The official exporters of Node send spans to the receiver, all of them in chunks."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from pytest_evalstudio.traces.collecting import SpanStore
from pytest_evalstudio.traces.receiver import Receiver

TRACE = "5b8efff798038103d269b633813fc60c"
PARENT = f"{9:016x}"
SPANS = 21
PACKAGES = (
    "@opentelemetry/api@1",
    "@opentelemetry/exporter-trace-otlp-http@0.223",
    "@opentelemetry/exporter-trace-otlp-proto@0.223",
    "@opentelemetry/sdk-trace-node@2",
)
SCRIPT = """
const [, , kind, url, compression, traceId] = process.argv;
const { OTLPTraceExporter } = require('@opentelemetry/exporter-trace-otlp-' + kind);
const { NodeTracerProvider, SimpleSpanProcessor } = require('@opentelemetry/sdk-trace-node');
const api = require('@opentelemetry/api');
const exporter = new OTLPTraceExporter({ url: url + '/v1/traces', compression });
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const tracer = provider.getTracer('application');
const remote = { traceId, spanId: '0000000000000009', traceFlags: 1, isRemote: true };
const context = api.trace.setSpanContext(api.ROOT_CONTEXT, remote);
const server = tracer.startSpan('server', { kind: 1 }, context);
const below = api.trace.setSpan(context, server);
for (let i = 0; i < 20; i++)
  tracer.startSpan('call ' + i, { attributes: { 'gen_ai.prompt': 'Fee?' } }, below).end();
server.end();
provider.forceFlush().then(() => provider.shutdown());
"""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the exporters."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("npm is not installed: apt-get install npm")
    folder = tmp_path_factory.mktemp("node")
    (folder / "package.json").write_text("{}", encoding="utf-8")
    options = ("--silent", "--no-audit", "--no-fund", "--fetch-retries=1", "--fetch-timeout=20000")
    installed = subprocess.run(
        ["npm", "install", *options, *PACKAGES], cwd=folder, capture_output=True, text=True, timeout=300
    )
    if installed.returncode:
        pytest.skip(f"the registry of npm cannot be reached: {installed.stderr[-200:]}")
    (folder / "send.cjs").write_text(SCRIPT, encoding="utf-8")
    return folder


@pytest.mark.parametrize("compression", ["none", "gzip"])
@pytest.mark.parametrize("kind", ["http", "proto"])
def test_all_spans_of_an_exporter_of_node_arrive(packages: Path, kind: str, compression: str) -> None:
    store = SpanStore(TRACE[:16], receives=True)
    receiver = Receiver(store)
    receiver.start()
    try:
        subprocess.run(
            ["node", "send.cjs", kind, receiver.endpoint, compression, TRACE],
            cwd=packages,
            check=True,
            timeout=60,
        )
        collected = store.collect(TRACE, [PARENT], 10)
    finally:
        receiver.close()
    assert (len(collected.spans), collected.status) == (SPANS, "complete")
    assert receiver.traffic.sentence == ""
