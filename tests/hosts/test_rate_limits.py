"""Services that allow few requests in a time, over HTTP: questions are answered, and none waits for ever."""

from __future__ import annotations

import time

import pytest

from pytest_evalstudio.core.cases import Prompt
from support.openai_server import Reply

WINDOW_S = 4.0
ALLOWED = 3
REFUSAL = {"message": "Rate limit reached", "type": "requests", "code": "rate_limit_exceeded"}


class FewRequests:
    """Allows so many requests in a window of time, and does not say when the next one is allowed."""

    def __init__(self, *, counts_refused: bool) -> None:
        self.counts_refused = counts_refused
        self.times: list[float] = []
        self.refused = 0

    def __call__(self, question: str) -> Reply:
        time_s = time.monotonic()
        self.times = [moment for moment in self.times if time_s - moment < WINDOW_S]
        is_allowed = len(self.times) < ALLOWED
        if is_allowed or self.counts_refused:
            self.times.append(time_s)
        if is_allowed:
            return Reply()
        self.refused += 1
        return Reply(status=429, error=REFUSAL)


def prompts(number: int) -> list[Prompt]:
    return [Prompt(text=f"question {index}") for index in range(number)]


@pytest.mark.slow
@pytest.mark.parametrize("counts_refused", [False, True], ids=["answers count", "refusals count too"])
def test_few_requests_in_a_time_end_in_answers(chat, service, counts_refused):
    service.default = limit = FewRequests(counts_refused=counts_refused)
    answers = chat(retries=2, concurrency=8).ask(prompts(7))
    assert [answer.error for answer in answers] == [""] * 7
    assert limit.refused > 0


def test_refused_rates_do_not_use_up_the_tries_of_other_faults(chat, service):
    refused = Reply(status=429, headers={"retry-after-ms": "10"}, error=REFUSAL)
    service.replies = [refused, Reply(status=500), refused, Reply(status=500), refused]
    [answer] = chat(retries=2).ask(prompts(1))
    assert (answer.error, answer.text, answer.retries) == ("", "fine", 5)


def test_other_faults_use_up_their_tries_whatever_the_rate(chat, service):
    service.replies = [Reply(status=429, headers={"retry-after-ms": "10"}), *[Reply(status=500)] * 2]
    [answer] = chat(retries=1).ask(prompts(1))
    assert "HTTP 500" in answer.error


def test_a_service_that_refuses_every_rate_is_not_waited_for_without_end(chat, service):
    service.default = Reply(status=429, headers={"Retry-After": "0"}, error=REFUSAL)
    start = time.monotonic()
    [answer] = chat(rate_limit_wait_s=1.5).ask(prompts(1))
    assert "HTTP 429: Rate limit reached" in answer.error
    assert "within rate_limit_wait_s = 1.5); set requests_per_minute, or a lower concurrency" in answer.error
    assert time.monotonic() - start < 60  # where 1.5 s are allowed
    assert 2 <= len(service.requests) <= 6


def test_no_wait_for_a_refused_rate(chat, service):
    service.default = Reply(status=429, error=REFUSAL)
    assert "(1 try within rate_limit_wait_s = 0)" in chat(rate_limit_wait_s=0).ask(prompts(1))[0].error
    assert len(service.requests) == 1


def test_a_longer_wait_is_kept_where_it_is_configured(chat, service):
    service.default = Reply(status=429, headers={"Retry-After": "301"}, error=REFUSAL)
    assert "asks to wait 301 s, which is too long to wait for" in chat().ask(prompts(1))[0].error
    service.default = Reply()
    service.replies = [Reply(status=429, headers={"Retry-After": "2"}, error=REFUSAL)]
    assert "asks to wait 2 s" in chat(rate_limit_wait_s=1).ask(prompts(1))[0].error


@pytest.mark.parametrize("kind", ["insufficient_quota", "budget_exceeded"])
def test_an_account_without_credit_is_not_waited_for(chat, service, kind):
    service.default = Reply(status=429, error={"message": "pay first", "type": kind, "code": "429"})
    assert "the account has no credit left" in chat().ask(prompts(1))[0].error
    assert len(service.requests) == 1
