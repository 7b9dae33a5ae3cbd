from __future__ import annotations

import json
import math

import pytest

from pytest_evalstudio.core.cases import Case, Relationship, Turn
from pytest_evalstudio.core.outcomes import Finding, Fragment, Outcome
from pytest_evalstudio.engine.scoring.entries import (
    flip_entries,
    line,
    overridden,
    portable,
    row_entry,
    verdict_entry,
)
from pytest_evalstudio.engine.scoring.plan import Plan
from pytest_evalstudio.engine.scoring.verdicts import Flip, verdict
from pytest_evalstudio.formats.config import configuration
from toys import toy_registry

PLAN = Plan(toy_registry(), configuration({"evaluators": []}))


def shout(text):
    return text.upper()


def test_a_row_holds_the_case_masked():
    case = Case(
        key="k",
        question="q",
        actual_output="a",
        expected_output="e",
        context=("c",),
        context_sources=("d.md#1",),
        condition='"x"',
        categories=("y",),
        relationships=(Relationship(type="t", target="o"),),
        corpus=("d.md",),
        run=2,
        duration_s=0.5,
        cost_usd=0.1,
        usage={"n": 1},
        retries=3,
        error="boom",
        is_rag=True,
    )
    assert row_entry(case, {}, shout) == {
        "run": 2,
        "input": "Q",
        "corpus": ["d.md"],
        "context": ["C"],
        "context_sources": ["d.md#1"],
        "categories": ["y"],
        "relationships": [{"type": "t", "target": "o", "target_type": "test_case"}],
        "expected_output": "E",
        "output_condition": '"X"',
        "actual_output": "A",
        "actual_duration": 0.5,
        "cost": 0.1,
        "usage": {"n": 1},
        "retries": 3,
        "error": "BOOM",
        "is_rag": True,
        "outcomes": {},
    }


def test_an_outcome_says_only_what_it_has():
    selected = PLAN.get("reading")
    full = Outcome.score(
        {"value": 0.5},
        reason="why",
        fragments=(
            Fragment(start=1, end=2, scores={"value": 0.1}, message="here"),
            Fragment(start=0, end=1, part="context:0"),
        ),
        findings=(Finding(description="leak", severity="high"),),
    )
    case = Case(key="k", question="q")
    entries = [
        row_entry(case, {selected: outcome}, shout)["outcomes"]["reading"]
        for outcome in (full, Outcome.not_applicable("no context"))
    ]
    assert entries == [
        {
            "status": "score",
            "reason": "WHY",
            "scores": {"value": 0.5},
            "fragments": [
                {"part": "answer", "start": 1, "end": 2, "scores": {"value": 0.1}, "message": "HERE"},
                {"part": "context:0", "start": 0, "end": 1},
            ],
            "findings": [
                {
                    "description": "LEAK",
                    "severity": "high",
                    "problem_type": "accuracy",
                    "avid": "P0200",
                    "actions": "",
                }
            ],
        },
        {"status": "not_applicable", "reason": "NO CONTEXT"},
    ]


def test_a_verdict_shows_repeats_only_where_there_are_some():
    selected = PLAN.get("reading")
    one, low = Outcome.score({"value": 1.0}), Outcome.score({"value": 0.0}, reason="low")
    assert verdict_entry(selected, verdict(selected, [one]), shout) == {
        "status": "score",
        "passed": True,
        "scores": {"value": 1.0},
        "missed": [],
    }
    assert verdict_entry(selected, verdict(selected, [one, low]), shout) == {
        "status": "score",
        "passed": True,
        "scores": {"value": 0.5},
        "missed": [],
        "reason": "LOW",
        "min": {"value": 0.0},
        "pass_k": 0.0,
    }


def test_thresholds_of_a_case_stand_where_they_are_not_the_runs():
    run_wide, own = PLAN.get("reading"), PLAN.get("reading", {"threshold": 0.5, "thresholds": {"size": 3}})
    assert overridden(own, run_wide) == {"size": 3.0}
    assert overridden(run_wide, run_wide) == {}
    assert overridden(own, None) == {}


def test_a_flip_is_written_with_all_its_fields():
    flip = Flip(
        evaluator="e",
        metric="m",
        direction="pass_to_fail",
        source="o",
        source_score=1.0,
        score=0.0,
        threshold=0.5,
        perturbators=("comma:LOW",),
        meaning_kept=True,
        fails=True,
    )
    [entry] = flip_entries([flip])
    assert json.loads(line(entry)) == {
        "evaluator": "e",
        "metric": "m",
        "direction": "pass_to_fail",
        "source": "o",
        "source_score": 1.0,
        "score": 0.0,
        "threshold": 0.5,
        "perturbators": ["comma:LOW"],
        "meaning_kept": True,
        "fails": True,
    }


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (math.nan, None),
        ({"a": [math.inf, (1.0, math.nan)]}, {"a": ["Infinity", [1.0, None]]}),
        ("x", "x"),
        (None, None),
    ],
)
def test_what_json_cannot_hold_is_written_in_words(value, written):
    assert portable(value) == written
    assert json.loads(line({"value": value})) == {"value": written}


def test_a_row_holds_what_few_cases_have_masked():
    case = Case(
        key="k",
        question="q",
        conversation=(Turn(role="user", content="a"),),
        expected_facts=("b",),
        guidelines=("c",),
        expected_documents=("d.md",),
    )
    entry = row_entry(case, {}, shout)
    assert entry["conversation"] == [{"role": "user", "content": "A"}]
    assert (entry["expected_facts"], entry["guidelines"], entry["expected_documents"]) == (
        ["B"],
        ["C"],
        ["d.md"],
    )
