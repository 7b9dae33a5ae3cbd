"""Plugins may change what pytest counts: the run says so and fails, and its outputs keep the verdict."""

from __future__ import annotations

import json

import pytest

from support.project import Project

WRAPPER = """
import pytest

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed:
        report.outcome = "passed"
        report.longrepr = None
    return report
"""
TRICKS = {
    "a report changed behind ours": WRAPPER,
    "a report changed before ours": WRAPPER.replace(", tryfirst=True", ""),
    "a report changed when it is logged": """
import pytest

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report):
    if report.failed:
        report.outcome = "passed"
        report.longrepr = None
""",
    "a report that is skipped": WRAPPER.replace('"passed"', '"skipped"').replace(
        "None", '(__file__, 1, "Skipped: later")'
    ),
    "an expected failure without a mark": WRAPPER.replace(
        'report.outcome = "passed"', 'report.outcome, report.wasxfail = "skipped", "known"'
    ),
    "a call whose exception is caught": """
import pytest

@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    try:
        return (yield)
    except Exception:
        return None
""",
}
SUITE = (
    {"key": "right", "prompt": "2+2?", "condition": '"4"'},
    {"key": "wrong", "prompt": "2+2?", "condition": '"5"'},
)


@pytest.mark.parametrize("trick", TRICKS)
@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["one process", "a worker"])
def test_a_failure_that_a_plugin_hides_fails_the_run(
    project: Project, trick: str, workers: tuple[str, ...]
) -> None:
    project.suite(*SUITE)
    project.write("conftest.py", TRICKS[trick])

    result = project.run("-o", "evalstudio_sarif=run.sarif", *workers)

    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "result: FAILED – 1 of 2 tests",
            "not failed for pytest, and failed when scored, changed by a plugin: conftest.py:*:"
            " sums_suite.json::wrong[[]app[]]",
        ]
    )
    assert "hypothesis" not in result.stdout.str(), "a hook that only looks on is not accused"
    _, items = project.record()
    assert {item["key"]: item["verdict"] for item in items.values()} == {"right": "passed", "wrong": "failed"}
    sarif = json.loads((project.folder / "run.sarif").read_text(encoding="utf-8"))
    assert len(sarif["runs"][0]["results"]) == 1
    summary = (project.folder / "evalstudio-report" / "summary.md").read_text(encoding="utf-8")
    assert "FAILED" in summary.splitlines()[0]
    assert "failed when scored" in summary


def test_a_regression_that_a_plugin_hides_is_a_regression(project: Project) -> None:
    project.suite({"key": "k", "prompt": "2+2?", "condition": '"4"'})
    project.run()
    assert project.run_command("baseline", "save").ret == 0
    project.write("app.py", "def ask(prompt):\n    return '5'\n")
    project.write("conftest.py", WRAPPER)

    result = project.run("--evalstudio-baseline", "evalstudio-baseline.jsonl")

    assert result.ret == 1
    result.stdout.fnmatch_lines(["result: FAILED*", "since run*: 1 of 1 case regressed"])


def test_checks_in_python_keep_their_verdict(project: Project) -> None:
    project.write("conftest.py", WRAPPER)
    project.write(
        "test_own.py",
        "def test_fee(eval_text_matching, eval_case):\n"
        "    eval_text_matching.check(eval_case('2+2?', 'It is 5.', condition='\"4\"'))\n",
    )
    result = project.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["result: FAILED – 1 of 1 test", "*failed when scored*test_own.py::test_fee"])


@pytest.mark.parametrize(
    ("conftest", "arguments", "outcomes"),
    [
        ("", (), {"passed": 1, "failed": 1}),
        (
            "import pytest\n\ndef pytest_collection_modifyitems(items):\n"
            "    items[1].add_marker(pytest.mark.xfail(reason='known'))\n",
            (),
            {"passed": 1, "xfailed": 1},
        ),
        (
            "import pytest\n\ndef pytest_runtest_setup(item):\n"
            "    if 'wrong' in item.name:\n        pytest.skip('not today')\n",
            (),
            {"passed": 1, "skipped": 1},
        ),
        (
            WRAPPER.replace('"passed"', "report.outcome").replace("        report.longrepr = None\n", ""),
            (),
            None,
        ),
    ],
    ids=["no plugin", "a mark of code", "a skip by code", "a wrapper that changes nothing"],
)
def test_plain_uses_of_pytest_accuse_nobody(
    project: Project, conftest: str, arguments: tuple[str, ...], outcomes: dict[str, int] | None
) -> None:
    project.suite(*SUITE)
    project.write("conftest.py", conftest)
    result = project.run(*arguments)
    result.assert_outcomes(**(outcomes or {"passed": 1, "failed": 1}))
    assert "when scored" not in result.stdout.str()
