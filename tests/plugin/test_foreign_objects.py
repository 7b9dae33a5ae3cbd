"""Objects of a user's code cannot end a session: hosts, perturbators, options of pytest."""

from __future__ import annotations

import pytest

from support.project import Project

CONFTEST = r"""
import json
from dataclasses import dataclass
from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.core.plugins.host import host
from pytest_evalstudio.core.plugins.perturbator import Change, perturbator


class Unprintable(Exception):
    def __str__(self):
        raise ValueError("no message")


def fails():
    raise Unprintable


ANSWERS = {
    "null": lambda: Answer(text=None),
    "usage": lambda: Answer(text="4", usage={1: 2}),
    "chunks": lambda: Answer(text="4", context="abc"),
    "calls": lambda: Answer(text="4", tool_calls=[{"name": "f"}]),
    "state": lambda: Answer(text="4", state={}),
    "turns": lambda: Answer(text="4", turns=[5]),
    "number": lambda: Answer(text="4", cost_usd=10**400),
    "nothing": lambda: None,
    "unprintable": fails,
    "not asked": lambda: Answer(text="5", not_asked=True),
    "fine": lambda: Answer(text="4"),
}
CHANGES = {
    "null": lambda: None,
    "text": lambda: Change(None),
    "half": lambda: Change("fine \ud83d"),
    "fails": fails,
}


@host("odd", name="Odd", kind="llm", caches=False)
@dataclass(kw_only=True)
class Odd:
    "Returns values of a wrong type."

    async def prepare(self, corpus): ...

    async def answer(self, prompt):
        return ANSWERS.get(prompt.text, ANSWERS["fine"])()

    async def close(self):
        raise Unprintable


@perturbator("odd_change", name="Odd change", intensities=())
@dataclass(frozen=True)
class OddChange:
    "Returns values of a wrong type."

    def perturb(self, text, intensity, seed):
        return CHANGES.get(text, CHANGES["null"])()


def pytest_evalstudio_register(registry):
    registry.add_host(Odd)
    registry.add_perturbator(OddChange)
"""
NAMES = ("null", "usage", "chunks", "calls", "state", "turns", "number", "nothing", "unprintable")


@pytest.fixture
def odd(project: Project) -> Project:
    project.write("conftest.py", CONFTEST)
    project.write(
        "evalstudio.toml", 'evaluators = ["text_matching"]\n[[model]]\nname = "app"\nhost = "odd"\n'
    )
    return project


def test_a_host_that_returns_values_of_a_wrong_type_is_an_error_of_its_cases(odd: Project) -> None:
    names = (*NAMES, "not asked", "fine")
    odd.suite(*({"key": name, "prompt": name, "condition": '"4"'} for name in names))
    result = odd.run()
    result.assert_outcomes(passed=1, failed=1, errors=len(NAMES), warnings=1)
    result.stdout.fnmatch_lines(
        ["error: model 'app': host 'odd' gave an Answer with a wrong field: text: expected a string,*None"]
    )
    result.stdout.fnmatch_lines(["*host 'odd' did not close: Unprintable: its message cannot be read*"])


def test_a_perturbator_that_returns_no_change_is_said(odd: Project) -> None:
    odd.suite(
        *({"key": name, "prompt": name, "condition": '"4"'} for name in ("null", "text", "half", "fails"))
    )
    result = odd.run("--evalstudio-perturb", "odd_change")
    assert "INTERNALERROR" not in result.stdout.str()
    assert "it returned NoneType instead of a Change with a text" in result.stdout.str()
    assert "the perturbator failed: Unprintable: its message cannot be read" in result.stdout.str()


@pytest.mark.parametrize("plugin", ["terminal", "setuponly", "capture", "skipping", "python"])
def test_record_and_report_are_written_without_a_plugin_of_pytest(project: Project, plugin: str) -> None:
    project.suite(
        {"key": "four", "prompt": "2+2?", "condition": '"4"'},
        {"key": "five", "prompt": "2+2?", "condition": '"5"'},
    )
    result = project.run("-p", f"no:{plugin}")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "INTERNALERROR" not in result.stdout.str() + result.stderr.str()
    assert [item["verdict"] for item in project.record()[1].values()] == ["passed", "failed"]
    assert (project.folder / "evalstudio-report" / "interpretation.html").exists()
