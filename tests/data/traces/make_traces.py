"""Write the traces of this folder: real instrumentations record two requests to a chat service on loopback.

Each framework needs an environment of its own; `README.md` names the versions:

    python make_traces.py openai|agents|pydantic|langchain|openai-v2|mlflow|mlflow-trace|phoenix OUT
    python make_traces.py openllmetry-openai|…|vercel OUT          # those of applications.py

For phoenix, a server runs at PHOENIX_COLLECTOR_ENDPOINT, and OUT gets two files. For vercel, NODE_PATH names
the folder of the packages.

The service answers the first request with a call of the tool `get_fee`, and the second one with a text.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from applications import APPLICATIONS, DOCUMENT, QUESTION, RESULT, ask, get_fee

TOOL_ARGUMENTS, ANSWER = '{"country": "FR"}', "The fee is 30 USD."
MACHINE = ("mlflow.source.", "mlflow.user", "mlflow.artifactLocation")
"""Names of what MLflow records of the machine."""
CONTENT = {"adk": "SPAN_ONLY"}
"""Values of the variable by which an instrumentation records texts, where "true" is not enough."""


def chat(body):
    has_result = any(message["role"] == "tool" for message in body["messages"])
    call = {"name": "get_fee", "arguments": TOOL_ARGUMENTS}
    calls = [{"id": "call_1", "type": "function", "function": call}]
    message = {"content": ANSWER} if has_result else {"content": None, "tool_calls": calls}
    counts = (
        {"prompt_tokens": 21, "completion_tokens": 7}
        if has_result
        else {"prompt_tokens": 11, "completion_tokens": 5}
    )
    return {
        "id": f"chatcmpl-{has_result:d}",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"] + "-2024",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", **message},
                "finish_reason": "stop" if has_result else "tool_calls",
            }
        ],
        "usage": {**counts, "total_tokens": sum(counts.values())},
    }


def respond(body):
    items = body["input"] if isinstance(body["input"], list) else []
    has_result = any(item.get("type") == "function_call_output" for item in items)
    text = {"type": "output_text", "text": ANSWER, "annotations": []}
    message = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [text],
    }
    call = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": "get_fee",
        "status": "completed",
    }
    counts = (
        {"input_tokens": 21, "output_tokens": 7} if has_result else {"input_tokens": 11, "output_tokens": 5}
    )
    return {
        "id": f"resp_{has_result:d}",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": body["model"] + "-2024",
        "output": [
            {"status": "completed", **(message if has_result else {**call, "arguments": TOOL_ARGUMENTS})}
        ],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            **counts,
            "total_tokens": sum(counts.values()),
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


def streamed(reply):
    """Return a chat completion as events: the message, its end, and the tokens."""
    [choice] = reply["choices"]
    calls = [{"index": 0, **call} for call in choice["message"].get("tool_calls", ())]
    delta = {**choice["message"], **({"tool_calls": calls} if calls else {})}
    chunk = {key: value for key, value in reply.items() if key != "usage"}
    chunk["object"] = "chat.completion.chunk"
    end = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    events = (
        {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**chunk, "choices": [end]},
        {**chunk, "choices": [], "usage": reply["usage"]},
    )
    return (
        b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events) + b"data: [DONE]\n\n"
    )


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def content(self):
        if "content-length" in self.headers:
            return self.rfile.read(int(self.headers["content-length"]))
        parts = []  # exporters of Node send chunks
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def do_POST(self):
        streams = False
        body = self.content()
        if self.path == "/v1/traces":
            write_request(self.server.path, body, is_json="json" in self.headers["content-type"])
            reply = b""
        else:
            request = json.loads(body)
            answer = respond if self.path.endswith("/responses") else chat
            streams = request.get("stream", False)
            reply = streamed(answer(request)) if streams else json.dumps(answer(request)).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if streams else "application/json")
        self.send_header("content-length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)


def write_request(path, body, *, is_json):
    """Append a request of OTLP to JSON lines."""
    if is_json:
        write_line(path, json.loads(body))
        return
    from google.protobuf.json_format import MessageToDict
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    message = MessageToDict(ExportTraceServiceRequest.FromString(body), use_integers_for_enums=True)
    write_line(path, hexadecimal(message))


def write_line(path, message):
    """Append a request without tracebacks and resources, which name folders of the machine."""
    for resource in message.get("resourceSpans", ()):
        resource.pop("resource", None)
        for scope in resource["scopeSpans"]:
            for status in (span.get("status", {}) for span in scope["spans"]):
                if "message" in status:
                    status["message"] = status["message"].partition("Traceback")[0]
            for event in (event for span in scope["spans"] for event in span.get("events", ())):
                pairs = event.get("attributes", [])
                event["attributes"] = [pair for pair in pairs if pair["key"] != "exception.stacktrace"]
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(message) + "\n")


def hexadecimal(value):
    """Return OTLP JSON with ids in hexadecimal, as its specification demands and protobuf does not do it."""
    if isinstance(value, dict):
        return {
            key: base64.b64decode(item).hex()
            if key in ("traceId", "spanId", "parentSpanId")
            else hexadecimal(item)
            for key, item in value.items()
        }
    return [hexadecimal(item) for item in value] if isinstance(value, list) else value


class Exporter:
    """Exporter of spans or log records to JSON lines, as the file exporter of the collector writes them."""

    def __init__(self, path, encode, success):
        self.path, self.encode, self.success = path, encode, success

    def export(self, batch):
        from google.protobuf.json_format import MessageToDict

        message = MessageToDict(self.encode(batch), use_integers_for_enums=True)
        write_line(self.path, hexadecimal(message))
        return self.success

    def shutdown(self):
        pass

    def force_flush(self, timeout_millis=0):
        return True


def tracer_provider(path):
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult

    provider = TracerProvider(resource=Resource.get_empty())
    provider.add_span_processor(SimpleSpanProcessor(Exporter(path, encode_spans, SpanExportResult.SUCCESS)))
    return provider


def export_from_phoenix(url, path):
    from openinference.instrumentation.openai import OpenAIInstrumentor
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from phoenix.client import Client

    address = os.environ["PHOENIX_COLLECTOR_ENDPOINT"]
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(f"{address}/v1/traces")))
    OpenAIInstrumentor().instrument(tracer_provider=provider)
    import openai

    kind, question, answer = "openinference.span.kind", "input.value", "output.value"
    document = "retrieval.documents.0.document"
    document_fields = {f"{document}.content": DOCUMENT, f"{document}.id": "fees.md", f"{document}.score": 0.5}
    used = {"tool.name": "get_fee", question: TOOL_ARGUMENTS, answer: RESULT}
    tracer = provider.get_tracer("app")
    with tracer.start_as_current_span("desk") as span:
        span.set_attributes({kind: "AGENT", "agent.name": "desk", question: QUESTION})
        tracer.start_span("faq", attributes={kind: "RETRIEVER", question: QUESTION, **document_fields}).end()
        tracer.start_span("get_fee", attributes={kind: "TOOL", **used}).end()
        span.set_attribute(answer, ask(openai.OpenAI(base_url=url)))
    time.sleep(5)  # the server stores spans in batches
    client = Client(base_url=address).spans
    frame = client.get_spans_dataframe(project_identifier="default")
    frame.to_json(f"{path}_frame.jsonl", orient="records", lines=True, date_format="iso")
    with open(f"{path}_spans.json", "w", encoding="utf-8") as file:
        json.dump(client.get_spans(project_identifier="default"), file)


def trace_with_mlflow(url, path):
    os.environ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] = f"{url}/traces"
    os.environ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"] = "http/protobuf"
    ask_desk_of_mlflow(url)


def store_with_mlflow(url, path):
    """Write the trace as MLflow's store has it, with what people said of it."""
    import mlflow
    from mlflow.entities import AssessmentSource

    mlflow.set_tracking_uri(f"sqlite:///{path}.db")
    person = AssessmentSource(source_type="HUMAN", source_id="reviewer")
    ask_desk_of_mlflow(url)
    id = mlflow.get_last_active_trace_id()
    mlflow.log_expectation(trace_id=id, name="expected_response", value="It costs 30 USD.", source=person)
    mlflow.log_feedback(trace_id=id, name="correct", value=True, rationale="As in the list.", source=person)
    trace = mlflow.get_trace(id).to_dict()
    for values in (trace["info"]["trace_metadata"], trace["info"]["tags"]):
        for name in [name for name in values if name.startswith(MACHINE)]:
            del values[name]
    for span in trace["data"]["spans"]:
        for event in span["events"]:
            event["attributes"].pop("exception.stacktrace", None)
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps(trace) + "\n")
    os.remove(f"{path}.db")


def ask_desk_of_mlflow(url):
    import mlflow
    import openai
    from mlflow.entities import Document, SpanType

    @mlflow.trace(span_type=SpanType.RETRIEVER, name="faq")
    def retrieve(query):
        return [Document(DOCUMENT, metadata={"doc_uri": "fees.md"}, id="d1")]

    @mlflow.trace(span_type=SpanType.TOOL, name="get_fee")
    def fee(country):
        return get_fee(country)

    @mlflow.trace(span_type=SpanType.AGENT, name="desk")
    def desk(question):
        retrieve(question)
        with suppress(ValueError):
            fee(**json.loads(TOOL_ARGUMENTS))
        return ask(openai.OpenAI(base_url=url))

    mlflow.openai.autolog()
    desk(QUESTION)
    mlflow.flush_trace_async_logging()


STORES = {"mlflow": trace_with_mlflow, "mlflow-trace": store_with_mlflow, "phoenix": export_from_phoenix}


def main(kind, path):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.path = path
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1"
    os.environ["OPENAI_API_KEY"] = "none"
    os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = CONTENT.get(kind, "true")
    if kind in STORES:
        STORES[kind](url, path)
        return
    provider = None if kind == "vercel" else tracer_provider(path)
    if kind in APPLICATIONS:
        APPLICATIONS[kind](provider, url)
        return
    import openai

    if kind == "openai":
        from openinference.instrumentation.openai import OpenAIInstrumentor

        OpenAIInstrumentor().instrument(tracer_provider=provider)
        ask(openai.OpenAI(base_url=url))
    elif kind == "agents":
        import agents
        from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

        OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)
        agents.set_default_openai_client(openai.AsyncOpenAI(base_url=url), use_for_tracing=False)
        tools = [agents.function_tool(get_fee)]
        agent = agents.Agent(name="Fees", instructions="Be brief.", model="gpt-4o", tools=tools)
        agents.Runner.run_sync(agent, QUESTION)
    elif kind == "pydantic":
        from pydantic_ai import Agent
        from pydantic_ai.models.instrumented import InstrumentationSettings
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        Agent.instrument_all(InstrumentationSettings(tracer_provider=provider))
        model = OpenAIChatModel("gpt-4o", provider=OpenAIProvider(base_url=url, api_key="none"))
        agent = Agent(model, name="fees", system_prompt="Be brief.", tools=[get_fee])
        agent.run_sync(QUESTION)
    elif kind == "langchain":
        from langchain.agents import create_agent
        from langchain_core.documents import Document
        from langchain_core.retrievers import BaseRetriever
        from langchain_openai import ChatOpenAI
        from openinference.instrumentation.langchain import LangChainInstrumentor

        class Retriever(BaseRetriever):
            def _get_relevant_documents(self, query, *, run_manager):
                return [Document(DOCUMENT, metadata={"source": "fees.md"})]

        def get_fee_of_documents(country: str) -> str:
            """Return the fee."""
            Retriever().invoke(f"fee {country}")
            return get_fee(country)

        LangChainInstrumentor().instrument(tracer_provider=provider)
        get_fee_of_documents.__name__ = "get_fee"
        model = ChatOpenAI(model="gpt-4o", base_url=url)
        agent = create_agent(model, [get_fee_of_documents], system_prompt="Be brief.")
        agent.invoke({"messages": [{"role": "user", "content": QUESTION}]})
    else:
        from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
        from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor
        from opentelemetry.sdk._logs import LoggerProvider
        from opentelemetry.sdk._logs.export import LogRecordExportResult, SimpleLogRecordProcessor

        logs = LoggerProvider()
        logs.add_log_record_processor(
            SimpleLogRecordProcessor(Exporter(path, encode_logs, LogRecordExportResult.SUCCESS))
        )
        OpenAIInstrumentor().instrument(tracer_provider=provider, logger_provider=logs)
        with provider.get_tracer("app").start_as_current_span("POST /ask"):
            ask(openai.OpenAI(base_url=url))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
