"""Entries of a record: what a run found, personal data masked, only what there is to say."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec
import pytest

from pytest_evalstudio.core.cases import Answer, Case, Relationship, Turn
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.flips import Flip, ShrinkCode, SmallestEdit
from pytest_evalstudio.core.outcomes import Finding, Fragment, Outcome
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.record.codec import encode_line, portable
from pytest_evalstudio.record.items import ItemHead
from pytest_evalstudio.record.schema import Item
from pytest_evalstudio.scoring.pipeline import Pipeline
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator, Plan
from pytest_evalstudio.scoring.recording import item_entry
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.scoring.run_header import evaluator_entry, model_entry
from pytest_evalstudio.scoring.tasks import EvalTask, ModelInfo
from pytest_evalstudio.scoring.verdicts import verdict
from support.toys import toy_registry

MODEL = ModelInfo(key="m", label="M")


def plan_of(**config: object) -> Plan:
    return Plan(toy_registry(), configuration({"evaluators": ["reading"], **config}))


PLAN = plan_of()
READING = PLAN.selected[0]


def entry_of(
    case: Case,
    *outcomes: Outcome,
    selected: ConfiguredEvaluator = READING,
    run_wide: ConfiguredEvaluator = READING,
    flips: tuple[Flip, ...] = (),
) -> Item:
    task = EvalTask(name=case.key, model=MODEL, case=case, answers=(case,) * max(1, len(outcomes)))
    result = Result(task, task.answers, [{selected: outcome} for outcome in outcomes] or [{}])
    if outcomes:
        result.verdicts[selected] = verdict(selected, list(outcomes))
    result.flips = list(flips)
    head = ItemHead(
        index=0,
        nodeid="n",
        verdict="passed",
        duration_s=0.1,
        file="f",
        key=case.key,
        model_key="m",
        test_key="",
        reason="",
    )
    return item_entry(head, result, {selected.id: run_wide})


def plain(item: Item) -> dict[str, Any]:
    """Return an item as it stands in the file."""
    return json.loads(encode_line(item))


def test_a_row_holds_the_case() -> None:
    case = Case(
        key="k",
        question="q",
        answer=Answer(
            text="a",
            context=("c",),
            context_sources=("d.md#1",),
            duration_s=0.5,
            cost_usd=0.1,
            usage={"n": 1},
            retries=3,
            error="boom",
        ),
        expected_output="e",
        condition='"x"',
        categories=("y",),
        relationships=(Relationship(type="t", target="o"),),
        corpus=("d.md",),
        run=2,
        is_rag=True,
    )
    assert plain(entry_of(case))["rows"][0] == {
        "run": 2,
        "input": "q",
        "corpus": ["d.md"],
        "categories": ["y"],
        "relationships": [{"type": "t", "target": "o"}],
        "expected_output": "e",
        "output_condition": '"x"',
        "is_rag": True,
        "answer": {
            "actual_output": "a",
            "context": ["c"],
            "context_sources": ["d.md#1"],
            "actual_duration": 0.5,
            "cost": 0.1,
            "usage": {"n": 1},
            "retries": 3,
            "error": "boom",
        },
    }


SSN = "219-09-9999"


def test_every_text_of_a_row_is_masked() -> None:
    case = Case(
        key="k",
        question=SSN,
        answer=Answer(text=SSN, context=(SSN,), error=SSN, context_sources=(f"{SSN}.md",)),
        expected_output=SSN,
        condition=f'"{SSN}"',
        conversation=(Turn(role="user", content=SSN),),
        expected_facts=(SSN,),
        guidelines=(SSN,),
        expected_documents=(f"{SSN}.md",),
        corpus=(f"{SSN}.md",),
    )
    outcome = Outcome.score(
        {"value": 0.5},
        reason=SSN,
        fragments=(Fragment(start=0, end=1, message=SSN),),
        findings=(Finding(description=SSN),),
        details={"a": [SSN, {"b": SSN}]},
    )
    assert SSN not in str(plain(entry_of(case, outcome)))


def test_an_outcome_is_written_with_what_it_has() -> None:
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
    outcomes = [
        plain(entry_of(case, outcome))["rows"][0]["outcomes"]["reading"]
        for outcome in (full, Outcome.not_applicable("no context", OutcomeCode.INPUT_MISSING))
    ]
    finding = {"description": "leak", "severity": "high"}
    assert outcomes == [
        {
            "reason": "why",
            "scores": {"value": 0.5},
            "fragments": [
                {"start": 1, "end": 2, "scores": {"value": 0.1}, "message": "here"},
                {"start": 0, "end": 1, "part": "context:0"},
            ],
            "findings": [finding],
        },
        {"status": "not_applicable", "code": "input_missing", "reason": "no context"},
    ]


def test_parts_of_an_answer_are_recorded_unless_the_configuration_leaves_them_out() -> None:
    case = Case(key="k", question="q", answer=Answer(text="One. Two."))
    outcome = Outcome.score({"value": 0.5}, fragments=(Fragment(start=0, end=4, scores={"value": 0.1}),))
    recorded = {}
    for is_wanted in (True, False):
        options = {"reading": {"sentence_level_metrics": is_wanted}}
        selected = plan_of(evaluator=options).selected[0]
        [row] = plain(entry_of(case, outcome, selected=selected))["rows"]
        recorded[is_wanted] = row["outcomes"]["reading"]

    assert recorded[True]["fragments"] == [{"start": 0, "end": 4, "scores": {"value": 0.1}}]
    assert recorded[False] == {"scores": {"value": 0.5}}


def test_a_verdict_shows_repeats_only_where_there_are_some() -> None:
    case = Case(key="k", question="q")
    high, low = Outcome.score({"value": 1.0}), Outcome.score({"value": 0.0}, reason="low")
    assert plain(entry_of(case, high))["verdicts"]["reading"] == {
        "passed": True,
        "scores": {"value": 1.0},
    }
    assert plain(entry_of(case, high, low))["verdicts"]["reading"] == {
        "passed": True,
        "scores": {"value": 0.5},
        "reason": "low",
        "min": {"value": 0.0},
        "pass_k": 0.0,
        "repeats": [True, False],
    }


def test_thresholds_of_a_case_are_written_where_they_differ_from_those_of_the_run() -> None:
    selection = PLAN.get("reading", {"threshold": 0.4, "thresholds": {"size": 3}})
    case, outcome = Case(key="k", question="q"), Outcome.score({"value": 1.0})
    assert entry_of(case, outcome, selected=selection).verdicts["reading"].thresholds == {
        "value": 0.4,
        "size": 3.0,
    }
    assert entry_of(case, outcome).verdicts["reading"].thresholds == {}


def test_a_flip_is_written_with_all_its_fields() -> None:
    fields = {
        "evaluator": "e",
        "metric": "m",
        "direction": "pass_to_fail",
        "source": "o",
        "source_score": 1.0,
        "score": 0.0,
        "threshold": 0.5,
        "perturbators": ("comma:LOW",),
        "meaning_kept": True,
        "fails": True,
        "turn": 2,
    }
    smallest = {
        "code": ShrinkCode.INTERRUPTED,
        "original": "Write to anna@example.com",
        "question": "Wrlte to anna@example.com",
        "edits": 1,
        "total_edits": 3,
        "calls": 7,
        "reason": "no mail to anna@example.com",
    }
    flips = (Flip(**fields), Flip(**fields, smallest=SmallestEdit(**smallest)))
    plain, shrunk = entry_of(Case(key="k", question="q"), flips=flips).flips
    assert msgspec.structs.asdict(plain) == {**fields, "smallest": None}
    assert msgspec.to_builtins(shrunk)["smallest"] == {
        key: value.replace("anna@example.com", "****@*******.***") if isinstance(value, str) else value
        for key, value in smallest.items()
    }


def test_documents_below_the_suite_are_named_relative_to_it() -> None:
    case = Case(
        key="a",
        question="a",
        answer=Answer(text="1", context_sources=("/suites/d.md#2",)),
        corpus=("/suites/d.md", "/elsewhere/e.md"),
        folder="/suites",
    )
    [row] = entry_of(case).rows
    assert (row.corpus, row.answer.context_sources) == (("d.md", "/elsewhere/e.md"), ("d.md#2",))


def test_an_item_of_two_repeats_has_two_rows_and_its_own_threshold() -> None:
    case = Case(key="a", question="q")
    answers = tuple(
        Case(key="a", question="q", answer=Answer(text=text), run=run)
        for run, text in ((1, "0.25"), (2, "1"))
    )
    task = EvalTask(
        name="a",
        model=MODEL,
        case=case,
        answers=answers,
        choice={"reading": {"threshold": 0.1}},
        xfail="known",
    )
    [result] = Pipeline(PLAN).evaluate([task])
    head = ItemHead(
        index=3,
        nodeid="n",
        verdict="passed",
        duration_s=0.1,
        file="f",
        key="a",
        model_key="m",
        xfail="known",
        test_key="",
        reason="",
    )
    entry = item_entry(head, result, {"reading": READING})
    assert [row.run for row in entry.rows] == [1, 2]
    assert entry.rows[0].outcomes["reading"].scores == {"value": 0.25, "size": 1.0, "free": 1.0}
    reading = entry.verdicts["reading"]
    assert (reading.passed, reading.scores["value"], reading.min["value"], reading.pass_k) == (
        True,
        0.625,
        0.25,
        1.0,
    )
    assert (reading.thresholds, entry.flips, entry.xfail) == ({"value": 0.1}, (), "known")


def test_an_evaluator_is_described_as_the_run_uses_it() -> None:
    selected = plan_of(evaluator={"reading": {"thresholds": {"size": 3}}}).selected[0]
    entry = evaluator_entry(selected)
    assert (entry.id, entry.name, entry.domain, entry.boolean, entry.scope) == (
        "reading",
        "Reading",
        "generation",
        False,
        "row",
    )
    value, size, _ = entry.metrics
    assert (value.primary, value.decides, value.better) == (True, True, "higher")
    assert (size.threshold, size.decides, size.better) == (3.0, True, "lower")


def test_a_model_keeps_further_keys_of_its_lab_apart() -> None:
    info = ModelInfo(key="m", label="M", description={"host": "lab", "model_cfg": {"a": 1}, "colour": "blue"})
    entry = model_entry(info)
    assert (entry.key, entry.name, entry.host, entry.model_cfg, entry.extra) == (
        "m",
        "M",
        "lab",
        {"a": 1},
        {"colour": "blue"},
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (math.nan, None),
        ({"a": [math.inf, (1.0, math.nan)]}, {"a": ["Infinity", [1.0, None]]}),
        ("x", "x"),
        (None, None),
    ],
)
def test_numbers_that_json_cannot_hold_are_words(value: object, expected: object) -> None:
    assert portable(value) == expected
