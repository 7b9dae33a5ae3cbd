"""Keys, headers and prompts of an OpenAI service stay with it."""

from __future__ import annotations

import base64

import pytest

from pytest_evalstudio.core.cases import Prompt
from support.openai_server import Reply, serve

ASK = [Prompt(text="how much?")]
KEY = "sk-very-secret-1234"


def test_the_key_is_in_no_message(chat, service):
    service.default = Reply(status=401, error={"message": f"Incorrect API key provided: {KEY}"})
    session = chat()
    [answer] = session.ask(ASK)
    assert "Incorrect API key provided: ***" in answer.error
    assert KEY not in answer.error + repr(session.description()) + repr(session.host)


@pytest.mark.parametrize("filler", range(230, 310, 8))
def test_no_part_of_a_key_is_left_where_a_message_is_cut(chat, service, filler):
    key = "sk-proj-abcdefghijklmnopqrstuvwxyz-1234"
    service.default = Reply(
        status=401, error={"message": "x" * filler + f" Incorrect API key provided: {key}."}
    )
    [answer] = chat(api_key=key).ask(ASK)
    assert "HTTP 401" in answer.error
    assert answer.error.endswith("check api_key")
    assert not any(key[:length] in answer.error for length in range(4, len(key)))


def test_an_echoed_header_of_the_configuration_is_masked_in_base64(chat, service):
    secret = "not-a-known-pattern-77"
    service.default = Reply(
        status=400, error={"message": "bad header " + base64.b64encode(secret.encode()).decode()}
    )
    [answer] = chat(arguments={"extra_headers": {"X-Api-Key": secret}}).ask(ASK)
    assert "bad header ***" in answer.error


def test_a_redirect_to_another_origin_gets_neither_headers_nor_prompt(chat, service):
    with serve() as other:
        service.default = Reply(status=307, headers={"Location": f"{other.url}/chat/completions"})
        [answer] = chat(arguments={"extra_headers": {"X-Team-Token": "team-secret-1"}}).ask(ASK)
    assert service.headers[0]["x-team-token"] == "team-secret-1"
    assert other.requests == []
    assert f"redirects to {other.url.removesuffix('/v1')}, which gets no request" in answer.error
    assert len(service.requests) == 1


def test_a_redirect_within_the_origin_is_followed(chat, service):
    service.replies = [Reply(status=307, headers={"Location": f"{service.url}/chat/completions/"})]
    [answer] = chat().ask(ASK)
    assert (answer.text, len(service.requests)) == ("fine", 2)
