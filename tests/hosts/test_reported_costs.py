"""Costs that gateways and services report with an answer, over HTTP and by the services' clients."""

from __future__ import annotations

import json

import pytest

from pytest_evalstudio.core.cases import Prompt
from support.openai_server import Reply
from support.protocols import PROTOCOLS
from support.service import Response, running

ASK = [Prompt(text="how much?")]
LITELLM = {"x-litellm-response-cost": "0.02"}
PRICE = {"input_usd_per_million": 1.0, "output_usd_per_million": 4.0}
PRICED_USD = 30e-6  # (10 * 1 + 5 * 4) / 1,000,000


def completion(usage):
    message = {"role": "assistant", "content": "fine"}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    body = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    return Reply(body=json.dumps({**body, "usage": usage}).encode())


@pytest.mark.parametrize("value", ["0.02", "2e-2"])
def test_the_cost_in_a_header_is_that_of_the_answer(chat, service, value):
    service.default = Reply(headers={"x-litellm-response-cost": value})
    assert chat().ask(ASK)[0].cost_usd == pytest.approx(0.02)


@pytest.mark.parametrize("value", ["None", "", "-0.02", "nan", "inf", "much"])
def test_what_is_no_amount_is_no_cost(chat, service, value):
    service.default = Reply(headers={"x-litellm-response-cost": value})
    [answer] = chat().ask(ASK)
    assert (answer.text, answer.cost_usd) == ("fine", None)


@pytest.mark.parametrize(
    "extra",
    [{"cost": 0.02}, {"cost": {"total_cost": 0.02, "input_tokens_cost": 0.01}}, {"estimated_cost": 0.02}],
    ids=["OpenRouter", "Perplexity", "DeepInfra"],
)
def test_the_cost_beside_the_tokens_is_that_of_the_answer(chat, service, extra):
    service.default = completion({"prompt_tokens": 10, "completion_tokens": 5, **extra})
    assert chat().ask(ASK)[0].cost_usd == pytest.approx(0.02)


def test_prices_of_the_configuration_come_first(chat, service):
    service.default = Reply(headers=LITELLM)
    assert chat(**PRICE).ask(ASK)[0].cost_usd == pytest.approx(PRICED_USD)
    table = {"m": {**PRICE, "as_of": "2026-01-31"}}
    assert chat(prices=table).ask(ASK)[0].cost_usd == pytest.approx(PRICED_USD)
    other = {"another model": {**PRICE, "as_of": "2026-01-31"}}
    assert chat(prices=other).ask(ASK)[0].cost_usd == pytest.approx(0.02)


def test_each_answer_has_its_own_cost(chat, service):
    service.replies = [Reply(headers=LITELLM), Reply(), Reply(headers={"x-litellm-response-cost": "0.5"})]
    session = chat(concurrency=1)
    costs = [session.ask([Prompt(text=str(number))])[0].cost_usd for number in range(3)]
    assert costs == [0.02, None, 0.5]


@pytest.mark.parametrize("id", ["anthropic_llm", "http", "openai_rag", "azure_openai_llm"])
def test_other_clients_read_the_header_too(model, id, tmp_path):
    protocol = next(each for each in PROTOCOLS if each.id == id)

    def with_cost(request):
        response = protocol.respond(request)
        return Response(response.body, headers={**response.headers, **LITELLM})

    document = tmp_path / "fees.md"
    document.write_text("A transfer costs 5 USD.", encoding="utf-8")
    with running(with_cost, protocol.asks, protocol.handler) as service:
        settings = protocol.settings(service.url)
        [answer] = model(id, **settings).ask([Prompt(text="how much?", corpus=(str(document),))])
    assert (answer.error, answer.cost_usd) == ("", 0.02)
