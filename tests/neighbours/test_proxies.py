"""LiteLLM's proxy before a service: what it sends arrives in the record."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.children import Children
from support.openai_server import OpenAIServer, Reply, serve
from support.project import Project
from support.real_servers import command, free_port, wait_for

KEY = "sk-1f6b0d35cf8d4f0fb3a7be2f9f3c2b7a"
"""Key of the proxy on loopback; it refuses to start with a short one."""
INPUT_USD, OUTPUT_USD = 0.001, 0.002
PROXY = f"""
model_list:
  - model_name: answers
    litellm_params:
      model: openai/upstream-1
      api_base: os.environ/UPSTREAM_URL
      api_key: none
      input_cost_per_token: {INPUT_USD}
      output_cost_per_token: {OUTPUT_USD}
litellm_settings:
  num_retries: 0
  telemetry: false
router_settings:
  disable_cooldowns: true
"""
CONFIG = """
evaluators = ["text_matching"]

[[model]]
name = "proxied"
host = "openai_compatible"
url = "URL/v1"
api_key = "${PROXY_KEY}"
llm_model_name = "answers"
"""


@pytest.fixture(scope="module")
def upstream() -> Iterator[OpenAIServer]:
    with serve() as service:
        yield service


@pytest.fixture(scope="module")
def proxy(upstream: OpenAIServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    require = pytest.importorskip  # the fixture `neighbour` has the scope of a function
    require("litellm", reason="`tox -e services` has it")
    folder = tmp_path_factory.mktemp("proxy")
    (folder / "config.yaml").write_text(PROXY, encoding="utf-8")
    environment = {
        "UPSTREAM_URL": upstream.url,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_MASTER_KEY": KEY,
        "PYTHONPATH": "",
    }
    port = free_port()
    options = ("--config", "config.yaml", "--host", "127.0.0.1", "--port", str(port), "--telemetry", "False")
    children = Children()
    try:
        server = children.start(
            [command("litellm"), *options], folder, environment=environment, is_group=True
        )
        url = f"http://127.0.0.1:{port}"
        wait_for(server, f"{url}/health/liveliness")
        yield url
    finally:
        children.close()


@pytest.fixture
def proxied(
    project: Project,
    proxy: str,
    upstream: OpenAIServer,
    neighbour: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> Project:
    neighbour("litellm")
    monkeypatch.setenv("PROXY_KEY", KEY)
    upstream.replies.clear()
    upstream.default = Reply(text="It is 4.")
    upstream.requests.clear()
    upstream.times.clear()
    project.write("evalstudio.toml", CONFIG.replace("URL", proxy))
    project.suite({"key": "four", "prompt": "2+2?", "condition": '"4"'})
    return project


def answer_of(project: Project) -> dict[str, object]:
    _, items = project.record()
    (item,) = items.values()
    return item["rows"][0]["answer"]  # type: ignore[no-any-return]


def test_answer_usage_and_cost_arrive(proxied: Project, upstream: OpenAIServer) -> None:
    proxied.run().assert_outcomes(passed=1)

    answer = answer_of(proxied)
    assert answer["actual_output"] == "It is 4."
    assert answer["usage"] == {"input_tokens": 10, "output_tokens": 5}
    assert answer["cost"] == pytest.approx(10 * INPUT_USD + 5 * OUTPUT_USD)
    assert upstream.requests[-1]["messages"][-1]["content"] == "2+2?"


def test_the_wait_that_the_service_asks_for_is_kept(proxied: Project, upstream: OpenAIServer) -> None:
    error = {"message": "Rate limit reached", "type": "tokens", "code": "rate_limit_exceeded"}
    upstream.replies.append(Reply(status=429, headers={"Retry-After": "3"}, error=error))

    proxied.run().assert_outcomes(passed=1)

    first, second = upstream.times
    assert second - first >= 3
    assert answer_of(proxied)["retries"] == 1


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (
            Reply(
                status=400,
                error={
                    "message": "This model's maximum context length is 8192 tokens.",
                    "type": "invalid_request_error",
                    "code": "context_length_exceeded",
                },
            ),
            "*longer than the model's context*",
        ),
        (
            Reply(
                status=400,
                error={
                    "message": "The response was filtered due to the prompt triggering Azure OpenAI's content"
                    " management policy.",
                    "type": "invalid_request_error",
                    "code": "content_filter",
                },
            ),
            "*content filter*",
        ),
    ],
)
def test_a_refused_request_names_its_reason(
    proxied: Project, upstream: OpenAIServer, reply: Reply, message: str
) -> None:
    upstream.replies.append(reply)
    result = proxied.run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([message])
    assert "check llm_model_name" not in result.stdout.str()
    assert len(upstream.requests) == 1


def test_a_filtered_answer_is_named(proxied: Project, upstream: OpenAIServer) -> None:
    upstream.default = Reply(text="It is 4, and", finish="content_filter")
    result = proxied.run()
    result.stdout.fnmatch_lines(["*filtered*"])
    assert "filtered" in (proxied.folder / "evalstudio-report/summary.md").read_text("utf-8")


def test_the_key_of_the_proxy_is_in_no_file(proxied: Project) -> None:
    proxied.run("-vv")
    for file in Path(proxied.folder).rglob("*"):
        if file.is_file():
            assert KEY.encode() not in file.read_bytes(), file
    assert KEY not in json.dumps(answer_of(proxied))
