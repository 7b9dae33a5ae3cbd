"""Answers of a report: those whose verdict is uncertain, or all with a score; whose metric, and where labels
go.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_evalstudio.contrib.calibration.review.report_answers import ReportAnswers
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.formats.labels import read_labels
from support.labelled_answers import record_of
from support.records import RecordBuilder, evaluator, metric
from tests.contrib.calibration.review.reports import (
    CHANCES,
    UNCERTAIN,
    add,
    calibrated,
    question_keys,
    report,
    session,
)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return report(tmp_path / "evalstudio-report")


def test_uncertain_answers_are_asked_for_the_most_uncertain_first(place: Path) -> None:
    result = session(place)
    assert question_keys(result) == UNCERTAIN
    state = result.state()
    assert (state["title"], state["wanted"], state["done"]) == ("Suite: words.calibrated_probability", 3, 0)
    case = result.case(state["cases"][0]["id"])
    assert (case["question"], case["answer"]) == ("What of even?", "It is even.")
    scores = result.scores(case["id"])
    assert scores["verdict"] is True
    assert scores["doubt"] == "uncertain: both good and bad are in the 0.9 prediction set"
    (metric_row,) = scores["metrics"]
    assert (metric_row["evaluator"], metric_row["score"], metric_row["threshold"], metric_row["passes"]) == (
        "words",
        0.52,
        0.5,
        True,
    )


def test_an_empty_set_is_uncertain_too(tmp_path: Path) -> None:
    result = session(report(tmp_path / "r", {"sure": 0.99, "neither": 0.6}, quantile=0.1))
    assert question_keys(result) == ["neither"]
    assert (
        result.scores(result.state()["cases"][0]["id"])["doubt"]
        == "uncertain: neither good nor bad is in the 0.9 prediction set"
    )


def test_the_blind_are_told_nothing_of_the_verdict(place: Path) -> None:
    result = session(place, blind=True)
    case = result.case(result.state()["cases"][0]["id"])
    assert not {"metrics", "verdict", "doubt"} & set(case)
    with pytest.raises(KeyError):
        result.scores(case["id"])


def test_all_answers_are_asked_for_in_an_order_that_scores_have_no_part_in(tmp_path: Path) -> None:
    keys = [f"k{number:02}" for number in range(60)]
    up = report(tmp_path / "up", {key: (number + 0.5) / 60 for number, key in enumerate(keys)})
    down = report(tmp_path / "down", {key: 1 - (number + 0.5) / 60 for number, key in enumerate(keys)})
    order = question_keys(session(up, every=True))
    assert sorted(order) == keys != order
    assert question_keys(session(down, every=True)) == order
    low = sum(int(key[1:]) < 30 for key in order[:30])
    assert 9 <= low <= 21  # 15 on average; beyond these bounds one order in a thousand


def test_all_answers_of_a_run_without_a_calibration(tmp_path: Path) -> None:
    record = record_of(tmp_path / "r", [0.1, None, 0.9, 0.5])
    result = session(record.parent, every=True, metrics=["quality.quality"])
    assert sorted(question_keys(result)) == ["k000", "k002", "k003"]
    assert result.source.advice == ""
    assert (
        result.source.command
        == f"evalstudio calibrate {record.parent} {tmp_path / 'labels.csv'} --metric quality.quality"
    )
    assert {result.scores(case["id"])["doubt"] for case in result.state()["cases"]} == {""}


def test_the_record_may_be_named_itself(place: Path) -> None:
    assert question_keys(session(place / "record.jsonl")) == UNCERTAIN


def test_labels_are_kept_as_calibrate_reads_them(place: Path) -> None:
    result = session(place, "al")
    first = result.state()["cases"][0]["id"]
    result.label(first, result.case(first)["answer_id"], 0)
    assert read_labels(place.parent / "labels.csv", levels=True) == {("even", "m-one"): 0}
    assert result.progress().startswith("1 of 3 answers labelled by al, in ")


def test_labels_of_answers_that_are_not_uncertain_are_taken_and_not_counted(
    place: Path, tmp_path: Path
) -> None:
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("key,model_key,label\ngood,m-one,1\neven,m-one,0\nnobody,m-one,0\n", encoding="utf-8")
    result = session(place)
    merged, others = result.read_sheet(sheet)
    assert (merged.new, others, result.state()["done"]) == (2, 1, 1)
    assert set(read_labels(tmp_path / "labels.csv")) == {("good", "m-one"), ("even", "m-one")}


def test_what_goes_on_is_calibrating_the_metrics_that_the_probability_is_made_of(place: Path) -> None:
    source = ReportAnswers(str(place), labels=str(place.parent / "my labels.csv"))
    assert (
        source.command
        == f"evalstudio calibrate {place} '{place.parent / 'my labels.csv'}' --metric words.supported"
    )
    assert "labels of uncertain answers alone are no sample of all" in source.advice
    assert source.goes_on(complete=True) == f"`{source.command}` goes on"
    assert ReportAnswers(str(place), every=True).command.endswith(" --metric words.supported")


def test_nothing_uncertain_is_said(tmp_path: Path) -> None:
    source = ReportAnswers(str(report(tmp_path / "r", {"good": 0.95, "bad": 0.04})))
    assert source.labelling_state([]).drawn == ()
    assert source.nothing.endswith(
        "no verdict by words.calibrated_probability is uncertain, of 2 answers; --all asks for all of them"
    )


def test_one_of_several_evaluators_is_named(tmp_path: Path) -> None:
    place = report(tmp_path / "r", CHANCES, calibrated("other"))
    with pytest.raises(
        ConfigurationError,
        match=r"several evaluators have a calibration; say which with --metric: words\.calib.*, other\.calib",
    ):
        session(place)
    for metrics in (["other.calibrated_probability"], ["other.supported"]):
        result = session(place, metrics=metrics)
        assert result.state()["title"] == "Suite: other.calibrated_probability"
        assert question_keys(result) == UNCERTAIN
    with pytest.raises(
        ConfigurationError,
        match=(
            r"several evaluators could be calibrated; say which with --metric: words\.calib.*, other\.calib"
        ),
    ):
        session(place, every=True)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        pytest.param(
            {},
            r"r: no calibration yet, so no verdict can be uncertain; label answers with --all, then run",
            id="none has one",
        ),
        pytest.param(
            {"metrics": ["quality.quality"]}, r"r: quality: no calibration yet", id="another one is named"
        ),
        pytest.param(
            {"metrics": ["qualty.quality"]},
            r"no metric 'qualty\.quality'\. Did you mean 'quality\.quality'",
            id="a slip",
        ),
        pytest.param(
            {"every": True},
            r"several evaluators could be calibrated; .*: length\.words, quality\.quality",
            id="two may be calibrated",
        ),
        pytest.param(
            {"labels": "missing/labels.csv"},
            r"--labels missing/labels\.csv: there is no folder missing; make it",
            id="no folder",
        ),
    ],
)
def test_what_cannot_be_asked_for(tmp_path: Path, options: dict[str, object], fault: str) -> None:
    with pytest.raises(ConfigurationError, match=fault):
        session(record_of(tmp_path / "r", [0.1, 0.9]).parent, **options)


def test_a_run_that_only_says_whether(tmp_path: Path) -> None:
    builder = RecordBuilder(evaluator("text_matching", metric("model_passes"), boolean=True))
    builder.add("a")
    builder.write(tmp_path)
    with pytest.raises(
        ConfigurationError,
        match="no evaluator of this run says how much, not only whether: there is nothing to calibrate",
    ):
        session(tmp_path, every=True)


def test_a_folder_without_a_record(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"there is no record here; give a record\.jsonl or the folder of a report"
    ):
        session(tmp_path)


def test_an_answer_whose_label_could_be_of_two(tmp_path: Path) -> None:
    builder = RecordBuilder(calibrated())
    for file in ("one.json", "two.json"):
        add(builder, "good", 0.95, ids=["words"], file=file)
        add(builder, "even", 0.52, ids=["words"], file=file)
    builder.write(tmp_path)
    with pytest.raises(
        DataError,
        match=r"'even' of model 'm-one' is in 'one\.json' and in 'two\.json', so it is unclear",
    ):
        session(tmp_path)


def test_answers_without_rows_are_passed_over(place: Path) -> None:
    record = place / "record.jsonl"
    lines = record.read_text(encoding="utf-8").splitlines()
    empty = {
        **json.loads(lines[-1]),
        "key": "empty",
        "nodeid": "suite.json::empty[one]",
        "rows": [],
        "verdicts": {},
    }
    record.write_text("\n".join([*lines, json.dumps(empty)]) + "\n", encoding="utf-8")
    result = session(place, every=True)
    assert sorted(question_keys(result)) == sorted(CHANCES)
    assert result.population.without_score == 1
