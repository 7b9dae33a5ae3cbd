"""The command `calibrate`, and labels that do not count."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pytest_evalstudio.cli import main
from pytest_evalstudio.contrib.calibration.labelling.outdated import without_outdated
from pytest_evalstudio.formats.labels import Label, answer_id
from pytest_evalstudio.record.reader import RecordReader
from pytest_evalstudio.record.score_table import Scores, TableAnswer
from pytest_evalstudio.scoring.calibration.curve import threshold
from pytest_evalstudio.scoring.calibration.file import load_calibration
from support.labelled import KEYS, scores_and_labels, write_labels, write_record
from support.records import RecordBuilder, evaluator, metric, score


def test_the_command_prints_json_and_writes_the_calibration(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores, labels = scores_and_labels()
    record = write_record(tmp_path, scores)
    path = write_labels(tmp_path / "labels.csv", labels)
    saved = tmp_path / "new" / "quality.json"
    assert (
        main(
            [
                "calibrate",
                str(record),
                str(path),
                "--metric",
                "quality",
                "--alpha",
                "0.2",
                "--json",
                "-o",
                str(saved),
            ]
        )
        == 0
    )
    figures = json.loads(capsys.readouterr().out)
    assert figures.keys() >= KEYS
    calibration = load_calibration(saved)
    assert threshold(calibration) == pytest.approx(figures["threshold"])
    assert calibration.conformal.alpha == 0.2
    assert main(["calibrate", str(record), str(path), "--metric", "quality"]) == 0
    output = capsys.readouterr().out
    assert "quality.quality: logistic, 120 labelled answers, " in output
    assert "cross-validated over 5 folds:" in output


def test_a_missing_extra_is_told_with_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scores, labels = scores_and_labels()
    record, path = write_record(tmp_path, scores), write_labels(tmp_path / "labels.csv", labels)
    monkeypatch.setitem(__import__("sys").modules, "sklearn.model_selection", None)
    assert main(["calibrate", str(record), str(path), "--metric", "quality"]) == 2
    assert 'calibrating needs scikit-learn: pip install "pytest-evalstudio[mrm]"' in capsys.readouterr().err


def test_answers_on_which_raters_are_divided_are_left_out_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores, labels = scores_and_labels()
    record = write_record(tmp_path, scores)
    rows = [
        f"k{number},m-one,{label},{rater}" for number, label in enumerate(labels) for rater in ("al", "bo")
    ]
    rows[1] = f"k0,m-one,{1 - labels[0]},bo"
    path = tmp_path / "labels.csv"
    path.write_text("\n".join(["key,model_key,label,rater", *rows]), encoding="utf-8")
    assert main(["calibrate", str(record), str(path), "--metric", "quality"]) == 0
    output = capsys.readouterr().out.splitlines()
    assert output[0] == "left out: 1 answers on which raters are divided"
    assert "119 labelled answers" in output[1]
    assert main(["calibrate", str(record), str(path), "--metric", "quality", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["divided"] == [["k0", "m-one"]]


def test_the_agreement_of_several_raters_and_the_rule_of_their_disagreement_are_stated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores, labels = scores_and_labels()
    record = write_record(tmp_path, scores)
    others = {number: 1 - label if number < 12 else label for number, label in enumerate(labels)}
    rows = [f"k{number},m-one,{label},al," for number, label in enumerate(labels)]
    rows += [f"k{number},m-one,{label},bo," for number, label in others.items()]
    rows += [f"k{number},m-one,{labels[number]},cy,adjudicator" for number in range(11)]
    path = tmp_path / "labels.csv"
    path.write_text("\n".join(["key,model_key,label,rater,role", *rows]), encoding="utf-8")
    arguments = ["calibrate", str(record), str(path), "--metric", "quality"]
    assert main(arguments) == 0
    output = capsys.readouterr().out
    assert (
        "raters: al 120, bo 120 labels; 120 answers have several: 90 % of their pairs agree, Cohen's"
        in output
    )
    assert (
        "disagreement: the adjudicator's label counts, else that of most raters; 1 answer is left out\n"
        in output
    )
    main([*arguments, "--json"])
    agreement = json.loads(capsys.readouterr().out)["agreement"]
    assert (agreement["percent"], agreement["adjudicated"], agreement["undecided"]) == (0.9, 11, [12, 1])


def test_one_rater_has_no_agreement_to_state(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores, labels = scores_and_labels()
    record, path = write_record(tmp_path, scores), write_labels(tmp_path / "labels.csv", labels)
    assert main(["calibrate", str(record), str(path), "--metric", "quality"]) == 0
    output = capsys.readouterr().out
    assert "raters:" not in output
    assert "few labels:" not in output


def test_segments_with_few_labels_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores, labels = scores_and_labels()
    record = write_record(tmp_path, scores, categories={number: ["topic:fees"] for number in range(110, 120)})
    path = write_labels(tmp_path / "labels.csv", labels[:110])
    arguments = ["calibrate", str(record), str(path), "--metric", "quality"]
    assert main(arguments) == 0
    line = "few labels: topic fees 0 of 10 answers (all: 110 of 120); the figures say little of them\n"
    assert line in capsys.readouterr().out
    main([*arguments, "--json"])
    segments = json.loads(capsys.readouterr().out)["segments"]
    assert segments[0] == {"dimension": "topic", "name": "fees", "answers": 10, "labelled": 0}


def test_labels_of_another_text_are_left_out_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores, labels = scores_and_labels()
    record = write_record(tmp_path, scores)
    text = next(RecordReader(record).items()).rows[0].answer.text
    ids = {0: "another", 1: answer_id(text)}
    rows = [f"k{number},m-one,{label},{ids.get(number, '')}" for number, label in enumerate(labels)]
    path = tmp_path / "labels.csv"
    path.write_text("\n".join(["key,model_key,label,answer_id", *rows]), encoding="utf-8")
    assert main(["calibrate", str(record), str(path), "--metric", "quality"]) == 0
    output = capsys.readouterr().out.splitlines()
    assert output[0] == "left out: 1 labels of answers whose text has changed since"
    assert "119 labelled answers" in output[1]
    assert main(["calibrate", str(record), str(path), "--metric", "quality", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["outdated"] == 1
    path.write_text("key,model_key,label,answer_id\nk0,m-one,1,another\n", encoding="utf-8")
    assert main(["calibrate", str(record), str(path), "--metric", "quality"]) == 2
    assert (
        "no label can be used: the answers of 1 label have changed since; label them again"
        in capsys.readouterr().err
    )


def test_a_label_counts_where_results_do_not_hold_the_text() -> None:
    scores = Scores()
    for key, text_id in (("a", ""), ("b", "b1")):
        scores.answers["f", key, "m"] = TableAnswer(
            file="f", key=key, model_key="m", test_key="", categories=(), text_id=text_id
        )
    labels = [
        Label(key=key, model_key="m", label=1, answer_id=text)
        for key, text in (("a", "x"), ("b", "b1"), ("b", "b2"), ("c", "y"))
    ]
    result, outdated = without_outdated(labels, scores)
    assert [(label.key, label.answer_id) for label in result] == [("a", "x"), ("b", "b1"), ("c", "y")]
    assert outdated == 1


def test_labels_choose_among_the_named_metrics(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores, labels = scores_and_labels()
    record = str(write_record(tmp_path, scores, second=[number % 7 for number in range(120)]))
    path, saved = str(write_labels(tmp_path / "labels.csv", labels)), tmp_path / "c.json"
    command = ["calibrate", record, path, "--metric", "words,quality", "--choose", "-o", str(saved)]
    assert main(command) == 0
    output = capsys.readouterr().out
    assert "chosen by the labels, in each fold anew, among length.words, quality.quality" in output
    assert [metric.metric for metric in load_calibration(saved).metrics] == ["quality"]


def test_cases_whose_answers_are_all_good_or_all_bad_can_be_too_few(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    builder = RecordBuilder(evaluator("quality", metric("quality")))
    rows = []
    rng = np.random.default_rng(1)
    for case in range(5):
        for model in range(12):
            builder.add(
                f"k{case}",
                f"m{model}",
                {"outcomes": {"quality": score(rng.random(), "quality")}},
                verdicts={},
            )
            rows.append(f"k{case},m-m{model},{int(case < 2)}")
    record = builder.write(tmp_path)
    path = tmp_path / "labels.csv"
    path.write_text("\n".join(["key,model_key,label", *rows]), encoding="utf-8")
    assert main(["calibrate", str(record), str(path), "--metric", "quality"]) == 2
    assert "since they are answers to few test cases (5); label answers to more" in capsys.readouterr().err


def test_a_missing_file_of_labels_names_the_command_that_makes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["calibrate", "evalstudio-report", str(tmp_path / "labels.csv"), "--metric", "rouge_l"]) == 2
    assert capsys.readouterr().err.endswith(
        "labels.csv: there is no such file; make it with `evalstudio review evalstudio-report --all`\n"
    )
