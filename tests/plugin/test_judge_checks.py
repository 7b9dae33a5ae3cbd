"""Pass rates corrected for the errors of their judge, from judge-check to every output."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest

from pytest_evalstudio.api.evaluate import evaluate
from pytest_evalstudio.cli.main import main
from pytest_evalstudio.formats.dataset import LlmDataset
from pytest_evalstudio.stats.clustered import clustered_share
from pytest_evalstudio.stats.rogan_gladen import corrected_share, judge_errors
from pytest_evalstudio.text.figures import percent
from support.project import Project

JUDGE = """
import json, re

def judge(prompt):
    \"\"\"Pass 9 of 10 good answers, and 2 of 10 bad ones.\"\"\"
    number = int(re.search(r"Answer (\\d+),", prompt)[1])
    good = "fine" in prompt.rpartition("Answer")[2]
    passes = number % 10 != 0 if good else number % 10 in (1, 2)
    return json.dumps({"rationale": "so", "rating": "yes" if passes else "no"})

def ask(prompt):
    return f"Answer {prompt[-2]}, fine."
"""
CONFIG = """
evaluators = ["relevance_to_query_judge"]

[judge]
host = "python"
target = "house:judge"
cache = false

[evaluator.relevance_to_query_judge]
"""
LABELS = 100
"""Of each kind."""


def row(number: int, *, good: bool, model: str = "m") -> dict[str, Any]:
    word = "fine" if good else "poor"
    return {
        "key": f"{word}-{number}",
        "input": f"Question {number}?",
        "actual_output": f"Answer {number}, {word}.",
        "model_key": model,
    }


@pytest.fixture
def measured_judge_project(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with a measured judge and a run of 100 answers, of which 70 are good."""
    monkeypatch.chdir(project.folder)
    project.write("house.py", JUDGE)
    project.write("evalstudio.toml", CONFIG)
    labelled = [row(number, good=good) for good in (True, False) for number in range(LABELS)]
    models = [{"key": "m", "name": "m", "model_type": "h2ogpte"}]
    project.write("labelled.json", json.dumps({"dataset": {"inputs": labelled}, "models": models}))
    lines = [f"{each['key']},m,{int('fine' in each['key'])}" for each in labelled]
    project.write("labels.csv", "\n".join(["key,model_key,label", *lines]))
    command = ["judge-check", "labels.csv", "--lab", "labelled.json", "--repeats", "0"]
    assert main([*command, "--evaluator", "relevance_to_query_judge", "-o", "check.json"]) == 0
    (project.folder / "labelled.json").unlink()
    project.write("evalstudio.toml", f'{CONFIG}judge_check = "check.json"\n')
    project.lab(*(row(number, good=number < 70) for number in range(100)))
    return project


def by_hand() -> tuple[float, tuple[float, float]]:
    """63 of 70 good answers pass, and 6 of 30 bad ones."""
    passed = clustered_share([1] * 69 + [0] * 31, [1] * 100)
    good, bad = [1] * LABELS + [0] * LABELS, [0] * LABELS + [1] * LABELS
    errors = judge_errors(good, [1] * 90 + [0] * 110, bad, [0] * LABELS + [1] * 20 + [0] * 80)
    actual = corrected_share(passed, errors)
    assert actual.value == pytest.approx((0.69 + 0.8 - 1) / (0.9 + 0.8 - 1))
    assert actual.interval is not None
    return actual.value, actual.interval


def standing(project: Project) -> dict[str, Any]:
    """The only line of the leaderboard, as the exports have it."""
    results = [
        each
        for path in (project.folder / "evalstudio-report").rglob("*.json")
        for each in find(json.loads(path.read_text(encoding="utf-8")), "pass_interval")
    ]
    assert results
    return results[0]


def find(content: Any, key: str) -> list[dict[str, Any]]:
    if isinstance(content, dict):
        inner = [each for value in content.values() for each in find(value, key)]
        return [content, *inner] if key in content else inner
    return [each for value in content for each in find(value, key)] if isinstance(content, list) else []


def test_the_pass_rate_is_shown_raw_and_corrected_everywhere(measured_judge_project: Project) -> None:
    result = measured_judge_project.run("-v")
    result.assert_outcomes(passed=69, failed=31)
    value, (low, high) = by_hand()
    assert 0.5 < low < 0.7 < high < 0.9
    result.stdout.fnmatch_lines(
        [
            "*judge-check check.json: 90 of 100 good answers pass, 80 of 100 bad answers fail",
            "*pass rate 69 of 100, 69 % [[]59.4 %, 77.2 %]; corrected for the judge's errors"
            f" {percent(value)} [[]{percent(low)}, {percent(high)}]",
        ]
    )
    line = standing(measured_judge_project)
    assert line["pass_rate"] == 0.69
    assert line["corrected_pass_rate"] == {
        "value": pytest.approx(value),
        "interval": pytest.approx([low, high]),
        "reason": "",
    }
    report = measured_judge_project.folder / "evalstudio-report"
    page = (report / "interpretation.html").read_text(encoding="utf-8")
    markdown = "".join(path.read_text(encoding="utf-8") for path in report.rglob("*.md"))
    assert f"corrected {percent(value)} ({percent(low)} – {percent(high)})" in markdown
    assert "90 of 100 good answers pass, 80 of 100 bad ones fail" in page
    assert "corrected 70 %" in page
    header, _ = measured_judge_project.record()
    entry = header["evaluators"]["relevance_to_query_judge"]["judge_check"]
    assert (entry["file"], entry["sensitivity"]["successes"], entry["specificity"]["total"]) == (
        "check.json",
        90,
        100,
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        pytest.param("threshold = 0.9", "measured another judge (threshold 0.5, now 0.9)*", id="threshold"),
        pytest.param(
            '[evaluator.relevance_to_query_judge.judge]\nhost = "python"\ntarget = "house:judge"\nexamples ='
            ' "examples.json"',
            "*examples None, now examples.json*",
            id="examples",
        ),
    ],
)
def test_errors_of_another_judge_correct_nothing(
    measured_judge_project: Project, change: str, reason: str
) -> None:
    measured_judge_project.write("examples.json", json.dumps({"evaluator": "relevance_to_query_judge"}))
    measured_judge_project.write("evalstudio.toml", f'{CONFIG}judge_check = "check.json"\n{change}\n')
    result = measured_judge_project.run("-v")
    result.stdout.fnmatch_lines([f"*pass rate 69 of 100*; not corrected: judge-check {reason}"])
    assert standing(measured_judge_project)["corrected_pass_rate"]["value"] is None
    page = (measured_judge_project.folder / "evalstudio-report" / "interpretation.html").read_text(
        encoding="utf-8"
    )
    assert "are not corrected: <bdi>judge-check measured another judge" in page


def test_a_broken_judge_corrects_nothing(measured_judge_project: Project) -> None:
    content = json.loads((measured_judge_project.folder / "check.json").read_text(encoding="utf-8"))
    content["questions"] = [
        {**each, "good_passed": each["good"], "bad_passed": each["bad"]} for each in content["questions"]
    ]
    measured_judge_project.write("check.json", json.dumps(content))
    result = measured_judge_project.run("-v")
    result.stdout.fnmatch_lines(["*not corrected: the labels of judge-check do not show that the judge*"])


def test_verdicts_on_repeats_are_not_corrected(measured_judge_project: Project) -> None:
    for path in measured_judge_project.folder.glob("*_lab.json"):
        path.unlink()
    model = '[[model]]\nname = "app"\nhost = "python"\ntarget = "house:ask"\nruns = 2\n'
    measured_judge_project.write("evalstudio.toml", f'{CONFIG}judge_check = "check.json"\n{model}')
    measured_judge_project.suite(*({"key": f"k{n}", "prompt": f"Question {n}?"} for n in range(1, 5)))
    result = measured_judge_project.run("-v")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["*not corrected: verdicts on several repeats were not measured*"])


@pytest.mark.slow
def test_workers_give_the_same_rate(measured_judge_project: Project) -> None:
    measured_judge_project.run()
    single_process = standing(measured_judge_project)
    measured_judge_project.run("-n", "2")
    assert standing(measured_judge_project) == single_process


@pytest.mark.parametrize(
    ("content", "fact"),
    [
        pytest.param(None, "cannot be read", id="no file"),
        pytest.param("{}", "is no result of judge-check", id="another file"),
        pytest.param('{"evalstudio_judge_check": 1}', "evaluator", id="incomplete"),
    ],
)
def test_a_file_that_is_no_result_is_a_usage_error(
    measured_judge_project: Project, content: str | None, fact: str
) -> None:
    if content is None:
        (measured_judge_project.folder / "check.json").unlink()
    else:
        measured_judge_project.write("check.json", content)
    result = measured_judge_project.run()
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"*evaluator.relevance_to_query_judge.judge_check: *check.json*{fact}*"])


@pytest.mark.parametrize(
    ("table", "fact"),
    [
        ("[evaluator.safety_judge]", "measures the judge of relevance_to_query_judge, not of safety_judge"),
        ("[evaluator.rouge]", "asks no judge"),
    ],
)
def test_a_result_of_another_evaluator_is_a_usage_error(
    measured_judge_project: Project, table: str, fact: str
) -> None:
    evaluator = table.partition(".")[2].rstrip("]")
    measured_judge_project.write(
        "evalstudio.toml",
        CONFIG.replace("relevance_to_query_judge", evaluator) + 'judge_check = "check.json"\n',
    )
    result = measured_judge_project.run()
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"*{fact}*"])


def test_frames_have_the_corrected_rate(measured_judge_project: Project) -> None:
    pytest.importorskip("pandas")
    dataset = LlmDataset()
    for number in range(100):
        each = row(number, good=number < 70)
        dataset.add_input(each["input"], key=each["key"], actual_output=each["actual_output"])
    config = tomllib.loads((measured_judge_project.folder / "evalstudio.toml").read_text(encoding="utf-8"))
    frame = evaluate(dataset, config=config).leaderboard_frame().iloc[0]
    value, (low, high) = by_hand()
    assert (frame.corrected_pass_rate, frame.corrected_low, frame.corrected_high) == (
        pytest.approx(value),
        pytest.approx(low),
        pytest.approx(high),
    )
