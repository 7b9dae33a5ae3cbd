"""Answers of tens of megabytes: an error that names the option, little memory, and small reports."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from support.project import Project
from support.protocols import message, ollama_part
from support.service import ANSWER, Response, Service, running

ANSWER_BYTES = 53_000_000
MAX_RISE_MB = 300
CONFTEST = """
import resource

def pytest_unconfigure():
    print(f"\\npeak: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")
"""
FORMS = {
    "http": (lambda url: f'url = "{url}"', {"answer": "@"}),
    "openai_compatible": (
        lambda url: f'url = "{url}/v1"\nllm_model_name = "m"',
        {
            "choices": [
                {"index": 0, "message": {"role": "assistant", "content": "@"}, "finish_reason": "stop"}
            ]
        },
    ),
    "anthropic_llm": (
        lambda url: f'url = "{url}"\nllm_model_name = "m"\napi_key = "k"',
        message([{"type": "text", "text": "@"}]),
    ),
    "ollama": (lambda url: f'url = "{url}"\nllm_model_name = "m"', ollama_part("@", is_final=True)),
}


@pytest.fixture
def service() -> Iterator[Service]:
    with running(lambda request: Response()) as service:
        yield service


def reply(form: object, size: int) -> Response:
    """Return a reply in parts, whose text has a size; ANSWER for 0."""
    start, end = json.dumps(form).encode().split(b"@")
    block = b"x" * 1_000_000
    parts = [block] * (size // len(block)) if size else [ANSWER.encode()]
    return Response(parts=[start, *parts, end])


def peak_mb(project: Project) -> tuple[int, str, int]:
    result = project.run_process("-s")
    output = str(result.stdout)
    return int(re.findall(r"peak: (\d+) MB", output)[-1]), output, int(result.ret)


@pytest.mark.slow
@pytest.mark.parametrize("host", FORMS)
def test_a_huge_answer_is_an_error_and_is_stored_nowhere(
    pytester: pytest.Pytester, service: Service, host: str
) -> None:
    project = Project(pytester, with_app=False)
    table, form = FORMS[host]
    project.write("conftest.py", CONFTEST)
    project.write(
        "evalstudio.toml",
        f'evaluators = ["text_matching"]\n[[model]]\nname = "app"\nhost = "{host}"\nretries = 0\n'
        f"{table(service.url)}\n",
    )
    project.suite({"key": "k", "prompt": "question", "condition": '"5"'})
    service.always = reply(form, 0)
    usual, output, status = peak_mb(project)
    assert status == 0, output
    service.always = reply(form, ANSWER_BYTES)
    peak, output, status = peak_mb(project)
    assert status == 1
    assert "max_text_chars = 1,000,000" in output
    assert peak - usual < MAX_RISE_MB
    files = [path for path in project.folder.rglob("*") if path.is_file()]
    assert not [path for path in files if path.stat().st_size > 5_000_000]


def test_a_huge_answer_of_code_is_an_error_too(pytester: pytest.Pytester) -> None:
    project = Project(pytester, with_app=False)
    project.write("app.py", f'def ask(prompt):\n    return "x" * {ANSWER_BYTES}\n')
    project.write(
        "evalstudio.toml",
        'evaluators = ["text_matching"]\n[[model]]\nname = "app"\nhost = "python"\ntarget = "app:ask"\n',
    )
    project.suite({"key": "k", "prompt": "question", "condition": '"5"'})
    result = project.run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*the answer has 53,000,000 characters*max_text_chars = 1,000,000*"])
    files = [path for path in project.folder.rglob("*") if path.is_file()]
    assert not [path for path in files if path.stat().st_size > 5_000_000]
