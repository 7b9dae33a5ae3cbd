"""Errors with one cause are one block and one line, in each of pytest's styles; JUnit files keep all."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from support.openai_server import Reply, serve
from support.project import Project
from support.workers import WORKERS

NO_CLIENT = """
import importlib.util
import sys

real = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name.split(".")[0] == "httpx" else real(name, *more)
for name in [name for name in sys.modules if name.split(".")[0] == "httpx"]:
    del sys.modules[name]


class Uninstalled:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "httpx":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Uninstalled())
"""
HTTP = """
evaluators = ["text_matching"]
[[model]]
name = "desk"
host = "http"
url = "http://127.0.0.1:9/"
body = {question = "{prompt}"}
retries = 0
reply = {answer = "/answer"}
"""
STOPPED = """
[[model]]
name = "NAME"
host = "openai_compatible"
url = "URL"
llm_model_name = "NAME"
api_key = "none"
retries = 0
"""
COUNT = 27


def cases(project: Project, count: int = COUNT) -> None:
    project.suite(
        *({"key": f"k{number}", "prompt": f"{number}?", "condition": '"4"'} for number in range(count))
    )


def test_a_missing_extra_is_said_once_with_its_remedy(project: Project) -> None:
    project.write("conftest.py", NO_CLIENT)
    project.write("evalstudio.toml", HTTP)
    cases(project)
    # In a process of its own: the conftest.py takes modules away.
    result = project.run_process("--junitxml", "junit.xml")
    result.assert_outcomes(errors=COUNT)
    text = result.stdout.str()
    remedy = "host 'http' needs the httpx package: pip install \"pytest-evalstudio[http]\""
    assert text.count(remedy) == 1
    result.stdout.fnmatch_lines(
        [
            "_* ERROR at setup of k0[[]desk] and 26 more _*",
            "27 cases of sums_suite.json: k0[[]desk], k1[[]desk], k2[[]desk] and 24 more; -v writes them out",
            "ERROR sums_suite.json::k0[[]desk] - [[]+26] model 'desk': host 'http'*",
        ]
    )
    assert len(result.outlines) < 25
    errors = [
        case
        for case in ET.parse(project.folder / "junit.xml").iter("testcase")
        if case.find("error") is not None
    ]
    assert len(errors) == COUNT
    assert all(remedy in "".join(error.itertext()) for error in errors)
    assert project.run_process("-v").stdout.str().count(remedy) >= COUNT


@pytest.mark.parametrize("workers", WORKERS)
def test_a_stopped_server_is_one_cause_for_all_its_models(project: Project, workers: tuple[str, ...]) -> None:
    models = [
        STOPPED.replace("NAME", f"m{number}").replace("URL", "http://127.0.0.1:9/v1") for number in range(3)
    ]
    project.write("evalstudio.toml", 'evaluators = ["text_matching"]\n' + "".join(models))
    cases(project, 9)
    result = project.run(*workers)
    result.assert_outcomes(errors=27)
    result.stdout.fnmatch_lines(
        ["27 cases of sums_suite.json and 3 models: *and 24 more; -v writes them out"]
    )
    assert result.stdout.str().count("_ ERROR at setup of ") == 1


def test_a_refused_key_is_one_cause_for_15_models_and_its_message_ends_once(project: Project) -> None:
    with serve() as service:
        service.default = Reply(status=401, text='{"error": {"message": "Incorrect API key provided."}}')
        models = [STOPPED.replace("NAME", f"m{number}").replace("URL", service.url) for number in range(15)]
        project.write("evalstudio.toml", 'evaluators = ["text_matching"]\n' + "".join(models))
        cases(project, 2)
        result = project.run()
    text = result.stdout.str()
    assert text.count("_ ERROR at setup of ") == 1
    assert "15 models" in text
    assert ".; " not in text
    assert len(result.outlines) < 40


def test_different_causes_stay_apart(project: Project) -> None:
    project.write("app.py", "def ask(prompt):\n    raise RuntimeError(f'no answer to {prompt}')\n")
    cases(project, 3)
    result = project.run()
    result.assert_outcomes(errors=3)
    assert result.stdout.str().count("_ ERROR at setup of ") == 3


STYLES = ("auto", "long", "short", "line", "native", "no")


@pytest.mark.parametrize("verbosity", ["", "-v", "-q"])
@pytest.mark.parametrize("style", STYLES)
def test_every_style_shows_failures_in_words(project: Project, style: str, verbosity: str) -> None:
    cases(project, 4)
    project.write("test_own.py", "def test_own():\n    assert 1 == 2\n")
    project.write("app.py", 'def ask(prompt):\n    return "I do not know."\n')
    result = project.run(*filter(None, (f"--tb={style}", verbosity)))
    result.assert_outcomes(failed=5)
    text = result.stdout.str()
    assert " object at 0x" not in text
    if style == "line":
        result.stdout.fnmatch_lines(
            ["*sums_suite.json:1: *unexpected refusal*", "*test_own.py:2: assert 1 == 2"]
        )
    if style not in ("line", "no"):
        result.stdout.fnmatch_lines(["question:  0[?]"])


NO_SUMMARY = pytest.param(
    "--no-summary",
    marks=pytest.mark.skipif(
        pytest.version_tuple < (9,), reason="pytest 8 then asks no plugin for a summary"
    ),
)


@pytest.mark.parametrize("option", ["-rA", "-rfE", "-rN", NO_SUMMARY, "-qq"])
def test_the_end_of_the_run_stands_with_every_option(project: Project, option: str) -> None:
    cases(project, 2)
    result = project.run(option)
    result.stdout.fnmatch_lines(["result: FAILED*"])
    assert " object at 0x" not in result.stdout.str()
