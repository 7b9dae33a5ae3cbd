"""Figures of gates over scored tables, and the commands that know their files."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from pytest_evalstudio import score_table
from pytest_evalstudio.cli.main import main
from pytest_evalstudio.contrib.tables.figures.estimates import Figure
from pytest_evalstudio.contrib.tables.gates.checks import GatedTable, change_of
from pytest_evalstudio.contrib.tables.scores_file import read_scores_file
from pytest_evalstudio.stats.intervals import mean_interval
from support.tables_of_answers import MAP, answers, values_of, write_jsonl


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gates")
    source = write_jsonl(folder / "log.jsonl", answers(240))
    score_table(source, ("rouge",), folder / "out.parquet", mapping=MAP, keep=("topic",), workers=1)
    (folder / "fees_scores.toml").write_text(
        'table = "out.parquet"\n'
        'gates = ["rouge.rouge_1 >= 0.5", "p75(rouge.rouge_1) >= 0.5", "pass_rate(rouge) >= 0.5"]\n'
    )
    return folder


def test_figures_are_those_of_the_scores(folder: Path) -> None:
    gated = GatedTable(read_scores_file(folder / "fees_scores.toml"), folder)
    values = values_of(gated.table, "rouge_1")
    of_model = np.array([values[row] for row in range(0, 240, 2)], dtype=float)
    mean, percentile, rate = (gated.result(check).figure for check in gated.checks if check.model == "m0")

    assert mean.value == pytest.approx(of_model.mean())
    assert mean.interval == pytest.approx(mean_interval(list(of_model), 0.0, 1.0))
    assert percentile.value == np.quantile(of_model, 0.75, method="inverted_cdf")
    assert rate.n == 120


def test_the_interval_of_a_difference_is_that_of_two_means() -> None:
    """Student's intervals of two large samples give nearly Welch's interval of the difference."""
    rng = np.random.default_rng(1)
    samples = rng.normal(0.5, 0.1, 4_000), rng.normal(0.45, 0.2, 3_000)
    errors = [float(sample.std(ddof=1) / math.sqrt(len(sample))) for sample in samples]
    base, new = (
        Figure(
            n=len(sample), value=sample.mean(), interval=(sample.mean() - 1.96 * e, sample.mean() + 1.96 * e)
        )
        for sample, e in zip(samples, errors, strict=True)
    )

    change = change_of(base, new)

    assert change is not None
    assert change.interval is not None
    assert change.interval[1] - change.difference == pytest.approx(1.96 * math.hypot(*errors))
    assert change.difference == pytest.approx(samples[1].mean() - samples[0].mean())


def test_validate_checks_gates_against_their_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "fees_scores.toml"
    assert main(["validate", str(path)]) == 0
    assert capsys.readouterr().out == f"{path}: gates over a scored table, 6 checks of 2 models: fine\n"

    wrong = folder / "wrong_scores.json"
    wrong.write_text(json.dumps({"table": "out.parquet", "gates": ["rogue >= 1"]}))
    assert main(["validate", str(wrong)]) == 1
    assert "no evaluator in the table named 'rogue'" in capsys.readouterr().out


def test_the_schema_of_files_with_gates_is_published(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "scores"]) == 0
    assert "gates" in json.loads(capsys.readouterr().out)["properties"]


def test_the_interval_of_a_difference_by_hand() -> None:
    """0.8 (0.6 to 0.9) becomes 0.5 (0.3 to 0.55): the roots of 0.2² + 0.1² and of 0.05² + 0.2²."""
    base, new = Figure(n=10, value=0.8, interval=(0.6, 0.9)), Figure(n=10, value=0.5, interval=(0.3, 0.55))
    change = change_of(base, new)
    assert change is not None
    assert change.difference == pytest.approx(-0.3)
    assert change.interval == pytest.approx((-0.3 - 0.2236068, -0.3 + 0.2061553))
