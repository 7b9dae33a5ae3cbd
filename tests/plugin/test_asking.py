from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.openai_server import OpenAIServer, serve
from support.project import Project

FOUR = {"key": "four", "prompt": "2+2?", "condition": '"4"'}
COUNTING = """
import itertools

ANSWERS = itertools.cycle(["4", "4", "5"])


def ask(prompt):
    return next(ANSWERS)
"""


def test_repeats_ask_anew_and_the_item_asserts_their_mean(project: Project) -> None:
    project.write("app.py", COUNTING)
    model = '[[model]]\nname = "app"\nhost = "python"\ntarget = "app:ask"\nconcurrency = 1\n'
    project.write("evalstudio.toml", f'evaluators = ["text_matching"]\nruns = 3\n{model}')
    project.suite(FOUR)

    project.run("--evalstudio-threshold", "text_matching=0.6").assert_outcomes(passed=1)
    missed = project.run("--evalstudio-threshold", "text_matching=0.7")

    missed.assert_outcomes(failed=1)
    missed.stdout.fnmatch_lines(
        ["text_matching: model_passes 0.6667 < 0.7 (mean; least 0)*", "(the first of 3 repeats is shown)"]
    )
    _, items = project.record()
    verdict = items["four[app]"]["verdicts"]["text_matching"]
    assert (
        round(verdict["scores"]["model_passes"], 4),
        verdict["min"]["model_passes"],
        verdict["pass_k"],
    ) == (0.6667, 0.0, 0.0)
    assert [row.get("run", 1) for row in items["four[app]"]["rows"]] == [1, 2, 3]
    assert project.run("--evalstudio-runs", "1").parseoutcomes() == {"passed": 1}


@pytest.fixture
def service() -> Iterator[OpenAIServer]:
    with serve() as running:
        yield running


def test_a_service_is_asked_in_each_run_and_its_key_is_nowhere(
    project: Project, service: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVICE_KEY", "key-that-must-not-be-seen")
    project.write(
        "evalstudio.toml",
        'evaluators = ["text_matching"]\n[[model]]\nname = "paid"\nhost ='
        f' "openai_compatible"\nllm_model_name = "m"\nurl = "{service.url}"\napi_key = "${{SERVICE_KEY}}"\n',
    )
    project.suite(
        {**FOUR, "condition": 'regexp(".")'}, {"key": "six", "prompt": "3+3?", "condition": 'regexp(".")'}
    )

    first = project.run()
    request_count = len(service.requests)
    second = project.run("-n", "2")
    repeat_count = len(service.requests) - request_count
    project.run("--evalstudio-refresh", "-k", "six")

    assert (first.parseoutcomes(), second.parseoutcomes()) == ({"passed": 2}, {"passed": 2})
    assert (request_count, repeat_count, len(service.requests)) == (2, 2, 5)
    contents = [path.read_bytes() for path in project.folder.rglob("*") if path.is_file()]
    assert not any(b"key-that-must-not-be-seen" in content for content in contents)


def test_tool_calls_of_a_host_are_kept_with_the_answer(project: Project) -> None:
    project.write(
        "app.py",
        "CALL = {'id': '1', 'function': {'name': 'add', 'arguments': '{\"a\": 2}'}}\n\n\n"
        "def ask(prompt):\n"
        "    return {'answer': '4' if prompt == '2+2?' else None, 'tool_calls': [CALL]}\n",
    )
    with (project.folder / "evalstudio.toml").open("a") as file:
        file.write("cache = true\n")
    project.suite(
        {"key": "four", "prompt": "2+2?", "condition": '"4"'},
        {"key": "none", "prompt": "3+3?", "condition": '"6"'},
    )

    for _ in range(2):  # asked, then out of the cache
        project.run().assert_outcomes(passed=1, failed=1)  # an answer without text meets no condition

        for item in project.record()[1].values():
            (call,) = item["rows"][0]["answer"]["tool_calls"]
            assert call == {"id": "1", "name": "add", "arguments": {"a": 2}}


def test_tool_calls_that_are_no_json_objects_are_an_error(project: Project) -> None:
    project.write(
        "app.py", "def ask(prompt):\n    return {'answer': 'x', 'tool_calls': 'add' if prompt else 1}\n"
    )
    project.suite({"key": "four", "prompt": "2+2?", "condition": '"4"'})

    result = project.run()

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*'tool_calls' as a str; make it a list of calls*"])
