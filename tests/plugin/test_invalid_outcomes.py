"""Whatever an evaluator returns is an error of its case, through every door, and ends no session."""

from __future__ import annotations

import json

import pytest

from support.command import evalstudio
from support.project import Project
from support.workers import WORKERS

CONFTEST = r"""
import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.outcomes import Finding, Fragment, Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import ModelScore, evaluator


def fails():
    raise RuntimeError("half \ud83d")


def leaves():
    raise SystemExit(0)


OUTCOMES = {
    "raises": fails,
    "leaves": leaves,
    "none": lambda: None,
    "text": lambda: "0.5",
    "no scores": lambda: Outcome.score({}),
    "undecided": lambda: Outcome.score({"quality": None}),
    "scores list": lambda: Outcome.score([0.5]),
    "40": lambda: Outcome.score({"quality": 40}),
    "95": lambda: Outcome.score({"quality": np.float32(95)}),
    "inf": lambda: Outcome.score({"quality": math.inf}),
    "-5": lambda: Outcome.score({"quality": -5.0}),
    "nan": lambda: Outcome.score({"quality": np.float32("nan")}),
    "huge": lambda: Outcome.score({"quality": 10**400}),
    "word": lambda: Outcome.score({"quality": "high"}),
    "other metric": lambda: Outcome.score({"quality": 0.9, "speed": 1.0}),
    "status": lambda: Outcome(status="ok", scores={"quality": 0.9}),
    "code": lambda: Outcome.score({"quality": 0.9}, code=7),
    "path": lambda: Outcome.score({"quality": 0.9}, reason=Path("a")),
    "reason": lambda: Outcome.not_applicable(5),
    "error": lambda: Outcome.error(None),
    "details": lambda: Outcome.score({"quality": 0.9}, details={"files": [{"path": Path("a")}]}),
    "details list": lambda: Outcome.score({"quality": 0.9}, details=["a"]),
    "finding": lambda: Outcome.score({"quality": 0.9}, findings=("a leak",)),
    "findings": lambda: Outcome.score({"quality": 0.9}, findings="a leak"),
    "severity": lambda: Outcome.score({"quality": 0.9}, findings=(Finding(description="", severity="huge"),)),
    "fragment": lambda: Outcome.score({"quality": 0.9}, fragments=("a",)),
    "fragment place": lambda: Outcome.score({"quality": 0.9}, fragments=(Fragment(start=3, end=1),)),
    "sketch": lambda: Outcome.score({"quality": 0.9}, sketch=b"x"),
    "perfect": lambda: Outcome.score({"quality": 1.0}),
    "numpy": lambda: Outcome.score(
        {"quality": np.float64(1.0)},
        reason="half \ud83d",
        details={"count": np.int64(3), "share": np.float32(0.5), "row": np.array([1, 2])},
        fragments=(Fragment(start=np.int64(0), end=np.int64(1)),),
    ),
    "rounded": lambda: Outcome.score({"quality": 1.0000000002}),
    "broken": lambda: Outcome.score({"quality": 0.1}),
}


@evaluator("quality", name="Quality", domain="generation", needs=("actual_output",))
@dataclass(frozen=True)
class Quality:
    "Returns the outcome that the answer names."

    metrics: ClassVar[tuple[Metric, ...]] = (Metric("quality", primary=True),)

    def score(self, cases, tools):
        return [OUTCOMES.get(case.actual_output, OUTCOMES["perfect"])() for case in cases]


@evaluator("odd_figures", name="Odd figures", domain="generation", needs=("actual_output",))
@dataclass(frozen=True)
class OddFigures:
    "Returns figures and reasons of a wrong type."

    metrics: ClassVar[tuple[Metric, ...]] = (Metric("quality", primary=True),)

    def not_applicable(self, case):
        return {"numpy": 5, "rounded": None}.get(case.actual_output, "")

    def score(self, cases, tools):
        return [Outcome.score({"quality": 0.9}, sketch="x") for _ in cases]

    def aggregate(self, rows):
        list(rows)
        return {"quality": 95}


@evaluator("too_few", name="Too few", domain="generation", needs=("actual_output",))
@dataclass(frozen=True)
class TooFew:
    "Forgets a case."

    metrics: ClassVar[tuple[Metric, ...]] = (Metric("quality", primary=True),)

    def score(self, cases, tools):
        return [Outcome.score({"quality": 0.9})] * (len(cases) - 1)


def pytest_evalstudio_register(registry):
    for each in (Quality, OddFigures, TooFew):
        registry.add_evaluator(each)
"""
FINE = {"perfect": "passed", "numpy": "passed", "rounded": "passed", "broken": "failed"}
FACTS = {
    "raises": "evaluator quality failed: RuntimeError: half �",
    "leaves": "evaluator quality failed: SystemExit: 0",
    "none": "gave NoneType instead of an Outcome",
    "text": "gave str instead of an Outcome",
    "no scores": "gave no value for 'quality', its primary metric",
    "undecided": "gave no value for 'quality', its primary metric",
    "scores list": "gave scores that are list, not a mapping",
    "40": "gave quality = 40, which is outside its range, 0 to 1",
    "95": "gave quality = 95, which is outside its range, 0 to 1",
    "inf": "gave quality = inf, which is outside its range, 0 to 1",
    "-5": "gave quality = -5, which is outside its range, 0 to 1",
    "nan": "metric 'quality' is not a number",
    "huge": "gave quality = int, not a number of 64 bits",
    "word": "gave quality = str, not a number",
    "other metric": "gave a score for 'speed', which is not one of its metrics",
    "status": "gave the status 'ok'",
    "code": "gave a code that is 7, not an OutcomeCode",
    "path": "gave a reason that is PosixPath, not a text",
    "reason": "gave a reason that is 5, not a text",
    "error": "gave a reason that is None, not a text",
    "details": "JSON cannot hold: ['files'][0]['path']: expected JSON data, found PosixPath",
    "details list": "gave details that are list, not a mapping",
    "finding": "gave a finding that is str, not a Finding",
    "findings": "gave findings that are str, not a tuple",
    "severity": "gave a finding of severity 'huge'",
    "fragment": "gave a fragment that is str, not a Fragment",
    "fragment place": "gave a fragment from 3 to 1",
    "sketch": "gave a sketch that is bytes, not a text",
}
VERDICTS = {**dict.fromkeys(FACTS, "error"), **FINE}


@pytest.fixture
def odd(project: Project) -> Project:
    project.write("conftest.py", CONFTEST)
    project.write("evalstudio.toml", 'evaluators = ["quality"]\n')
    return project


def rows() -> list[dict[str, object]]:
    return [{"key": name, "input": "Q?", "actual_output": name} for name in VERDICTS]


@pytest.mark.parametrize("options", WORKERS)
def test_each_case_of_a_file_has_its_own_error(odd: Project, options: tuple[str, ...]) -> None:
    odd.lab(*rows())
    result = odd.run("-q", *options)
    assert "INTERNALERROR" not in result.stdout.str() + result.stderr.str()
    _, items = odd.record()
    assert {item["key"]: item["verdict"] for item in items.values()} == VERDICTS
    reasons = {item["key"]: item["reason"] for item in items.values()}
    for name, fact in FACTS.items():
        assert fact in reasons[name]
        assert "quality" in reasons[name]
    numpy = next(item for item in items.values() if item["key"] == "numpy")["rows"][0]["outcomes"]["quality"]
    assert numpy["details"] == {"count": 3, "share": 0.5, "row": [1, 2]}
    assert numpy["reason"] == "half �"


def test_repeats_and_conversations(odd: Project) -> None:
    turns = [{"prompt": "a", "actual_output": "perfect"}, {"prompt": "b", "actual_output": "40"}]
    repeats = [
        {"key": "r", "input": "Q?", "actual_output": name, "run": run}
        for run, name in ((1, "perfect"), (2, "40"))
    ]
    odd.lab({"key": "c", "turns": turns}, *repeats)
    odd.run("-q")
    assert [item["verdict"] for item in odd.record()[1].values()] == ["error", "error"]


def test_fixtures_and_their_neighbours(odd: Project) -> None:
    odd.write(
        "test_app.py",
        f"""
import pytest

@pytest.mark.parametrize("name", {list(VERDICTS)!r})
def test_one(name, eval_quality, eval_case):
    eval_quality.check(eval_case("Q?", name))

@pytest.mark.parametrize("name", {list(VERDICTS)!r})
def test_score(name, eval_quality, eval_case):
    assert eval_quality.score(eval_case("Q?", name)).status in ("score", "error")
""",
    )
    result = odd.run("-q")
    assert "INTERNALERROR" not in result.stdout.str()
    result.assert_outcomes(passed=len(VERDICTS) + 3, failed=len(FACTS) + 1)


def test_the_count_of_outcomes_and_model_wide_figures(odd: Project) -> None:
    odd.write("evalstudio.toml", 'evaluators = ["too_few", "odd_figures"]\n')
    odd.lab(*rows())
    result = odd.run("-q")
    assert "INTERNALERROR" not in result.stdout.str()
    _, items = odd.record()
    outcomes = {item["key"]: item["rows"][0]["outcomes"] for item in items.values()}
    assert {each["too_few"]["code"] for each in outcomes.values()} == {"outcome_invalid"}
    assert outcomes["numpy"]["odd_figures"]["code"] == "outcome_invalid"
    assert "status" not in outcomes["rounded"]["odd_figures"], "a score"
    page = (odd.folder / "evalstudio-report" / "interpretation.html").read_text(encoding="utf-8")
    assert "dict instead of a ModelScore" in page


def test_a_rescored_run_and_a_scored_table(odd: Project) -> None:
    odd.lab(*rows())
    odd.run("-q")
    rescore = odd.run("-q", "--evalstudio-from", "evalstudio-report", "--evalstudio-output", "again")
    assert "INTERNALERROR" not in rescore.stdout.str() + rescore.stderr.str()
    odd.write("table.jsonl", "\n".join(json.dumps(row) for row in rows()))
    scored = evalstudio("score", "table.jsonl", "-o", "scores", folder=odd.folder)
    assert "Traceback" not in scored.stdout + scored.stderr
