"""The history of several runs: command, picture, page, and the folder that runs add to."""

from __future__ import annotations

import json
import math
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from pytest_evalstudio.analysis.comparison.history import history, history_lines, history_of, record_files
from pytest_evalstudio.analysis.comparison.sides import read_side
from pytest_evalstudio.core.errors import ConfigurationError
from support.command import evalstudio
from support.project import Project
from support.records import RecordBuilder, evaluator, metric, score
from support.workers import WORKERS


def record(folder: Path, day: int, *values: float, **header: object) -> Path:
    builder = RecordBuilder(
        evaluator("quality"),
        run_id=f"{day:08}-0000-4000-8000-000000000000",
        created=f"2026-11-{day:02}T10:00:00+00:00",
        commit=f"{day}abcdef0",
        **header,
    )
    for number, value in enumerate(values):
        builder.add(f"k{number}", "one", {"outcomes": {"quality": score(value)}})
    folder.mkdir(parents=True)
    builder.write(folder)
    return folder


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    record(tmp_path / "b", 2, 1.0, 0.0, 0.0, 0.0)
    record(tmp_path / "a", 1, 1.0, 1.0, 1.0, 0.0)
    return tmp_path


def test_runs_are_ordered_by_time_with_wilson_intervals_of_pass_rates(runs: Path) -> None:
    content = history(record_files([runs / "b", runs / "a"]))

    (series,) = content.series
    assert [run.created[8:10] for run in content.runs] == ["01", "02"]
    assert [point.mean for point in series.points if point] == [0.75, 0.25]
    first = series.points[0]
    assert first is not None
    assert (first.low, first.high) == (pytest.approx(0.3006, abs=1e-4), pytest.approx(0.9544, abs=1e-4))


def test_a_history_has_pass_rate_cost_and_seconds_of_each_model(tmp_path: Path) -> None:
    sides = []
    for day, costs in ((1, (0.01, 0.03)), (2, (0.02, None))):
        builder = RecordBuilder(
            evaluator("quality"), created=f"2026-11-{day:02}T10:00:00+00:00", run_id=f"{day}"
        )
        for number, cost in enumerate(costs):
            row = {"outcomes": {"quality": score(float(number))}, "cost": cost, "actual_duration": 1.0 + day}
            builder.add(f"k{number}", "one", row)
        sides.append(read_side(builder.run, builder.typed_items))

    operations = {series.metric: series for series in history_of(sides).operations}

    means = {name: [point and point.mean for point in series.points] for name, series in operations.items()}
    assert means == {"pass_rate": [0.5, 0.5], "cost_usd": [0.02, 0.02], "duration_s": [2.0, 3.0]}
    last = operations["cost_usd"].points[1]
    assert last is not None
    assert (last.n, last.low) == (1, None)
    first = operations["pass_rate"].points[0]
    assert first is not None
    assert (first.low, first.high) == (pytest.approx(0.0945, abs=1e-4), pytest.approx(0.9055, abs=1e-4))


def test_what_no_run_measured_has_no_chart() -> None:
    builder = RecordBuilder(evaluator("quality"))
    builder.add("k", "one", {"outcomes": {"quality": score(1.0)}, "cost": 0.0, "actual_duration": 0.0})
    content = history_of([read_side(builder.run, builder.typed_items)])
    assert [series.metric for series in content.operations] == ["pass_rate"]


def test_the_command_prints_runs_bars_and_the_last_change(runs: Path) -> None:
    result = evalstudio("history", "a", "b", folder=runs)

    assert result.returncode == 0
    assert "1. 2026-11-01T10:00:00+00:00, commit 1abcdef: 4 items" in result.stdout
    assert "quality.score of one: █▁ 0.25 [0.04559, 0.6994], -0.5 since the run before" in result.stdout


def test_json_has_a_point_per_run_and_none_where_a_run_lacks_the_metric(runs: Path) -> None:
    builder = RecordBuilder(evaluator("other"), created="2026-11-03T10:00:00+00:00", run_id="3" * 8)
    builder.add("k", "one", {"outcomes": {"other": score(0.5)}})
    (runs / "c").mkdir()
    builder.write(runs / "c")

    content = json.loads(evalstudio("history", "a", "b", "c", "--json", folder=runs).stdout)

    by_name = {
        series["evaluator"]: [point and point["mean"] for point in series["points"]]
        for series in content["series"]
    }
    assert by_name == {"quality": [0.75, 0.25, None], "other": [None, None, 0.5]}


def test_pictures_are_svg_with_a_text_alternative(runs: Path) -> None:
    result = evalstudio("history", "a", "b", "--plots", "out", folder=runs)

    files = {
        file.name: "".join(ET.fromstring(file.read_text()).itertext()) for file in (runs / "out").iterdir()
    }
    assert result.returncode == 0
    assert "one: 0.75, 0.25" in files["quality.score.svg"]
    assert "one: 0.75, 0.25" in files["pass_rate.svg"]


def test_folders_of_reports_and_folders_of_runs_hold_records(runs: Path) -> None:
    report = runs / "a"
    file = report / "record.jsonl"
    assert record_files([report]) == [report]
    assert record_files([file]) == [file]
    (runs / "run.zip").write_bytes(b"")
    assert record_files([runs]) == [runs / "run.zip"]


def test_a_folder_without_records_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="there are no records here"):
        record_files([tmp_path])

    result = evalstudio("history", str(tmp_path), folder=tmp_path)
    assert (result.returncode, "Traceback" in result.stderr) == (2, False)


@pytest.mark.parametrize("workers", WORKERS)
def test_each_run_adds_itself_to_the_folder_and_shows_the_history(
    pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    project = Project(pytester)
    project.suite({"key": "four", "prompt": "2+2?", "condition": '"4"'})

    project.run("-o", "evalstudio_history=past", *workers)
    result = project.run("-v", "-o", "evalstudio_history=past", *workers)

    assert len(list((project.folder / "past").glob("*.jsonl"))) == 2
    assert "It is 4." not in "".join(file.read_text() for file in (project.folder / "past").iterdir())
    result.stdout.fnmatch_lines(["*= history =*", "text_matching.model_passes of app: ▄▄ 1*"])
    page = (project.folder / "evalstudio-report" / "interpretation.html").read_text(encoding="utf-8")
    assert 'id="history"' in page


def test_a_run_that_is_there_twice_counts_once(runs: Path) -> None:
    content = history([runs / "a", runs / "b", runs / "a"])
    assert [run.created[8:10] for run in content.runs] == ["01", "02"]


def test_a_run_is_a_line_with_its_commit_and_branch(tmp_path: Path) -> None:
    record(tmp_path / "a", 1, 0.5, branch="main")
    lines = list(history_lines(history([tmp_path / "a"])))
    assert lines == [
        "1. 2026-11-01T10:00:00+00:00, commit 1abcdef (main): 1 item, run 00000001",
        "pass_rate of one: ▄ 1 [0.2065, 1]",
        "quality.score of one: ▄ 0.5",
    ]


def test_a_metric_that_the_last_run_lacks_has_no_change(runs: Path) -> None:
    builder = RecordBuilder(evaluator("other"), created="2026-11-03T10:00:00+00:00", run_id="3" * 8)
    builder.add("k", "one", {"outcomes": {"other": score(0.5)}})
    (runs / "c").mkdir()
    builder.write(runs / "c")
    lines = list(history_lines(history([runs / "a", runs / "b", runs / "c"])))
    assert "quality.score of one: █▁· 0.25 [0.04559, 0.6994]" in lines


def test_a_rise_since_the_run_before_has_its_sign(runs: Path) -> None:
    record(runs / "c", 3, 1.0, 1.0, 0.0, 0.0)
    lines = list(history_lines(history([runs / "a", runs / "b", runs / "c"])))
    (metric_line,) = [line for line in lines if line.startswith("quality.score")]
    assert metric_line.endswith(", +0.25 since the run before")


def test_metrics_after_one_that_decides_nothing_have_a_series() -> None:
    free = metric("free", primary=False, asserted=False)
    builder = RecordBuilder(evaluator("quality", free, metric(), metric("other", primary=False)))
    scores = {"free": 0.1, "score": 0.5, "other": 0.7}
    builder.add("k", "one", {"outcomes": {"quality": {"status": "score", "scores": scores}}})
    content = history_of([read_side(builder.run, builder.typed_items)])
    assert [series.metric for series in content.series] == ["other", "score"]


def test_ranges_of_figures_begin_at_zero(runs: Path) -> None:
    builder = RecordBuilder(evaluator("quality"))
    builder.add("k", "one", {"outcomes": {"quality": score(1.0)}, "cost": 0.5, "actual_duration": 2.0})
    content = history_of([read_side(builder.run, builder.typed_items)])
    ranges = {series.metric: (series.better, *series.range) for series in content.operations}
    assert ranges == {
        "pass_rate": ("higher", 0.0, 1.0),
        "cost_usd": ("lower", 0.0, math.inf),
        "duration_s": ("lower", 0.0, math.inf),
    }
