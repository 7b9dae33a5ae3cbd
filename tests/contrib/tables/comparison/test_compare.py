"""Scored tables are compared in pairs by key, or as independent groups."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from pytest_evalstudio.analysis.comparison.sentences import summary_of
from pytest_evalstudio.cli.main import main
from pytest_evalstudio.contrib.tables.comparison import compare as comparing
from pytest_evalstudio.contrib.tables.comparison.compare import compare_tables
from pytest_evalstudio.contrib.tables.table.columns import DIGESTS
from pytest_evalstudio.contrib.tables.table.reader import ScoredTable
from pytest_evalstudio.core.errors import DataError
from support.tables_of_answers import GOOD, MAP, graded, score_graded, values_of


def test_tables_with_keys_are_compared_in_pairs(
    scored_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(scored_folder / "old.parquet"), str(scored_folder / "new.parquet")]) == 1

    output = capsys.readouterr().out
    assert "60 regressed, 30 still failing, 210 still passing" in output
    assert "150 pairs" in output
    assert "regressed: k0 [m1]: rouge: rouge_l 1 -> 0" in output


def test_two_models_of_a_table_are_compared(scored_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = str(scored_folder / "new.parquet")

    assert main(["compare", table, "--models", "m1", "m0"]) == 1
    assert "worse: rouge.rouge_l of m0: 0.8" in capsys.readouterr().out


def test_of_many_keys_the_same_are_drawn_in_both_tables(
    scored_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "MAX_ANSWERS", 100)
    tables = (ScoredTable.open(scored_folder / f"{name}.parquet") for name in ("old", "new"))

    comparison = compare_tables(*tables)

    pairs = {metric.n for metric in comparison.metrics}
    assert 90 < 2 * max(pairs) <= 100
    assert sum(comparison.items.values()) <= 100
    assert comparison.items["new"] == comparison.items["gone"] == 0
    assert "100 of 300 answers of the base table" in comparison.notes[-1]


def test_all_models_of_a_key_are_drawn_or_none_is(
    scored_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "MAX_ANSWERS", 101)
    side = comparing.side_of(ScoredTable.open(scored_folder / "old.parquet"))
    models = Counter(key for _, key, _, _ in side.items)
    assert len(models) == 50
    assert set(models.values()) == {2}


def test_changed_questions_and_contexts_of_a_key_are_named(
    tmp_path: Path, scored_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = graded(1)
    content[0]["question"] = "What is another fee?"
    content[3]["expected_output"] = "Nothing."
    content[9]["chunks"] = [GOOD, "Another chunk."]
    score_graded(tmp_path, "changed", content)

    main(["compare", str(scored_folder / "old.parquet"), str(tmp_path / "changed.parquet")])

    output = capsys.readouterr().out
    assert "changed: case, context" in output
    assert "  changed test, left out: k0 of m0: question or expectation\n" in output
    assert "2 changed tests left out (question or expectation)" in output
    assert "  contexts: 1 of 298 (k4)\n" in output
    main(["compare", str(scored_folder / "old.parquet"), str(scored_folder / "new.parquet")])
    assert "changed: nothing recorded" in capsys.readouterr().out


def test_a_table_without_digests_is_refused(
    tmp_path: Path, scored_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    score_graded(tmp_path, "damaged", graded(1))
    for part in (tmp_path / "damaged.parquet" / "answers").iterdir():
        pq.write_table(pq.read_table(part).drop_columns(list(DIGESTS)), part)
    damaged = tmp_path / "damaged.parquet"

    assert main(["compare", str(damaged), str(scored_folder / "old.parquet")]) == 2

    error = f"{damaged}: answers/ has answers without case_digest; run `evalstudio score` again"
    assert error in capsys.readouterr().err
    with pytest.raises(DataError, match="without case_digest"):
        ScoredTable.open(damaged).answers_of([0])


@pytest.mark.slow
def test_tables_without_keys_are_independent_groups(tmp_path: Path) -> None:
    old = score_graded(tmp_path, "old", graded(1), mapping=MAP)
    new = score_graded(tmp_path, "new", graded(3), mapping=MAP)

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
    assert compare_tables(old, score_graded(tmp_path, "same", graded(1), mapping=MAP)).verdict != "worse"


@pytest.mark.parametrize(("answers", "verdict"), [(20, "inconclusive"), (240, "not worse")])
def test_independent_groups_without_any_spread_have_an_interval(
    tmp_path: Path, answers: int, verdict: str
) -> None:
    content = [{**row, "answer": row["expected_output"]} for row in graded(1)[:answers]]
    tables = [score_graded(tmp_path, name, content, mapping=MAP) for name in ("old", "new")]

    comparison = compare_tables(*tables)

    assert {metric.difference for metric in comparison.metrics if metric.decides} == {0.0}
    for metric in comparison.metrics:
        assert metric.low is not None
        assert metric.high is not None
        assert metric.low < 0 < metric.high
    assert comparison.verdict == verdict
    assert str(summary_of(comparison)).startswith("answers of the runs are not paired. ")


def test_groups_of_few_equal_scores_are_not_worse_or_better_for_sure(tmp_path: Path) -> None:
    good = [{**row, "answer": row["expected_output"]} for row in graded(1)[:4]]
    bad = [{**row, "answer": "nothing of the kind"} for row in good]
    old, new = (score_graded(tmp_path, n, rows, mapping=MAP) for n, rows in (("old", good), ("new", bad)))

    metric = next(entry for entry in compare_tables(old, new).metrics if entry.metric == "rouge_l")

    assert (metric.n, metric.p) == (2, pytest.approx(1 / 6))  # two of four answers are chosen in six ways
    assert metric.verdict == "inconclusive"


def test_an_answer_that_fails_rouge_in_both_tables_regresses_by_a_leak(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old_rows, new_rows = graded(10, models=1, count=10), graded(10, models=1, count=10)
    for row in old_rows:
        row["answer"] = "Elephants swim."
    new_rows[1]["answer"] = "Elephants swim."
    score_graded(tmp_path, "old", old_rows)
    score_graded(tmp_path, "new", new_rows)

    assert main(["compare", str(tmp_path / "old.parquet"), str(tmp_path / "new.parquet")]) == 1

    assert "9 regressed, 1 still failing" in capsys.readouterr().out
