"""A rubric judge of known error on 200 labelled answers: grades, intervals and agreement come out exactly."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from pytest_evalstudio.contrib.judge_bench.check import check_judge
from pytest_evalstudio.contrib.judge_bench.check_lines import check_lines
from pytest_evalstudio.formats.config import load_configuration
from pytest_evalstudio.formats.labels import read_labels
from pytest_evalstudio.stats.agreement import quadratic_kappa
from pytest_evalstudio.stats.resampling import weighted_quadratic_kappa
from support.command import evalstudio

ROWS = 200
ERRORS = {0: 1, 1: -1, 2: 2}
"""Error of the judge by the last digit of the answer's number, within the scale; others are right."""
JUDGE = """
import json, re
def judge(prompt):
    label, number = map(int, re.search(r"Answer (\\d)-(\\d+)\\.", prompt).groups())
    grade = min(5, max(1, label + {0: 1, 1: -1, 2: 2}.get(number % 10, 0)))
    return json.dumps({"evidence": "so", "grade": str(grade)})
"""


def graded(label: int, number: int) -> int:
    return min(5, max(1, label + ERRORS.get(number % 10, 0)))


@pytest.fixture
def setting(tmp_path: Path) -> tuple[Path, list[int], list[int]]:
    random = Random(7)
    labels = [random.randint(1, 5) for _ in range(ROWS)]
    rows = [
        {
            "key": f"k{number}",
            "input": f"Question {number // 2}?",
            "actual_output": f"Answer {label}-{number}.",
        }
        for number, label in enumerate(labels)
    ]
    (tmp_path / "answers_dataset.json").write_text(json.dumps({"inputs": rows}))
    sheet = "".join(f"k{number},dataset,{label}\n" for number, label in enumerate(labels))
    (tmp_path / "labels.csv").write_text(f"key,model_key,label\n{sheet}")
    (tmp_path / "grader.py").write_text(JUDGE)
    (tmp_path / "evalstudio.toml").write_text(
        '[evaluator.polite]\ntype = "rubric_judge"\ncriterion = "Politeness"\nthreshold = 3\n'
        '[evaluator.polite.grades]\n1 = "rude"\n2 = "curt"\n3 = "neutral"\n4 = "kind"\n5 = "warm"\n'
        '[judge]\nhost = "python"\ntarget = "grader:judge"\n'
    )
    return tmp_path, labels, [graded(label, number) for number, label in enumerate(labels)]


def test_grades_and_agreement_are_those_of_the_planted_errors(
    setting: tuple[Path, list[int], list[int]],
) -> None:
    folder, labels, grades = setting
    config = load_configuration(folder / "evalstudio.toml")
    check = check_judge(
        folder / "answers_dataset.json",
        read_labels(folder / "labels.csv", levels=True),
        "polite",
        config=config,
    )
    assert (check.answers, check.verdicts, check.threshold) == (ROWS, ROWS, 3.0)
    agreed = [(grade >= 3) == (label >= 3) for grade, label in zip(grades, labels, strict=True)]
    assert check.agreement == sum(agreed) / ROWS
    assert check.kappa == pytest.approx(
        cohen_kappa_score([label >= 3 for label in labels], [grade >= 3 for grade in grades])
    )
    expected = cohen_kappa_score(labels, grades, weights="quadratic")
    assert check.weighted_kappa == pytest.approx(expected)
    assert check.weighted_kappa_interval is not None
    low, high = check.weighted_kappa_interval
    assert low < expected < high
    draws = np.random.default_rng(1).integers(ROWS, size=(2_000, ROWS))
    people, judge = np.array(labels), np.array(grades)
    values = [quadratic_kappa(people[draw].tolist(), judge[draw].tolist()) for draw in draws]
    assert (low, high) == pytest.approx(tuple(np.percentile(np.array(values, float), [2.5, 97.5])), abs=0.01)
    assert any(line.startswith("weighted kappa, grades") for line in check_lines(check))


def test_the_command_takes_grades_as_labels(setting: tuple[Path, list[int], list[int]]) -> None:
    folder, labels, grades = setting
    result = evalstudio(
        "judge-check", "labels.csv", "--lab", "answers_dataset.json", "--evaluator", "polite", folder=folder
    )
    assert result.returncode == 0, result.stderr
    expected = cohen_kappa_score(labels, grades, weights="quadratic")
    assert f"weighted kappa, grades  {expected:.4g}" in result.stdout


def test_a_judge_without_verdicts_is_an_error_with_its_reason(
    setting: tuple[Path, list[int], list[int]],
) -> None:
    folder, _, _ = setting
    (folder / "vague.py").write_text("def judge(prompt):\n    return 'I think so.'\n")
    config = folder / "evalstudio.toml"
    config.write_text(config.read_text().replace("grader:judge", "vague:judge"))
    result = evalstudio(
        *("judge-check", "labels.csv", "--lab", "answers_dataset.json", "--evaluator", "polite"),
        *("--repeats", "0", "-o", "check.json"),
        folder=folder,
    )
    assert (result.returncode, result.stdout) == (2, "")
    assert "answers_dataset.json: the judge of polite gave no verdict on any answer" in result.stderr
    assert "it begins 'I think so.'" in result.stderr
    assert not (folder / "check.json").exists()


def test_good_and_bad_are_still_required_without_a_scale(setting: tuple[Path, list[int], list[int]]) -> None:
    folder, _, _ = setting
    config = folder / "evalstudio.toml"
    config.write_text(config.read_text() + '[evaluator.tone]\ntype = "custom_judge"\ndefinition = "kind"\n')
    result = evalstudio(
        "judge-check", "labels.csv", "--lab", "answers_dataset.json", "--evaluator", "tone", folder=folder
    )
    assert result.returncode == 2
    assert "labels.csv:2" in result.stderr


def test_the_quadratic_kappa_of_weights_is_that_of_repeated_rows() -> None:
    first, second = np.array([1.0, 2, 3, 5]), np.array([1.0, 3, 3, 4])
    weights = np.array([[1, 1, 1, 1], [2, 0, 1, 1]], float)
    assert weighted_quadratic_kappa(first, second, weights) == pytest.approx(
        [
            cohen_kappa_score(first, second, weights="quadratic", labels=[1, 2, 3, 4, 5]),
            cohen_kappa_score([1, 1, 3, 5], [1, 1, 3, 4], weights="quadratic", labels=[1, 2, 3, 4, 5]),
        ]
    )
