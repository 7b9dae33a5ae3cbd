"""Formats of replies that the host `http` reads, and replies that break off, from real sockets."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.errors import ConfigurationError
from support.protocols import PROTOCOLS
from support.service import Request, Response, running

TEXT = "The fee is 5 USD.\nIt is due on Monday. Ünïcode: 日本, a\u2028b"
ASK = [Prompt(text="What is the fee?")]


@pytest.fixture
def ask(model: Callable[..., Any]) -> Callable[..., Answer]:
    """Asks a service that always gives the same response."""

    def answer(response: Response, **settings: Any) -> Answer:
        with running(lambda request: response, lambda request: True) as service:
            session = model("http", **{"url": service.url, "retries": 0, **settings})
            [answer] = session.ask(ASK)
        return answer

    return answer


def response_of(*parts: str | bytes, kind: str = "text/plain", **options: Any) -> Response:
    encoded = [part if isinstance(part, bytes) else part.encode() for part in parts]
    return Response(parts=encoded, headers={"Content-Type": kind}, **options)


def in_bytes(text: str, size: int = 1) -> list[bytes]:
    data = text.encode()
    return [data[start : start + size] for start in range(0, len(data), size)]


def events(texts: Sequence[str]) -> str:
    return "".join("".join(f"data: {line}\n" for line in text.split("\n")) + "\n" for text in texts)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_plain_text_is_the_answer_however_it_arrives(ask, size):
    answer = ask(response_of(*in_bytes(TEXT, size)), format="text")
    assert (answer.text, answer.error) == (TEXT, "")
    assert answer.first_token_s is not None


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_plain_text_events_are_joined(ask, size, end):
    body = events(["The fee", " is 5 USD.\nIt is due", " on Monday. 日本 a\u2028b"]) + "data: [DONE]\n\n"
    answer = ask(
        response_of(*in_bytes(body.replace("\n", end), size), kind="text/event-stream"), format="text_events"
    )
    assert (answer.text, answer.error) == ("The fee is 5 USD.\nIt is due on Monday. 日本 a\u2028b", "")


def test_events_that_are_no_text_are_left_out(ask):
    names = "event: metadata\ndata: {}\n\nevent: data\ndata: 5\n\ndata:  USD\n\nevent: end\ndata: x\n\n"
    body = f": comment\n\n{names}"
    assert ask(response_of(body), format="text_events").text == "5 USD"


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("last", ["\n", ""], ids=["ended", "without its end"])
def test_lines_of_json_are_joined(ask, size, last):
    lines = [
        {"text": "The fee is "},
        {"text": "5 USD\u2028 日本"},
        {"text": "", "hits": ["Fees."], "cost": 0.5},
    ]
    body = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines) + last
    answer = ask(
        response_of(*in_bytes(body, size), kind="application/x-ndjson"),
        format="ndjson",
        reply={"answer": "/text", "context": "/hits", "cost": "/cost"},
    )
    assert (answer.error, answer.text) == ("", "The fee is 5 USD\u2028 日本")
    assert (answer.context, answer.cost_usd) == (("Fees.",), 0.5)
    assert answer.first_token_s is not None


@pytest.mark.parametrize("settings", [{"stream": True}, {"format": "events"}])
def test_events_with_json_are_joined(ask, settings):
    body = events([json.dumps({"answer": "5\u2028 "}, ensure_ascii=False), json.dumps({"answer": "USD"})])
    assert ask(response_of(body), **settings).text == "5\u2028 USD"


BROKEN_OFF = "ended the stream before the answer was complete; check the service"


@pytest.mark.parametrize(
    ("settings", "parts"),
    [
        ({"format": "text"}, ["The fee is"]),
        ({"format": "text_events"}, ["data: The fee is\n\n"]),
        ({"format": "ndjson"}, ['{"answer": "The fee is"}\n']),
        ({"format": "events"}, ['data: {"answer": "The fee is"}\n\n']),
        ({}, ['{"answer": "The fee is']),
    ],
    ids=["text", "text events", "lines", "events", "json"],
)
def test_a_crash_in_the_middle_is_no_missing_connection(ask, settings, parts):
    answer = ask(response_of(*parts, half=True), **settings)
    assert BROKEN_OFF in answer.error
    assert "no connection" not in answer.error
    assert (answer.text, answer.error_cause.partition(" ")[0]) == ("", "reply_broken_off")


@pytest.mark.parametrize(
    ("settings", "body"),
    [
        ({"format": "ndjson"}, '{"answer": "The fee is"}\n{"answer": "5'),
        ({"format": "events"}, 'data: {"answer": "The fee is"}\n\ndata: {"answer": "5'),
        ({"format": "ndjson"}, ""),
        ({"format": "text_events"}, ": nothing\n\n"),
    ],
    ids=["half a line", "half an event", "no line", "no event"],
)
def test_a_stream_that_is_cut_cleanly_is_seen_too(ask, settings, body):
    assert BROKEN_OFF in ask(Response(body.encode()), **settings).error


def test_a_stream_that_broke_off_is_asked_again(model):
    responses = [response_of("The fee is", half=True), response_of(TEXT)]
    with running(lambda request: responses.pop(0), lambda request: True) as service:
        [answer] = model("http", url=service.url, format="text").ask(ASK)
    assert (answer.text, answer.retries) == (TEXT, 1)


@pytest.mark.parametrize("format", ["events", "text_events"])
def test_an_event_that_is_an_error_is_a_fault(ask, format):
    body = 'data: {"answer": "The fee"}\n\nevent: error\ndata: out of memory\n\n'
    answer = ask(response_of(body), format=format)
    assert "ended the stream with an error: out of memory" in answer.error


def test_an_error_in_a_line_is_a_fault(ask):
    body = '{"answer": "The fee"}\n{"error": "out of memory"}\n'
    answer = ask(response_of(body), format="ndjson", reply={"answer": "/answer", "error": "/error"})
    assert "answered with an error: out of memory" in answer.error


@pytest.mark.parametrize("format", ["text", "text_events"])
def test_a_page_in_place_of_a_text_is_a_fault(ask, format):
    answer = ask(response_of("<html>Please log in</html>", kind="text/html; charset=utf-8"), format=format)
    assert "sent a page of HTML and no text: <html>Please log in</html>" in answer.error


def test_a_wrong_status_is_no_text(ask):
    answer = ask(Response(b"upstream failed", status=500), format="text")
    assert "HTTP 500: upstream failed" in answer.error


def test_a_line_that_is_no_json_names_the_format(ask):
    answer = ask(response_of("The fee\nis 5 USD\n"), format="ndjson")
    assert "sent an event that is not JSON but 'The fee'; check url and format" in answer.error


def test_plain_text_without_its_format_names_the_option(ask):
    assert "is not JSON but 'The fee'; check url and format" in ask(response_of("The fee")).error


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        (
            {"format": "json", "stream": True},
            'stream = true: a reply of the format "json" cannot be streamed',
        ),
        (
            {"format": "text", "reply": {"answer": "/x"}},
            "reply: with the format 'text' the whole reply is the answer",
        ),
        ({"format": "xml"}, "format"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(model, settings, fault):
    with pytest.raises(ConfigurationError, match=fault):
        model("http", url="http://127.0.0.1:9", **settings)


def test_no_connection_is_still_named(model):
    [answer] = model("http", url="http://127.0.0.1:9", retries=0, format="text").ask(ASK)
    assert "no connection to http://127.0.0.1:9: connection refused" in answer.error


@pytest.mark.parametrize(
    "protocol",
    [each for each in PROTOCOLS if each.streams and each.id != "http"],
    ids=lambda protocol: protocol.id,
)
def test_streams_of_other_clients_say_that_they_broke_off(model, protocol):
    """Each service begins to answer, and crashes."""

    def crashing(request: Request) -> Response:
        response = protocol.respond(request)
        if not protocol.asks(request) or not response.parts:
            return response
        return Response(parts=response.parts[:-1], headers=response.headers, half=True)

    with running(crashing, protocol.asks, protocol.handler) as service:
        settings = {"retries": 0, **protocol.settings(service.url), "stream": True}
        [answer] = model(protocol.id, **settings).ask(ASK)
    assert BROKEN_OFF in answer.error


def test_half_a_reply_of_a_chat_service_is_no_missing_connection(model):
    with running(lambda request: Response({"id": "x" * 500}, half=True), lambda request: True) as half:
        settings = {"url": half.url, "llm_model_name": "m", "retries": 0}
        [answer] = model("openai_compatible", **settings).ask(ASK)
    assert BROKEN_OFF in answer.error
