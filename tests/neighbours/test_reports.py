"""Reports of other plugins."""

from __future__ import annotations

import html
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from support.project import Project


@pytest.mark.neighbours("pytest_html")
@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_pytest_html_shows_scores_and_escapes_them(project: Project, workers: tuple[str, ...]) -> None:
    project.suite({"key": "<b>four", "prompt": "2+2?", "condition": '"4"'})

    project.run("--html=report.html", "--self-contained-html", *workers).assert_outcomes(passed=1)

    page = (project.folder / "report.html").read_text(encoding="utf-8")
    assert "evalstudio.text_matching.model_passes" in html.unescape(page)
    assert "<b>four" not in page


TWO_MODELS = """
evaluators = ["text_matching"]

[[model]]
name = "good"
host = "python"
target = "app:ask"

[[model]]
name = "bad"
host = "python"
target = "app:guess"
"""
APP = """
def ask(prompt):
    return "It is 4."


def guess(prompt):
    return "It is 5."
"""


@pytest.fixture
def two_models(project: Project) -> Project:
    project.write("app.py", APP)
    project.write("evalstudio.toml", TWO_MODELS)
    project.suite(*({"key": f"k{number}", "prompt": "2+2?", "condition": '"4"'} for number in range(3)))
    return project


@pytest.mark.neighbours("allure_pytest")
@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_allure_keeps_the_models_of_a_case_apart(two_models: Project, workers: tuple[str, ...]) -> None:
    two_models.run("--alluredir=allure", *workers).assert_outcomes(passed=3, failed=3)

    results = [
        json.loads(file.read_text("utf-8")) for file in (two_models.folder / "allure").glob("*-result.json")
    ]
    # Allure shows the last result of each history id, and counts it alone.
    statuses = {result["historyId"]: result["status"] for result in results}
    assert sorted(statuses.values()) == ["failed"] * 3 + ["passed"] * 3
    parameters = {each["value"] for result in results for each in result["parameters"]}
    assert parameters == {"'good'", "'bad'"}


@pytest.fixture(scope="module")
def allure(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Allure's command, from the registry of npm."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("npm is not installed: apt-get install npm")
    folder = tmp_path_factory.mktemp("npm")
    (folder / "package.json").write_text("{}", encoding="utf-8")
    options = ("--silent", "--no-audit", "--no-fund", "--fetch-retries=1", "--fetch-timeout=20000")
    installed = subprocess.run(
        ["npm", "install", *options, "allure@3"], cwd=folder, capture_output=True, text=True, timeout=300
    )
    if installed.returncode:
        pytest.skip(f"the registry of npm cannot be reached: {installed.stderr[-200:]}")
    return folder / "node_modules/.bin/allure"


@pytest.mark.neighbours("allure_pytest")
def test_the_page_of_allure_counts_all_items(two_models: Project, allure: Path) -> None:
    two_models.run("--alluredir=results").assert_outcomes(passed=3, failed=3)

    command = [str(allure), "generate", "results", "-o", "page"]
    subprocess.run(command, cwd=two_models.folder, check=True, capture_output=True, timeout=120)

    summary = json.loads((two_models.folder / "page/summary.json").read_text("utf-8"))
    assert summary["stats"] == {"total": 6, "passed": 3, "failed": 3}


@pytest.mark.neighbours("pytest_github_actions_annotate_failures")
def test_each_failure_has_one_annotation(two_models: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    two_models.write("app.py", APP.replace('return "It is 4."', 'raise RuntimeError("no connection")'))
    result = two_models.run()
    result.assert_outcomes(failed=3, errors=3)
    lines = [line for line in (*result.outlines, *result.errlines) if line.startswith("::error")]
    assert len(lines) == 6
    assert sum("no connection" in line for line in lines) == 3


@pytest.mark.neighbours("pytest_html")
def test_pytest_html_shows_question_and_answer_of_passing_items(two_models: Project) -> None:
    two_models.run("--html=report.html", "-m", "evalstudio").assert_outcomes(passed=3, failed=3)

    page = html.unescape((two_models.folder / "report.html").read_text(encoding="utf-8"))
    assert "evalstudio.question" in page
    assert page.count("It is 4.") >= 3


@pytest.mark.neighbours("teamcity")
def test_the_messages_that_pycharm_reads_have_location_and_difference(project: Project) -> None:
    project.suite(
        {"key": "right one", "prompt": "2+2?", "condition": '"4"'},
        {"key": "wrong", "prompt": "3+3?", "expected_output": "It is 7.", "condition": '"7"'},
    )

    result = project.run_process("--teamcity")

    result.assert_outcomes(passed=1, failed=1)
    messages = [line[line.index("##teamcity") :] for line in result.outlines if "##teamcity" in line]
    [failed] = [message for message in messages if message.startswith("##teamcity[testFailed")]
    assert "type='comparisonFailure'" in failed
    assert "actual='It is 6.'" in failed
    assert "expected='It is 7.'" in failed
    assert "message='sums_suite.json:0 (wrong|[app|])" in failed
    starts = [message for message in messages if message.startswith("##teamcity[testStarted")]
    # pytest-randomly is installed as well, and shuffles the two.
    assert sum("name='sums_suite_json.right_one(app)'" in message for message in starts) == 1
