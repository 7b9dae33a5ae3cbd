"""Requests that are too long or filtered name their reason, over HTTP, and are not sent again."""

from __future__ import annotations

import json

import pytest

from pytest_evalstudio.core.cases import Prompt
from support.openai_server import Reply
from support.protocols import PROTOCOLS
from support.service import Response, running

ASK = [Prompt(text="how much?")]
TOO_LONG = "the request is longer than the model's context (HTTP 400: "
FILTERED = "the request was refused by the content filter of the service (HTTP 400: "
AZURE = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
ERRORS = {
    "OpenAI": ({"message": "too long", "code": "context_length_exceeded"}, TOO_LONG),
    "llama.cpp": ({"message": "request", "type": "exceed_context_size_error", "code": 400}, TOO_LONG),
    "LiteLLM, too long": (
        {
            "message": "litellm.ContextWindowExceededError: litellm.BadRequestError: OpenAIException - This"
            " model's maximum context length is 8192 tokens",
            "type": "invalid_request_error",
            "code": "400",
        },
        TOO_LONG,
    ),
    "Gemini": (
        {
            "message": "The input token count (9) exceeds the maximum number of tokens allowed (8).",
            "code": 400,
        },
        TOO_LONG,
    ),
    "Azure": ({"message": "no", "code": "content_filter"}, FILTERED),
    "Azure, inner code": (
        {"message": "no", "code": "x", "innererror": {"code": "ResponsibleAIPolicyViolation"}},
        FILTERED,
    ),
    "OpenAI's policy": ({"message": "no", "code": "content_policy_violation"}, FILTERED),
    "LiteLLM, filtered": (
        {
            "message": f"litellm.BadRequestError: OpenAIException - {AZURE}",
            "type": "invalid_request_error",
            "code": "400",
        },
        FILTERED,
    ),
}


@pytest.mark.parametrize(("error", "message"), ERRORS.values(), ids=ERRORS)
def test_a_refused_request_names_its_reason_and_is_sent_once(chat, service, error, message):
    service.default = Reply(status=400, error=error)
    [answer] = chat(retries=2).ask(ASK)
    assert message in answer.error
    assert "check llm_model_name" not in answer.error
    assert len(service.requests) == 1


@pytest.mark.parametrize(
    "error",
    [
        {"message": "no such model", "code": "model_not_found"},
        {"message": "the filter of the search has the wrong type; content expected"},
        {"message": "max_tokens must be at most 4096", "param": "max_tokens"},
    ],
    ids=["model", "filter of a search", "limit"],
)
def test_other_bad_requests_keep_their_remedy(chat, service, error):
    service.default = Reply(status=400, error=error)
    [answer] = chat().ask(ASK)
    assert "check llm_model_name and arguments" in answer.error


def test_a_message_that_quotes_a_parameter_does_not_send_the_request_again(chat, service):
    text = f"{AZURE} Quoted: temperature, seed, response_format"
    service.default = Reply(status=400, error={"message": text, "code": "content_filter"})
    prompt = Prompt(text="how much?", reply_schema={"type": "object"})
    assert FILTERED in chat().ask([prompt])[0].error
    assert len(service.requests) == 1


@pytest.mark.parametrize("status", [400, 500])
def test_an_error_under_200_names_its_reason_too(chat, service, status):
    error = {"message": "maximum context length is 8192 tokens", "code": status}
    service.default = Reply(body=json.dumps({"error": error}).encode())
    [answer] = chat().ask(ASK)
    assert "longer than the model's context" in answer.error
    assert len(service.requests) == 1


@pytest.mark.parametrize(
    "protocol", [each for each in PROTOCOLS if not each.id.startswith("h2ogpte")], ids=lambda each: each.id
)
@pytest.mark.parametrize(
    ("text", "message"), [("Input is too long for requested model.", TOO_LONG), (AZURE, FILTERED)]
)
def test_every_client_reads_the_words_of_a_service(model, tmp_path, protocol, text, message):
    document = tmp_path / "fees.md"
    document.write_text("A transfer costs 5 USD.", encoding="utf-8")
    with running(protocol.respond, protocol.asks, protocol.handler) as service:
        service.always = Response(protocol.refusal(text), status=400, headers=protocol.error_headers)
        session = model(protocol.id, **{"retries": 2, **protocol.settings(service.url)})
        [answer] = session.ask([Prompt(text="how much?", corpus=(str(document),))])
        assert message in answer.error
        assert len(service.questions) == 1


def test_a_key_in_the_message_stays_masked(chat, service):
    service.default = Reply(status=400, error={"message": f"{AZURE} sk-very-secret-1234"})
    [answer] = chat().ask(ASK)
    assert FILTERED in answer.error
    assert "sk-very-secret-1234" not in answer.error
