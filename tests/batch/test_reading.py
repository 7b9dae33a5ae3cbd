"""Report, comparison, calibration and weak points read scored tables."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from pytest_evalstudio import score_table
from pytest_evalstudio.batch.comparison import compare as comparing
from pytest_evalstudio.batch.comparison.compare import compare_tables
from pytest_evalstudio.batch.pages.excerpt import random_rows, write_excerpt
from pytest_evalstudio.batch.pages.population import verdicts_of
from pytest_evalstudio.batch.table.columns import DIGESTS
from pytest_evalstudio.batch.table.reader import ScoredTable
from pytest_evalstudio.cli.main import main
from pytest_evalstudio.record.reader import RecordReader
from support.tables_of_answers import MAP, values_of, write_jsonl

GOOD = "The fee of this account is five euros."
BAD = "Elephants swim. Write to jane.doe@bank.com."
KEYED = {**MAP, "key": "id"}


def rows(bad: int, *, models: int = 2, count: int = 300) -> list[dict[str, Any]]:
    """Return answers; of every ten, the first `bad` are wrong."""
    return [
        {
            "id": f"k{number // models}",
            "question": f"What is fee {number // models}?",
            "answer": BAD if number % 10 < bad else GOOD,
            "expected_output": GOOD,
            "chunks": [GOOD],
            "model": f"m{number % models}",
            "topic": ("fees", "cards")[number % 10 < 5],
        }
        for number in range(count)
    ]


def scored(folder: Path, name: str, content: list[dict[str, Any]], **options: Any) -> ScoredTable:
    source = write_jsonl(folder / f"{name}.jsonl", content)
    settings: dict[str, Any] = {
        "mapping": KEYED,
        "keep": ("topic",),
        "workers": 1,
        "batch_rows": 64,
        **options,
    }
    return score_table(source, ("rouge", "pii_leakage"), folder / f"{name}.parquet", **settings)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reading")
    scored(folder, "new", rows(3))
    scored(folder, "old", rows(1))
    return folder


def test_the_report_has_the_means_of_all_rows_and_says_so(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = folder / "new.parquet"
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
    ("size", "listed", "words"),
    [("0", 20, "80 cases, 20 of them listed"), ("100", 80, "80 cases")],
    ids=["some", "all"],
)
def test_a_finding_says_how_many_of_its_cases_the_page_lists(
    size: str, listed: int, words: str, tmp_path: Path
) -> None:
    scored(tmp_path, "bad", rows(8, models=1, count=100))

    main(["report", str(tmp_path / "bad.parquet"), "-o", str(tmp_path / "page"), "--rows", size])

    page = (tmp_path / "page" / "interpretation.html").read_text()
    assert f'<a href="#matrix?evaluator=rouge&amp;show=failures">show {words}</a>' in page
    with zipfile.ZipFile(tmp_path / "page" / "evalstudio-report.zip") as archive:
        items = RecordReader(Path(archive.extract("record.jsonl", tmp_path))).items()
        assert sum(item.verdicts["rouge"].passed is False for item in items) == listed


def test_verdicts_are_counted_over_all_parts(folder: Path) -> None:
    counts = verdicts_of(ScoredTable.open(folder / "new.parquet"))

    assert {model: (by["failed"], by["passed"]) for model, by in counts.items()} == {
        "m0": (60, 90),
        "m1": (30, 120),
    }


def test_random_rows_do_not_depend_on_the_files(tmp_path: Path, folder: Path) -> None:
    content = rows(3)
    small = scored(tmp_path, "small", content, batch_rows=17)
    drawn = random_rows(small, 50, seed=3)

    assert drawn == random_rows(ScoredTable.open(folder / "new.parquet"), 50, seed=3)
    assert len(drawn) == 50
    assert drawn != random_rows(small, 50, seed=4)


def test_each_row_is_drawn_with_the_same_probability(folder: Path) -> None:
    table = ScoredTable.open(folder / "old.parquet")
    times = np.zeros(300)
    for seed in range(200):
        times[list(random_rows(table, 60, seed=seed))] += 1

    assert times.mean() == pytest.approx(40)
    assert times.min() > 40 - 5 * 5.7
    assert times.max() < 40 + 5 * 5.7


def test_an_excerpt_is_a_record_of_masked_answers(folder: Path, tmp_path: Path) -> None:
    path = write_excerpt(ScoredTable.open(folder / "new.parquet"), [0, 1, 5], tmp_path, first=[5])

    reader = RecordReader(path)
    items = list(reader.items())
    assert [item.key for item in items] == ["k2", "k0", "k0"]
    assert [item.verdict for item in items] == ["passed", "failed", "failed"]
    assert items[1].rows[0].actual_output == "Elephants swim. Write to ****.***@****.***."
    assert items[1].rows[0].categories == ("topic:cards",)
    assert items[1].verdicts["rouge"].missed == ("rouge_l",)
    assert set(reader.run.evaluators) == {"rouge", "pii_leakage"}


def test_tables_with_keys_are_compared_in_pairs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(folder / "old.parquet"), str(folder / "new.parquet")]) == 1

    printed = capsys.readouterr().out
    assert "60 regressed, 30 still failing, 210 still passing" in printed
    assert "150 pairs" in printed
    assert "regressed: k0 [m1]: rouge: rouge_l 1 -> 0" in printed


def test_two_models_of_a_table_are_compared(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = str(folder / "new.parquet")

    assert main(["compare", table, "--models", "m1", "m0"]) == 1
    assert "worse: rouge.rouge_l of m0: 0.8" in capsys.readouterr().out


def test_of_many_keys_the_same_are_drawn_in_both_tables(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "MAX_ANSWERS", 100)
    tables = (ScoredTable.open(folder / f"{name}.parquet") for name in ("old", "new"))

    comparison = compare_tables(*tables)

    pairs = {metric.n for metric in comparison.metrics}
    assert 90 < 2 * max(pairs) <= 100
    assert sum(comparison.items.values()) <= 100
    assert comparison.items["new"] == comparison.items["gone"] == 0
    assert "100 of 300 answers of the base table" in comparison.notes[-1]


def test_changed_questions_and_contexts_of_a_key_are_named(
    tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = rows(1)
    content[0]["question"] = "What is another fee?"
    content[3]["expected_output"] = "Nothing."
    content[9]["chunks"] = [GOOD, "Another chunk."]
    scored(tmp_path, "changed", content)

    main(["compare", str(folder / "old.parquet"), str(tmp_path / "changed.parquet")])

    printed = capsys.readouterr().out
    assert "changed: case, context" in printed
    assert "  cases: k0, k1\n" in printed
    assert "  contexts: k4\n" in printed
    main(["compare", str(folder / "old.parquet"), str(folder / "new.parquet")])
    assert "changed: nothing that the records show" in capsys.readouterr().out


def test_changes_are_not_known_of_a_table_without_digests(tmp_path: Path, folder: Path) -> None:
    """Tables of earlier versions do not have the columns."""
    scored(tmp_path, "earlier", [{**row, "question": "Another one?"} for row in rows(1)])
    for part in (tmp_path / "earlier.parquet" / "answers").iterdir():
        pq.write_table(pq.read_table(part).drop_columns(list(DIGESTS)), part)
    earlier = ScoredTable.open(tmp_path / "earlier.parquet")

    comparison = compare_tables(earlier, ScoredTable.open(folder / "old.parquet"))

    assert comparison.changed == ()
    assert comparison.notes == (
        "it is not known which questions and contexts changed, since no digests of them are in"
        f" {tmp_path}/earlier.parquet; score again to have them",
    )
    assert earlier.answers_of([0])[0].case_digest is None


def test_tables_without_keys_are_independent_groups(tmp_path: Path) -> None:
    old = scored(tmp_path, "old", rows(1), mapping=MAP)
    new = scored(tmp_path, "new", rows(3), mapping=MAP)

    comparison = compare_tables(old, new)

    assert comparison.verdict == "worse"
    assert "independent groups" in comparison.notes[0]
    metric = next(entry for entry in comparison.metrics if (entry.metric, entry.model) == ("rouge_l", "m0"))
    before, after = (
        np.array([values_of(table, "rouge_l")[row] or 0.0 for row in range(0, 300, 2)])
        for table in (old, new)
    )
    assert metric.n == 150
    assert metric.difference == pytest.approx(after.mean() - before.mean())
    assert metric.low is not None
    assert metric.high is not None
    welch = np.sqrt(before.var(ddof=1) / 150 + after.var(ddof=1) / 150)
    assert metric.high - metric.low == pytest.approx(2 * 1.96 * welch, rel=0.05)
    assert compare_tables(old, scored(tmp_path, "same", rows(1), mapping=MAP)).verdict != "worse"


def test_weak_points_are_found_in_kept_columns(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["weakness", str(folder / "new.parquet"), "--metric", "rouge_l"]) == 1
    assert "WEAK topic:cards" in capsys.readouterr().out


def test_weak_points_of_a_large_table_are_of_a_sample(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["weakness", str(folder / "new.parquet"), "--metric", "rouge_l", "--rows", "100"])

    assert "100 of 300 answers, drawn at random" in capsys.readouterr().err


@pytest.mark.parametrize("given", ["option", "argument"])
def test_labels_calibrate_a_table(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], given: str
) -> None:
    labels = tmp_path / "labels.csv"
    lines = [
        f"{row['id']},{row['model']},{int((row['answer'] == GOOD) != (number % 9 == 0))}"
        for number, row in enumerate(rows(3)[:200])
    ]
    labels.write_text("\n".join(["key,model_key,label", *lines]) + "\n")
    named = ["--labels", str(labels)] if given == "option" else [str(labels)]

    assert main(["calibrate", str(folder / "new.parquet"), *named, "--metric", "rouge_l"]) in (0, 1)
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
    folder: Path,
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    (folder / "half.parquet" / ".progress").mkdir(parents=True, exist_ok=True)
    (folder / "log.jsonl").write_text("{}\n")

    assert main(arguments) == 2
    errors = capsys.readouterr().err
    assert message in errors
    assert errors.count("\n") == 1
    assert not (folder / "x").exists()
