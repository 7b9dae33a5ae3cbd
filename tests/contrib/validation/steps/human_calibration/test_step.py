"""Calibration as a step: what is asked, what is waited for, what comes of the labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from pytest_evalstudio import evaluate
from pytest_evalstudio.scoring.calibration.file import load_calibration
from support.calibration_step import (
    STEP,
    bench,
    hash_bit,
    label,
    labels_file,
    ran,
    to_the_end,
)
from support.labelled_answers import drawn_scores, judged, record_of
from support.workbench import Bench


def test_it_waits_round_by_round_and_completes(tmp_path: Path) -> None:
    workspace = bench(tmp_path)
    result = ran(workspace)
    assert result.waits == "0 of 40 labels"
    assert "`evalstudio review`" in result.summary
    assert label(workspace, judged(), most=7) == 7
    assert ran(workspace).waits == "7 of 40 labels"
    assert len(workspace.read(STEP, "sample.json")["cases"]) == 10
    label(workspace, judged())
    assert ran(workspace).waits == "10 of 40 labels"
    assert len(workspace.read(STEP, "sample.json")["cases"]) == 20
    result = to_the_end(workspace)
    assert result.waits == ""
    assert result.summary.startswith(
        "40 of 40 answers labelled for quality.quality (the primary metric of Quality, the first evaluator"
        " whose"
    )
    cutoff = result.figures.thresholds["quality.quality"]
    assert cutoff == result.figures.threshold == pytest.approx(0.6, abs=0.07)
    assert result.figures.tested == 20
    assert set(workspace.files(STEP)) == {
        "sample.json",
        "calibration.json",
        "figures.json",
        "calibration_curve.svg",
        "to_review.json",
    }


def test_the_sample_says_what_people_need_to_see(tmp_path: Path) -> None:
    workspace = bench(tmp_path)
    ran(workspace)
    case = workspace.read(STEP, "sample.json")["cases"][0]
    number = int(case["key"][1:])
    assert case | {"number": 1, "round": 1, "label": None, "labels": {}, "good": None} == case
    assert (case["question"], case["answer"], case["expected_answer"]) == (
        f"What does service {number} cost?",
        f"It costs £{number}.",
        f"£{number}.00",
    )
    assert case["context"] == [{"source": "fees.md", "text": f"Service {number} costs £{number}."}]
    assert case["topic"] == str(number % 4)
    assert case["verdict"] is (case["scores"]["quality.quality"] >= 0.5)


def test_the_calibration_can_be_used_in_a_run(tmp_path: Path) -> None:
    workspace = Bench(tmp_path, {"text.txt": "Fees."})
    rows = []
    for number in range(90):
        words = ["fee", "thirty", "pounds", "paid", "yearly"][: 1 + number % 5]
        invented = [f"w{at}" for at in range(number % 7)]
        rows.append(
            {
                "key": f"k{number:02}",
                "input": "?",
                "actual_output": " ".join([*words, *invented]),
                "context": ["fee thirty pounds paid yearly"],
            }
        )
    lab = {"name": "Lab", "dataset": {"inputs": [{**row, "model_key": "m"} for row in rows]}}
    lab["models"] = [{"key": "m", "name": "m", "llm_model_name": "m", "model_type": "h2ogpte"}]
    results = evaluate(lab_of(lab, tmp_path), ["lexical_groundedness"])
    results.write_record(workspace.of("automated_evaluation"))
    result = to_the_end(workspace, judged(0.5))
    assert result.figures.metrics == ("lexical_groundedness.supported_words",)
    assert load_calibration(workspace.of(STEP) / "calibration.json").keys == [
        "lexical_groundedness.supported_words"
    ]
    config = {
        "evaluator": {"lexical_groundedness": {"calibration": str(workspace.of(STEP) / "calibration.json")}}
    }
    second_evaluation = evaluate(lab_of(lab, tmp_path), ["lexical_groundedness"], config=config)
    second_evaluation.write_record(workspace.of("automated_evaluation"))
    second_result = ran(workspace)
    assert second_result.figures.thresholds == result.figures.thresholds, (
        "what is calibrated stays the metric, not its probability"
    )


def lab_of(lab: dict[str, Any], folder: Path) -> Any:
    from pytest_evalstudio import TestLab

    path = folder / "made_lab.json"
    path.write_text(json.dumps(lab), encoding="utf-8")
    return TestLab.load(path)


def test_labels_of_answers_that_have_changed_are_asked_again(tmp_path: Path) -> None:
    workspace = bench(tmp_path)
    ran(workspace)
    label(workspace, judged())
    record_of(workspace.of("automated_evaluation"), drawn_scores(), text="It is £{}.")
    result = ran(workspace)
    assert result.waits == "0 of 40 labels"
    assert "10 labels are of answers that have changed since" in result.summary


def test_a_greater_sample_keeps_what_is_labelled(tmp_path: Path) -> None:
    workspace = bench(tmp_path)
    to_the_end(workspace)
    before = {case["key"] for case in workspace.read(STEP, "sample.json")["cases"]}
    assert ran(workspace, sample_size=60).waits == "40 of 60 labels"
    assert before <= {case["key"] for case in workspace.read(STEP, "sample.json")["cases"]}


@pytest.mark.parametrize("kind", [0, 1])
def test_labels_of_one_kind_wait_for_others(tmp_path: Path, kind: int) -> None:
    workspace = bench(tmp_path)
    result = to_the_end(workspace, lambda key, score: kind)
    assert result.waits.startswith("40 of 40 labels, but of the 20 answers that the curve is fitted to, ")
    assert "at least 5 of each kind are needed; label more answers; raise sample_size" in result.waits
    assert "the labels that there are stay" in result.waits
    assert set(workspace.files(STEP)) == {"sample.json"}


def test_too_few_for_alpha(tmp_path: Path) -> None:
    result = to_the_end(bench(tmp_path), alpha=0.01)
    assert "only 20 labelled answers were drawn at random; alpha = 0.01 needs 99" in result.waits


def test_all_answers_are_labelled_and_still_too_few(tmp_path: Path) -> None:
    result = to_the_end(bench(tmp_path, drawn_scores(30)), lambda key, score: 1)
    assert result.waits.startswith("30 of 30 labels")
    assert "more test cases are needed" in result.waits


def test_where_all_answers_are_labelled_cross_fitting_needs_no_halves(tmp_path: Path) -> None:
    scores = [number / 40 for number in range(40)]
    workspace = bench(tmp_path, scores)
    to_the_end(workspace)
    parts = {case["key"]: case["part"] for case in workspace.read(STEP, "sample.json")["cases"]}
    of_curve = sorted(key for key, part in parts.items() if part == "curve")
    at_random = sorted(key for key, part in parts.items() if part != "curve")
    bad = {*of_curve[:4], *at_random[:8]}
    assert len(parts) == 40
    labels_file(workspace).unlink()
    result = to_the_end(workspace, lambda key, score: int(key.removeprefix("al") not in bad))
    assert result.waits == ""
    assert (result.figures.n, result.figures.good, result.figures.folds) == (40, 28, 5)


def test_the_missing_number_is_stated_with_a_remedy(tmp_path: Path) -> None:
    scores = [number / 40 for number in range(40)]
    result = to_the_end(bench(tmp_path, scores), lambda key, score: int(score >= 0.15))
    assert "6 bad" in result.waits
    assert "4 bad answers are missing; all answers are labelled; more test cases are needed" in result.waits


def test_people_who_contradict_the_metric(tmp_path: Path) -> None:
    workspace = bench(tmp_path)
    result = to_the_end(workspace, lambda key, score: 1 - judged()(key, score))
    assert result.waits == ""
    assert "the calibration is refused: people call answers with better scores bad" in result.summary
    assert result.notes[0].startswith("refused: quality.quality (higher is better): the labels go against")
    assert result.figures.thresholds == {}
    assert "calibration.json" not in workspace.files(STEP)


def test_several_raters(tmp_path: Path) -> None:
    workspace = bench(tmp_path)
    step_result = to_the_end(workspace, raters=("al", "bo"))
    result = step_result.figures.agreement
    assert result.raters == {"al": 40, "bo": 40}
    assert 0.2 < result.krippendorff_alpha < 1
    assert "raters' alpha" in step_result.summary
    divided = step_result.figures.divided
    assert 0 < len(divided) == round((1 - result.percent) * 40)
    assert f"raters are divided on {len(divided)}" in step_result.summary
    assert step_result.figures.n == 40 - len(divided)
    review_keys = [
        case["key"]
        for case in workspace.read(STEP, "to_review.json")["cases"]
        if "divided" in case["reasons"]
    ]
    assert sorted(divided) == review_keys
    sample = {case["key"]: case for case in workspace.read(STEP, "sample.json")["cases"]}
    assert all(
        sample[key]["good"] is None and set(sample[key]["labels"].values()) == {0, 1} for key in divided
    )


def test_what_is_to_be_reviewed(tmp_path: Path) -> None:
    workspace = bench(tmp_path)
    result = to_the_end(workspace)
    sample = {case["key"]: case for case in workspace.read(STEP, "sample.json")["cases"]}
    cases = workspace.read(STEP, "to_review.json")["cases"]
    against = [key for key, case in sample.items() if case["good"] != case["verdict"]]
    assert sorted(against) == [case["key"] for case in cases if "disagreement" in case["reasons"]]
    assert against, "0.5 is the run's threshold, people's is 0.6"
    assert list(result.figures.accepted) == [
        key for key in sample if sample[key]["good"] and not sample[key]["verdict"]
    ]
    uncertain = [case for case in cases if "uncertain" in case["reasons"]]
    assert all(len(case["conformal_set"]) != 1 and case["key"] not in sample for case in uncertain)
    assert result.figures.to_review == {
        "uncertain": len(uncertain),
        "disagreement": len(against),
        "divided": 0,
    }


def test_problems_are_of_the_model_and_of_its_measure(tmp_path: Path) -> None:
    workspace = bench(tmp_path)
    bad, *others = to_the_end(workspace).problems
    assert (bad.attributes["kind"], bad.attributes["step"], bad.problem_type, others) == (
        "bad_answers",
        STEP,
        "accuracy",
        [],
    )
    at_random = [case for case in workspace.read(STEP, "sample.json")["cases"] if case["part"] == "conformal"]
    worse = [case["key"] for case in at_random if not case["good"]]
    assert sorted(bad.attributes["test_case_keys"]) == sorted(worse)
    assert bad.description.startswith(f"People call {len(worse)} of 20 answers bad that were drawn at random")
    blind = bench(tmp_path / "other")
    kinds = {
        problem.attributes["kind"]
        for problem in to_the_end(blind, lambda key, score: hash_bit(key), ("al", "bo", "cy")).problems
    }
    assert kinds == {"bad_answers", "weak_evaluator", "raters_disagree"}


def test_the_picture_shows_each_label(tmp_path: Path) -> None:
    workspace = bench(tmp_path)
    to_the_end(workspace)
    root = ElementTree.fromstring((workspace.of(STEP) / "calibration_curve.svg").read_text(encoding="utf-8"))
    name = "{http://www.w3.org/2000/svg}"
    assert root.findtext(f"{name}title") == "Calibration of quality.quality by 40 labels"
    assert sum(circle.find(f"{name}title") is not None for circle in root.iter(f"{name}circle")) == 40


def test_two_runs_write_the_same_bytes(tmp_path: Path) -> None:
    workspaces = [bench(tmp_path / name) for name in ("one", "other")]
    for each in workspaces:
        to_the_end(each)
    assert workspaces[0].files(STEP) == workspaces[1].files(STEP)
