"""The report of a scored table: figures of all rows, an excerpt of the answers."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import msgspec
import numpy as np
import pytest

from pytest_evalstudio.cli.main import main
from pytest_evalstudio.contrib.tables.pages.excerpt import random_rows, write_excerpt
from pytest_evalstudio.contrib.tables.pages.population import verdicts_of
from pytest_evalstudio.contrib.tables.score import score_table
from pytest_evalstudio.contrib.tables.table.reader import ScoredTable
from pytest_evalstudio.record.reader import RecordReader
from support.tables_of_answers import (
    BAD,
    GOOD,
    KEYED,
    answers,
    graded,
    score_graded,
    values_of,
    write_jsonl,
)


def test_the_report_has_the_means_of_all_rows_and_says_so(
    scored_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = scored_folder / "new.parquet"
    assert main(["report", str(table), "-o", str(tmp_path / "page"), "--rows", "40", "--seed", "7"]) == 0
    assert capsys.readouterr().out.startswith("wrote ")

    summary = (tmp_path / "page" / "summary.md").read_text()
    page = (tmp_path / "page" / "interpretation.html").read_text()
    assert summary.startswith("# ✗ FAILED – 90 of 300 tests\n")
    for text in (summary, page):
        assert "are of all 300 scored answers of a scored table" in text
        assert "40 drawn at random (seed 7)" in text
    assert "jane.doe" not in page

    board = next((tmp_path / "page").glob("explainer_rouge_*/global_llm_heatmap_leaderboard"))
    data = json.loads((board / "application_json" / "leaderboard_2.json").read_text())["data"]
    values = values_of(ScoredTable.open(table), "rouge_l")
    means = {f"m{model}": np.mean([values[row] or 0.0 for row in range(model, 300, 2)]) for model in (0, 1)}
    assert means["m0"] != pytest.approx(means["m1"])
    assert {model: scores["rouge_l"] for model, scores in data.items()} == pytest.approx(means)


@pytest.mark.parametrize(
    ("size", "failures", "words"),
    [("0", 20, "80 answers, 20 of them listed"), ("100", 80, "80 answers")],
    ids=["some", "all"],
)
def test_a_finding_says_how_many_of_its_cases_the_page_lists(
    size: str, failures: int, words: str, tmp_path: Path
) -> None:
    score_graded(tmp_path, "bad", graded(8, models=1, count=100))

    main(["report", str(tmp_path / "bad.parquet"), "-o", str(tmp_path / "page"), "--rows", size])

    page = (tmp_path / "page" / "interpretation.html").read_text()
    assert f'<a href="#matrix?evaluator=rouge&amp;show=missed">show {words}</a>' in page
    with zipfile.ZipFile(tmp_path / "page" / "evalstudio-report.zip") as archive:
        items = RecordReader(Path(archive.extract("record.jsonl", tmp_path))).items()
        assert sum(item.verdicts["rouge"].passed is False for item in items) == failures


def test_leaks_are_the_first_finding_though_nearly_all_answers_pass(tmp_path: Path) -> None:
    rows = [{**row, "answer": BAD if i % 30 == 0 else GOOD} for i, row in enumerate(answers(120))]
    source = write_jsonl(tmp_path / "rows.jsonl", rows)
    score_table(source, ["pii_leakage", "rouge"], tmp_path / "out.parquet", mapping=KEYED)

    main(["report", str(tmp_path / "out.parquet"), "-o", str(tmp_path / "page"), "--rows", "0"])

    data = json.loads((tmp_path / "page" / "interpretation.json").read_text())
    leaks = [problem for problem in data["problems"] if problem["problem_type"] == "privacy"]
    assert [(leak["severity"], leak["attributes"]["count"]) for leak in leaks] == [("high", 4)]
    summary = (tmp_path / "page" / "summary.md").read_text()
    first = summary.partition("<summary>Findings</summary>\n\n")[2].splitlines()[0]
    assert first.startswith("- **high** PII leakage: 4 of 60 answers of model 'm0' fail")


def test_an_excerpt_of_all_answers_says_that_all_are_listed(scored_folder: Path, tmp_path: Path) -> None:
    main(["report", str(scored_folder / "new.parquet"), "-o", str(tmp_path / "page"), "--rows", "300"])
    summary = (tmp_path / "page" / "summary.md").read_text()
    assert "All 300 scored answers of a scored table are listed." in summary


def test_verdicts_are_counted_over_all_parts(scored_folder: Path) -> None:
    counts = verdicts_of(ScoredTable.open(scored_folder / "new.parquet"))

    assert {model: (by["failed"], by["passed"]) for model, by in counts.items()} == {
        "m0": (60, 90),
        "m1": (30, 120),
    }


@pytest.mark.parametrize("last_row", [-1, 5], ids=["empty range", "short range"])
def test_a_manifest_with_other_rows_than_its_file_is_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], last_row: int
) -> None:
    score_graded(tmp_path, "bad", graded(3))
    manifest = tmp_path / "bad.parquet" / "manifest.json"
    content = json.loads(manifest.read_text())
    content["scores"][0]["last_row"] = last_row
    manifest.write_text(json.dumps(content))

    assert main(["report", str(tmp_path / "bad.parquet"), "-o", str(tmp_path / "page")]) == 2

    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert content["scores"][0]["path"] in message
    assert f"where manifest.json says 0 to {last_row}; score the table again" in message
    assert not (tmp_path / "page" / "interpretation.html").exists()


def test_a_range_of_rows_that_no_memory_could_hold_does_not_matter(scored_folder: Path) -> None:
    table = ScoredTable.open(scored_folder / "new.parquet")
    first, *others = table.manifest.scores
    parts = (msgspec.structs.replace(first, last_row=10**15), *others)
    wide = ScoredTable(table.location, msgspec.structs.replace(table.manifest, scores=parts))

    assert verdicts_of(wide) == verdicts_of(table)


def test_random_rows_do_not_depend_on_the_files(tmp_path: Path, scored_folder: Path) -> None:
    content = graded(3)
    small = score_graded(tmp_path, "small", content, batch_rows=17)
    sample = random_rows(small, 50, seed=3)

    assert sample == random_rows(ScoredTable.open(scored_folder / "new.parquet"), 50, seed=3)
    assert len(sample) == 50
    assert sample != random_rows(small, 50, seed=4)


def test_each_row_is_drawn_with_the_same_probability(scored_folder: Path) -> None:
    table = ScoredTable.open(scored_folder / "old.parquet")
    times = np.zeros(300)
    for seed in range(200):
        times[list(random_rows(table, 60, seed=seed))] += 1

    assert times.mean() == pytest.approx(40)
    assert times.min() > 40 - 5 * 5.7
    assert times.max() < 40 + 5 * 5.7


def test_an_excerpt_is_a_record_of_masked_answers(scored_folder: Path, tmp_path: Path) -> None:
    path = write_excerpt(ScoredTable.open(scored_folder / "new.parquet"), [0, 1, 5], tmp_path, first=[5])

    reader = RecordReader(path)
    items = list(reader.items())
    assert [item.key for item in items] == ["k2", "k0", "k0"]
    assert [item.verdict for item in items] == ["passed", "failed", "failed"]
    assert items[1].rows[0].answer.text == "Elephants swim. Write to ****.***@****.***."
    assert items[1].rows[0].categories == ("topic:cards",)
    assert items[1].verdicts["rouge"].missed == ("rouge_l",)
    assert set(reader.run.evaluators) == {"rouge", "pii_leakage"}


def test_identical_answers_are_once_among_the_worst(tmp_path: Path) -> None:
    answer_fields = {"question": "What is the fee?", "answer": BAD, "expected_output": GOOD}
    rows = [{**row, **answer_fields} for row in answers(40)]
    source = write_jsonl(tmp_path / "rows.jsonl", rows)
    score_table(source, ["rouge"], tmp_path / "out.parquet", mapping=KEYED)

    main(["report", str(tmp_path / "out.parquet"), "-o", str(tmp_path / "page"), "--rows", "0"])

    summary = (tmp_path / "page" / "summary.md").read_text()
    assert "of 2 answers: the 2 worst of each model and metric" in summary  # one of each of two models
