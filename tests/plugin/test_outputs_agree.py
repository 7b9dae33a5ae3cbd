"""Exit status, terminal, page, summary, JUnit and JSON say the same of every kind of run."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from support.project import Project

FOUR = {"key": "four", "prompt": "2+2?", "condition": '"4"'}
WRONG = {"key": "wrong", "prompt": "2+2?", "condition": '"5"'}
BOOM = {"key": "boom", "prompt": "boom", "condition": '"4"'}
SIX = {"key": "six", "prompt": "3+3?", "condition": '"6"'}
LEAK = "Card 4111 1111 1111 1111."
Run = Callable[[Project], pytest.RunResult]
RUNS: dict[str, tuple[int, str, Run]] = {}
"""By name: expected exit status, first words of the headline, and the run."""


def a_run(ret: int, headline: str) -> Callable[[Run], Run]:
    def add(run: Run) -> Run:
        RUNS[run.__name__] = ret, headline, run
        return run

    return add


@a_run(0, "PASSED – 2 of 2 tests")
def all_pass(project: Project) -> pytest.RunResult:
    project.suite(FOUR, SIX)
    return project.run("sums_suite.json", *OUTPUTS)


@a_run(1, "FAILED – 1 of 2 tests")
def one_fails(project: Project) -> pytest.RunResult:
    project.suite(FOUR, WRONG)
    return project.run("sums_suite.json", *OUTPUTS)


@a_run(1, "ERROR – 1 error")
def one_error(project: Project) -> pytest.RunResult:
    project.suite(FOUR, BOOM)
    return project.run("sums_suite.json", *OUTPUTS)


@a_run(1, "FAILED – 1 gate not met")
def a_gate_is_missed(project: Project) -> pytest.RunResult:
    project.suite(FOUR, {**WRONG, "xfail": "cannot count"})
    return project.run("sums_suite.json", *OUTPUTS, "--evalstudio-gate", "pass_rate(text_matching) >= 1")


@a_run(0, "PASSED – 1 of 2 tests, 1 expected failure")
def an_expected_failure(project: Project) -> pytest.RunResult:
    project.suite(FOUR, {**WRONG, "xfail": "cannot count"})
    return project.run("sums_suite.json", *OUTPUTS)


@a_run(0, "PASSED – 1 of 2 tests, 1 passed unexpectedly")
def an_unexpected_pass(project: Project) -> pytest.RunResult:
    project.suite(FOUR, {**SIX, "xfail": "cannot count"})
    return project.run("sums_suite.json", *OUTPUTS)


@a_run(1, "FAILED – 1 of 2 tests")
def an_unexpected_pass_that_is_strict(project: Project) -> pytest.RunResult:
    project.suite(FOUR, {**SIX, "xfail": "cannot count"})
    return project.run("sums_suite.json", *OUTPUTS, "-o", "xfail_strict=true")


@a_run(0, "PASSED – 1 of 2 tests, 1 expected failure")
def a_known_failure(project: Project) -> pytest.RunResult:
    project.suite(FOUR, WRONG)
    return _with_known_failures(project)


@a_run(0, "PASSED – 1 of 2 tests, 1 passed unexpectedly")
def a_known_failure_that_is_mended(project: Project) -> pytest.RunResult:
    project.suite(FOUR, {**SIX, "key": "mended", "prompt": "5+1?"})
    project.run("sums_suite.json", "--evalstudio-output", "base")
    app = (project.folder / "app.py").read_text()
    project.write("app.py", app.replace('"3+3?"', '"5+1?"') + "# changed, also in size\n")
    base = "--evalstudio-baseline=base/record.jsonl"
    return project.run_process("sums_suite.json", *OUTPUTS, base, "-o", "evalstudio_known_failures=xfail")


def _with_known_failures(project: Project) -> pytest.RunResult:
    project.run("sums_suite.json", "--evalstudio-output", "base")
    base = "--evalstudio-baseline=base/record.jsonl"
    return project.run("sums_suite.json", *OUTPUTS, base, "-o", "evalstudio_known_failures=xfail")


@a_run(1, "FAILED – 1 test not by an evaluator")
def a_check_that_does_not_apply(project: Project) -> pytest.RunResult:
    return _python(
        project, 'def test_a(eval_rouge, eval_case):\n    eval_rouge.check(eval_case("Q?", "A"))\n'
    )


@a_run(1, "FAILED – 1 test not by an evaluator")
def an_assertion_beside_a_passing_check(project: Project) -> pytest.RunResult:
    text = "    eval_pii_leakage.check(eval_case('Q?', 'A'))\n    assert not 'this'\n"
    return _python(project, f"def test_a(eval_pii_leakage, eval_case):\n{text}")


@a_run(1, "FAILED – 1 test not by an evaluator")
def another_test_fails(project: Project) -> pytest.RunResult:
    project.suite(FOUR, SIX)
    project.write("test_other.py", "def test_other():\n    assert not 'this'\n")
    return project.run("sums_suite.json", "test_other.py", *OUTPUTS)


@a_run(1, "FAILED – 1 test not by an evaluator")
def a_fixture_fails_after_a_passing_case(project: Project) -> pytest.RunResult:
    project.suite(FOUR, SIX)
    project.write(
        "conftest.py",
        "def pytest_runtest_teardown(item):\n    if 'six' in item.name:\n        raise OSError('full')\n",
    )
    return project.run("sums_suite.json", *OUTPUTS)


@a_run(1, "FAILED – 1 of 2 checks in 1 test")
def a_subtest_fails(project: Project) -> pytest.RunResult:
    pytest.importorskip("pytest", minversion="9.0")
    return _python(
        project,
        f"""
def test_a(subtests, eval_pii_leakage, eval_case):
    with subtests.test("one"):
        eval_pii_leakage.check(eval_case("Q?", {LEAK!r}))
    with subtests.test("two"):
        eval_pii_leakage.check(eval_case("Q?", "Fine."))
""",
    )


@a_run(1, "FAILED – 1 of 1 test")
def a_subtest_of_unittest_fails(project: Project) -> pytest.RunResult:
    pytest.importorskip("pytest", minversion="9.0")
    return _python(
        project,
        f"""
import unittest
import pytest

class TestA(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def provide(self, eval_pii_leakage, eval_case):
        self.evaluator, self.case = eval_pii_leakage, eval_case

    def test_a(self):
        with self.subTest("one"):
            self.evaluator.check(self.case("Q?", {LEAK!r}))
""",
    )


def _python(project: Project, text: str) -> pytest.RunResult:
    project.write("test_python.py", text)
    return project.run("test_python.py", *OUTPUTS)


def _broken_off(project: Project, statement: str) -> pytest.RunResult:
    project.suite(*({**FOUR, "key": f"k{index}"} for index in range(5)))
    project.write(
        "conftest.py",
        "import pytest\n\n"
        f"def pytest_runtest_setup(item):\n    if item.name.startswith('k2'):\n        {statement}\n",
    )
    return project.run_process("sums_suite.json", *OUTPUTS)


@a_run(3, "INCOMPLETE – interrupted after 2 of 5 tests")
def a_plugin_breaks_the_session_off(project: Project) -> pytest.RunResult:
    project.suite(*({**FOUR, "key": f"k{index}"} for index in range(5)))
    project.write(
        "conftest.py",
        "def pytest_runtest_logstart(nodeid):\n    if '::k2' in nodeid:\n        raise OSError('a fault')\n",
    )
    return project.run_process("sums_suite.json", *OUTPUTS)


@a_run(0, "INCOMPLETE – interrupted after ")
def a_session_that_ends_early_with_status_0(project: Project) -> pytest.RunResult:
    return _broken_off(project, "pytest.exit('enough', returncode=0)")


@a_run(2, "INCOMPLETE – interrupted after ")
def a_session_that_is_interrupted(project: Project) -> pytest.RunResult:
    return _broken_off(project, "raise KeyboardInterrupt")


@a_run(1, "FAILED – 1 of 1 test")
def a_session_that_stops_at_a_failure(project: Project) -> pytest.RunResult:
    project.suite(WRONG, FOUR, SIX)
    return project.run("sums_suite.json", *OUTPUTS, "-x")


@a_run(1, "INCOMPLETE – 1 test case not collected")
def a_case_is_malformed(project: Project) -> pytest.RunResult:
    project.suite(FOUR, {"key": "odd", "prompt": "2+2?", "condition": "(("})
    return project.run("sums_suite.json", *OUTPUTS)


@a_run(0, "INCOMPLETE – nothing checked in 1 test, 1 unchecked")
def nothing_is_checked(project: Project) -> pytest.RunResult:
    project.suite({"key": "open", "prompt": "2+2?", "expected_tool_calls": []})
    return project.run("sums_suite.json", *OUTPUTS, "--evalstudio-evaluators=pii_leakage")


@a_run(1, "FAILED – 1 of 1 test")
def a_failing_case_of_a_worker(project: Project) -> pytest.RunResult:
    project.suite(WRONG)
    return project.run("sums_suite.json", *OUTPUTS, "-n", "2")


OUTPUTS = ("--junitxml=junit.xml", "-o", "evalstudio_github=no")


@pytest.mark.parametrize("name", RUNS)
def test_all_outputs_say_what_pytest_says(project: Project, name: str) -> None:
    ret, headline, run = RUNS[name]

    result = run(project)

    assert result.ret == ret
    lines = headlines(project.folder, result)
    assert len(set(lines.values())) == 1, lines
    [line] = set(lines.values())
    assert line.startswith(headline)
    word = line.partition(" ")[0]
    assert not (result.ret != 0 and word == "PASSED")
    assert not (result.ret == 0 and word in ("FAILED", "ERROR"))


def headlines(folder: Path, result: pytest.RunResult) -> Mapping[str, str]:
    """Return the headline of each output; pytest has no end of a session with an internal error."""
    report = folder / "evalstudio-report"
    data = json.loads((report / "interpretation.json").read_text())
    page = (report / "interpretation.html").read_text()
    match = re.search(r'<p class="headline"><span aria-hidden="true">.</span> (.*?)</p>', page)
    assert match is not None
    summary = (report / "summary.md").read_text().splitlines()[0]
    suites = ElementTree.parse(folder / "junit.xml").getroot()
    properties = {each.get("name"): each.get("value") for each in suites.iter("property")}
    terminal = [line for line in result.outlines if line.startswith("result: ")]
    shown_at_end = {"terminal": terminal[-1].removeprefix("result: ")} if terminal else {}
    assert terminal or result.ret == pytest.ExitCode.INTERNAL_ERROR
    return {
        **shown_at_end,
        "summary": re.sub(r"^# \S+ ", "", summary).replace("\\", ""),
        "page": match.group(1),
        "JSON": data["run"]["headline"],
        "JUnit": properties["evalstudio.result"] or "",
    }


def test_a_plugin_that_fails_the_session_at_its_end_lets_no_line_say_passed(project: Project) -> None:
    project.suite(FOUR)
    project.write(
        "conftest.py",
        "import pytest\n\n@pytest.hookimpl(trylast=True)\n"
        "def pytest_sessionfinish(session):\n    session.exitstatus = 1\n",
    )

    result = project.run("sums_suite.json")

    assert result.ret == 1
    assert "result: INCOMPLETE – pytest ended with exit status 1" in result.outlines


def test_a_run_that_another_plugin_fails_before_its_end_is_incomplete(project: Project) -> None:
    project.suite(FOUR)
    project.write(
        "conftest.py",
        "import pytest\n\n@pytest.hookimpl(wrapper=True)\ndef pytest_runtestloop(session):\n"
        "    ended = yield\n    session.testsfailed += 1\n    return ended\n",
    )

    result = project.run("sums_suite.json", *OUTPUTS)

    assert result.ret == 1
    assert set(headlines(project.folder, result).values()) == {"INCOMPLETE – pytest ended with exit status 1"}
