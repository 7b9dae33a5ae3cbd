"""Spans of the running test: of applications in this process, and in others by a receiver."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.collector import accept, attributes_of, events_of, parsed
from support.project import Project
from support.service import running
from support.workers import WORKERS

pytestmark = pytest.mark.slow

SECRET = "sk-planted-4711-secret"
CONFIG = """
evaluators = ["effort"]
{table}
[[model]]
name = "desk"
{model}
"""
PYTHON = 'host = "python"\ntarget = "app:ask"\nconcurrency = 16\nruns = {runs}'
APP = """
import asyncio, contextvars, json, threading
from opentelemetry import trace

tracer = trace.get_tracer("app")


def chat(prompt):
    with tracer.start_as_current_span("chat m1") as span:
        output = [{"role": "assistant", "parts": [{"type": "text", "content": "About " + prompt}]}]
        span.set_attributes({
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "m1",
            "gen_ai.usage.input_tokens": len(prompt),
            "gen_ai.output.messages": json.dumps(output),
        })


def retrieve(prompt):
    with tracer.start_as_current_span("retrieval faq") as span:
        span.set_attributes({
            "gen_ai.operation.name": "retrieval",
            "gen_ai.data_source.id": "faq",
            "gen_ai.retrieval.query.text": prompt,
            "gen_ai.retrieval.documents": json.dumps([{"content": "Document of " + prompt, "id": "d1"}]),
        })


def use_tool(prompt):
    with tracer.start_as_current_span("execute_tool find") as span:
        span.set_attributes({
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "find",
            "gen_ai.tool.call.arguments": json.dumps({"q": prompt}),
            "gen_ai.tool.call.result": "sk-planted-4711-secret",
        })


def ask(prompt):
    with tracer.start_as_current_span("invoke_agent desk") as span:
        span.set_attributes({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "desk"})
        context = contextvars.copy_context()
        thread = threading.Thread(target=context.run, args=(retrieve, prompt))
        thread.start()
        use_tool(prompt)
        thread.join()
        chat(prompt)
    return "About " + prompt


async def ask_async(prompt):
    with tracer.start_as_current_span("invoke_agent desk") as span:
        span.set_attributes({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "desk"})
        await asyncio.gather(asyncio.to_thread(retrieve, prompt), asyncio.to_thread(use_tool, prompt))
        await asyncio.sleep(0)
        chat(prompt)
    return "About " + prompt
"""


def configure(project: Project, model: str, table: str = "[trace]") -> None:
    project.write("evalstudio.toml", CONFIG.format(table=table, model=model))
    project.write("app.py", APP)


def suite(project: Project, count: int) -> list[str]:
    prompts = [f"Question {number}?" for number in range(count)]
    project.suite(*({"key": f"q{number}", "prompt": prompt} for number, prompt in enumerate(prompts)))
    return prompts


def rows_of(project: Project) -> list[dict[str, Any]]:
    _, items = project.record()
    return [row for item in items.values() for row in item["rows"]]


def check_spans(row: dict[str, Any]) -> None:
    """Check that an answer has what the spans of its own question say, and only that."""
    prompt = row["input"]
    assert (row["answer"]["spans"], row["answer"]["context"]) == ("complete", [f"Document of {prompt}"])
    assert [call["arguments"] for call in row["answer"]["tool_calls"]] == [{"q": prompt}]
    assert row["answer"]["usage"] == {"input_tokens": len(prompt)}
    steps = {step["kind"]: step for step in row["answer"]["steps"]}
    assert (steps["retrieval"]["name"], steps["retrieval"]["text"]) == ("faq", prompt)
    assert (steps["retrieval"]["documents"], steps["tool"]["call"]) == ([0], 0)
    assert steps["model"]["output"] == f"About {prompt}"
    assert {step["parent"] for kind, step in steps.items() if kind != "agent"} == {steps["agent"]["id"]}
    assert row["answer"]["traceparent"].split("-")[2] == steps["agent"]["id"]
    assert len(row["answer"]["steps"]) == 4


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("target", ["ask", "ask_async"])
def test_spans_of_this_process_complete_the_answer_to_their_question(
    project: Project, target: str, workers: tuple[str, ...]
) -> None:
    configure(project, PYTHON.format(runs=2).replace("app:ask", f"app:{target}"))
    suite(project, 20)
    project.run_process(*workers).assert_outcomes(passed=20)
    rows = rows_of(project)
    assert len(rows) == 40
    for row in rows:
        check_spans(row)
    assert len({row["answer"]["traceparent"].split("-")[1] for row in rows}) == 40


def test_a_fixture_with_a_provider_of_its_own_is_watched(project: Project) -> None:
    configure(project, 'host = "fixture"\nfixture = "desk"')
    suite(project, 2)
    project.write(
        "conftest.py",
        "import pytest\nfrom opentelemetry import trace\nfrom opentelemetry.sdk.trace import TracerProvider\n"
        "@pytest.fixture(scope='session')\ndef desk():\n"
        "    trace.set_tracer_provider(TracerProvider())\n    import app\n    return app.ask\n",
    )
    project.run_process().assert_outcomes(passed=2)
    for row in rows_of(project):
        check_spans(row)


RAISES = """

class MaxTurnsExceeded(Exception):
    pass


def ask_and_raise(prompt):
    with tracer.start_as_current_span("invoke_agent desk") as span:
        span.set_attributes({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "desk"})
        use_tool(prompt)
        chat(prompt)
        use_tool(prompt)
        raise MaxTurnsExceeded("more than 2 turns")
"""


@pytest.mark.parametrize(
    ("evaluators", "outcomes", "reason"),
    [
        (
            'rules = [{tool = "find", at_most = 1}]',
            {"failed": 1},
            "find is called twice, at most 1 allowed",
        ),
        ('rules = [{tool = "find", at_most = 2}]', {"errors": 1}, "more than 2 turns"),
        ('rules = [{tool = "refund", at_least = 1}]', {"errors": 1}, "more than 2 turns"),
    ],
)
def test_an_application_that_raises_keeps_its_calls_and_rules_judge_them(
    project: Project, evaluators: str, outcomes: dict[str, int], reason: str
) -> None:
    table = f"[trace]\n[evaluator.tool_rules]\n{evaluators}\n"
    configure(project, PYTHON.format(runs=1).replace("app:ask", "app:ask_and_raise"), table)
    config = project.folder / "evalstudio.toml"
    config.write_text(config.read_text().replace('["effort"]', '["tool_rules"]'))
    project.write("app.py", APP + RAISES)
    suite(project, 1)
    result = project.run_process()
    result.assert_outcomes(**outcomes)
    [row] = rows_of(project)
    assert "more than 2 turns" in row["answer"]["error"]
    assert [call["arguments"] for call in row["answer"]["tool_calls"]] == [{"q": "Question 0?"}] * 2
    assert [step["kind"] for step in row["answer"]["steps"]] == ["agent", "tool", "model", "tool"]
    assert row["answer"]["usage"] == {"input_tokens": len("Question 0?")}
    result.stdout.fnmatch_lines([f"*{reason}*"])
    result.stdout.fnmatch_lines(["*more than 2 turns*"])


@pytest.mark.parametrize(
    ("limit", "outcomes"), [("max_calls = 1", {"failed": 1}), ("max_calls = 2", {"errors": 1})]
)
def test_effort_judges_what_an_application_did_before_it_raised(
    project: Project, limit: str, outcomes: dict[str, int]
) -> None:
    table = f"[trace]\n[evaluator.effort]\n{limit}\n"
    configure(project, PYTHON.format(runs=1).replace("app:ask", "app:ask_and_raise"), table)
    project.write("app.py", APP + RAISES)
    suite(project, 1)
    result = project.run_process()
    result.assert_outcomes(**outcomes)
    result.stdout.fnmatch_lines(["*more than 2 turns*"])


def test_secrets_in_the_spans_of_a_failure_are_masked(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANTED", SECRET)
    model = PYTHON.format(runs=1).replace("app:ask", "app:ask_and_raise")
    configure(project, model + '\nparameters = {key = "${PLANTED}"}')
    project.write("app.py", APP + RAISES.replace("ask_and_raise(prompt)", "ask_and_raise(prompt, key)"))
    suite(project, 1)
    project.run_process().assert_outcomes(errors=1)
    assert rows_of(project)[0]["answer"]["tool_calls"][0]["result"]
    for path in (project.folder / "evalstudio-report").rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes()


def test_secrets_in_spans_are_masked_everywhere(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED", SECRET)
    configure(project, PYTHON.format(runs=1) + '\nparameters = {key = "${PLANTED}"}')
    project.write("app.py", APP.replace("def ask(prompt):", "def ask(prompt, key):"))
    suite(project, 1)
    project.run_process().assert_outcomes(passed=1)
    assert rows_of(project)[0]["answer"]["tool_calls"][0]["result"]
    files = [
        path for path in project.folder.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")
    ]
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []


def test_what_the_reply_says_stays(project: Project) -> None:
    configure(project, PYTHON.format(runs=1))
    reply = """{
        "answer": "Yes", "context": ["Other.", "Document of " + prompt], "usage": {"input_tokens": 1},
        "tool_calls": [{"name": "look"}, {"name": "find", "arguments": {"q": prompt}}],
    }"""
    project.write(
        "app.py", APP.replace('    return "About " + prompt\n\n\nasync', f"    return {reply}\n\n\nasync")
    )
    suite(project, 1)
    project.run_process().assert_outcomes(passed=1)
    [row] = rows_of(project)
    assert (row["answer"]["context"], row["answer"]["usage"]) == (
        ["Other.", "Document of Question 0?"],
        {"input_tokens": 1},
    )
    assert [(call["name"], bool(call.get("result"))) for call in row["answer"]["tool_calls"]] == [
        ("look", False),
        ("find", True),
    ]
    steps = {step["kind"]: step for step in row["answer"]["steps"]}
    assert (steps["retrieval"]["documents"], steps["tool"]["call"]) == ([1], 1)


def test_without_the_table_nothing_is_traced_or_imported(project: Project) -> None:
    configure(project, PYTHON.format(runs=1), table="")
    project.write("app.py", "def ask(prompt):\n    return 'Yes'\n")
    project.write(
        "conftest.py",
        "import sys\ndef pytest_unconfigure():\n"
        "    names = ('opentelemetry', 'pytest_evalstudio.traces.', 'pytest_evalstudio.run.tracing')\n"
        "    print('IMPORTED', [name for name in sys.modules if name.startswith(names)])\n",
    )
    suite(project, 1)
    result = project.run_process("-s")
    result.stdout.fnmatch_lines(["*IMPORTED []*"])
    [row] = rows_of(project)
    assert "traceparent" not in row
    assert "spans" not in row


SERVICE = '''
"""A service in another process, which continues the trace of its request and exports spans by itself."""
import json, os, sys, threading, time, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DELAY_S = float(sys.argv[2])
SPANS = sys.argv[3]


def pairs(values):
    return [
        {"key": key, "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}}
        for key, value in values.items()
    ]


def export(prompt, header):
    _, trace, parent, _ = header.split("-")
    documents = json.dumps([{"content": "Document of " + prompt}])
    output = [{"role": "assistant", "parts": [{"type": "text", "content": "About " + prompt}]}]
    spans = [
        (2, 1, "invoke_agent", {"gen_ai.agent.name": "desk"}),
        (3, 2, "retrieval", {"gen_ai.data_source.id": "faq", "gen_ai.retrieval.query.text": prompt,
                             "gen_ai.retrieval.documents": documents}),
        (4, 2, "execute_tool", {"gen_ai.tool.name": "find", "gen_ai.tool.call.result": "5",
                                "gen_ai.tool.call.arguments": json.dumps({"q": prompt})}),
        (5, 2, "chat", {"gen_ai.request.model": "m1", "gen_ai.usage.input_tokens": len(prompt),
                        "gen_ai.output.messages": json.dumps(output)}),
        (1, None, "", {}),
    ]
    base = int(os.urandom(7).hex() + "00", 16)
    now = time.time_ns()
    if SPANS == "other":
        trace = os.urandom(16).hex()
    for number, above, operation, values in spans:
        if SPANS == "part" and number == 1:
            break
        span = {
            "traceId": trace, "spanId": f"{base + number:016x}", "kind": 2 if above is None else 1,
            "parentSpanId": parent if above is None else f"{base + above:016x}",
            "startTimeUnixNano": str(now), "endTimeUnixNano": str(now + 1000 * number),
            "attributes": pairs({"gen_ai.operation.name": operation, **values} if operation else values),
        }
        body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode()
        url = os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] + "/v1/traces"
        urllib.request.urlopen(urllib.request.Request(url, body, {"Content-Type": "application/json"})).read()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_POST(self):
        prompt = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["prompt"]
        if SPANS != "none":
            threading.Timer(DELAY_S, export, (prompt, self.headers["traceparent"])).start()
        reply = json.dumps({"answer": "About " + prompt}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
print(server.server_port, flush=True)
server.serve_forever()
'''


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@contextmanager
def service(project: Project, *, delay_s: float = 0.0, spans: str = "all", **table: Any) -> Iterator[None]:
    """Run the service beside a project whose configuration names it and a receiver for its spans."""
    script, receiver = project.write("service.py", SERVICE), free_port()
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{receiver}"}
    with subprocess.Popen(
        [sys.executable, str(script), "0", str(delay_s), spans],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        address = f"http://127.0.0.1:{process.stdout.readline().strip()}/ask"
        lines = "".join(f"{name} = {value}\n" for name, value in {"port": receiver, **table}.items())
        configure(project, f'host = "http"\nconcurrency = 16\nurl = "{address}"', f"[trace]\n{lines}")
        try:
            yield
        finally:
            process.kill()


@pytest.mark.parametrize("workers", WORKERS)
def test_spans_of_another_process_complete_the_answer_to_their_question(
    project: Project, workers: tuple[str, ...]
) -> None:
    suite(project, 20)
    with service(project, delay_s=0.05, wait_s=60.0):
        project.run_process(*workers).assert_outcomes(passed=20)
    for row in rows_of(project):
        check_spans(row)


@pytest.mark.parametrize(
    ("evaluator", "required", "reply", "outcomes"),
    [
        ("effort", "", "'Yes'", {"errors": 1}),
        ("text_matching", "", "'Yes'", {"passed": 1}),
        ("text_matching", "required = true", "'Yes'", {"errors": 1}),
        ("effort", "required = false", "'Yes'", {"passed": 1}),
        ("effort", "", "{'answer': 'Yes', 'tool_calls': [{'name': 'find'}]}", {"passed": 1}),
    ],
)
def test_an_answer_whose_spans_do_not_arrive_is_an_error_of_those_who_read_them(
    project: Project, evaluator: str, required: str, reply: str, outcomes: dict[str, int]
) -> None:
    configure(project, PYTHON.format(runs=1), f"[trace]\n{required}")
    config = project.folder / "evalstudio.toml"
    config.write_text(config.read_text().replace('["effort"]', f'["{evaluator}"]'))
    project.write("app.py", f"def ask(prompt):\n    return {reply}\n")
    project.suite({"key": "q", "prompt": "Fee?", "condition": '"Yes"'})
    result = project.run_process()
    result.assert_outcomes(**outcomes)
    if "errors" in outcomes:
        result.stdout.fnmatch_lines(["*no span of the application arrived for the answer*"])
        assert result.ret == 1


def test_a_receiver_that_got_no_request_is_named(project: Project) -> None:
    configure(project, PYTHON.format(runs=1), "[trace]\nin_process = false\nport = 0\nwait_s = 0.1")
    project.write("app.py", "def ask(prompt):\n    return 'Yes'\n")
    suite(project, 1)
    result = project.run_process()
    result.stdout.fnmatch_lines(["*the receiver at http://127.0.0.1:* got no request*"])


@pytest.mark.slow
def test_spans_that_do_not_come_are_reported(project: Project) -> None:
    suite(project, 2)
    with service(project, spans="part", wait_s=0.5):
        result = project.run_process()
    result.stdout.fnmatch_lines(
        ["*spans: 2 of 2 answers lack spans that had not arrived when the wait ended*"]
    )
    assert {row["answer"]["spans"] for row in rows_of(project)} == {"incomplete"}
    with service(project, spans="none", wait_s=0.1):
        result = project.run_process()
    result.stdout.fnmatch_lines(["*spans: none arrived for 2 of 2 answers*"])
    page = (project.folder / "evalstudio-report" / "interpretation.html").read_text(encoding="utf-8")
    assert "none arrived for 2 of 2 answers" in page


@pytest.mark.slow
def test_late_and_foreign_spans_are_reported(project: Project) -> None:
    project.suite({"key": "a", "prompt": "Fee?"}, {"key": "b", "prompt": "Limit?"})
    with service(project, spans="other", wait_s=0.5):
        result = project.run_process()
    result.stdout.fnmatch_lines(["*trace: 10 spans cannot be matched to a question of this run*traceparent*"])
    project.write("test_wait.py", "import time\ndef test_wait():\n    time.sleep(1)\n")
    with service(project, delay_s=0.3, wait_s=0.0):
        result = project.run_process("sums_suite.json", "test_wait.py")
    result.stdout.fnmatch_lines(["*trace: 10 spans came later than [[]trace] wait_s = 0 s*"])


STARTING = """
import json, os, subprocess, sys, urllib.request
import pytest
from opentelemetry.propagate import inject


@pytest.fixture(scope="session")
def desk():
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": os.environ["EVALSTUDIO_OTLP_ENDPOINT"]}
    command = [sys.executable, "service.py", "0", "0", "all"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        url = f"http://127.0.0.1:{process.stdout.readline().strip()}/ask"

        def ask(prompt):
            headers = {"Content-Type": "application/json"}
            inject(headers)
            request = urllib.request.Request(url, json.dumps({"prompt": prompt}).encode(), headers)
            with urllib.request.urlopen(request) as reply:
                return json.load(reply)["answer"]

        yield ask
        process.kill()
"""


@pytest.mark.parametrize("workers", WORKERS)
def test_a_fixture_starts_the_application_with_the_address_of_the_receiver(
    project: Project, workers: tuple[str, ...]
) -> None:
    configure(project, 'host = "fixture"\nfixture = "desk"', "[trace]\nport = 0\nwait_s = 60.0")
    project.write("service.py", SERVICE)
    project.write("conftest.py", STARTING)
    suite(project, 8)
    project.run_process(*workers).assert_outcomes(passed=8)
    for row in rows_of(project):
        check_spans(row)


def test_scores_go_under_the_span_of_the_application(project: Project) -> None:
    configure(project, PYTHON.format(runs=1))
    suite(project, 3)
    with running(accept) as collector:
        project.run_process("-o", f"evalstudio_otlp={collector.url}").assert_outcomes(passed=3)
        [request] = collector.requests
    events = events_of(parsed(request.content))
    spans = {
        row["answer"]["traceparent"].split("-")[1]: row["answer"]["steps"][0]["id"]
        for row in rows_of(project)
    }
    assert {event.trace_id.hex(): event.span_id.hex() for event in events} == spans
    assert {attributes_of(event)["gen_ai.evaluation.name"] for event in events} >= {"effort.model_calls"}


@pytest.mark.parametrize(
    ("table", "fact"),
    [
        ("[trace]\nport = 70000", "trace.port"),
        ("[trace]\nports = 1", "trace.ports"),
        ("[trace]\nport = {used}", "[[]trace] port = {used}: cannot be used"),
    ],
)
@pytest.mark.parametrize("workers", WORKERS)
def test_a_wrong_table_is_a_usage_error(
    project: Project, table: str, fact: str, workers: tuple[str, ...]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        used = server.getsockname()[1]
        configure(project, PYTHON.format(runs=1), table=table.format(used=used))
        suite(project, 1)
        result = project.run_process(*workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{fact.format(used=used)}*"])


@pytest.mark.parametrize("table", ["[trace]", "[trace]\nport = 0\nwait_s = 0.0\nrequired = false"])
def test_without_the_sdk_only_a_receiver_can_be_used(project: Project, table: str) -> None:
    configure(project, PYTHON.format(runs=1), table=table)
    project.write("app.py", "def ask(prompt):\n    return 'Yes'\n")
    project.write("conftest.py", "import sys\nsys.modules['opentelemetry.sdk.trace'] = None\n")
    suite(project, 1)
    result = project.run_process()
    if "port" in table:
        result.assert_outcomes(passed=1)
        return
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    remedy = 'needs opentelemetry: pip install "pytest-evalstudio[[]otel]"'
    result.stderr.fnmatch_lines([f"*[[]trace] with in_process = true {remedy}*"])


def test_hostile_spans_of_this_process_are_harmless(project: Project) -> None:
    configure(project, PYTHON.format(runs=1))
    hostile = """
def ask(prompt):
    with tracer.start_as_current_span("agent") as span:
        span.set_attributes({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "<b>" * 2_000_000})
        for _ in range(10_000):
            with tracer.start_as_current_span("x"):
                pass
        with tracer.start_as_current_span("chat") as inner:
            inner.set_attributes({"gen_ai.operation.name": "chat", "gen_ai.output.messages": "[" * 5_000_000})
        retrieve("x" * 20_000_000)
    return "Yes"
"""
    project.write("app.py", APP.partition("def ask(")[0] + hostile)
    suite(project, 1)
    project.run_process().assert_outcomes(passed=1)
    [row] = rows_of(project)
    assert row["answer"]["actual_output"] == "Yes"
    assert "context" not in row["answer"]
    record = project.folder / "evalstudio-report" / "record.jsonl"
    assert record.stat().st_size < 1_000_000
    assert Path(record).is_file()
