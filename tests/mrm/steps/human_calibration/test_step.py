"""Calibration as a step: what is asked, what is waited for, what comes of the labels."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from pytest_evalstudio import evaluate
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.plugins.step import StepResult
from pytest_evalstudio.formats.calibration import load_calibration
from pytest_evalstudio.formats.labels import Label, read_labels
from pytest_evalstudio.formats.options import OptionError
from pytest_evalstudio.mrm.steps.human_calibration.step import HumanCalibration
from support.labelled_answers import drawn_scores, judged, record_of, write
from support.workbench import Bench, configured

STEP = "human_calibration"
Judge = Callable[[str, float], int]


def bench(folder: Path, scores: list[float] | None = None, **options: Any) -> Bench:
    made = Bench(folder, {"text.txt": "Fees."})
    record_of(made.of("automated_evaluation"), drawn_scores() if scores is None else scores, **options)
    return made


def ran(made: Bench, **parameters: Any) -> StepResult:
    for path in made.of(STEP).glob("*"):
        path.unlink()
    return HumanCalibration(**parameters).run(made.work(STEP, "automated_evaluation"))


def labels_file(made: Bench) -> Path:
    return made.folder / "artifacts" / "labels.csv"


def label(made: Bench, judge: Judge, *, raters: tuple[str, ...] = ("al",), most: int = 1000) -> int:
    """Give labels to all that is asked, beside those that were given before."""
    cases = made.read(STEP, "sample.json")["cases"][:most]
    given = [
        Label(
            key=case["key"],
            model_key=case["model_key"],
            label=judge(rater + case["key"], score),
            rater=rater,
            answer_id=case["answer_id"],
        )
        for case in cases
        for score in list(case["scores"].values())[:1]
        for rater in raters
    ]
    write(labels_file(made), given)
    return len(cases)


def to_the_end(
    made: Bench, judge: Judge | None = None, raters: tuple[str, ...] = ("al",), **parameters: Any
) -> StepResult:
    done = ran(made, **parameters)
    asked = 0
    while done.waits and asked < (asked := label(made, judge or judged(), raters=raters)):
        done = ran(made, **parameters)
    return done


def test_it_waits_round_by_round_and_completes(tmp_path: Path) -> None:
    made = bench(tmp_path)
    done = ran(made)
    assert done.waits == "0 of 40 labels"
    assert "`evalstudio review`" in done.summary
    assert label(made, judged(), most=7) == 7
    assert ran(made).waits == "7 of 40 labels"
    assert len(made.read(STEP, "sample.json")["cases"]) == 10
    label(made, judged())
    assert ran(made).waits == "10 of 40 labels"
    assert len(made.read(STEP, "sample.json")["cases"]) == 20
    done = to_the_end(made)
    assert done.waits == ""
    assert done.summary.startswith(
        "40 of 40 answers labelled for quality.quality (the primary metric of Quality, the first evaluator"
        " whose"
    )
    cut = done.figures.thresholds["quality.quality"]
    assert cut == done.figures.threshold == pytest.approx(0.6, abs=0.07)
    assert done.figures.tested == 20
    assert set(made.files(STEP)) == {
        "sample.json",
        "calibration.json",
        "figures.json",
        "calibration_curve.svg",
        "to_review.json",
    }


def test_the_sample_says_what_people_need_to_see(tmp_path: Path) -> None:
    made = bench(tmp_path)
    ran(made)
    case = made.read(STEP, "sample.json")["cases"][0]
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
    made = Bench(tmp_path, {"text.txt": "Fees."})
    rows = []
    for number in range(90):
        said = ["fee", "thirty", "pounds", "paid", "yearly"][: 1 + number % 5]
        invented = [f"w{at}" for at in range(number % 7)]
        rows.append(
            {
                "key": f"k{number:02}",
                "input": "?",
                "actual_output": " ".join([*said, *invented]),
                "context": ["fee thirty pounds paid yearly"],
            }
        )
    lab = {"name": "Lab", "dataset": {"inputs": [{**row, "model_key": "m"} for row in rows]}}
    lab["models"] = [{"key": "m", "name": "m", "llm_model_name": "m", "model_type": "h2ogpte"}]
    results = evaluate(lab_of(lab, tmp_path), ["lexical_groundedness"])
    results.write_record(made.of("automated_evaluation"))
    done = to_the_end(made, judged(0.5))
    assert done.figures.metrics == ("lexical_groundedness.supported_words",)
    assert load_calibration(made.of(STEP) / "calibration.json").keys == [
        "lexical_groundedness.supported_words"
    ]
    config = {"evaluator": {"lexical_groundedness": {"calibration": str(made.of(STEP) / "calibration.json")}}}
    again = evaluate(lab_of(lab, tmp_path), ["lexical_groundedness"], config=config)
    again.write_record(made.of("automated_evaluation"))
    kept = ran(made)
    assert kept.figures.thresholds == done.figures.thresholds, (
        "what is calibrated stays the metric, not its probability"
    )


def lab_of(lab: dict[str, Any], folder: Path) -> Any:
    from pytest_evalstudio import TestLab

    path = folder / "made_lab.json"
    path.write_text(json.dumps(lab), encoding="utf-8")
    return TestLab.load(path)


def test_labels_of_answers_that_have_changed_are_asked_again(tmp_path: Path) -> None:
    made = bench(tmp_path)
    ran(made)
    label(made, judged())
    record_of(made.of("automated_evaluation"), drawn_scores(), text="It is £{}.")
    done = ran(made)
    assert done.waits == "0 of 40 labels"
    assert "10 labels are of answers that have changed since" in done.summary


def test_a_greater_sample_keeps_what_is_labelled(tmp_path: Path) -> None:
    made = bench(tmp_path)
    to_the_end(made)
    before = {case["key"] for case in made.read(STEP, "sample.json")["cases"]}
    assert ran(made, sample_size=60).waits == "40 of 60 labels"
    assert before <= {case["key"] for case in made.read(STEP, "sample.json")["cases"]}


@pytest.mark.parametrize("kind", [0, 1])
def test_labels_of_one_kind_wait_for_others(tmp_path: Path, kind: int) -> None:
    made = bench(tmp_path)
    done = to_the_end(made, lambda key, score: kind)
    assert done.waits.startswith("40 of 40 labels, but of the 20 answers that the curve is fitted to, ")
    assert "it takes 5 of each kind; raise sample_size; the labels that there are stay" in done.waits
    assert set(made.files(STEP)) == {"sample.json"}


def test_too_few_for_alpha(tmp_path: Path) -> None:
    done = to_the_end(bench(tmp_path), alpha=0.01)
    assert "20 labelled answers drawn at random are too few: alpha = 0.01 takes 99" in done.waits


def test_all_answers_are_labelled_and_still_too_few(tmp_path: Path) -> None:
    done = to_the_end(bench(tmp_path, drawn_scores(30)), lambda key, score: 1)
    assert done.waits.startswith("30 of 30 labels")
    assert "more test cases are needed" in done.waits


def test_people_who_contradict_the_metric(tmp_path: Path) -> None:
    made = bench(tmp_path)
    done = to_the_end(made, lambda key, score: 1 - judged()(key, score))
    assert done.waits == ""
    assert "the calibration is refused (against_direction" in done.summary
    assert done.notes[0].startswith("refused: quality.quality (higher is better): the labels go against")
    assert done.figures.thresholds == {}
    assert "calibration.json" not in made.files(STEP)


def test_several_raters(tmp_path: Path) -> None:
    made = bench(tmp_path)
    done = to_the_end(made, raters=("al", "bo"))
    found = done.figures.agreement
    assert found.raters == {"al": 40, "bo": 40}
    assert 0.2 < found.krippendorff_alpha < 1
    assert "raters' alpha" in done.summary
    divided = done.figures.divided
    assert 0 < len(divided) == round((1 - found.percent) * 40)
    assert f"raters are divided on {len(divided)}" in done.summary
    assert done.figures.n == 40 - len(divided)
    listed = [
        case["key"] for case in made.read(STEP, "to_review.json")["cases"] if "divided" in case["reasons"]
    ]
    assert sorted(divided) == listed
    sample = {case["key"]: case for case in made.read(STEP, "sample.json")["cases"]}
    assert all(
        sample[key]["good"] is None and set(sample[key]["labels"].values()) == {0, 1} for key in divided
    )


def test_what_is_to_be_reviewed(tmp_path: Path) -> None:
    made = bench(tmp_path)
    done = to_the_end(made)
    sample = {case["key"]: case for case in made.read(STEP, "sample.json")["cases"]}
    cases = made.read(STEP, "to_review.json")["cases"]
    against = [key for key, case in sample.items() if case["good"] != case["verdict"]]
    assert sorted(against) == [case["key"] for case in cases if "disagreement" in case["reasons"]]
    assert against, "0.5 is the run's threshold, people's is 0.6"
    assert list(done.figures.accepted) == [
        key for key in sample if sample[key]["good"] and not sample[key]["verdict"]
    ]
    uncertain = [case for case in cases if "uncertain" in case["reasons"]]
    assert all(len(case["conformal_set"]) != 1 and case["key"] not in sample for case in uncertain)
    assert done.figures.to_review == {
        "uncertain": len(uncertain),
        "disagreement": len(against),
        "divided": 0,
    }


def test_problems_are_of_the_model_and_of_its_measure(tmp_path: Path) -> None:
    made = bench(tmp_path)
    bad, *others = to_the_end(made).problems
    assert (bad.attributes["kind"], bad.attributes["step"], bad.problem_type, others) == (
        "bad_answers",
        STEP,
        "accuracy",
        [],
    )
    at_random = [case for case in made.read(STEP, "sample.json")["cases"] if case["part"] == "conformal"]
    worse = [case["key"] for case in at_random if not case["good"]]
    assert sorted(bad.attributes["test_case_keys"]) == sorted(worse)
    assert bad.description.startswith(f"People call {len(worse)} of 20 answers bad that were drawn at random")
    blind = bench(tmp_path / "other")
    kinds = {
        problem.attributes["kind"]
        for problem in to_the_end(blind, lambda key, score: hash_bit(key), ("al", "bo", "cy")).problems
    }
    assert kinds == {"bad_answers", "weak_evaluator", "raters_disagree"}


def hash_bit(key: str) -> int:
    return int(judged(0.5, doubt=1)(key, 0.5))


def test_the_picture_shows_each_label(tmp_path: Path) -> None:
    made = bench(tmp_path)
    to_the_end(made)
    root = ElementTree.fromstring((made.of(STEP) / "calibration_curve.svg").read_text(encoding="utf-8"))
    name = "{http://www.w3.org/2000/svg}"
    assert root.findtext(f"{name}title") == "Calibration of quality.quality by 40 labels"
    assert sum(circle.find(f"{name}title") is not None for circle in root.iter(f"{name}circle")) == 40


def test_two_runs_write_the_same_bytes(tmp_path: Path) -> None:
    made = [bench(tmp_path / name) for name in ("one", "other")]
    for each in made:
        to_the_end(each)
    assert made[0].files(STEP) == made[1].files(STEP)


@pytest.mark.parametrize("method", ["isotonic", "boosting", "ordinal"])
def test_methods(tmp_path: Path, method: str) -> None:
    made = bench(tmp_path)
    done = to_the_end(made, method=method)
    assert done.waits == ""
    assert load_calibration(made.of(STEP) / "calibration.json").method == method


def test_several_metrics_make_one_score(tmp_path: Path) -> None:
    made = bench(tmp_path)
    record_with_two(made)
    done = to_the_end(made, metric=["quality.quality", "quality.other"])
    assert done.waits == ""
    assert done.figures.threshold_of == "calibrated_probability"
    assert list(done.figures.thresholds) == ["quality.quality"], "each primary metric has its own as well"
    assert (made.of(STEP) / "calibration_curve.svg").is_file()


def record_with_two(made: Bench) -> None:
    path = made.of("automated_evaluation") / "record.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for number, item in enumerate(lines[1:]):
        item["rows"][0]["outcomes"]["quality"]["scores"]["other"] = number / 120
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def test_levels_are_good_from_one_on(tmp_path: Path) -> None:
    done = to_the_end(bench(tmp_path), lambda key, score: 1 + int(4.99 * score), good=4)
    assert done.waits == ""
    assert done.figures.threshold == pytest.approx(0.6, abs=0.08)


def test_labels_may_lie_beside_the_workflow(tmp_path: Path) -> None:
    made = bench(tmp_path)
    ran(made)
    label(made, judged())
    labels_file(made).rename(tmp_path / "people.csv")
    assert ran(made, labels="people.csv").waits == "10 of 40 labels"
    step = HumanCalibration(labels="people.csv")
    assert step.reads(tmp_path / "artifacts", tmp_path) == [tmp_path / "people.csv"]
    assert HumanCalibration().reads(tmp_path / "artifacts", tmp_path) == [
        tmp_path / "artifacts" / "labels.csv"
    ]


def test_a_sheet_is_filled_in_and_kept_until_it_is_read(tmp_path: Path) -> None:
    made = bench(tmp_path)
    ran(made)
    sheet = tmp_path / "artifacts" / "to_label.csv"
    text = sheet.read_bytes()
    assert text.count(b"\r\n") == 11
    filled = text.replace(b'\r\n"","What', b'\r\n"1","What')
    sheet.write_bytes(filled)
    done = ran(made)
    assert sheet.read_bytes() == filled
    assert "to_label.csv holds 10 labels that have not been read" in done.summary
    labels_file(made).write_bytes(sheet.read_bytes())
    assert len(read_labels(labels_file(made))) == 10
    assert ran(made).waits == "10 of 40 labels"
    assert b'"1","What' not in sheet.read_bytes()


def test_a_metric_that_says_only_whether_is_none_to_calibrate(tmp_path: Path) -> None:
    made = bench(tmp_path, [0.5] * 50)
    done = ran(made)
    assert done.summary.startswith(
        "nothing is calibrated: no evaluator of the automated evaluation has scores that vary"
    )
    assert done.waits == ""
    with pytest.raises(ConfigurationError, match=r"no metric 'qualty'\. Did you mean 'quality'"):
        ran(made, metric="qualty")


def test_labels_of_answers_that_are_not_drawn_are_counted(tmp_path: Path) -> None:
    made = bench(tmp_path)
    ran(made)
    drawn = {case["key"] for case in made.read(STEP, "sample.json")["cases"]}
    others = [f"k{number:03}" for number in range(120) if f"k{number:03}" not in drawn]
    write(labels_file(made), [Label(key=key, model_key="m-one", label=1) for key in (*others[:30], "nobody")])
    done = ran(made)
    beyond = done.figures.not_counted["not_drawn"]
    assert int(done.waits.split()[0]) == 30 - beyond > 0, (
        "those of the half for the curve count, as they were not chosen by their labels"
    )
    assert f"{beyond} labels are of answers that are not drawn and do not count" in done.summary
    assert "1 labels are of answers that are not in the evaluation" in done.summary


def test_an_evaluation_that_is_too_small_is_told_before_anybody_labels_it(tmp_path: Path) -> None:
    (note,) = ran(bench(tmp_path, [number / 20 for number in range(20)])).notes
    assert note.startswith("there are 20 answers with a score, fewer than sample_size = 40")
    assert ran(bench(tmp_path / "enough")).notes == ()


def test_a_threshold_that_people_contradict_is_not_passed_on(tmp_path: Path) -> None:
    done = to_the_end(bench(tmp_path), lambda key, score: int(hash_of(key) % 2))
    assert done.figures.refusals
    assert done.figures.thresholds == {}
    assert "later steps keep the evaluation's" in done.notes[0]


def hash_of(key: str) -> int:
    """A number that says nothing of the score."""
    return int(hashlib.sha256(f"2{key}".encode()).hexdigest(), 16)


def test_labels_that_are_none(tmp_path: Path) -> None:
    made = bench(tmp_path)
    labels_file(made).write_text("key,model_key,label\nk001,m-one,yes\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"labels\.csv:2: label 'yes' is neither 1"):
        ran(made)


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
    made = bench(tmp_path)
    with_lengths(made)
    done = to_the_end(made, metric="quality.quality")
    quality, length = done.figures.by_metric
    assert [quality.metric, length.metric] == ["quality.quality", "length.words"]
    assert done.figures.thresholds.keys() == {"quality.quality", "length.words"}
    assert length.threshold == pytest.approx(100 * 0.6, abs=10)
    assert length.type_2_interval[0] <= length.type_2 <= length.type_2_interval[1]
    assert load_calibration(made.of(STEP) / "calibration_length.json").keys == ["length.words"]
    assert (made.of(STEP) / "calibration_curve_length.svg").is_file()
    content = made.read(STEP, "figures.json")
    assert [entry["metric"] for entry in content["by_metric"]] == ["quality.quality", "length.words"]
    use = done.figures.guardrail
    assert use.flagged >= max(entry.expected.flagged for entry in (quality, length)) - 1e-9, (
        "an answer fails if it misses one of the thresholds"
    )
    assert content["guardrail"]["misses_per_1000"] == use.misses_per_1000
    assert f"{use.flagged:.0%} flagged" in done.summary


def test_a_primary_metric_that_labels_do_not_support_keeps_its_threshold(tmp_path: Path) -> None:
    made = bench(tmp_path)
    with_lengths(made, lambda number, quality: float(number % 7))
    done = to_the_end(made, metric="quality.quality")
    length = done.figures.by_metric[1]
    assert (length.accepted, length.threshold) == (False, None)
    assert list(done.figures.thresholds) == ["quality.quality"]
    assert any(
        note.startswith("length.words: not calibrated, later steps keep the evaluation's threshold:")
        for note in done.notes
    )


def with_lengths(
    made: Bench, length: Callable[[int, float], float] = lambda number, quality: 100 * quality
) -> None:
    """Give the answers lengths by `length`, of number and quality."""
    path = made.of("automated_evaluation") / "record.jsonl"
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
    done = to_the_end(bench(tmp_path), **parameters)
    decision = done.figures.decision
    assert (decision.rule, decision.limit) == rule
    assert done.figures.thresholds


def test_rules_exclude_each_other() -> None:
    with pytest.raises(OptionError, match="max_type_i and cost exclude each other; give one of them"):
        configured(HumanCalibration, {"max_type_i": 0.1, "cost": "1:2"})
