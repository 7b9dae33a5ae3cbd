"""Calibration and weak points read scored tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_evalstudio.cli.main import main
from support.tables_of_answers import GOOD, graded


def test_weak_points_are_found_in_kept_columns(
    scored_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["weakness", str(scored_folder / "new.parquet"), "--metric", "rouge_l"]) == 1
    assert "WEAK topic:cards" in capsys.readouterr().out


def test_weak_points_of_a_large_table_are_of_a_sample(
    scored_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["weakness", str(scored_folder / "new.parquet"), "--metric", "rouge_l", "--rows", "100"])

    assert "100 of 300 answers, drawn at random" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["option", "argument"])
def test_labels_calibrate_a_table(
    scored_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    labels = tmp_path / "labels.csv"
    lines = [
        f"{row['id']},{row['model']},{int((row['answer'] == GOOD) != (number % 9 == 0))}"
        for number, row in enumerate(graded(3)[:200])
    ]
    labels.write_text("\n".join(["key,model_key,label", *lines]) + "\n")
    label_arguments = ["--labels", str(labels)] if form == "option" else [str(labels)]

    assert main(
        ["calibrate", str(scored_folder / "new.parquet"), *label_arguments, "--metric", "rouge_l"]
    ) in (0, 1)
    assert "200 labelled answers" in capsys.readouterr().out


FAULTS = [
    (["report", "none.parquet", "-o", "x"], "none.parquet"),
    (["report", "half.parquet", "-o", "x"], "half.parquet: is incomplete: it has no manifest.json"),
    (["report", "new.parquet", "-o", "x", "--rows", "-1"], "--rows -1: must be 0 or more"),
    (["compare", "new.parquet", "log.jsonl"], "log.jsonl: is not a scored table, as the base is"),
    (["compare", "new.parquet"], "compare: give a base and a new run"),
    (["compare", "new.parquet", "new.parquet"], "new.parquet: is the base run itself"),
    (["compare", "new.parquet", "old.parquet", "--rescore"], "--rescore: scores records, not tables"),
    (["compare", "half.parquet", "new.parquet"], "half.parquet: is incomplete"),
    (["weakness", "half.parquet"], "half.parquet: is incomplete"),
    (["calibrate", "new.parquet", "--metric", "rouge_l"], "calibrate: name the CSV of the labels"),
]


@pytest.mark.parametrize(("arguments", "message"), FAULTS)
def test_what_cannot_be_read_is_one_sentence(
    scored_folder: Path,
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(scored_folder)
    (scored_folder / "half.parquet" / ".progress").mkdir(parents=True, exist_ok=True)
    (scored_folder / "log.jsonl").write_text("{}\n")

    assert main(arguments) == 2
    errors = capsys.readouterr().err
    assert message in errors
    assert errors.count("\n") == 1
    assert not (scored_folder / "x").exists()
