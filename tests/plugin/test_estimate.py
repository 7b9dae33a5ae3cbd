"""`--evalstudio-estimate`: what a run would ask, without asking, writing or failing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.openai_server import OpenAIServer, Reply, serve
from support.project import Project
from support.workers import WORKERS

GOOD = json.dumps({"reason": "it fits", "verdict": "true"})
PRICES = "input_usd_per_million = 2.0\noutput_usd_per_million = 10.0\nmax_tokens = 50\n"


@pytest.fixture
def service() -> Iterator[OpenAIServer]:
    with serve() as running:
        running.default = Reply("It is 4.")
        yield running


def configured(
    project: Project, service: OpenAIServer, more: str = "", *, evaluators: str = "text_matching"
) -> None:
    project.write(
        "evalstudio.toml",
        f'evaluators = ["{evaluators}"]\n{more}\n[[model]]\nname = "paid"\nhost = "openai_compatible"\n'
        f'llm_model_name = "m"\nurl = "{service.url}"\n{PRICES}',
    )


def cases(project: Project, count: int) -> None:
    prompts = [f"question {n:>31}" for n in range(count)]  # 40 characters, 10 tokens
    project.suite(*({"key": f"k{n}", "prompt": prompts[n], "condition": '"4"'} for n in range(count)))


def files(folder: Path) -> dict[str, bytes]:
    """Return the content of all files but those that pytest's own tools write."""
    return {
        str(path): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".pyc" and path.name not in ("stdout", "stderr")
    }


@pytest.mark.parametrize("workers", WORKERS)
def test_nothing_is_asked_or_written(
    project: Project, service: OpenAIServer, workers: tuple[str, ...]
) -> None:
    configured(project, service, "runs = 2")
    cases(project, 5)
    before = files(project.folder)
    result = project.run("--evalstudio-estimate", *workers)
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "model paid: 10 calls (0 answers are stored), about 100 tokens in, about 500 out, 0.0052 USD",
            "together: 10 calls, 0.0052 USD",
            "*no tests ran*",
        ]
    )
    assert service.requests == []
    assert files(project.folder) == before


def test_stored_answers_are_subtracted_and_tell_the_length_of_answers(
    project: Project, service: OpenAIServer
) -> None:
    configured(project, service)
    cases(project, 2)
    project.run().assert_outcomes(passed=2)
    cases(project, 5)
    before = files(project.folder)
    request_count = len(service.requests)
    result = project.run("--evalstudio-estimate", "--evalstudio-replay")
    result.stdout.fnmatch_lines(["model paid: 3 calls (2 answers are stored), about * in, about * out, *USD"])
    assert "about 150 out" not in str(result.stdout)
    result = project.run("--evalstudio-estimate")
    result.stdout.fnmatch_lines(["model paid: 5 calls (0 answers are stored), about * in, about * out, *USD"])
    assert "about 250 out" not in str(result.stdout)
    result = project.run("--evalstudio-estimate", "--evalstudio-refresh")
    result.stdout.fnmatch_lines(["model paid: 5 calls (0 answers are stored)*"])
    assert len(service.requests) == request_count
    assert files(project.folder) == before


def test_judges_are_estimated_with_and_without_answers(project: Project, service: OpenAIServer) -> None:
    judge = (
        '[evaluator.fit]\ntype = "byop"\nprompt = "Is {actual_output} good?"\n'
        f'[judge]\nhost = "openai_compatible"\nurl = "{service.url}"\nllm_model_name = "j"\n'
    )
    configured(project, service, judge, evaluators="fit")
    service.by_request = lambda request: Reply(GOOD if request["model"] == "j" else "It is 4.")
    cases(project, 2)
    result = project.run("--evalstudio-estimate")
    result.stdout.fnmatch_lines(
        [
            "model paid: 2 calls (0 answers are stored)*",
            "judge j: at least 2 calls (0 answers are stored), * an unknown number of out, price not known",
            "together: 4 calls, * USD and what is not known",
        ]
    )
    project.run().assert_outcomes(passed=2)
    request_count = len(service.requests)
    result = project.run("--evalstudio-estimate")
    result.stdout.fnmatch_lines(
        ["model paid: 2 calls (0 answers are stored)*", "judge j: at least 0 calls (*stored)*"]
    )
    assert len(service.requests) == request_count


def test_a_judge_with_several_questions_counts_those_that_follow(
    project: Project, service: OpenAIServer
) -> None:
    project.write(
        "evalstudio.toml",
        'evaluators = ["faithfulness"]\n[judge]\nhost = "openai_compatible"\n'
        f'url = "{service.url}"\nllm_model_name = "j"\n',
    )
    project.lab({"key": "a", "input": "Q?", "actual_output": "It is so.", "context": ["It is so."]})
    result = project.run("--evalstudio-estimate")
    result.stdout.fnmatch_lines(["judge j: at least 2 calls (0 answers are stored)*"])
    assert service.requests == []


def test_a_sequential_test_is_estimated_by_its_maximum(project: Project, service: OpenAIServer) -> None:
    configured(project, service, 'runs = {max = 20, stop = "sprt"}')
    cases(project, 1)
    result = project.run("--evalstudio-estimate")
    result.stdout.fnmatch_lines(["model paid: at most 20 calls*"])


def test_tests_in_python_do_not_run_and_are_mentioned(project: Project) -> None:
    project.write(
        "test_app.py", "def test_it(eval_model):\n    eval_model('app').ask('2+2?')\n    raise ValueError\n"
    )
    result = project.run("--evalstudio-estimate")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "estimate: no model and no judge is to be asked",
            "not included: 1 tests in Python, pairs of an arena or steps of workflows that may ask models",
        ]
    )


def test_an_unknown_model_is_still_a_usage_error(project: Project) -> None:
    project.suite({"prompt": "2+2?"})
    assert project.run("--evalstudio-estimate", "--evalstudio-model", "x").ret == pytest.ExitCode.USAGE_ERROR
