"""The figures of agreement with people, against scikit-learn and by hand."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_evalstudio import LlmDataset, TestLab
from tests.benchmarks.agreement import auc, auc_interval, best_cut, table

SCRIPT = Path(__file__).with_name("agreement.py")


def rated(seed: int, rows: int = 60, values: int = 12) -> tuple[list[float], list[int]]:
    """Scores with ties, and labels that follow them loosely."""
    rng = random.Random(seed)
    scores = [rng.randrange(values) / values for _ in range(rows)]
    labels = [int(rng.random() < score) for score in scores]
    return scores, [1, 0, *labels[2:]]


@pytest.mark.parametrize("seed", range(20))
def test_the_area_is_scikit_learns(seed: int) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    scores, labels = rated(seed)
    assert auc(scores, labels) == pytest.approx(metrics.roc_auc_score(labels, scores))
    assert auc(scores, labels, better="lower") == pytest.approx(
        metrics.roc_auc_score(labels, [-score for score in scores])
    )


@pytest.mark.parametrize("better", ["higher", "lower"])
@pytest.mark.parametrize("seed", range(10))
def test_no_cut_has_a_better_balanced_accuracy_by_scikit_learn(seed: int, better: str) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    scores, labels = rated(seed)

    def accuracy(threshold: float) -> float:
        passes = [int(score >= threshold if better == "higher" else score <= threshold) for score in scores]
        return float(metrics.balanced_accuracy_score(labels, passes))

    cutoff, result = best_cut(scores, labels, better=better)
    assert result == pytest.approx(accuracy(cutoff))
    assert result == pytest.approx(max(accuracy(score) for score in scores))


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        pytest.param([0.9, 0.8, 0.2, 0.1], (0.8, 1.0), id="the lowest good score parts them"),
        pytest.param([0.5, 0.5, 0.5, 0.5], (0.5, 0.5), id="one score for all tells nothing"),
        pytest.param([0.9, 0.3, 0.3, 0.1], (0.3, 0.75), id="of two as good, the one that lets more pass"),
    ],
)
def test_the_cut_of_two_good_and_two_bad_answers(scores: list[float], expected: tuple[float, float]) -> None:
    assert best_cut(scores, [1, 1, 0, 0]) == expected


def test_the_interval_is_delongs_by_hand() -> None:
    # Good 0.9 and 0.4, bad 0.6 and 0.1: wins [[1, 1], [0, 1]]; placements 1, 0.5 and 0.5, 1 with variance
    # 0.125 each.
    low, high = auc_interval([0.9, 0.4, 0.6, 0.1], [1, 1, 0, 0])
    assert low == pytest.approx(0.75 - 1.96 * (0.125 / 2 + 0.125 / 2) ** 0.5)
    assert high == 1.0


@pytest.mark.parametrize("function", [auc, auc_interval, best_cut])
def test_one_sort_of_answers_leaves_nothing_to_tell_apart(function: Callable[..., object]) -> None:
    with pytest.raises(ValueError, match="only good or only bad"):
        function([0.1, 0.2], [1, 1])


def test_a_table_has_columns_of_even_width() -> None:
    assert list(table([("A", "B"), ("long", "1.0")])) == [
        "| A    |   B |",
        "| ---- | --: |",
        "| long | 1.0 |",
    ]


def test_the_script_scores_a_lab_against_its_labels(tmp_path: Path) -> None:
    dataset = LlmDataset()
    for key, answer in (("same", "It is Paris."), ("other", "No idea at all")):
        dataset.add_input(
            "Capital of France?", key=key, actual_output=answer, expected_output="It is Paris.", model_key="m"
        )
    TestLab.model_validate({"name": "lab", "dataset": dataset.model_dump(), "models": [{"key": "m"}]}).save(
        tmp_path / "lab.json"
    )
    (tmp_path / "labels.csv").write_text("key,model_key,label\nsame,m,1\nother,m,0\nunknown,m,\n")
    command = [sys.executable, str(SCRIPT), "lab.json", "labels.csv", "--evaluators", "rouge"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert result.stdout.startswith(
        "lab.json: 1 answers that people call good, 1 that they call bad\n\n| Metric"
    ), result.stderr
    assert [cell.strip() for cell in result.stdout.splitlines()[-1].split("|")[1:-1]][0::5] == [
        "`rouge`: rouge_l",
        "2",
    ]
