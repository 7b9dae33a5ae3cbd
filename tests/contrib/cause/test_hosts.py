"""Causes of regressions with other hosts: a fixture, an HTTP service, a model with a prompt file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from support.openai_protocol import completion
from support.project import Project
from support.service import Request, Response, Service, running

CASE = {"key": "abroad", "prompt": "What does a transfer abroad cost?", "condition": '"12 USD"'}
RIGHT, WRONG = "A transfer abroad costs 12 USD.", "A lost card costs 25 USD."


def project_with(pytester: pytest.Pytester, config: str, **files: str) -> Project:
    project = Project(pytester, with_app=False)
    project.write("evalstudio.toml", f'evaluators = ["text_matching"]\n{config}')
    for name, content in files.items():
        project.write(name.replace("__", "."), content)
    project.suite(CASE, name="bank_suite.json")
    return project


def save_baseline(project: Project) -> None:
    project.run("bank_suite.json").assert_outcomes(passed=1)
    assert project.run_command("baseline", "save").ret == 0


def cause(project: Project) -> Mapping[str, Any]:
    project.run("bank_suite.json", "--evalstudio-baseline=evalstudio-baseline.jsonl", "--evalstudio-explain")
    header, _ = project.record()
    [entry] = header["causes"].values()
    return dict(entry)


SERVICE = f'''
import pytest

RETRIEVED = ["{RIGHT}"]


class Bank:
    def retrieve(self, prompt):
        return RETRIEVED

    def generate(self, prompt, context):
        return context[0]


@pytest.fixture
def bank():
    return Bank()
'''


def test_a_fixture_with_both_parts(pytester: pytest.Pytester) -> None:
    config = '[[model]]\nname = "bank"\nhost = "fixture"\nfixture = "bank"\n'
    project = project_with(
        pytester, config + 'retrieve = "retrieve"\ngenerate = "generate"\n', conftest__py=SERVICE
    )
    save_baseline(project)
    project.write("conftest.py", SERVICE.replace(f'["{RIGHT}"]', f'["{WRONG}"]'))
    assert cause(project)["code"] == "retrieval"


def test_a_setting_of_a_fixture_is_put_back(pytester: pytest.Pytester) -> None:
    config = '[[model]]\nname = "bank"\nhost = "fixture"\nfixture = "bank"\nsystem_prompt = "SYSTEM"\n'
    fixture = f'''
import pytest


@pytest.fixture
def bank():
    def ask(prompt, system_prompt):
        return "{RIGHT}" if system_prompt == "full" else "12"
    return ask
'''
    project = project_with(pytester, config.replace("SYSTEM", "full"), conftest__py=fixture)
    save_baseline(project)
    project.write("evalstudio.toml", f'evaluators = ["text_matching"]\n{config.replace("SYSTEM", "short")}')
    assert cause(project)["code"] == "prompt"


@pytest.fixture
def bank() -> Iterator[tuple[Service, list[str]]]:
    """A service that answers from the chunks of the request, else from those that it retrieves."""
    retrieved = [RIGHT]

    def reply(request: Request) -> Response:
        chunks = request.body["context"]
        chunks = retrieved if chunks is None else chunks
        return Response(body={"answer": chunks[0], "hits": chunks})

    with running(reply, lambda request: True) as service:
        yield service, retrieved


def test_a_service_whose_body_has_a_place_for_chunks(
    pytester: pytest.Pytester, bank: tuple[Service, list[str]]
) -> None:
    service, retrieved = bank
    config = f"""
[[model]]
name = "bank"
host = "http"
url = "{service.url}"
body = {{ question = "{{{{ prompt }}}}", context = "{{{{ context }}}}" }}
reply = {{ answer = "/answer", context = "/hits" }}
"""
    project = project_with(pytester, config)
    save_baseline(project)
    assert json.loads(service.requests[-1].content)["context"] is None
    retrieved[:] = [WRONG]
    entry = cause(project)
    assert (entry["code"], entry["basis"]) == ("retrieval", "replay")
    assert json.loads(service.requests[-1].content)["context"] == [RIGHT]


PROMPTED = f'''
def ask(prompt):
    return "{RIGHT}" if prompt.startswith("Be exact") else "12"
'''


def test_a_prompt_file_of_the_baseline_is_named(pytester: pytest.Pytester) -> None:
    config = '[[model]]\nname = "bank"\nhost = "python"\ntarget = "app:ask"\nprompt = "v3.j2"\n'
    project = project_with(
        pytester, config, app__py=PROMPTED, v3__j2="Be exact: {{ question }}", v4__j2="{{ question }}"
    )
    save_baseline(project)
    project.write("evalstudio.toml", f'evaluators = ["text_matching"]\n{config.replace("v3", "v4")}')
    entry = cause(project)
    assert entry["code"] == "prompt"
    assert entry["text"].startswith("prompt: passes with prompt v3 (")
    assert entry["details"][0].startswith("prompt v4 (")


MODELS = f'''
def ask(prompt, llm_model_name, parameters=None, depth=1):
    return "{RIGHT}" if llm_model_name == "large" and depth == 1 else "12"
'''


def test_a_model_and_another_setting_are_told_apart(pytester: pytest.Pytester) -> None:
    config = '[[model]]\nname = "bank"\nhost = "python"\ntarget = "app:ask"\nllm_model_name = "large"\n'
    project = project_with(pytester, config, app__py=MODELS)
    save_baseline(project)
    head = 'evaluators = ["text_matching"]\n'
    project.write("evalstudio.toml", head + config.replace("large", "small"))
    entry = cause(project)
    assert entry["code"] == "model"
    assert "`llm_model_name` is 'small' in place of 'large'" in entry["text"]
    project.write("evalstudio.toml", head + config + "parameters = { depth = 2 }\n")
    entry = cause(project)
    assert (entry["code"], entry["parts"]) == ("setting", [{"kind": "setting", "name": "depth"}])


NOISY = f'''
import itertools

TURN = itertools.count(1)
PATTERN = "1"


def ask(prompt):
    return "{RIGHT}" if PATTERN[next(TURN) % len(PATTERN)] == "1" else "12"
'''


def test_a_case_that_passes_often_as_it_is_is_noise(pytester: pytest.Pytester) -> None:
    config = '[[model]]\nname = "bank"\nhost = "python"\ntarget = "app:ask"\nconfirm = 0\n'
    project = project_with(pytester, config, app__py=NOISY)
    save_baseline(project)
    project.write("app.py", NOISY.replace('PATTERN = "1"', 'PATTERN = "10111"'))
    entry = cause(project)
    assert (entry["code"], entry["basis"]) == ("noise", "repeats")
    assert entry["text"] == "noise: passes 4 of 4 as it is"


def test_a_regression_that_is_not_confirmed_is_noise(pytester: pytest.Pytester) -> None:
    config = '[[model]]\nname = "bank"\nhost = "python"\ntarget = "app:ask"\n'
    project = project_with(pytester, config, app__py=NOISY)
    save_baseline(project)
    project.write("app.py", NOISY.replace('PATTERN = "1"', 'PATTERN = "1011111111"'))
    entry = cause(project)
    assert entry["code"] == "noise"
    assert entry.get("calls", 0) == 0


SERVED = """
from pytest_evalstudio import Answer

SERVED = "large-1"


def ask(prompt):
    return Answer(text="RIGHT" if SERVED == "large-1" else "12", served_model=SERVED)
""".replace("RIGHT", RIGHT)


def test_another_served_model_with_the_same_settings_is_the_model(pytester: pytest.Pytester) -> None:
    config = '[[model]]\nname = "bank"\nhost = "python"\ntarget = "app:ask"\n'
    project = project_with(pytester, config, app__py=SERVED)
    save_baseline(project)
    project.write("app.py", SERVED.replace('SERVED = "large-1"', 'SERVED = "large-2"'))
    entry = cause(project)
    assert (entry["code"], entry["basis"]) == ("model", "fingerprints")
    assert entry["text"] == "model: served model changed, same prompt and chunks"
    assert "`large-2` answered in place of `large-1`" in entry["details"]


@pytest.fixture
def chat() -> Iterator[Service]:
    """Chat completions: the model `large` is right where the prompt asks for it."""

    def reply(request: Request) -> Response:
        content = request.body
        is_right = content["model"] == "large" and content["messages"][-1]["content"].startswith("Be exact")
        return Response(body=completion(RIGHT if is_right else "12"))

    with running(reply, lambda request: True) as service:
        yield service


def chat_config(service: Service, *, model: str, prompt: str, others: str = "") -> str:
    return f"""evaluators = ["text_matching"]

[[model]]
name = "bank"
host = "openai_compatible"
url = "{service.url}/v1"
api_key = "sk-test"
llm_model_name = "{model}"
prompt = "{prompt}"
{others}
"""


def chat_project(pytester: pytest.Pytester, service: Service) -> Project:
    project = project_with(pytester, "", v3__j2="Be exact: {{ question }}", v4__j2="{{ question }}")
    project.write("evalstudio.toml", chat_config(service, model="large", prompt="v3.j2"))
    save_baseline(project)
    return project


def test_the_prompt_of_a_chat_service_is_put_back(pytester: pytest.Pytester, chat: Service) -> None:
    project = chat_project(pytester, chat)
    project.write("evalstudio.toml", chat_config(chat, model="large", prompt="v4.j2"))
    assert cause(project)["text"].startswith("prompt: passes with prompt v3 (")


def test_a_model_that_is_still_configured_is_put_back(pytester: pytest.Pytester, chat: Service) -> None:
    project = chat_project(pytester, chat)
    old = f'[[model]]\nname = "old"\nhost = "openai_compatible"\nurl = "{chat.url}/v1"\n'
    old += 'api_key = "sk-test"\nllm_model_name = "large"\n'
    project.write("evalstudio.toml", chat_config(chat, model="small", prompt="v3.j2", others=old))
    project.run(
        "bank_suite.json",
        "--evalstudio-baseline=evalstudio-baseline.jsonl",
        "--evalstudio-explain",
        "--evalstudio-model=bank",
    )
    header, _ = project.record()
    [entry] = header["causes"].values()
    assert (entry["code"], entry["basis"]) == ("model", "replay")


def test_a_model_that_is_no_longer_configured_is_not_asked(pytester: pytest.Pytester, chat: Service) -> None:
    project = chat_project(pytester, chat)
    request_count = len(chat.requests)
    project.write("evalstudio.toml", chat_config(chat, model="small", prompt="v3.j2"))
    entry = cause(project)
    assert entry["code"] == "not_tested"
    assert "which is no longer configured; a [[model]] with it lets it be tested" in entry["text"]
    assert {request.body["model"] for request in chat.requests[request_count:]} == {"small"}
