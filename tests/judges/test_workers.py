"""Judges under pytest-xdist: workers share the budget, and ask a question once."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from support.openai_server import OpenAIServer, Reply, serve
from support.project import Project

pytestmark = pytest.mark.slow

GOOD = json.dumps({"reason": "it fits", "verdict": "true"})


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    return Project(pytester)


@pytest.fixture
def service() -> Iterator[OpenAIServer]:
    with serve() as running:
        running.default = Reply(GOOD, delay_s=0.05)
        yield running


def configure(project: Project, service: OpenAIServer, more: str = "") -> None:
    project.write(
        "evalstudio.toml",
        'evaluators = ["fit"]\n[evaluator.fit]\ntype = "byop"\nprompt = "Is {actual_output} good?"\n'
        f'[judge]\nhost = "openai_compatible"\nurl = "{service.url}"\nllm_model_name = "m"\n{more}\n',
    )


def test_workers_spend_all_calls_of_a_budget(project: Project, service: OpenAIServer) -> None:
    configure(project, service, "max_calls = 45")
    project.lab(*({"key": f"q{n}", "input": "Q?", "actual_output": f"A{n}."} for n in range(45)))
    project.run("-n", "2").assert_outcomes(passed=45)
    assert len(service.requests) == 45


def test_workers_ask_an_identical_question_once(project: Project, service: OpenAIServer) -> None:
    configure(project, service)
    rows = [{"key": f"q{n}", "input": "Q?", "actual_output": f"A{n % 4}."} for n in range(40)]
    project.lab(*rows)
    project.run("-n", "2").assert_outcomes(passed=40)
    assert len(service.requests) == 4


def test_a_parameter_that_the_service_refuses_is_mentioned_once(
    project: Project, service: OpenAIServer
) -> None:
    configure(project, service)
    refusal = Reply(status=400, error={"message": "Unsupported value", "param": "temperature"})
    service.by_request = lambda request: refusal if "temperature" in request else Reply(GOOD)
    project.lab(*({"key": f"q{n}", "input": "Q?", "actual_output": f"A{n}."} for n in range(3)))
    result = project.run()
    result.assert_outcomes(passed=3)
    assert str(result.stdout).count("m does not take temperature = 0; it is asked without") == 1
