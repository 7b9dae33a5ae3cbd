"""Step 7: a planted weakness is flagged, pictured and a problem; where nothing is known that is said."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_evalstudio.cli import main
from pytest_evalstudio.contrib.validation.steps.weakness_detection.step import WeaknessDetection
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.step import StepResult
from pytest_evalstudio.formats.options import OptionError
from pytest_evalstudio.text.figures import figure
from support.records import RecordBuilder, evaluator, metric
from support.workbench import Bench, configured

TOPICS, TYPES = ("1_fees", "2_cards", "3_loans"), ("simple_factual", "multi_hop", "numerical_reasoning")
WEAK = ("2_cards", "multi_hop")


def write(
    folder: Path, *, seed: int = 0, categories: bool = True, weak: bool = True, count: int = 240
) -> Path:
    rng = np.random.default_rng(seed)
    builder = RecordBuilder(
        evaluator("quality", metric("score"), metric("other", primary=False)), evaluator("unscored")
    )
    for number in range(count):
        topic, kind = TOPICS[rng.integers(3)], TYPES[rng.integers(3)]
        value = rng.beta(2, 7) if weak and (topic, kind) == WEAK else rng.beta(7, 2)
        outcomes = {
            "quality": {"status": "score", "scores": {"score": float(value), "other": 0.5}},
            "unscored": {"status": "not_applicable", "reason": "no context"},
        }
        about = [f"topic:{topic}", f"generator:{kind}"] if categories else []
        builder.add(f"k{number}", "one", {"categories": about, "outcomes": outcomes})
    folder.mkdir(parents=True, exist_ok=True)
    return builder.write(folder)


def run(
    folder: Path,
    *,
    figures: dict[str, Any] | None = None,
    parameters: dict[str, Any] | None = None,
    **record: Any,
) -> tuple[Bench, StepResult]:
    bench = Bench(folder, {"document.txt": "A fee."})
    write(bench.of("automated_evaluation"), **record)
    work = bench.work("weakness_detection", "automated_evaluation")
    if figures:
        object.__setattr__(work, "figures", figures)
    return bench, WeaknessDetection(**(parameters or {})).run(work)


def test_a_planted_weak_cell_is_flagged_and_a_problem(tmp_path: Path) -> None:
    bench, step_result = run(tmp_path)
    result = bench.read("weakness_detection", "weaknesses.json")
    (quality,) = result["metrics"]
    assert {"topic": WEAK[0], "generator": WEAK[1]} in step_result.figures.weak["quality.score"]
    assert quality["by"] == ["topic", "generator"]
    problem = next(
        problem
        for problem in step_result.problems
        if problem.attributes["by"] == {"topic": WEAK[0], "generator": WEAK[1]}
    )
    cell = next(cell for cell in quality["cells"] if cell["by"] == problem.attributes["by"])
    assert problem.attributes["kind"] == "weak_cell"
    assert (problem.attributes["topic"], problem.attributes["evaluator"], problem.attributes["metric"]) == (
        WEAK[0],
        "quality",
        "score",
    )
    assert problem.attributes["cases"] == cell["cases"] > 10
    assert f"mean {figure(cell['mean'])} of {cell['cases']} cases" in problem.description
    other_sums = [
        case["mean"] * case["cases"] for case in quality["cells"] if len(case["by"]) == 2 and case is not cell
    ]
    others = sum(case["cases"] for case in quality["cells"] if len(case["by"]) == 2 and case is not cell)
    assert f"{figure(sum(other_sums) / others)} of the others" in problem.description
    assert len(step_result.problems) == quality["weak"]
    assert "not compared: unscored.score" in step_result.summary
    assert set(bench.files("weakness_detection")) == {
        "distributions.svg",
        "quality.score_bivariate.svg",
        "quality.score_marginals.svg",
        "quality.score_violins.svg",
        "weaknesses.json",
    }


def test_where_nothing_is_weak_there_is_no_problem(tmp_path: Path) -> None:
    _, result = run(tmp_path, weak=False)
    assert result.problems == ()
    assert "0 weak cells of 15, 1 metric" in result.summary


def test_the_same_record_gives_the_same_bytes(tmp_path: Path) -> None:
    first_files, second_files = (
        run(tmp_path / name)[0].files("weakness_detection") for name in ("one", "other")
    )
    assert first_files == second_files


def test_query_type_is_the_generator_of_generated_suites(tmp_path: Path) -> None:
    bench, _ = run(tmp_path, parameters={"metrics": ["quality.score", "other"], "by": ["query_type"]})
    result = bench.read("weakness_detection", "weaknesses.json")
    assert [entry["metric"] for entry in result["metrics"]] == ["quality.score", "quality.other"]
    assert all(entry["by"] == ["generator"] for entry in result["metrics"])
    assert "quality.score_bivariate.svg" not in bench.files("weakness_detection")


def test_a_calibrated_threshold_is_the_one_that_is_missed(tmp_path: Path) -> None:
    figures = {"human_calibration": {"thresholds": {"quality.score": 0.05, "gone.metric": 0.5}}}
    bench, result = run(tmp_path, figures=figures)
    assert bench.read("weakness_detection", "weaknesses.json")["metrics"][0]["threshold"] == 0.05
    assert {problem.severity for problem in result.problems} == {"low"}


def test_cases_without_categories(tmp_path: Path) -> None:
    bench, result = run(tmp_path, categories=False)
    assert result.summary == "no test case has a category: nothing is compared"
    assert set(bench.files("weakness_detection")) == {"weaknesses.json"}


def test_a_metric_that_nobody_measured(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigurationError, match=r"have no metric 'quality\.scroe'. Did you mean 'quality\.score'"
    ):
        run(tmp_path, parameters={"metrics": ["quality.scroe"]})


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        pytest.param(
            {"metrics": "score"}, "metrics: expected a list of strings, found 'score'", id="a name for a list"
        ),
        pytest.param({"alpha": 1.5}, "alpha: .*less than 1, found 1.5", id="alpha"),
        pytest.param({"alpha": 0}, "alpha: .*greater than 0, found 0", id="no alpha"),
        pytest.param({"min_cases": 1}, "min_cases: .*greater than or equal to 2, found 1", id="cases"),
    ],
)
def test_parameters_that_make_no_sense(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        configured(WeaknessDetection, parameters)


def test_the_command_draws_the_same_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path)
    arguments = [str(path), "--metric", "quality.score", "--by", "topic,query_type"]
    assert main(["weakness", *arguments, "--plots", str(tmp_path / "pictures")]) == 1
    assert f"4 pictures in {tmp_path / 'pictures'}" in capsys.readouterr().err
    bench, _ = run(tmp_path / "step")
    command_picture = (tmp_path / "pictures" / "quality.score_violins.svg").read_bytes()
    of_step = bench.files("weakness_detection")["quality.score_violins.svg"].replace(b" of demo", b"")
    # The ids of title and description are made of the content, which has the model's name.
    plain = [re.sub(rb"\b([td])-[0-9a-f]{8}", rb"\1", picture) for picture in (command_picture, of_step)]
    assert plain[0] == plain[1]


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, count=60)
    assert main(["weakness", str(path), "--metric", "quality.score", "--plots", str(path)]) == 2
    assert "pictures cannot be written here" in capsys.readouterr().err
