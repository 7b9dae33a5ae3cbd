"""Contract of every host of a service, over real HTTP and with the service's real client."""

from __future__ import annotations

import importlib.util
import socket

import pytest

from pytest_evalstudio.asking import retrying
from pytest_evalstudio.asking.hosts import open_model
from pytest_evalstudio.core.cases import Prompt
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.registry import Registry
from support.protocols import PROTOCOLS
from support.service import ANSWER, KEY, Response, running

QUESTION = "What is the fee?"
streaming = pytest.mark.parametrize(
    "protocol", [protocol for protocol in PROTOCOLS if protocol.streams], ids=lambda protocol: protocol.id
)
by_id = pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: protocol.id)


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    monkeypatch.setattr(retrying, "FIRST_WAIT_S", 0.02)


@pytest.fixture
def service(protocol):
    with running(protocol.respond, protocol.asks, protocol.handler) as service:
        yield service


@pytest.fixture
def ask_host(protocol, service, tmp_path):
    """Open the host on its service and ask the question."""
    document = tmp_path / "fees.md"
    document.write_text("A transfer costs 5 USD.", encoding="utf-8")
    sessions = []

    def ask(questions=(QUESTION,), **settings):
        table = {"host": protocol.id, "retries": 1, **protocol.settings(service.url), **settings}
        sessions.append(open_model("mine", table, Registry(), folder=tmp_path, cache=None))
        prompts = [Prompt(text=question, corpus=(str(document),)) for question in questions]
        return sessions[-1].ask(prompts)

    yield ask
    for session in sessions:
        session.close()


def failing(protocol, status, text="scripted", **headers):
    return Response(protocol.refusal(text), status=status, headers={**protocol.error_headers, **headers})


@by_id
def test_an_answer_has_text_usage_duration_and_the_model_that_served_it(protocol, ask_host):
    [answer] = ask_host()
    assert (answer.text, answer.error, answer.context) == (ANSWER, "", protocol.context)
    assert answer.duration_s > 0
    if protocol.id != "amazon_bedrock_rag":  # it reports neither
        assert dict(answer.usage) == {"input_tokens": 10, "output_tokens": 5, **protocol.cached}
        assert answer.served_model == "served-1"


@by_id
def test_the_question_reaches_the_service_as_it_is(protocol, ask_host, service):
    question = 'Näive "fee" \\ {{ x }} 日本?'
    ask_host([question])
    assert [protocol.question_of(request) for request in service.questions] == [question]


@by_id
@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_ends_the_asking(protocol, ask_host, service, status):
    service.always = failing(protocol, status)
    answers = ask_host([f"question {number}" for number in range(6)], concurrency=1)
    assert f"HTTP {status}" in answers[0].error
    assert all("not asked" in answer.error for answer in answers[1:])
    assert len(service.questions) == 1


@by_id
def test_an_unknown_address_is_asked_once(protocol, ask_host, service):
    service.always = failing(protocol, 404)
    [answer] = ask_host()
    assert "HTTP 404" in answer.error
    assert len(service.questions) == 1


@by_id
@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_fault_is_asked_again(protocol, ask_host, service, status):
    service.faults = [failing(protocol, status)]
    [answer] = ask_host()
    assert (answer.text, answer.retries, answer.error) == (ANSWER, 1, "")


@by_id
def test_retry_after_is_honoured(protocol, ask_host, service):
    service.faults = [failing(protocol, 429, **{"Retry-After": "0.3"})]
    [answer] = ask_host()
    assert answer.text == ANSWER
    assert service.times[1] - service.times[0] >= 0.3


@by_id
def test_a_slow_service_runs_into_the_time_limit(protocol, ask_host, service):
    normal = protocol.respond

    def slow(request):
        response = normal(request)
        return response if not protocol.asks(request) else Response(response.body, delay_s=0.8)

    service.protocol = slow
    [answer] = ask_host(timeout_s=0.25, retries=0)
    assert "no answer within 0.25 s" in answer.error


@by_id
@pytest.mark.parametrize(
    "fault",
    [Response(reset=True), Response({"answer": "x" * 500}, half=True)],
    ids=["reset", "half"],
)
def test_a_broken_connection_is_tried_again(protocol, ask_host, service, fault):
    service.faults = [fault]
    [answer] = ask_host()
    assert (answer.text, answer.retries) == (ANSWER, 1)


@by_id
@pytest.mark.parametrize(
    "body",
    [b"{broken", b"[1, 2]", b"{}", b"null", b"\xff\xfe\x00"],
    ids=["half", "list", "object", "null", "bytes"],
)
def test_garbage_under_200_is_an_error_of_that_case(protocol, ask_host, service, body):
    service.always = Response(body)
    [answer] = ask_host(retries=0)
    assert answer.error
    assert answer.text == ""
    assert "Traceback" not in answer.error


@by_id
def test_nobody_at_the_address_is_an_error_that_names_it(protocol, tmp_path):
    document = tmp_path / "fees.md"
    document.write_text("A transfer costs 5 USD.", encoding="utf-8")
    with socket.socket() as bound_socket:
        bound_socket.bind(("127.0.0.1", 0))  # bound, not listening
        url = f"http://127.0.0.1:{bound_socket.getsockname()[1]}"
        table = {"host": protocol.id, "retries": 0, **protocol.settings(url)}
        with open_model("mine", table, Registry(), folder=tmp_path, cache=None) as session:
            [answer] = session.ask([Prompt(text=QUESTION, corpus=(str(document),))])
    assert "no connection to" in answer.error
    assert url.removeprefix("http://") in answer.error


@streaming
def test_a_stream_is_joined_and_the_first_part_is_timed(protocol, ask_host, service):
    service.always = protocol.streams(0.05)
    [answer] = ask_host(stream=True)
    assert (answer.text, answer.error) == (ANSWER, "")
    assert 0 < answer.first_token_s < answer.duration_s


@streaming
def test_a_stream_that_breaks_is_tried_again(protocol, ask_host, service):
    full_stream = protocol.streams(0.0)
    service.faults = [Response(parts=full_stream.parts[:2], headers=full_stream.headers, half=True)]
    service.protocol = lambda request: protocol.streams(0.0)
    [answer] = ask_host(stream=True)
    assert (answer.text, answer.retries) == (ANSWER, 1)


@streaming
def test_a_stream_that_is_too_slow_runs_into_the_time_limit(protocol, ask_host, service):
    service.always = protocol.streams(0.4)
    [answer] = ask_host(stream=True, timeout_s=0.3, retries=0)
    assert "no answer within 0.3 s" in answer.error


@by_id
@pytest.mark.parametrize("status", [200, 400, 401, 500])
def test_a_key_that_the_service_repeats_is_masked(protocol, ask_host, service, status, tmp_path):
    service.always = failing(protocol, status, f"Incorrect key: {KEY}, Bearer {KEY}")
    [answer] = ask_host(retries=0)
    assert answer.error
    assert KEY not in answer.error


@by_id
def test_a_missing_client_is_named_with_the_command_that_installs_it(
    protocol, service, tmp_path, monkeypatch
):
    find_spec = importlib.util.find_spec
    clients = ("openai", "anthropic", "ollama", "httpx", "boto3", "h2ogpte")
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name in clients else find_spec(name, *rest)
    )
    table = {"host": protocol.id, **protocol.settings(service.url)}
    with pytest.raises(ConfigurationError) as exc_info:
        open_model("mine", table, Registry(), folder=tmp_path, cache=None)
    assert f'pip install "pytest-evalstudio[{protocol.extra}]"' in str(exc_info.value)
