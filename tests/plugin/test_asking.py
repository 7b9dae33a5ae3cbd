from __future__ import annotations

from collections.abc import Iterator

import pytest

from openai_server import OpenAIServer, serve
from project import Project

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
    assert [row["run"] for row in items["four[app]"]["rows"]] == [1, 2, 3]
    assert project.run("--evalstudio-runs", "1").parseoutcomes() == {"passed": 1}


@pytest.fixture
def service() -> Iterator[OpenAIServer]:
    with serve() as running:
        yield running


def test_paid_answers_are_asked_for_once_until_refreshed(
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
    asked = len(service.requests)
    second = project.run("-n", "2")
    again = len(service.requests) - asked
    project.run("--evalstudio-refresh", "-k", "six")

    assert (first.parseoutcomes(), second.parseoutcomes()) == ({"passed": 2}, {"passed": 2})
    assert (asked, again, len(service.requests)) == (2, 0, 3)
    written = [path.read_bytes() for path in project.folder.rglob("*") if path.is_file()]
    assert not any(b"key-that-must-not-be-seen" in content for content in written)
