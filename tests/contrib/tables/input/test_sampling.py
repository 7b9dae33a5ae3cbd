"""A sample is drawn in proportion to its strata, the same for the same seed, and gives unbiased estimates."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pytest_evalstudio.contrib.tables.figures.estimates import mean_of, percentile_of, percentiles_of
from pytest_evalstudio.contrib.tables.input.fields import Wanted
from pytest_evalstudio.contrib.tables.input.sampling import RowSample, draw
from pytest_evalstudio.contrib.tables.input.sources import sources_of
from pytest_evalstudio.contrib.tables.score import score_table
from pytest_evalstudio.contrib.tables.table.reader import ScoredTable
from pytest_evalstudio.core.errors import DataError
from support.tables_of_answers import MAP, answers, values_of, write_csv, write_jsonl, write_parquet

WANTED = Wanted(mapping={"actual_output": "answer", "model": "model"}, groups={"topic": "topic"})


def sample_of(
    path: Path, *, size: int = 30, by: tuple[str, ...] = ("model", "topic"), seed: int = 1
) -> RowSample:
    sources = sources_of([str(path)])
    return draw(sources, [WANTED] * len(sources), size=size, by=by, seed=seed)


def test_a_sample_is_in_proportion_to_its_strata_and_has_two_rows_of_each(tmp_path: Path) -> None:
    rows = [
        {**row, "topic": "rare" if i < 3 else "usual", "model": "m"} for i, row in enumerate(answers(300))
    ]
    sample = sample_of(write_parquet(tmp_path / "log.parquet", rows), size=50, by=("topic",))
    strata = {entry.values: (entry.population, entry.sample) for entry in sample.sampling.strata}
    assert strata == {("rare",): (3, 2), ("usual",): (297, 48)}
    assert list(sample.chosen.weights) == [1.5, 297 / 48]
    assert sample.totals == (300,)
    assert list(sample.chosen.rows) == sorted(set(sample.chosen.rows.tolist()))


def test_the_same_seed_draws_the_same_rows_from_every_format(tmp_path: Path) -> None:
    rows = answers(300)
    parquet = sample_of(write_parquet(tmp_path / "a.parquet", rows))
    other = sample_of(write_parquet(tmp_path / "a.parquet", rows), seed=2)
    assert list(parquet.chosen.rows) != list(other.chosen.rows)
    repeat = sample_of(tmp_path / "a.parquet")
    assert list(parquet.chosen.rows) == list(repeat.chosen.rows)
    for path in (write_csv(tmp_path / "a.csv", rows), write_jsonl(tmp_path / "a.jsonl", rows)):
        sample = sample_of(path)
        assert sample.sampling == parquet.sampling
        assert len(sample.chosen.rows) == 30


def test_every_row_is_drawn_equally_often(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "log.parquet", answers(40))
    times = np.zeros(40)
    for seed in range(300):
        times[sample_of(path, size=10, by=(), seed=seed).chosen.rows] += 1
    assert abs(times.mean() - 75) < 1e-9
    assert times.std() < 12  # binomial: 7.5


def test_a_sample_larger_than_the_table_is_the_table(tmp_path: Path) -> None:
    sample = sample_of(write_parquet(tmp_path / "log.parquet", answers(20)), size=1_000)
    assert list(sample.chosen.rows) == list(range(20))
    assert set(sample.chosen.weights) == {1.0}


@pytest.mark.parametrize("write", [write_parquet, write_jsonl, write_csv], ids=["parquet", "jsonl", "csv"])
def test_only_the_rows_of_the_sample_are_scored_with_their_weights(write, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    write(folder / f"a.{write.__name__[6:]}", answers(90))
    write(folder / f"b.{write.__name__[6:]}", answers(60))
    table = score_table(
        folder,
        ["looping_detection"],
        tmp_path / "out.parquet",
        mapping=MAP,
        keep=["topic"],
        sample=40,
        by=["model"],
        seed=5,
        workers=1,
        batch_rows=16,
    )
    manifest = table.manifest
    assert [source.rows for source in manifest.sources] == [90, 60]
    assert manifest.sampling is not None
    assert [(entry.values, entry.population, entry.sample) for entry in manifest.sampling.strata] == [
        (("m0",), 75, 20),
        (("m1",), 75, 20),
    ]
    values = values_of(table, "compression_ratio")
    assert len(values) == 40
    stored_answers = table.answers_of(values)
    all_rows = [*answers(90), *answers(60)]
    assert all(stored_answers[i].actual_output == all_rows[i]["answer"] for i in values)
    weights = {row["weight"] for batch in table.scores() for row in batch.to_pylist()}
    assert weights == {75 / 20}
    aggregate = manifest.aggregate("looping_detection", "compression_ratio", "m0")
    assert aggregate is not None
    figure = mean_of(aggregate, manifest.sampling)
    of_model = [value for i, value in values.items() if all_rows[i]["model"] == "m0"]
    assert figure.value == pytest.approx(np.mean(of_model))
    assert figure.interval is not None
    error = np.std(of_model, ddof=1) / np.sqrt(20) * np.sqrt(1 - 20 / 75)
    assert figure.interval == pytest.approx(
        (np.mean(of_model) - 2.093 * error, np.mean(of_model) + 2.093 * error), rel=1e-3
    )


SHARES = (0.05, 0.21, 0.5, 0.77, 0.95)


def test_percentiles_of_a_sample_are_weighted(tmp_path: Path) -> None:
    """Eight rare models with long answers have a third of the sample and a twentieth of the rows."""
    rows = [
        {
            "answer": "word " * (1 + i % 23 + (40 if i < 24 else 0)),
            "model": f"m{i // 3 if i < 24 else 9}",
            "topic": "all",
        }
        for i in range(480)
    ]
    table = score_table(
        write_jsonl(tmp_path / "log.jsonl", rows),
        ["looping_detection"],
        tmp_path / "out.parquet",
        mapping={"actual_output": "answer", "key": "topic", "model": "topic"},
        keep={"who": "model"},
        sample=48,
        by=["who"],
        workers=1,
        batch_rows=16,
    )
    manifest = table.manifest
    assert manifest.sampling is not None
    lines = [row for batch in table.scores() for row in batch.to_pylist()]
    of_metric = [row for row in lines if row["metric"] == "compression_ratio"]
    values = np.array([row["value"] for row in of_metric])
    weights = np.array([row["weight"] for row in of_metric])
    aggregate = manifest.aggregate("looping_detection", "compression_ratio", "all")
    assert aggregate is not None
    assert weights.max() > 5 * weights.min()

    expected = np.quantile(values, SHARES, weights=weights, method="inverted_cdf")

    assert percentiles_of(aggregate, SHARES, manifest.sampling) == pytest.approx(tuple(expected))
    assert percentiles_of(aggregate, SHARES) != pytest.approx(tuple(expected), rel=0.1)
    figure = percentile_of(aggregate, 0.5, manifest.sampling)
    assert figure.value == expected[2]
    assert figure.interval is not None
    assert figure.interval[0] <= expected[2] <= figure.interval[1]


@pytest.mark.parametrize("sketch", [None, ""])
def test_a_table_whose_strata_have_no_sketches_is_refused(tmp_path: Path, sketch: str | None) -> None:
    score_table(
        write_jsonl(tmp_path / "log.jsonl", answers(60)),
        ["looping_detection"],
        tmp_path / "out.parquet",
        mapping=MAP,
        sample=20,
        workers=1,
    )
    path = tmp_path / "out.parquet" / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    for aggregate in manifest["aggregates"]:
        for stratum in aggregate["strata"]:
            del stratum["sketch"]
            if sketch is not None:
                stratum["sketch"] = sketch
    path.write_text(json.dumps(manifest), encoding="utf-8")

    with pytest.raises(DataError, match=r"manifest\.json: .*sketch.*; run `evalstudio score` again"):
        ScoredTable.open(tmp_path / "out.parquet")
