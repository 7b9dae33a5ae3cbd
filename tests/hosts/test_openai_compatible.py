from __future__ import annotations

import builtins
import importlib.util
import json
import socket
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from pytest_evalstudio.asking.hosts import open_model
from pytest_evalstudio.core.cases import Prompt, Turn
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.tool_calls import ToolCall
from pytest_evalstudio.hosts._waits import retry_after_s
from support.openai_protocol import completion
from support.openai_server import Reply

ASK = [Prompt(text="how much?")]
KEY = "sk-very-secret-1234"


def test_an_answer_has_text_usage_and_cost(chat, service):
    service.default = Reply(text="2 EUR")
    [answer] = chat(input_usd_per_million=1.0, output_usd_per_million=4.0).ask(ASK)
    assert (answer.text, dict(answer.usage), answer.error) == (
        "2 EUR",
        {"input_tokens": 10, "output_tokens": 5},
        "",
    )
    assert answer.cost_usd == pytest.approx(30e-6)  # (10 * 1 + 5 * 4) / 1,000,000
    assert answer.duration_s > 0


def test_called_tools_are_kept_with_the_answer_and_without_a_text(chat, service):
    call = {"id": "1", "type": "function", "function": {"name": "fee_of", "arguments": '{"card": "gold"}'}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    reply = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    service.default = Reply(body=json.dumps(reply).encode())

    [answer] = chat().ask(ASK)

    assert (answer.text, answer.error) == ("", "")
    assert answer.tool_calls == (ToolCall(name="fee_of", arguments={"card": "gold"}, id="1"),)


def test_a_call_without_a_name_is_a_fault_of_the_service(chat, service):
    call = {"id": "1", "type": "function", "function": {"arguments": "{}"}}
    message = {"role": "assistant", "content": "5 USD", "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    reply = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    service.default = Reply(body=json.dumps(reply).encode())

    [answer] = chat().ask(ASK)

    assert "sent tool calls that cannot be read: tool call 0: the name of the tool is missing" in answer.error


def test_without_prices_the_cost_is_unknown(chat):
    assert chat().ask(ASK)[0].cost_usd is None


def test_the_request_carries_what_is_configured(chat, service):
    chat(
        system_prompt="be brief",
        temperature=0,
        max_tokens=9,
        seed=1,
        arguments={"top_p": 0.5, "extra_body": {"guided": True}},
    ).ask(ASK)
    assert service.requests == [
        {
            "model": "m",
            "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "how much?"}],
            "temperature": 0,
            "max_tokens": 9,
            "seed": 1,
            "top_p": 0.5,
            "guided": True,
        }
    ]
    assert service.headers[0]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    "reply",
    [*(Reply(status=status) for status in (408, 409, 429, 500, 503)), Reply(disconnect=True)],
    ids=lambda reply: f"status-{reply.status}" if not reply.disconnect else "disconnect",
)
def test_a_passing_fault_is_asked_again(chat, service, reply):
    service.replies = [reply]
    [answer] = chat().ask(ASK)
    assert (answer.text, answer.retries, len(service.requests)) == ("fine", 1, 2)


@pytest.mark.parametrize(
    ("status", "remedy"),
    [
        (400, "check llm_model_name"),
        (401, "check api_key"),
        (403, "api_key may use"),
        (404, "check url"),
        (422, "check arguments"),
    ],
)
def test_a_fault_that_cannot_heal_is_told_once_with_what_to_check(chat, service, status, remedy):
    service.default = Reply(status=status)
    [answer] = chat().ask(ASK)
    assert f"HTTP {status}: scripted {status}; {remedy}" in answer.error.replace("check that ", "")
    assert len(service.requests) == 1


def test_an_account_without_credit_is_not_asked_again(chat, service):
    service.default = Reply(status=429, error={"message": "pay first", "code": "insufficient_quota"})
    assert "pay first; the account has no credit left" in chat().ask(ASK)[0].error
    assert len(service.requests) == 1


def test_retry_after_is_honoured(chat, service):
    service.replies = [Reply(status=429, headers={"Retry-After": "1"})]
    [answer] = chat().ask(ASK)
    assert answer.text == "fine"
    assert service.times[1] - service.times[0] >= 1.0


def test_a_service_that_asks_to_wait_for_an_hour_is_not_waited_for(chat, service):
    service.default = Reply(status=429, headers={"Retry-After": "3600"})
    [answer] = chat().ask(ASK)
    assert "asks to wait 3600 s" in answer.error
    assert len(service.requests) == 1


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        pytest.param("7", 7.0, id="seconds"),
        pytest.param("-3", 0.0, id="negative seconds"),
        pytest.param(
            format_datetime(datetime(2030, 1, 1, 0, 0, 20, tzinfo=UTC), usegmt=True), 20.0, id="a date"
        ),
        pytest.param(format_datetime(datetime(2029, 12, 31, tzinfo=UTC)), 0.0, id="a date that has passed"),
        pytest.param("soon", None, id="words"),
        pytest.param("nan", None, id="not a number"),
    ],
)
def test_retry_after_is_seconds_or_a_date(value, seconds):
    assert retry_after_s({"retry-after": value}, now=datetime(2030, 1, 1, tzinfo=UTC)) == seconds


def test_a_slow_service_runs_into_the_time_limit(chat, service):
    service.default = Reply(delay_s=0.6)
    session = chat(timeout_s=0.2, retries=1)
    [answer] = session.ask(ASK)
    assert "no answer within 0.2 s (`timeout_s`) (2 tries)" in answer.error
    assert (
        session.counters["timeout_count"],
        session.counters["retry_count"],
        session.counters["failure_count"],
    ) == (2, 1, 1)


def test_nobody_at_the_address_is_an_error_that_names_it(model):
    with socket.socket() as bound_socket:
        bound_socket.bind(("127.0.0.1", 0))  # bound, not listening
        url = f"http://127.0.0.1:{bound_socket.getsockname()[1]}/v1"
        [answer] = model("openai_compatible", url=url, llm_model_name="m", retries=0).ask(ASK)
    assert f"no connection to {url}" in answer.error


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        pytest.param(Reply(body=b"{broken"), "not JSON", id="malformed JSON"),
        pytest.param(
            Reply(body=b"<html>proxy</html>", headers={"Content-Type": "text/html"}),
            "not JSON but '<html>proxy</html>'",
            id="a page of a proxy",
        ),
        pytest.param(
            Reply(body=b'{"error": "overloaded"}'),
            "without an answer: overloaded",
            id="an error that calls itself 200",
        ),
        pytest.param(Reply(body=b'{"choices": []}'), "choices is empty", id="no choices"),
        pytest.param(
            Reply(body=b'{"choices": {"a": 1}}'), "choices is an object", id="choices are an object"
        ),
        pytest.param(Reply(body=b'{"choices": null}'), "choices is null, expected a list", id="null"),
        pytest.param(
            Reply(body=b'{"choices": ["fine"]}'), "choices[0] is a text, expected an object", id="a text"
        ),
        pytest.param(
            Reply(body=b'{"choices": [{"message": "fine"}]}'),
            "choices[0].message is a text, expected an object",
            id="a message that is a text",
        ),
        pytest.param(
            Reply(body=b'{"choices": [{"message": {"content": ["fine"]}}]}'),
            "choices[0].message.content is a list, expected a text",
            id="content in parts",
        ),
        pytest.param(Reply(text=None), "choices[0].message.content is null", id="no content"),
        pytest.param(Reply(text=None, finish="tool_calls"), "(finish_reason 'tool_calls')", id="no text"),
        pytest.param(
            Reply(text="", finish="length"), "cut before its first word", id="cut before the first word"
        ),
        pytest.param(Reply(text=None, finish="content_filter"), "content filter withheld", id="withheld"),
    ],
)
def test_a_reply_without_an_answer_is_an_error_of_that_case(chat, service, reply, fault):
    service.default = reply
    [answer] = chat(retries=0).ask(ASK)
    assert fault in answer.error


@pytest.mark.parametrize(
    ("reply", "text", "is_cut"),
    [
        pytest.param(Reply(text="", finish="stop"), "", False, id="an empty answer is an answer"),
        pytest.param(
            Reply(text=None, refusal="I cannot help with that."),
            "I cannot help with that.",
            False,
            id="a refusal is what the model said",
        ),
        pytest.param(
            Reply(text="The fee is", finish="length"),
            "The fee is",
            True,
            id="a cut answer is kept and marked",
        ),
    ],
)
def test_what_the_model_said_is_the_answer(chat, service, reply, text, is_cut):
    service.default = reply
    [answer] = chat().ask(ASK)
    assert (answer.text, answer.error, answer.finish_reason == "length") == (text, "", is_cut)


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_beside_the_text_is_no_answer(chat, service, name):
    message = {"role": "assistant", "content": "It is free.", name: "Perhaps 15 USD?"}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    reply = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    service.default = Reply(body=json.dumps(reply).encode())
    [answer] = chat().ask(ASK)
    assert (answer.text, answer.thoughts) == ("It is free.", "Perhaps 15 USD?")


def test_sixteen_requests_run_at_the_same_time_over_connections_that_stay_open(chat, service):
    service.default = Reply(delay_s=0.15)
    session = chat(concurrency=16)
    for chunk in range(2):
        answers = session.ask([Prompt(text=f"{chunk} {n}") for n in range(32)])
        assert {answer.text for answer in answers} == {"fine"}
    assert service.peak == 16
    assert service.connections == 16


def test_answers_come_in_the_order_of_the_prompts(chat, service):
    service.default = lambda question: Reply(
        text=f"to {question}", delay_s=0.05 if int(question) % 3 == 0 else 0
    )
    assert [answer.text for answer in chat().ask([Prompt(text=str(n)) for n in range(20)])] == [
        f"to {n}" for n in range(20)
    ]


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        pytest.param(
            {"url": "localhost:11434"}, "must begin with http:// or https://", id="an address without scheme"
        ),
        pytest.param(
            {"arguments": {"stream": True}}, "arguments.stream: cannot be given here", id="streaming"
        ),
        pytest.param(
            {"arguments": {"tempratur": 1}},
            "arguments.tempratur: is no argument of chat completions. Did you mean 'temperature'?",
            id="a misspelt argument",
        ),
        pytest.param(
            {"arguments": {"guided": True}},
            "If the service knows it, write arguments.extra_body.guided",
            id="an argument of this service alone",
        ),
        pytest.param({"input_usd_per_million": 1.0}, "give both or none", id="half a price"),
        pytest.param(
            {"temprature": 0},
            "host openai_compatible.temprature: unknown option. Did you mean 'temperature'?",
            id="a misspelt parameter",
        ),
        pytest.param(
            {"max_tokens": "many"},
            "max_tokens: expected a whole number, found 'many'",
            id="a number in words",
        ),
    ],
)
def test_what_cannot_be_right_is_told_when_the_model_is_opened(chat, settings, fault):
    with pytest.raises(ConfigurationError) as raised:
        chat(**settings)
    assert fault in str(raised.value)


def test_a_missing_package_is_told_with_how_to_get_it(chat, monkeypatch):
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "httpx" else find_spec(name, *rest)
    )
    with pytest.raises(ConfigurationError) as raised:
        chat()
    assert 'pip install "pytest-evalstudio[http]"' in str(raised.value)


def test_opening_a_model_imports_no_client(chat, monkeypatch):
    imported = []
    original = builtins.__import__
    monkeypatch.setattr(
        builtins, "__import__", lambda name, *rest: imported.append(name) or original(name, *rest)
    )
    chat()
    assert not {"openai", "httpx"} & {*imported}


def test_a_question_imports_no_openai_package(service):
    table = {"host": "openai_compatible", "url": service.url, "llm_model_name": "m"}
    code = (
        "import sys\n"
        "from pytest_evalstudio.asking.hosts import open_model\n"
        "from pytest_evalstudio.core.cases import Prompt\n"
        "from pytest_evalstudio.core.plugins.registry import Registry\n"
        "from pathlib import Path\n"
        f"model = open_model('mine', {table!r}, Registry(), folder=Path(), cache=None)\n"
        "print(model.ask([Prompt(text='how much?')])[0].text, 'openai' in sys.modules)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr) == ("fine False\n", "")


def test_dates_in_headers_are_read_against_the_clock():
    header = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    assert retry_after_s({"retry-after": header}) == pytest.approx(60, abs=5)


def test_a_date_to_retry_after_is_compared_with_the_clock_of_the_service() -> None:
    headers = {"retry-after": "Tue, 01 Jan 2030 00:00:05 GMT", "date": "Tue, 01 Jan 2030 00:00:00 GMT"}
    for hour in (0, 12, 23):
        assert retry_after_s(headers, now=datetime(2030, 1, 2, hour, tzinfo=UTC)) == 5
    assert retry_after_s({**headers, "date": "noon"}, now=datetime(2030, 1, 1, tzinfo=UTC)) == 5


def test_earlier_turns_are_sent_as_messages_between_system_prompt_and_question(chat, service):
    turns = (Turn(role="user", content="I have a card."), Turn(role="assistant", content="Good."))
    chat(system_prompt="be brief").ask([Prompt(text="how much?", conversation=turns)])
    assert service.requests[0]["messages"] == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "I have a card."},
        {"role": "assistant", "content": "Good."},
        {"role": "user", "content": "how much?"},
    ]


@pytest.mark.parametrize("error", ['"overloaded"', '{"message": "overloaded", "code": 502}'])
def test_an_error_under_200_is_a_failed_try(chat, service, error):
    service.replies = [Reply(body=f'{{"error": {error}}}'.encode())]
    [answer] = chat(retries=1).ask(ASK)
    assert (answer.text, answer.retries) == ("fine", 1)


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_ends_the_asking(chat, service, status):
    service.default = Reply(status=status)
    answers = chat(concurrency=2).ask([Prompt(text=f"question {number}") for number in range(20)])
    assert len(service.requests) == 2
    assert all(answer.error for answer in answers)
    assert f"not asked: HTTP {status}" in answers[-1].error


def test_half_a_character_is_sent_as_its_escape(chat, service):
    [answer] = chat().ask([Prompt(text="fee \ud800?", conversation=(Turn(role="user", content="\udc00"),))])
    assert answer.text == "fine"
    assert [message["content"] for message in service.requests[0]["messages"]] == ["\\udc00", "fee \\ud800?"]


@pytest.mark.parametrize(
    ("status", "error"),
    [
        pytest.param(400, {"message": "Unsupported value", "param": "temperature"}, id="by its name"),
        pytest.param(422, {"message": "temperature 0 is not allowed"}, id="in words"),
    ],
)
def test_a_preferred_parameter_that_is_refused_is_left_out_from_then_on(service, tmp_path, status, error):
    def reply(request):
        return Reply(status=status, error=error) if "temperature" in request else Reply()

    service.by_request = reply
    settings = {"host": "openai_compatible", "url": service.url, "llm_model_name": "m", "concurrency": 1}
    preferred = {"temperature": 0.0, "seed": 0}
    session = open_model("j", settings, Registry(), folder=tmp_path, cache=None, optional=preferred)
    with session:
        answers = session.ask([Prompt(text=f"question {number}") for number in range(3)])
    assert [answer.text for answer in answers] == ["fine"] * 3
    assert [("temperature" in request, "seed" in request) for request in service.requests] == [
        (True, True),
        *[(False, True)] * 3,
    ]
    assert session.notes == ["model 'j': m does not take temperature = 0; it is asked without"]


def test_a_configured_parameter_that_is_refused_is_an_error(chat, service):
    service.default = Reply(status=400, error={"message": "Unsupported value", "param": "temperature"})
    [answer] = chat(temperature=0.0).ask(ASK)
    assert "HTTP 400: Unsupported value" in answer.error


def test_rules_are_sent_in_the_system_role_behind_the_configured_ones(chat, service):
    chat(system_prompt="Be brief.").ask([Prompt(text="q", system="Judge fairly.")])
    assert service.requests[0]["messages"] == [
        {"role": "system", "content": "Be brief.\n\nJudge fairly."},
        {"role": "user", "content": "q"},
    ]


def test_headers_query_and_time_limit_of_the_arguments_belong_to_the_request(chat, service):
    arguments = {"extra_headers": {"X-Team": "fees"}, "extra_query": {"tier": "test"}, "timeout": 30}
    [answer] = chat(arguments=arguments).ask(ASK)
    assert answer.text == "fine"
    assert service.headers[0]["x-team"] == "fees"
    assert set(service.requests[0]) == {"model", "messages"}


def test_a_time_limit_of_the_arguments_ends_an_attempt(chat, service):
    service.default = Reply(delay_s=5.0)
    [answer] = chat(arguments={"timeout": 0.1}, retries=0).ask(ASK)
    assert "did not answer in time" in answer.error


def test_a_service_that_ignores_stream_answers_at_once(chat, service):
    service.default = Reply(body=json.dumps(completion("5 USD")).encode())
    [answer] = chat(stream=True).ask(ASK)
    assert (answer.text, answer.first_token_s, answer.error) == ("5 USD", None, "")
