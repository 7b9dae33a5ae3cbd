"""Runs with a saved calibration: verdicts by probability, uncertain ones marked and counted."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.scoring.calibration.curve import sigmoid
from support.calibrated_runs import (
    ANSWERS,
    CONTEXT,
    CURVE,
    TWO,
    WORDS,
    calibrated_project,
    calibration,
    configure,
    verdict,
)
from support.project import Project


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    return calibrated_project(pytester)


def test_the_verdict_is_by_the_calibrated_probability(project: Project) -> None:
    calibration(project)
    configure(project)
    result = project.run("answers_lab.json", "-rA")
    assert result.parseoutcomes() == {"passed": 2, "failed": 2}
    doubtful, missed = verdict(project, "doubtful"), verdict(project, "missed")
    words = doubtful["scores"]["supported_words"]
    assert doubtful["scores"]["calibrated_probability"] == pytest.approx(sigmoid(4 * (words - 0.6) / 0.2))
    assert (doubtful["passed"], doubtful["conformal_set"], doubtful["uncertain"]) == (True, [0, 1], True)
    assert (missed["passed"], missed["missed"], missed["uncertain"]) == (
        False,
        ["calibrated_probability"],
        True,
    )
    assert (verdict(project, "certain")["conformal_set"], verdict(project, "bad")["conformal_set"]) == (
        [1],
        [0],
    )


def test_uncertain_verdicts_are_marked_and_counted(project: Project) -> None:
    calibration(project)
    configure(project)
    result = project.run("-v", "answers_lab.json", "-rA")
    output = result.stdout.str()
    assert "(uncertain: both good and bad are in the 0.9 prediction set): unsupported words: apple" in output
    assert (
        "lexical_groundedness: calibrated_probability 0.8808 (uncertain: both good and bad are in the 0.9"
        " prediction set)" in output
    )
    assert "4 scored, 2 uncertain" in output
    assert (
        output.count(
            "uncertain verdicts: `evalstudio review evalstudio-report` puts these answers before people"
        )
        == 1
    )
    report = project.folder / "evalstudio-report"
    board = json.loads((report / "interpretation.json").read_text())["evaluators"]["lexical_groundedness"]
    assert board["leaderboard"]["standings"][0]["uncertain"] == 2
    results = json.loads(
        next(report.glob("explainer_*/global_llm_eval_results/application_json/explanation.json")).read_text()
    )
    by_key = {row["test_case_key"]: row["outcomes"]["lexical_groundedness"] for row in results["results"]}
    assert {key: (outcome["conformal_set"], outcome["uncertain"]) for key, outcome in by_key.items()} == {
        "certain": ([1], False),
        "doubtful": ([0, 1], True),
        "missed": ([0, 1], True),
        "bad": ([0], False),
    }
    assert "2 uncertain" in (report / "interpretation.html").read_text()


def test_the_review_of_one_of_several_evaluators_is_named(project: Project) -> None:
    calibration(project)
    saved = json.loads((project.folder / "calibration.json").read_text())
    project.write("strict.json", json.dumps({**saved, "metrics": [{**WORDS, "evaluator": "strict"}]}))
    configure(
        project,
        "[evaluator.strict]",
        'type = "lexical_groundedness"',
        'calibration = "strict.json"',
        evaluators=TWO,
    )
    output = project.run("-v", "answers_lab.json").stdout.str()
    for id in json.loads(TWO):
        command = f"evalstudio review evalstudio-report --metric {id}.calibrated_probability"
        assert f"uncertain verdicts: `{command}` puts these answers before people" in output


def test_an_empty_set_is_uncertain_too(project: Project) -> None:
    calibration(project, quantile=0.05)
    configure(project)
    output = project.run("answers_lab.json", "-rA").stdout.str()
    assert verdict(project, "doubtful")["conformal_set"] == []
    assert "uncertain: neither good nor bad is in the 0.9 prediction set" in output


def test_a_calibration_of_levels_gives_the_probability_of_each(project: Project) -> None:
    softmax = {
        "kind": "softmax",
        "levels": [1, 2, 3],
        "good_from": 3,
        "intercepts": [0.0, 0.0, 0.0],
        "weights": [[-2.0], [0.0], [2.0]],
        "means": [0.6],
        "scales": [0.2],
        "logs": [False],
    }
    limits = {"alpha": 0.1, "quantile": 0.6, "labels": 49, "levels": {"1": 0.5, "2": 0.8, "3": 0.5}}
    content = {
        "evalstudio_calibration": 2,
        "method": "multinomial",
        "metrics": [WORDS],
        "curve": softmax,
        "labels": 50,
        "conformal": limits,
    }
    project.write("calibration.json", json.dumps(content))
    configure(project)
    assert project.run("answers_lab.json").parseoutcomes() == {"passed": 2, "failed": 2}
    _, items = project.record()
    [row] = items["doubtful[m]"]["rows"]
    outcome = row["outcomes"]["lexical_groundedness"]
    distance = (outcome["scores"]["supported_words"] - 0.6) / 0.2
    powers = {level: math.exp(weight * distance) for level, weight in (("1", -2.0), ("2", 0.0), ("3", 2.0))}
    details = outcome["details"]["calibration"]
    assert details["level_probabilities"] == pytest.approx(
        {level: power / sum(powers.values()) for level, power in powers.items()}
    )
    assert (details["likeliest_level"], details["conformal_levels"]) == (3, [2, 3])
    assert outcome["scores"]["calibrated_probability"] == pytest.approx(details["level_probabilities"]["3"])


def test_the_record_names_the_calibration(project: Project) -> None:
    calibration(project)
    configure(project)
    project.run("answers_lab.json")
    header, _ = project.record()
    entry = header["evaluators"]["lexical_groundedness"]
    fields = {
        name: entry["calibration"][name]
        for name in ("file", "of", "method", "metrics", "labels", "alpha", "quantile")
    }
    assert fields == {
        "file": "calibration.json",
        "of": "supported_words",
        "method": "logistic",
        "metrics": ["lexical_groundedness.supported_words"],
        "labels": 99,
        "alpha": 0.1,
        "quantile": 0.9,
    }
    assert len(entry["calibration"]["sha256"]) == 64
    metrics = {metric["key"]: metric for metric in entry["metrics"]}
    assert [key for key, metric in metrics.items() if metric.get("primary")] == ["calibrated_probability"]
    assert metrics["supported_words"]["threshold"] == pytest.approx(0.6), "what the calibration makes of it"
    assert not metrics["supported_words"].get("decides")


@pytest.mark.parametrize("way", ["file", "command line"])
def test_the_probability_that_is_asked_for_can_be_set(project: Project, way: str) -> None:
    calibration(project)
    configure(project, *(["threshold = 0.95"] if way == "file" else []))
    more = (
        []
        if way == "file"
        else ["--evalstudio-threshold", "lexical_groundedness.calibrated_probability=0.95"]
    )
    result = project.run("answers_lab.json", *more)
    assert result.parseoutcomes() == {"passed": 1, "failed": 3}


def test_a_calibration_of_several_evaluators_takes_all_their_scores(project: Project) -> None:
    two = {**CURVE, "weights": [4.0, -3.0], "means": [0.6, 1.0], "scales": [0.2, 1.0], "logs": [False, False]}
    calibration(project, WORDS, {"evaluator": "looping_detection", "metric": "unique_sentences"}, curve=two)
    configure(project, evaluators='["lexical_groundedness", "looping_detection"]')
    project.run("answers_lab.json")
    scores = verdict(project, "missed")["scores"]
    assert scores["calibrated_probability"] == pytest.approx(
        sigmoid(4 * (scores["supported_words"] - 0.6) / 0.2), abs=1e-9
    ), "one sentence: 1.0"


def test_a_fixture_checks_by_the_calibration(project: Project) -> None:
    calibration(project)
    configure(project)
    project.write(
        "test_words.py",
        f"""
def test_missed(eval_case, eval_lexical_groundedness):
    eval_lexical_groundedness.check(eval_case("Letters?", {ANSWERS["missed"]!r}, context={CONTEXT!r}))

def test_score(eval_case, eval_lexical_groundedness):
    outcome = eval_lexical_groundedness.score(eval_case("Letters?", {ANSWERS["bad"]!r}, context={CONTEXT!r}))
    assert outcome.scores["calibrated_probability"] < 0.1
    assert outcome.details["calibration"] == {{"conformal_set": [0], "uncertain": False}}
""",
    )
    result = project.run("test_words.py")
    assert result.parseoutcomes() == {"passed": 1, "failed": 1}
    result.stdout.fnmatch_lines(["*calibrated_probability 0.* < 0.5 (uncertain: both good and bad*"])


def test_nothing_of_the_extra_is_needed_to_use_a_calibration(project: Project) -> None:
    calibration(project)
    configure(project)
    project.write(
        "conftest.py",
        "import sys\nfor name in ('sklearn', 'scipy', 'statsmodels'):\n    sys.modules[name] = None\n",
    )
    assert project.run_process("answers_lab.json").parseoutcomes() == {"passed": 2, "failed": 2}


def test_a_flip_is_one_of_the_probability(project: Project) -> None:
    calibration(project)
    configure(project)
    rows: list[dict[str, Any]] = [
        {"key": "k", "input": "Letters?", "actual_output": ANSWERS["certain"], "context": CONTEXT},
        {
            "key": "p",
            "input": "Leters?",
            "actual_output": ANSWERS["bad"],
            "context": CONTEXT,
            "categories": ["perturbed", "perturbed_by:qwerty:HIGH"],
            "relationships": [{"type": "perturbation_source", "target": "k", "target_type": "test_case"}],
        },
    ]
    project.lab(*rows)
    project.run("answers_lab.json")
    _, items = project.record()
    flips = {flip["metric"]: flip for flip in items["p[m]"]["flips"]}
    assert flips["calibrated_probability"]["fails"]
    assert (
        flips["calibrated_probability"]["direction"]
        == flips["supported_words"]["direction"]
        == "pass_to_fail"
    )


def test_calibrating_again_takes_the_score_and_not_its_probability(project: Project, tmp_path: Path) -> None:
    from pytest_evalstudio.analysis.stored_scores import read_scores
    from pytest_evalstudio.contrib.calibration.fit.calibrate import calibrate
    from pytest_evalstudio.core.errors import ConfigurationError

    calibration(project)
    configure(project)
    project.run("answers_lab.json")
    for source in (
        project.folder / "evalstudio-report",
        next((project.folder / "evalstudio-report").glob("explainer_*")),
    ):
        with pytest.raises(
            ConfigurationError, match="is already the result of a calibration; calibrate the metrics"
        ):
            calibrate(read_scores([source]), {("certain", "m"): 1}, ["calibrated_probability"])
