"""Contract of every host of a service: a reply of the wrong form is one sentence, without Python's words."""

from __future__ import annotations

import re
import socket
import ssl

import pytest

from pytest_evalstudio.asking.hosts import open_model
from pytest_evalstudio.core.cases import Prompt
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.hosts import openai_rag
from pytest_evalstudio.hosts._malformed import connection_fault
from support.host_uses import USES, faulty, kinds_of_requests, performed
from support.malformed import replies
from support.service import running

WORDS_OF_PYTHON = re.compile(
    r"\b[A-Za-z]*(Error|Exception|Warning)\b|has no attribute|NoneType|validation error|pydantic|Expecting"
    r"|column \d|subscriptable|keyword argument|object at 0x|<class|input_value|input_type|positional"
    r"|iterable|codec can't|__\w+__|indices must be|out of range|Traceback|unexpected type|\bdict\b"
    r"|convert undefined"
)
REPLIES_PER_REQUEST = 4
REMEDY = re.compile(r"[;,] (and )?(check|set|raise|correct|pull|add) ")


def assert_is_a_message(text: str, url: str) -> None:
    assert not WORDS_OF_PYTHON.search(text), text
    if text.endswith("(`timeout_s`)") or " did not close within " in text:  # the limit is place and remedy
        return
    assert url.removeprefix("http://") in text, text
    assert REMEDY.search(text), text


@pytest.fixture(autouse=True)
def short_polls(monkeypatch):
    monkeypatch.setattr(openai_rag, "POLL_S", 0.01)


def questions_of(use, folder):
    """Return the right reply to a question, None where the use asks by several requests."""
    normal, right_replies = use.respond(), []

    def respond(request):
        reply = normal(request)
        if use.protocol.asks(request):
            right_replies.append(reply)
        return reply

    with running(respond, lambda request: False, use.handler) as service:
        performed(use, service.url, folder)
    return right_replies[0] if len(right_replies) == 1 else None


@pytest.mark.slow
@pytest.mark.parametrize("use", USES, ids=lambda use: use.id.replace(" ", "-"))
def test_a_malformed_reply_to_a_question_is_an_answer_or_a_message(use, tmp_path):
    reply = questions_of(use, tmp_path)
    if reply is None or use.id == "h2ogpte agent":
        pytest.skip("asks by several requests; see the test of other requests")
    is_socket = use.id == "h2ogpte"  # each broken reply takes its time limit or a second to close
    malformed = dict(replies(reply, (None,)) if is_socket else replies(reply))
    document = tmp_path / "fees.md"
    table = {"host": use.protocol.id, "retries": 0, "breaker": 0, "timeout_s": 2 if is_socket else 10}
    table["concurrency"] = 16 if is_socket else 1
    problems = []
    with running(use.respond(), use.protocol.asks, use.handler) as service:
        table |= {**use.protocol.settings(service.url), **use.settings}
        with open_model("mine", table, Registry(), folder=tmp_path, cache=None) as session:
            service.faults = list(malformed.values())
            prompts = [Prompt(text=name, corpus=(str(document),)) for name in malformed]
            answers = session.ask(prompts)
        for name, answer in zip(malformed, answers, strict=True):
            try:
                if answer.error:
                    assert_is_a_message(answer.error, service.url)
                assert isinstance(answer.text, str)
                assert is_socket or name not in ("half", "null", "number", "page", "bytes") or answer.error
            except AssertionError as exc:
                problems.append(f"{name}: {str(exc).splitlines()[0]}")
    assert problems == []


def spread(malformed, kind_index):
    """Return some replies, evenly spread over all: opening a client takes longer than its requests.

    Each kind of request of a host gets others.
    """
    step = max(1, -(-len(malformed) // REPLIES_PER_REQUEST))
    return malformed[kind_index % step :: step]


@pytest.mark.slow
@pytest.mark.parametrize("use", USES, ids=lambda use: use.id.replace(" ", "-"))
def test_a_malformed_reply_to_any_request_is_a_message(use, tmp_path):
    problems = []
    for kind_index, kind in enumerate(kinds_of_requests(use, tmp_path)):
        normal = []
        with faulty(
            use, kind, lambda request, reply, normal=normal: normal.append(reply) or reply
        ) as service:
            performed(use, service.url, tmp_path)
        for name, malformed in spread(list(replies(normal[0], (None,))), kind_index):
            with faulty(use, kind, lambda request, reply, malformed=malformed: malformed) as service:
                outcome = performed(use, service.url, tmp_path, timeout_s=3)
            for fault in outcome.faults:
                try:
                    assert_is_a_message(fault, service.url)
                except AssertionError as exc:
                    problems.append(f"{kind} {name}: {str(exc).splitlines()[0]}")
    assert problems == []


@pytest.mark.parametrize(
    ("cause", "message"),
    [
        (ssl.SSLCertVerificationError(1, "certificate verify failed"), "its certificate is not trusted"),
        (ConnectionRefusedError(111, "Connection refused"), "connection refused; check url"),
        (socket.gaierror(-2, "Name or service not known"), "its host name cannot be resolved; check url"),
        (ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong"), "check the scheme of url"),
        (ConnectionResetError(104, "reset"), "the service closed it"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_cause_of_a_failed_connection_is_named_whatever_the_client_says(cause, message):
    try:
        try:
            raise cause
        except OSError:
            raise ConnectionError("Please check that the client is downloaded") from None
    except ConnectionError as exc:
        fault = connection_fault("https://service.example", exc, str)
    assert message in str(fault)
    assert "downloaded" not in str(fault)
    assert str(fault).startswith("no connection to https://service.example: ")
