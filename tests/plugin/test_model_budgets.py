"""Budgets of models: the asking ends before one is passed, and what was not asked is not run."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from pytest_evalstudio.cli import main
from support.openai_server import OpenAIServer, Reply, serve
from support.project import Project

APP = """
from pathlib import Path


def ask(prompt):
    with Path("asked.txt").open("a") as file:
        file.write(prompt + chr(10))
    usage = {"input_tokens": 8, "output_tokens": 2}
    return {"answer": "It is 4.", "cost_usd": 0.01, "usage": usage}


def silent(prompt):
    return "It is 4."
"""


def configured(project: Project, budget: str, more: str = "", *, target: str = "app:ask") -> None:
    project.write("app.py", APP)
    project.write(
        "evalstudio.toml",
        f'evaluators = ["text_matching"]\n{more}\n[[model]]\nname = "app"\nhost = "python"\n'
        f'target = "{target}"\ncache = true\nbudget = {budget}\n',
    )


def cases(project: Project, count: int) -> None:
    project.suite(*({"key": f"k{n}", "prompt": f"question {n}", "condition": '"4"'} for n in range(count)))


def question_count(project: Project) -> int:
    file = project.folder / "asked.txt"
    return len(file.read_text().splitlines()) if file.exists() else 0


@pytest.mark.parametrize(
    ("budget", "count"),
    [("{calls = 3}", 3), ("{cost_usd = 0.055}", 5), ("{tokens = 47}", 4), ("{calls = 0}", 0)],
)
def test_asking_ends_before_the_budget_is_passed(project: Project, budget: str, count: int) -> None:
    configured(project, budget)
    cases(project, 8)
    result = project.run("-v", "-rs")
    result.assert_outcomes(passed=count, skipped=8 - count)
    assert question_count(project) == count
    result.stdout.fnmatch_lines(
        [
            "*SKIPPED*not run: model 'app' was not asked: *",
            f"not run: {8 - count} items of app, *; a partial run does not pass; -o *_partial=true *",
        ]
    )
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    page = (project.folder / "evalstudio-report/interpretation.html").read_text(encoding="utf-8")
    assert f"INCOMPLETE – {8 - count} of 8 tests not run" in page


def test_a_partial_run_passes_where_that_is_allowed(project: Project) -> None:
    configured(project, "{calls = 3}")
    cases(project, 8)
    result = project.run("-o", "evalstudio_allow_partial=true")
    result.assert_outcomes(passed=3, skipped=5)
    result.stdout.no_fnmatch_line("a partial run does not pass*")
    assert result.ret == 0


def test_items_that_are_not_run_have_a_code_and_no_verdict(project: Project) -> None:
    configured(project, "{calls = 1}")
    cases(project, 3)
    project.run()
    _, items = project.record()
    assert [(item["verdict"], item.get("code", "")) for item in items.values()] == [
        ("passed", ""),
        ("not_run", "not_run"),
        ("not_run", "not_run"),
    ]
    assert [item["verdicts"] for item in items.values()][1:] == [{}, {}]
    assert "budget.calls = 1" in items["k2[app]"]["reason"]
    report = project.folder / "evalstudio-report"
    assert "2 tests not run: the budget of a model is used up" in (report / "summary.md").read_text()
    data = json.loads((report / "interpretation.json").read_text())
    assert data["run"]["verdicts"]["not_run"] == 2
    assert data["evaluators"]["text_matching"]["leaderboard"]["standings"][0]["scored"] == 1


def test_stored_answers_cost_nothing_so_that_a_second_run_goes_on(project: Project) -> None:
    configured(project, "{calls = 3}")
    cases(project, 8)
    for passed in (3, 6, 8):
        project.run().assert_outcomes(passed=passed, skipped=8 - passed)
    assert question_count(project) == 8


def test_an_item_whose_repeats_were_not_all_asked_is_not_run(project: Project) -> None:
    configured(project, "{calls = 5}", "runs = 3")
    cases(project, 2)
    project.run().assert_outcomes(passed=1, skipped=1)
    _, items = project.record()
    assert [len(item["rows"]) for item in items.values()] == [3, 2]
    assert "outcomes" not in items["k1[app]"]["rows"][0]


@pytest.mark.slow
@pytest.mark.parametrize("budget", ["{calls = 7}", "{cost_usd = 0.075}", "{tokens = 75}"])
def test_workers_share_the_budget(project: Project, budget: str) -> None:
    configured(project, budget)
    cases(project, 12)
    project.run("-n", "2").assert_outcomes(passed=7, skipped=5)
    assert question_count(project) == 7


@pytest.mark.parametrize(
    ("budget", "reason"),
    [
        ("{cost_usd = 1.0}", "budget.cost_usd cannot be held, since the host does not say what a call costs"),
        ("{tokens = 100}", "budget.tokens cannot be held, since the host does not report tokens"),
    ],
)
def test_a_budget_that_cannot_be_held_ends_the_asking(project: Project, budget: str, reason: str) -> None:
    configured(project, budget, target="app:silent")
    cases(project, 3)
    result = project.run("-rs")
    result.assert_outcomes(passed=1, skipped=2)
    assert reason in str(result.stdout)


@pytest.mark.parametrize(
    ("budget", "fact"),
    [
        ("{}", "budget: give cost_usd, calls or tokens"),
        ("{calls = -1}", "budget.calls: "),
        ("{dollars = 1}", "budget: unknown key 'dollars'; known keys: cost_usd, calls, tokens"),
    ],
)
def test_a_wrong_budget_is_refused(project: Project, budget: str, fact: str) -> None:
    configured(project, budget)
    cases(project, 1)
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert fact in str(result.stderr)


@pytest.fixture
def service() -> Iterator[OpenAIServer]:
    with serve() as running:
        yield running


def configure(project: Project, service: OpenAIServer, more: str) -> None:
    project.write(
        "evalstudio.toml",
        'evaluators = ["text_matching"]\n[[model]]\nname = "paid"\nhost = "openai_compatible"\n'
        f'llm_model_name = "m"\nurl = "{service.url}"\nconcurrency = 1\n{more}\n',
    )


def test_retries_count_as_calls(project: Project, service: OpenAIServer) -> None:
    service.default = Reply(status=503, headers={"Retry-After": "0"})
    configure(project, service, "retries = 3\nbudget = {calls = 6}")
    cases(project, 3)
    project.run().assert_outcomes(errors=1, skipped=2)
    assert len(service.requests) == 6


def test_a_prompt_whose_price_alone_passes_the_budget_is_not_asked(
    project: Project, service: OpenAIServer
) -> None:
    configure(
        project,
        service,
        "input_usd_per_million = 1e6\noutput_usd_per_million = 0.0\nbudget = {cost_usd = 1.0}",
    )
    cases(project, 1)
    project.run().assert_outcomes(skipped=1)
    assert service.requests == []


def test_a_comparison_counts_items_that_are_not_run_apart(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    configured(project, "{calls = 9}")
    cases(project, 4)
    project.run("--evalstudio-output", "base").assert_outcomes(passed=4)
    configured(project, "{calls = 1}")
    project.run("--evalstudio-output", "new", "--evalstudio-refresh", "--evalstudio-baseline", "base")
    monkeypatch.chdir(project.folder)
    capsys.readouterr()
    assert main(["compare", "base", "new", "--json"]) == 0
    compared = json.loads(capsys.readouterr().out)
    assert compared["not_run"] == 3
    assert {name: count for name, count in compared["items"].items() if count} == {"still_passing": 1}
    assert any("3 items were not run" in note for note in compared["notes"])


def test_resolve_leaves_out_what_was_not_asked_and_asks_it_later(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    configured(project, "{calls = 2}")
    cases(project, 5)
    monkeypatch.chdir(project.folder)
    assert main(["resolve", "sums_suite.json", "-o", "lab.json"]) == 1
    assert "3 not asked: model 'app' was not asked: the budget of calls" in capsys.readouterr().out
    assert len(json.loads((project.folder / "lab.json").read_text())["dataset"]["inputs"]) == 2
    assert main(["resolve", "lab.json", "-o", "lab.json"]) == 1
    assert len(json.loads((project.folder / "lab.json").read_text())["dataset"]["inputs"]) == 4
    assert question_count(project) == 4


def test_a_python_test_whose_model_is_not_asked_is_skipped(project: Project) -> None:
    configured(project, "{calls = 1}")
    project.write(
        "test_app.py",
        "def test_both(eval_model):\n    eval_model('app').ask('one')\n    eval_model('app').ask('two')\n",
    )
    result = project.run("-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*not run: model 'app' was not asked: the budget of calls is used up*"])
