"""`evalstudio review --budget` and `--estimate`: a sample over a sheet to corrected pass rates."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from pytest_evalstudio.cli import main
from pytest_evalstudio.contrib.calibration.review.report_answers import ReportAnswers
from pytest_evalstudio.contrib.calibration.review.sample import answer_strata, sample_sizes
from pytest_evalstudio.contrib.calibration.review.session import ReviewSession
from pytest_evalstudio.formats.labels import read_inclusion, read_labels
from support.records import RecordBuilder, evaluator, metric
from tests.contrib.calibration.review.reports import report as calibrated_report

METRIC = ["--metric", "quality.quality"]


def good(key: str, model: str) -> bool:
    return int(key[1:]) % 10 < (9 if model == "one" else 7)


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A run of 200 questions and two models, whose evaluator is wrong about 5 % of the answers."""
    monkeypatch.chdir(tmp_path)
    builder = RecordBuilder(evaluator("quality", metric("quality", threshold=0.5)))
    for number in range(200):
        for model in ("one", "two"):
            key = f"k{number:03}"
            passes = good(key, model) != (number % 20 == 3)
            outcome = {
                "status": "score",
                "scores": {"quality": 0.5 * passes + number % 7 / 20 + 0.1},
            }
            builder.add(key, model, {"actual_output": f"{key}.", "outcomes": {"quality": outcome}})
    Path("report").mkdir()
    builder.write(Path("report"))
    return "report"


def fill(sheet: Path, rows: int | None = None) -> None:
    with open(sheet, encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    for line in lines[:rows]:
        line["label"] = str(int(good(line["key"], line["model_key"].removeprefix("m-"))))
    with open(sheet, "w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)


def test_a_sample_of_a_budget_corrects_the_pass_rates(
    report: str, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet = Path("sheet.csv")
    assert main(["review", report, *METRIC, "--budget", "60", "--export", str(sheet)]) == 0
    sample = read_inclusion(Path("labels.csv"))
    assert len(sample) == 60
    assert read_inclusion(sheet) == sample
    assert sum(1 / share for share in sample.values()) == pytest.approx(400, rel=1e-4)
    fill(sheet)
    capsys.readouterr()
    assert main(["review", report, *METRIC, "--budget", "60", "--import", str(sheet)]) == 0
    command = "`evalstudio review report --estimate --labels labels.csv --metric quality.quality` goes on"
    assert command in capsys.readouterr().out
    assert len(read_labels(Path("labels.csv"))) == 60
    assert read_inclusion(Path("labels.csv")) == sample

    assert main(["review", report, *METRIC, "--estimate"]) == 0
    first, total, *models, difference = capsys.readouterr().out.splitlines()
    assert first.startswith("quality.quality: 60 labels of 400 answers, drawn by --budget")
    assert total.startswith("all answers")
    assert len(models) == 2
    assert "−" in difference
    assert main(["review", report, *METRIC, "--estimate", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    rates = {rate["model"]: rate for rate in (*result["rates"], *result["differences"])}
    assert result["rates"][0]["low"] <= 0.8 <= result["rates"][0]["high"]
    assert result["rates"][0]["high"] - result["rates"][0]["low"] < 0.15
    assert rates["one"]["labels"] > 10
    (pair,) = result["differences"]
    assert pair["low"] <= 0.2 <= pair["high"]

    assert main(["review", report, *METRIC, "--estimate", "--labels", str(sheet), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == result


def test_labels_without_a_sample_count_as_random(report: str, capsys: pytest.CaptureFixture[str]) -> None:
    sheet = Path("sheet.csv")
    assert main(["review", report, *METRIC, "--all", "--export", str(sheet)]) == 0
    fill(sheet, 60)
    capsys.readouterr()
    assert main(["review", report, *METRIC, "--estimate", "--labels", str(sheet), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert not result["stratified"]
    assert 0.5 < result["tuning"] <= 1
    assert result["rates"][0]["low"] <= 0.8 <= result["rates"][0]["high"]


def test_several_raters_and_segments_without_labels_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    builder = RecordBuilder(evaluator("quality", metric("quality", threshold=0.5)))
    for number in range(40):
        outcome = {"status": "score", "scores": {"quality": float(number % 4 > 0)}}
        builder.add(
            f"k{number:02}",
            "one",
            {
                "actual_output": f"k{number:02}.",
                "categories": ["topic:cards" if number < 24 else "topic:loans"],
                "outcomes": {"quality": outcome},
            },
        )
    Path("report").mkdir()
    builder.write(Path("report"))
    rows = ["key,model_key,label,rater"]
    for number in range(24):
        good = number % 4 > 0
        rows.append(f"k{number:02},m-one,{int(good)},Ada")
        rows.append(f"k{number:02},m-one,{int(good != (number in (3, 5)))},Ben")
    Path("labels.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")

    assert main(["review", "report", *METRIC, "--estimate"]) == 0
    first, *_, raters, disagreement, segments = capsys.readouterr().out.splitlines()
    assert "22 labels of 40 answers" in first, "two answers have one label of each kind"
    assert raters.startswith(
        "raters: Ada 24, Ben 24 labels; 24 answers have several: 91.7 % of their pairs agree"
    )
    # Ben calls answer 3 and 5 bad: he says 16 good and 8 bad, Ada 18 and 6. By hand: expected agreement
    # 18/24 · 16/24 + 6/24 · 8/24 = 7/12, observed 11/12, so that kappa is (11/12 - 7/12) / (5/12) = 0.8.
    assert "Cohen's kappa 0.80" in raters
    assert "2 answers are left out" in disagreement
    assert segments.startswith("few labels: topic loans 0 of 16 answers (all: 22 of 40)")


def test_a_sample_stays_as_it_was_drawn(report: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = {"metrics": ["quality.quality"], "budget": 40}
    session = ReviewSession(ReportAnswers(report, **options))  # type: ignore[arg-type]
    identities = [case.identity for case in session.labelling_state().cases]
    before = read_inclusion(Path("labels.csv"))
    first = session.labelling_state().drawn[0].at
    answer = session.case(first)["answer_id"]
    session.label(first, answer, 0)
    session.label(first, answer, None)
    session.label(session.labelling_state().drawn[1].at, answer_of(session, 1), 0)
    assert read_inclusion(Path("labels.csv")) == before
    second_session = ReviewSession(ReportAnswers(report, **options))  # type: ignore[arg-type]
    assert [case.identity for case in second_session.labelling_state().cases] == identities
    assert main(["review", report, *METRIC, "--budget", "50", "--export", "sheet.csv"]) == 2
    assert "labels.csv already holds a sample of 40 answers" in capsys.readouterr().err


def answer_of(session: ReviewSession, position: int) -> str:
    return str(session.case(session.labelling_state().drawn[position].at)["answer_id"])


def test_earlier_labels_move_the_budget_to_the_divided_strata(report: str) -> None:
    sheet, plain = Path("sheet.csv"), Path("plain.csv")
    assert main(["review", report, *METRIC, "--all", "--export", str(sheet)]) == 0
    fill(sheet, 80)
    assert main(["review", report, *METRIC, "--all", "--import", str(sheet), "--labels", "early.csv"]) == 0
    passing = {}
    for labels in (Path("early.csv"), plain):
        source = ReportAnswers(report, metrics=["quality.quality"], labels=str(labels), budget=40)
        passing[labels.stem] = Counter(case.verdict for case in source.labelling_state([]).cases)
    assert sum(passing["early"].values()) == 40
    assert passing["early"][False] > passing["plain"][False]


def test_a_calibrated_probability_is_the_prediction_and_sets_the_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    probabilities = {f"k{number:03}": round(0.005 + number / 201, 4) for number in range(200)}
    calibrated_report(Path("calibrated"), probabilities)
    assert main(["review", "calibrated", "--budget", "60", "--export", "sheet.csv"]) == 0
    shares = {key: share for (key, _), share in read_inclusion(Path("labels.csv")).items()}
    certain = {share for key, share in shares.items() if abs(probabilities[key] - 0.5) > 0.26}
    uncertain = {share for key, share in shares.items() if abs(probabilities[key] - 0.5) < 0.24}
    assert max(certain) < min(uncertain)
    with open("sheet.csv", encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        number = int(row["key"][1:])
        row["label"] = str(int(number * 7919 % 200 < probabilities[row["key"]] * 200))
    with open("sheet.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    capsys.readouterr()
    assert main(["review", "calibrated", "--estimate", "--labels", "sheet.csv", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["stratified"]
    assert 0 < result["tuning"] <= 1
    assert result["rates"][0]["low"] < 0.5 < result["rates"][0]["high"]


def test_too_few_labels_and_other_metrics_are_refused(
    report: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["review", report, *METRIC, "--budget", "40", "--export", "sheet.csv"]) == 0
    assert main(["review", report, *METRIC, "--estimate"]) == 2
    assert "0 of 400 answers have a label that counts" in capsys.readouterr().err
    labels = Path("labels.csv")
    text = labels.read_text(encoding="utf-8-sig")
    labels.write_text(text.replace('"0.', '"0.9', 1), encoding="utf-8")
    assert main(["review", report, *METRIC, "--estimate"]) == 2
    assert "the sample was not drawn from these answers by this metric" in capsys.readouterr().err
    labels.write_text(text.replace('"0.', '"7.', 1), encoding="utf-8")
    assert main(["review", report, *METRIC, "--estimate"]) == 2
    assert "is not a probability above 0 and up to 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--budget", "0"], "needs at least 12 answers"),
        (["--budget", "40", "--all"], "give one of them"),
        (["--json"], "--json is for --estimate"),
        (["--estimate", "--export", "x.csv"], "--estimate only reads labels"),
    ],
)
def test_contradicting_options_are_refused(
    report: str, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["review", report, *METRIC, *options]) == 2
    assert message in capsys.readouterr().err


def test_a_budget_follows_the_standard_deviation_of_the_labels() -> None:
    """By hand: sizes 300 and 100, deviations 0.3 and 0.5, 34 labels beyond three each: 90 to 50."""
    strata = np.repeat([0, 1], [300, 100])
    assert sample_sizes(40, strata, np.array([0.9, 0.5])).tolist() == [25, 15]


def test_strata_are_verdicts_and_halves_of_their_scores() -> None:
    scores = np.arange(50) / 50
    strata = answer_strata(scores, scores >= 0.8)
    assert Counter(strata.tolist()) == {0: 20, 1: 20, 2: 10}
    assert answer_strata(scores, scores >= 0.97).tolist() == [0] * 25 + [1] * 25
