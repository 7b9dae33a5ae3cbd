"""Reasons for the end of an answer, as the services' own clients read them over HTTP."""

from __future__ import annotations

import json

import pytest

from pytest_evalstudio.core.cases import Prompt
from pytest_evalstudio.core.codes import finish_reason
from support.openai_server import Reply
from support.protocols import PROTOCOLS
from support.service import Response, running

ASK = "What is the fee?"
REASONS = {
    "openai_compatible": {"stop": "stop", "length": "length", "content_filter": "content_filter"},
    "anthropic_llm": {
        "end_turn": "stop",
        "max_tokens": "length",
        "model_context_window_exceeded": "length",
        "refusal": "content_filter",
    },
    "ollama": {"stop": "stop", "length": "length"},
    "amazon_bedrock_llm": {
        "end_turn": "stop",
        "max_tokens": "length",
        "content_filtered": "content_filter",
        "guardrail_intervened": "content_filter",
    },
}
NAMES = {
    "openai_compatible": ("choices", 0, "finish_reason"),
    "anthropic_llm": ("stop_reason",),
    "ollama": ("done_reason",),
    "amazon_bedrock_llm": ("stopReason",),
}


def answer_of(model, tmp_path, id, change):
    """Ask a service whose reply is changed."""
    protocol = next(each for each in PROTOCOLS if each.id == id)

    def changed(request):
        response = protocol.respond(request)
        if not protocol.asks(request):
            return response
        body = json.loads(response.payload())
        change(body)
        return Response(body, headers=response.headers)

    document = tmp_path / "fees.md"
    document.write_text("A transfer costs 5 USD.", encoding="utf-8")
    with running(changed, protocol.asks, protocol.handler) as service:
        session = model(id, **protocol.settings(service.url))
        return session.ask([Prompt(text=ASK, corpus=(str(document),))])[0]


@pytest.mark.parametrize(
    ("id", "raw_reason", "reason"),
    [(id, raw_reason, reason) for id, reasons in REASONS.items() for raw_reason, reason in reasons.items()],
)
def test_the_reason_of_a_service_is_a_code(model, tmp_path, id, raw_reason, reason):
    def change(body):
        *path, name = NAMES[id]
        for key in path:
            body = body[key]
        body[name] = raw_reason

    answer = answer_of(model, tmp_path, id, change)
    assert (answer.error, answer.finish_reason) == ("", reason)
    assert answer.text


@pytest.mark.parametrize(("raw_reason", "reason"), [("max_output_tokens", "length"), ("content_filter",) * 2])
def test_a_response_of_openai_says_why_it_is_incomplete(model, tmp_path, raw_reason, reason):
    def change(body):
        body |= {"status": "incomplete", "incomplete_details": {"reason": raw_reason}}

    answer = answer_of(model, tmp_path, "openai_rag", change)
    assert (answer.error, answer.finish_reason) == ("", reason)


def test_a_guardrail_of_a_knowledge_base_filters(model, tmp_path):
    answer = answer_of(
        model, tmp_path, "amazon_bedrock_rag", lambda body: body.update(guardrailAction="INTERVENED")
    )
    assert (answer.error, answer.finish_reason) == ("", "content_filter")


def test_an_answer_that_a_filter_leaves_nothing_of_is_an_error(chat, service):
    service.default = Reply(text="", finish="content_filter")
    assert "content filter withheld the answer" in chat().ask([Prompt(text=ASK)])[0].error


def test_the_reason_of_an_http_service_is_named_by_a_pointer(model, tmp_path):
    protocol = next(each for each in PROTOCOLS if each.id == "http")

    def with_reason(request):
        return Response({"answer": "5 USD and", "end": {"why": "MAX_TOKENS"}})

    with running(with_reason, protocol.asks, protocol.handler) as service:
        settings = protocol.settings(service.url) | {"body": {"prompt": "{{ prompt }}"}}
        reply = {"answer": "/answer", "finish_reason": "/end/why"}
        [answer] = model("http", **settings | {"reply": reply}).ask([Prompt(text=ASK)])
    assert (answer.text, answer.finish_reason) == ("5 USD and", "length")


def test_the_reason_of_an_application_in_python_is_a_key(model):
    def ask(prompt):
        return {"answer": "5 USD and", "finish_reason": "content_filter"}

    [answer] = model("python", target=ask).ask([Prompt(text=ASK)])
    assert answer.finish_reason == "content_filter"


@pytest.mark.parametrize(
    ("value", "code"),
    [("STOP", "stop"), ("tool_use", "tool_calls"), ("Pause_Turn", "pause_turn"), (None, ""), (3, "3")],
)
def test_codes(value, code):
    assert finish_reason(value) == code
