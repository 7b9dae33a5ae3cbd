"""Cached tokens of a service in whole runs: cost, comparison with a baseline, limits; costs below zero."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator

import pytest

from support.openai_server import OpenAIServer, Reply, serve
from support.project import Project

CONFIG = """
evaluators = ["text_matching"]

[[model]]
name = "bank"
host = "openai_compatible"
url = "URL"
llm_model_name = "m"

[prices.m]
input_usd_per_million = 2.0
output_usd_per_million = 8.0
cached_usd_per_million = 0.2
as_of = "2026-11-01"
"""


def reply(cached: int | None) -> Reply:
    usage = {"prompt_tokens": 10_000, "completion_tokens": 10, "total_tokens": 10_010}
    if cached is not None:
        usage["prompt_tokens_details"] = {"cached_tokens": cached}  # type: ignore[assignment]
    message = {"role": "assistant", "content": "It is 4."}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    body = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    return Reply(body=json.dumps({**body, "usage": usage}).encode())


@pytest.fixture
def service() -> Iterator[OpenAIServer]:
    with serve() as running:
        yield running


@pytest.fixture
def bank(project: Project, service: OpenAIServer) -> Project:
    project.write("evalstudio.toml", CONFIG.replace("URL", service.url))
    project.suite(*({"key": f"k{n}", "prompt": f"{n}+2?", "condition": '"4"'} for n in range(12)))
    return project


def rows(project: Project) -> list[dict[str, object]]:
    return [item["rows"][0]["answer"] for item in project.record()[1].values()]


def test_cached_tokens_are_recorded_and_priced(bank: Project, service: OpenAIServer) -> None:
    service.default = reply(9_900)
    bank.run().assert_outcomes(passed=12)
    for row in rows(bank):
        assert row["usage"] == {"input_tokens": 10_000, "output_tokens": 10, "cached_tokens": 9_900}
        assert row["cost"] == pytest.approx((100 * 2 + 9_900 * 0.2 + 10 * 8) / 1e6)


@pytest.mark.parametrize(("cached", "is_said"), [(0, True), (9_900, False), (None, False)])
def test_a_lost_cache_is_said_in_the_comparison(
    bank: Project, service: OpenAIServer, cached: int | None, is_said: bool
) -> None:
    service.default = reply(9_900)
    bank.run().assert_outcomes(passed=12)
    shutil.copy(bank.folder / "evalstudio-report/record.jsonl", bank.folder / "base.jsonl")
    service.default = reply(cached)

    result = bank.run("--evalstudio-baseline", "base.jsonl", "--evalstudio-refresh")

    result.assert_outcomes(passed=12)
    output = result.stdout.str()
    assert ("cached share of the input tokens of bank: 0.99 -> 0 per answer" in output) is is_said
    assert ("cost of bank: 0.00226 -> 0.02008 USD per answer" in output) is (cached != 9_900)


@pytest.mark.parametrize(
    ("limit", "cached", "outcome"),
    [
        ("max_uncached_tokens = 500", 9_900, {"passed": 12}),
        ("max_uncached_tokens = 500", 0, {"failed": 12}),
        ("max_uncached_tokens = 500", None, {"errors": 12}),
        ("max_cost_usd = 0.01", 9_900, {"passed": 12}),
        ("max_cost_usd = 0.01", None, {"failed": 12}),
    ],
)
def test_effort_limits_uncached_tokens(
    bank: Project,
    service: OpenAIServer,
    limit: str,
    cached: int | None,
    outcome: dict[str, int],
) -> None:
    service.default = reply(cached)
    config = (bank.folder / "evalstudio.toml").read_text("utf-8")
    config = config.replace('"text_matching"', '"text_matching", "effort"')
    bank.write("evalstudio.toml", f"{config}\n[evaluator.effort]\n{limit}\n")
    bank.run().assert_outcomes(**outcome)


APP = """
calls = 0


def ask(prompt):
    with open("calls.txt", "a") as file:
        file.write("x")
    return {"answer": "It is 4.", "cost_usd": COST}
"""


@pytest.mark.parametrize(
    ("cost", "calls", "outcome"),
    [("-0.5", 1, {"errors": 1, "skipped": 7}), ("0.5", 2, {"passed": 2, "skipped": 6})],
)
def test_a_negative_cost_is_an_error_and_ends_a_budget(
    project: Project, cost: str, calls: int, outcome: dict[str, int]
) -> None:
    project.write("app.py", APP.replace("COST", cost))
    project.write(
        "evalstudio.toml",
        'evaluators = ["text_matching"]\n[[model]]\nname = "app"\nhost = "python"\ntarget = "app:ask"\n'
        "concurrency = 1\nbudget = { cost_usd = 1.0 }\n",
    )
    project.suite(*({"key": f"k{n}", "prompt": f"{n}+2?", "condition": '"4"'} for n in range(8)))
    result = project.run()
    assert len((project.folder / "calls.txt").read_text()) == calls
    result.assert_outcomes(**outcome)
    if cost.startswith("-"):
        result.stdout.fnmatch_lines(["*negative cost, -0.5 USD*"])
