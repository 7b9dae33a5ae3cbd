from __future__ import annotations

import pytest

from support.project import Project

SHOUTING = """
from dataclasses import dataclass
from pytest_evalstudio import Metric, Outcome, evaluator


@evaluator("shouting", name="Shouting", domain="manners", needs=("actual_output",))
@dataclass(frozen=True)
class Shouting:
    "Share of letters that are not capitals."

    metrics = (Metric("calm", primary=True, threshold=0.5),)
    least_letters: int = 1

    def score(self, cases, tools):
        return [self.one(case.actual_output) for case in cases]

    def one(self, text):
        letters = [char for char in text if char.isalpha()]
        if len(letters) < self.least_letters:
            return Outcome.not_applicable("no letters")
        return Outcome.score({"calm": sum(char.islower() for char in letters) / len(letters)})
"""


def test_a_conftest_adds_an_evaluator_a_host_and_a_report_section(project: Project) -> None:
    project.write("mine.py", SHOUTING)
    project.write(
        "conftest.py",
        """
from dataclasses import dataclass
from mine import Shouting
from pytest_evalstudio import Answer, host


@host("echo", name="Echo", kind="llm", caches=False)
@dataclass
class Echo:
    "Says what it hears."

    async def prepare(self, corpus): ...

    async def answer(self, prompt):
        return Answer(text=prompt.text)

    async def close(self): ...


def pytest_evalstudio_register(registry):
    registry.add_evaluator(Shouting)
    registry.add_host(Echo)


def pytest_evalstudio_report_sections(analysis):
    return [("Our own", f"<p>{len(analysis.leaderboards)} boards</p>")]
""",
    )
    project.write("evalstudio.toml", 'evaluators = ["shouting"]\n[[model]]\nname = "echo"\nhost = "echo"\n')
    project.suite(
        {"key": "calm", "prompt": "hello"},
        {"key": "loud", "prompt": "HELLO"},
        {"key": "digits", "prompt": "12"},
    )
    project.write(
        "test_it.py",
        "def test_calm(eval_shouting, eval_case):\n    eval_shouting.check(eval_case('q', 'hello'))\n",
    )

    result = project.run("-m", "manners or not evalstudio")

    result.assert_outcomes(passed=2, failed=1, skipped=1)
    page = (project.folder / "evalstudio-report" / "interpretation.html").read_text()
    assert "<p>1 boards</p>" in page
    assert ">Our own</h2>" in page


def test_a_section_that_fails_leaves_the_report_standing(project: Project) -> None:
    project.write(
        "conftest.py", "def pytest_evalstudio_report_sections(analysis):\n    return [('x', 1 / 0)]\n"
    )
    project.lab({"key": "q", "input": "q", "output_condition": '"4"', "actual_output": "4"})

    result = project.run("answers_lab.json")

    assert result.ret == pytest.ExitCode.OK
    assert (
        "ZeroDivisionError: division by zero"
        in (project.folder / "evalstudio-report" / "interpretation.html").read_text()
    )


def test_an_evaluator_with_the_name_of_another_is_a_usage_error(project: Project) -> None:
    project.write(
        "conftest.py",
        SHOUTING.replace('"shouting"', '"rouge"')
        + "\n\ndef pytest_evalstudio_register(registry):\n    registry.add_evaluator(Shouting)\n",
    )
    project.lab({"key": "q", "input": "q", "output_condition": '"4"', "actual_output": "4"})

    result = project.run("answers_lab.json")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: two evaluators are named 'rouge': *; rename one"])


def test_an_evaluator_that_breaks_is_an_error_of_its_case_that_names_the_line(project: Project) -> None:
    project.write(
        "conftest.py",
        SHOUTING.replace("letters = [", "text.index('h'); letters = [")
        + "\n\ndef pytest_evalstudio_register(registry):\n    registry.add_evaluator(Shouting)\n",
    )
    project.lab(*({"key": key, "input": "q", "actual_output": key} for key in ("hello", "world")))

    result = project.run("answers_lab.json", "--evalstudio-evaluators", "shouting")

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        ["error: shouting: evaluator shouting failed: ValueError: substring not found (*conftest.py:*)"]
    )


def test_a_package_adds_an_evaluator_by_an_entry_point(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("site/mine.py", SHOUTING)
    project.write("site/mine-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    project.write(
        "site/mine-1.0.dist-info/entry_points.txt",
        "[pytest_evalstudio.evaluators]\nshouting = mine:Shouting\nbroken = mine:Nothing\n",
    )
    monkeypatch.setenv("PYTHONPATH", str(project.folder / "site"), prepend=":")
    project.lab({"key": "q", "input": "q", "actual_output": "hello"})

    broken = project.run_process("answers_lab.json", "--evalstudio-evaluators", "shouting")
    project.write(
        "site/mine-1.0.dist-info/entry_points.txt",
        "[pytest_evalstudio.evaluators]\nshouting = mine:Shouting\n",
    )
    sound = project.run_process("answers_lab.json", "--evalstudio-evaluators", "shouting")

    assert broken.ret == pytest.ExitCode.USAGE_ERROR
    broken.stderr.fnmatch_lines(
        ["ERROR: evaluator 'broken' of an installed package does not load (mine:Nothing): AttributeError: *"]
    )
    sound.assert_outcomes(passed=1)
