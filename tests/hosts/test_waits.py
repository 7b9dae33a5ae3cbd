"""Waiting times that services ask for."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from pytest_evalstudio.hosts._waits import asked_wait_s

NOW = datetime(2030, 1, 1, tzinfo=UTC)
RETRY_INFO = {
    "error": {
        "code": 429,
        "message": "Resource has been exhausted",
        "status": "RESOURCE_EXHAUSTED",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "36.5s"}],
    }
}
OTHER_WORDS = "The server had an error. Wait for the 2 s announcement, then ask in 5 s."


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        pytest.param({"Retry-After": "2"}, "", 2, id="seconds"),
        pytest.param({"Retry-After": "Tue, 01 Jan 2030 00:00:20 GMT"}, "", 20, id="date"),
        pytest.param({"retry-after-ms": "250", "retry-after": "1"}, "", 0.25, id="milliseconds first"),
        pytest.param({"x-ms-retry-after-ms": "1500"}, "", 1.5, id="Azure's milliseconds"),
        pytest.param({"llm_provider-retry-after": "2"}, "", 2, id="passed on by LiteLLM"),
        pytest.param({"llm_provider-retry-after": "9", "retry-after": "2"}, "", 2, id="its own first"),
        pytest.param({"x-ratelimit-reset-requests": "1m30s"}, "", 60, id="span, at most a minute"),
        pytest.param({"x-ratelimit-reset-tokens": "820ms"}, "", 0.82, id="span in milliseconds"),
        pytest.param(
            {
                "x-ratelimit-reset-requests": "45s",
                "x-ratelimit-remaining-requests": "8",
                "x-ratelimit-reset-tokens": "6s",
                "x-ratelimit-remaining-tokens": "0",
            },
            "",
            6,
            id="the limit that is used up",
        ),
        pytest.param({"x-ratelimit-reset": "1893456012"}, "", 12, id="moment in seconds"),
        pytest.param({"X-RateLimit-Reset": "1893456012000"}, "", 12, id="moment in milliseconds"),
        pytest.param({"RateLimit-Reset": "7"}, "", 7, id="draft of a standard"),
        pytest.param(
            {
                "anthropic-ratelimit-requests-reset": "2030-01-01T00:00:11Z",
                "anthropic-ratelimit-requests-remaining": "0",
                "anthropic-ratelimit-input-tokens-reset": "2030-01-01T00:00:40Z",
                "anthropic-ratelimit-input-tokens-remaining": "700",
            },
            "",
            11,
            id="Anthropic",
        ),
        pytest.param({}, json.dumps(RETRY_INFO), 36.5, id="Google"),
        pytest.param(
            {},
            json.dumps({"error": {"message": f"litellm.RateLimitError: {json.dumps(RETRY_INFO)}"}}),
            36.5,
            id="Google, quoted by a proxy",
        ),
        pytest.param({}, "Rate limit reached for m. Please try again in 20s. Visit …", 20, id="OpenAI"),
        pytest.param({}, "Please try again in 7m12.5s.", 432.5, id="Groq"),
        pytest.param({}, "exceeded the rate limit. Please retry after 26 seconds.", 26, id="Azure"),
        pytest.param({}, "try again in 820ms", 0.82, id="milliseconds in words"),
        pytest.param({}, "Too many requests", None, id="nothing"),
        pytest.param({}, OTHER_WORDS, None, id="other words"),
        pytest.param({"Retry-After": "soon", "x-ratelimit-reset-tokens": "later"}, "", None, id="no time"),
        pytest.param({"Retry-After": "1e999"}, "", None, id="infinite"),
    ],
)
def test_the_wait_of_a_refused_rate_is_read(headers, body, seconds):
    assert asked_wait_s(headers, body, throttled=True, now=NOW) == (
        None if seconds is None else pytest.approx(seconds)
    )


def test_a_reset_is_compared_with_the_clock_of_the_service():
    headers = {
        "date": "Tue, 01 Jan 2030 00:00:00 GMT",
        "anthropic-ratelimit-tokens-reset": "2030-01-01T00:00:11Z",
    }
    assert asked_wait_s(headers, "", throttled=True, now=NOW + timedelta(hours=2)) == 11


def test_other_faults_wait_only_where_the_service_asks_for_it():
    headers = {"x-ratelimit-reset-requests": "45s"}
    assert asked_wait_s(headers, "please try again in 20s", throttled=False, now=NOW) is None
    assert asked_wait_s({"retry-after": "3"}, "", throttled=False, now=NOW) == 3
    assert asked_wait_s({}, json.dumps(RETRY_INFO), throttled=False, now=NOW) == 36.5
