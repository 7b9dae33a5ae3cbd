"""Methods, metrics, levels, rules and other parameters of the step."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.contrib.validation.steps.human_calibration.step import HumanCalibration
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.formats.labels import Label, read_labels
from pytest_evalstudio.formats.options import OptionError
from pytest_evalstudio.scoring.calibration.file import load_calibration
from pytest_evalstudio.text.figures import percent
from support.calibration_step import (
    STEP,
    bench,
    hash_of,
    label,
    labels_file,
    ran,
    to_the_end,
)
from support.labelled_answers import judged, write
from support.workbench import Bench, configured


@pytest.mark.parametrize("method", ["isotonic", "boosting", "ordinal", "multinomial"])
def test_methods(tmp_path: Path, method: str) -> None:
    workspace = bench(tmp_path)
    result = to_the_end(workspace, method=method)
    assert result.waits == ""
    assert load_calibration(workspace.of(STEP) / "calibration.json").method == method


def test_several_metrics_make_one_score(tmp_path: Path) -> None:
    workspace = bench(tmp_path)
    record_with_two(workspace)
    result = to_the_end(workspace, metric=["quality.quality", "quality.other"])
    assert result.waits == ""
    assert result.figures.threshold_of == "calibrated_probability"
    assert list(result.figures.thresholds) == ["quality.quality"], "each primary metric has its own as well"
    assert (workspace.of(STEP) / "calibration_curve.svg").is_file()


def record_with_two(workspace: Bench) -> None:
    path = workspace.of("automated_evaluation") / "record.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for number, item in enumerate(lines[1:]):
        item["rows"][0]["outcomes"]["quality"]["scores"]["other"] = number / 120
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def test_levels_have_figures_and_probabilities_of_their_own(tmp_path: Path) -> None:
    result = to_the_end(
        bench(tmp_path), lambda key, score: 1 + (score > 0.45) + (score > 0.6), method="multinomial", good=3
    )
    assert result.waits == ""
    assert result.figures.levels is not None
    assert result.figures.levels.accuracy > 0.8
    assert any(note.startswith("levels: accuracy ") for note in result.notes)


def test_levels_are_good_from_one_on(tmp_path: Path) -> None:
    result = to_the_end(bench(tmp_path), lambda key, score: 1 + int(4.99 * score), good=4)
    assert result.waits == ""
    assert result.figures.threshold == pytest.approx(0.6, abs=0.08)


def test_labels_may_lie_beside_the_workflow(tmp_path: Path) -> None:
    workspace = bench(tmp_path)
    ran(workspace)
    label(workspace, judged())
    labels_file(workspace).rename(tmp_path / "people.csv")
    assert ran(workspace, labels="people.csv").waits == "10 of 40 labels"
    step = HumanCalibration(labels="people.csv")
    assert step.reads(tmp_path / "artifacts", tmp_path) == [tmp_path / "people.csv"]
    assert HumanCalibration().reads(tmp_path / "artifacts", tmp_path) == [
        tmp_path / "artifacts" / "labels.csv"
    ]


def test_a_sheet_is_filled_in_and_kept_until_it_is_read(tmp_path: Path) -> None:
    workspace = bench(tmp_path)
    ran(workspace)
    sheet = tmp_path / "artifacts" / "to_label.csv"
    text = sheet.read_bytes()
    assert text.count(b"\r\n") == 11
    filled = text.replace(b'\r\n"","What', b'\r\n"1","What')
    sheet.write_bytes(filled)
    result = ran(workspace)
    assert sheet.read_bytes() == filled
    assert "to_label.csv holds 10 labels that have not been read" in result.summary
    labels_file(workspace).write_bytes(sheet.read_bytes())
    assert len(read_labels(labels_file(workspace))) == 10
    assert ran(workspace).waits == "10 of 40 labels"
    assert b'"1","What' not in sheet.read_bytes()


def test_labels_of_a_metric_that_says_only_whether_are_compared_with_its_verdicts(tmp_path: Path) -> None:
    workspace = bench(tmp_path, [0.5] * 50)
    assert ran(workspace).waits == "0 of 40 labels"
    cases = workspace.read(STEP, "sample.json")["cases"]
    while True:
        labels = [
            Label(key=case["key"], model_key="m-one", label=int(number % 8 > 0))
            for number, case in enumerate(cases)
        ]
        write(labels_file(workspace), labels)
        result = ran(workspace)
        if not result.waits:
            break
        cases = workspace.read(STEP, "sample.json")["cases"]
    assert "people share 35 of 40 verdicts (95 % interval " in result.summary
    assert (result.figures.labelled, result.figures.thresholds) == (40, {})
    (problem,) = result.problems
    assert problem.description.startswith("5 of 40 passing answers are bad by people's labels")
    assert (problem.severity, len(problem.attributes["test_case_keys"])) == ("high", 5)
    with pytest.raises(ConfigurationError, match=r"no metric 'qualty'\. Did you mean 'quality'"):
        ran(workspace, metric="qualty")


def test_labels_of_answers_that_are_not_drawn_are_counted(tmp_path: Path) -> None:
    workspace = bench(tmp_path)
    ran(workspace)
    sample_keys = {case["key"] for case in workspace.read(STEP, "sample.json")["cases"]}
    others = [f"k{number:03}" for number in range(120) if f"k{number:03}" not in sample_keys]
    write(
        labels_file(workspace),
        [Label(key=key, model_key="m-one", label=1) for key in (*others[:30], "nobody")],
    )
    result = ran(workspace)
    beyond = result.figures.not_counted["not_drawn"]
    assert int(result.waits.split()[0]) == 30 - beyond > 0, (
        "those of the half for the curve count, as they were not chosen by their labels"
    )
    assert f"{beyond} labels are of answers that are not drawn and do not count" in result.summary
    assert "1 label is of answers that are not in the evaluation" in result.summary


def test_an_evaluation_that_is_too_small_is_told_before_anybody_labels_it(tmp_path: Path) -> None:
    (note,) = ran(bench(tmp_path, [number / 20 for number in range(20)])).notes
    assert note.startswith("there are 20 answers with a score, fewer than sample_size = 40")
    assert ran(bench(tmp_path / "enough")).notes == ()


def test_a_threshold_that_people_contradict_is_not_passed_on(tmp_path: Path) -> None:
    result = to_the_end(bench(tmp_path), lambda key, score: int(hash_of(key) % 2))
    assert result.figures.refusals
    assert result.figures.thresholds == {}
    assert "later steps keep the evaluation's" in result.notes[0]


def test_labels_that_are_none(tmp_path: Path) -> None:
    workspace = bench(tmp_path)
    labels_file(workspace).write_text("key,model_key,label\nk001,m-one,yes\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"labels\.csv:2: label 'yes' is neither 1"):
        ran(workspace)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        pytest.param(
            {"sample_size": 10},
            "sample_size: .*greater than or equal to 20, found 10",
            id="a small sample",
        ),
        pytest.param(
            {"rounds": 21}, "rounds = 21: expected at most half of sample_size = 40", id="rounds of one"
        ),
        pytest.param({"alpha": 1}, "alpha: .*less than 1, found 1", id="alpha"),
        pytest.param(
            {"method": "platt"},
            "method: expected one of 'logistic', 'isotonic', .* found 'platt'",
            id="a method",
        ),
        pytest.param(
            {"metric": [3]}, r"metric: expected a string or a list of strings, found \[3\]", id="a metric"
        ),
        pytest.param({"metric": 3}, r"metric: expected a string or a list of strings, found 3", id="no name"),
        pytest.param(
            {"metric": ["a", "b"], "method": "isotonic"},
            "method = 'isotonic': takes one metric",
            id="several metrics",
        ),
        pytest.param({"labels": 1}, "labels: expected a string, found 1", id="a file"),
        pytest.param({"good": True}, "good: expected a whole number, found True", id="good"),
    ],
)
def test_parameters_that_make_no_sense(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        configured(HumanCalibration, parameters)


def test_all_primary_metrics_are_calibrated_by_the_same_labels(tmp_path: Path) -> None:
    workspace = bench(tmp_path)
    with_lengths(workspace)
    result = to_the_end(workspace, metric="quality.quality")
    quality, length = result.figures.by_metric
    assert [quality.metric, length.metric] == ["quality.quality", "length.words"]
    assert result.figures.thresholds.keys() == {"quality.quality", "length.words"}
    assert length.threshold == pytest.approx(100 * 0.6, abs=10)
    assert length.type_2_interval[0] <= length.type_2 <= length.type_2_interval[1]
    assert load_calibration(workspace.of(STEP) / "calibration_length.json").keys == ["length.words"]
    assert (workspace.of(STEP) / "calibration_curve_length.svg").is_file()
    content = workspace.read(STEP, "figures.json")
    assert [entry["metric"] for entry in content["by_metric"]] == ["quality.quality", "length.words"]
    use = result.figures.guardrail
    assert use.flagged >= max(entry.expected.flagged for entry in (quality, length)) - 1e-9, (
        "an answer fails if it misses one of the thresholds"
    )
    assert content["guardrail"]["misses_per_1000"] == use.misses_per_1000
    assert f"{percent(use.flagged)} flagged" in result.summary


def test_a_primary_metric_that_labels_do_not_support_keeps_its_threshold(tmp_path: Path) -> None:
    workspace = bench(tmp_path)
    with_lengths(workspace, lambda number, quality: float(number % 7))
    result = to_the_end(workspace, metric="quality.quality")
    length = result.figures.by_metric[1]
    assert (length.accepted, length.threshold) == (False, None)
    assert list(result.figures.thresholds) == ["quality.quality"]
    assert any(
        note.startswith("length.words: not calibrated, later steps keep the evaluation's threshold:")
        for note in result.notes
    )


def with_lengths(
    workspace: Bench, length: Callable[[int, float], float] = lambda number, quality: 100 * quality
) -> None:
    """Give the answers lengths by `length`, of number and quality."""
    path = workspace.of("automated_evaluation") / "record.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for number, item in enumerate(lines[1:]):
        outcomes = item["rows"][0]["outcomes"]
        outcomes["length"]["scores"]["words"] = length(number, outcomes["quality"]["scores"]["quality"])
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


@pytest.mark.parametrize(
    ("parameters", "rule"),
    [
        pytest.param({"max_type_ii": 0.3}, ("max_type_ii", 0.3), id="type II"),
        pytest.param({"max_type_i": 0.3}, ("max_type_i", 0.3), id="type I"),
        pytest.param({"cost": "1:3"}, ("cost", None), id="cost"),
        pytest.param({}, ("balanced", None), id="default"),
    ],
)
def test_the_threshold_follows_a_rule(
    tmp_path: Path, parameters: dict[str, Any], rule: tuple[str, float | None]
) -> None:
    result = to_the_end(bench(tmp_path), **parameters)
    decision = result.figures.decision
    assert (decision.rule, decision.limit) == rule
    assert result.figures.thresholds


def test_rules_exclude_each_other() -> None:
    with pytest.raises(OptionError, match="max_type_i and cost exclude each other; give one of them"):
        configured(HumanCalibration, {"max_type_i": 0.1, "cost": "1:2"})
