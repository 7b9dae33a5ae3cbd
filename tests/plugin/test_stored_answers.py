"""An application under test is asked in every run; stored answers only continue an interrupted run."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_evalstudio.cli import main
from support.openai_server import OpenAIServer, Reply, serve
from support.project import Project
from support.workers import WORKERS

pytestmark = pytest.mark.slow

COUNT = 6
APP = """
import os
from pathlib import Path

from pytest_evalstudio.asking import answers

answers.LEASE_S = 1.0  # the next run waits until the leases of a killed one expire


def ask(prompt):
    with open("asked.txt", "a") as file:
        file.write(prompt + "\\n")
    if Path("crash").exists() and len(Path("asked.txt").read_text().split()) == 4:
        os._exit(9)
    return Path("answer.txt").read_text()
"""
CONFIG = """
evaluators = ["text_matching"]

[[model]]
name = "app"
host = "python"
target = "app:ask"
concurrency = 1
cache = "resume"
"""
UNFINISHED = "evalstudio-report/.evalstudio-unfinished.json"


@pytest.fixture
def service() -> Iterator[OpenAIServer]:
    with serve() as running:
        running.default = Reply("It is 4.")
        yield running


@pytest.fixture
def app(project: Project) -> Project:
    """A project with a model that stores its answers to continue a run, and notes its questions."""
    project.write("app.py", APP)
    project.write("answer.txt", "4")
    project.write("evalstudio.toml", CONFIG)
    project.suite(*({"key": f"k{n}", "prompt": f"q{n}", "condition": '"4"'} for n in range(COUNT)))
    return project


def new_questions(project: Project) -> list[str]:
    path = project.folder / "asked.txt"
    questions = path.read_text().split() if path.exists() else []
    path.unlink(missing_ok=True)
    return questions


def crashed(project: Project, *arguments: str) -> list[str]:
    """Kill a run at its fourth question; return the questions that it asked."""
    project.write("crash", "")
    result = project.run_process(*arguments)
    (project.folder / "crash").unlink()
    assert result.ret == 9
    return new_questions(project)


def configured(project: Project, service: OpenAIServer, more: str = "") -> None:
    project.write(
        "evalstudio.toml",
        'evaluators = ["text_matching"]\n[[model]]\nname = "service"\nhost = "openai_compatible"\n'
        f'llm_model_name = "m"\nurl = "{service.url}"\n{more}\n',
    )
    project.suite(*({"key": f"k{n}", "prompt": f"q{n}", "condition": '"4"'} for n in range(COUNT)))


@pytest.mark.parametrize("workers", WORKERS)
def test_a_changed_service_is_seen_by_the_next_run(
    project: Project, service: OpenAIServer, workers: tuple[str, ...]
) -> None:
    configured(project, service)
    project.run(*workers).assert_outcomes(passed=COUNT)
    service.by_request = lambda body: Reply("No." if body["messages"][-1]["content"] < "q3" else "It is 4.")
    project.run(*workers, "--evalstudio-output", "new", "--evalstudio-baseline", "evalstudio-report")
    _, items = project.record("new")
    assert sorted(name for name, item in items.items() if item["verdict"] == "failed") == [
        "k0[service]",
        "k1[service]",
        "k2[service]",
    ]
    compared = json.loads((project.folder / "new" / "comparison.json").read_text())
    assert compared["items"]["regressed"] == 3
    service.by_request = lambda body: Reply(status=500)
    down = project.run(*workers, "--evalstudio-output", "down")
    down.assert_outcomes(errors=COUNT)
    assert not any("stored_at" in row["answer"] for item in items.values() for row in item["rows"])


def test_a_run_that_was_killed_is_continued(app: Project) -> None:
    first = crashed(app)
    assert len(first) == 4
    result = app.run_process("--junitxml", "junit.xml")
    result.assert_outcomes(passed=COUNT)
    result.stdout.re_match_lines(
        [
            r"evalstudio: continues the run of \d\d:\d\d: 3 of 6 answers stored",
            r"stored: 3 of 6 answers are stored answers of the interrupted run that this one continues"
            r" \(.* UTC\); the model was not asked again\.",
        ]
    )
    assert sorted(new_questions(app)) == ["q3", "q4", "q5"]
    header, items = app.record()
    assert re.match(r"\d{4}-\d\d-\d\dT", header["continues"])
    assert [bool(item["rows"][0]["answer"].get("stored_at")) for item in items.values()] == [True] * 3 + [
        False
    ] * 3
    sentence = "3 of 6 answers are stored answers of the interrupted run"
    for name in ("summary.md", "interpretation.html"):
        assert sentence in (app.folder / "evalstudio-report" / name).read_text()
    data = json.loads((app.folder / "evalstudio-report" / "interpretation.json").read_text())
    assert data["run"]["stored_answers"]["count"] == 3
    junit = ET.parse(app.folder / "junit.xml")
    suite = {each.get("name"): each.get("value") for each in junit.findall("./testsuite/properties/property")}
    assert (suite["evalstudio.stored_answers"] or "").startswith(sentence)
    cases = [
        {each.get("name") for each in case.iter("property")} for case in junit.findall("./testsuite/testcase")
    ]
    assert ["evalstudio.stored_at" in names for names in cases] == [True] * 3 + [False] * 3
    assert not (app.folder / UNFINISHED).exists()


@pytest.mark.slow
def test_workers_continue_a_run(app: Project) -> None:
    crashed(app)
    result = app.run("-n", "2")
    result.stdout.re_match_lines([r"evalstudio: continues the run of \d\d:\d\d: 3 of 6 answers stored"])
    assert sorted(new_questions(app)) == ["q3", "q4", "q5"]
    assert app.run("-n", "2").parseoutcomes()["passed"] == COUNT
    assert len(new_questions(app)) == COUNT


def test_a_run_that_ended_is_not_replayed(app: Project) -> None:
    app.run()
    new_questions(app)
    app.write("answer.txt", "5")
    result = app.run_with_cache()
    result.assert_outcomes(failed=COUNT)
    assert "stored" not in str(result.stdout)
    assert len(new_questions(app)) == COUNT
    app.run_with_cache("--lf", "-k", "k1").assert_outcomes(failed=1)
    assert new_questions(app) == ["q1"]
    app.run("-x").assert_outcomes(failed=1)
    assert not (app.folder / UNFINISHED).exists()


def test_a_run_that_was_interrupted_is_continued(app: Project) -> None:
    stop = "import pytest\n\n\ndef pytest_runtest_logfinish(nodeid):\n    pytest.exit('stop')\n"
    app.write("conftest.py", stop)
    assert app.run().ret == pytest.ExitCode.INTERRUPTED
    (app.folder / "conftest.py").unlink()
    first = new_questions(app)
    app.run("-k", "not k5").assert_outcomes(passed=COUNT - 1)
    assert new_questions(app) == [
        question for question in ("q0", "q1", "q2", "q3", "q4") if question not in first
    ]


def test_a_run_that_was_stopped_by_its_budget_is_continued(app: Project) -> None:
    app.write("evalstudio.toml", CONFIG + "budget = {calls = 4}\n")
    app.run()
    assert len(new_questions(app)) == 4
    result = app.run()
    result.stdout.re_match_lines([r"evalstudio: continues the run of .*: 4 of 6 answers stored"])
    assert new_questions(app) == ["q4", "q5"]
    app.run()
    assert len(new_questions(app)) == 4


@pytest.mark.parametrize("change", ["suite", "configuration", "age", "refresh", "another file"])
def test_a_run_with_other_inputs_is_not_continued(app: Project, change: str) -> None:
    crashed(app)
    arguments: tuple[str, ...] = ()
    if change == "suite":
        app.suite(*({"key": f"k{n}", "prompt": f"q{n}", "condition": '"4" '} for n in range(COUNT)))
    elif change == "configuration":
        app.write("evalstudio.toml", CONFIG.replace("concurrency = 1", "concurrency = 2"))
    elif change == "age":
        mark = json.loads((app.folder / UNFINISHED).read_text())
        app.write(UNFINISHED, json.dumps({**mark, "began": mark["began"] - 24 * 3600}))
    elif change == "refresh":
        arguments = ("--evalstudio-refresh",)
    else:
        app.suite({"key": "other", "prompt": "q9", "condition": '"4"'}, name="other_suite.json")
    result = app.run(*arguments)
    assert "continues" not in str(result.stdout)
    assert {f"q{n}" for n in range(COUNT)} <= set(new_questions(app))


def test_a_new_commit_is_asked_anew(app: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_SHA", "a" * 40)
    crashed(app)
    monkeypatch.setenv("GITHUB_SHA", "b" * 40)
    app.run()
    assert len(new_questions(app)) == COUNT


def test_answers_of_earlier_runs_are_replayed_where_that_is_asked_for(app: Project) -> None:
    app.run()
    new_questions(app)
    app.write("answer.txt", "5")
    result = app.run("--evalstudio-replay")
    result.assert_outcomes(passed=COUNT)
    result.stdout.re_match_lines([r"stored: 6 of 6 answers are stored answers of an earlier run \(.*"])
    assert new_questions(app) == []
    both = app.run("--evalstudio-replay", "--evalstudio-refresh")
    assert both.ret == pytest.ExitCode.USAGE_ERROR
    both.stderr.fnmatch_lines(["*--evalstudio-replay and --evalstudio-refresh contradict each other*"])


@pytest.mark.parametrize(
    ("mode", "second"),
    [('"never"', COUNT), ('"resume"', COUNT), ('"always"', 0), ("true", 0), ("false", COUNT)],
)
def test_the_model_says_how_its_stored_answers_are_used(app: Project, mode: str, second: int) -> None:
    app.write("evalstudio.toml", CONFIG.replace('"resume"', mode))
    app.run()
    assert len(new_questions(app)) == COUNT
    app.run()
    assert len(new_questions(app)) == second
    app.run("--evalstudio-refresh")
    assert len(new_questions(app)) == COUNT


def test_tests_in_python_ask_in_every_run_and_continue_an_interrupted_one(app: Project) -> None:
    (app.folder / "sums_suite.json").unlink()
    app.write(
        "test_app.py",
        "import pytest\n\n\n@pytest.mark.parametrize('n', range(6))\ndef test_it(eval_model, n):\n"
        "    assert eval_model('app').ask(f'q{n}').actual_output == '4'\n",
    )
    app.run().assert_outcomes(passed=COUNT)
    assert len(new_questions(app)) == COUNT
    crashed(app)
    app.run().assert_outcomes(passed=COUNT)
    assert sorted(new_questions(app)) == ["q3", "q4", "q5"]


def test_resolve_asks_anew_and_continues_after_a_kill(
    app: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(app.folder)
    command = ["resolve", "sums_suite.json", "-o", "lab.json"]
    assert main(command) == 0
    app.write("answer.txt", "5")
    assert main(command) == 0
    assert len(new_questions(app)) == 2 * COUNT
    assert main([*command, "--replay"]) == 0
    assert new_questions(app) == []
    app.write("crash", "")
    killed = app.run_command_process(*command)
    assert killed.ret == 9
    (app.folder / "crash").unlink()
    new_questions(app)
    capsys.readouterr()
    assert main(command) == 0
    assert re.match(r"continues the run of \d\d:\d\d: 3 answers stored", capsys.readouterr().out)
    assert sorted(new_questions(app)) == ["q3", "q4", "q5"]
    remnants = {path.name for path in Path().iterdir() if path.name.startswith(".lab")}
    assert not remnants


def test_a_run_without_stored_answers_announces_no_continuation(app: Project) -> None:
    app.write("evalstudio.toml", CONFIG.replace('"resume"', '"never"'))
    crashed(app)
    result = app.run()
    result.assert_outcomes(passed=COUNT)
    assert "continues" not in str(result.stdout)
