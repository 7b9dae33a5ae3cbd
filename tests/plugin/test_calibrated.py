"""Runs with a saved calibration: verdicts by probability, uncertain ones marked and counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.engine.scoring.calibration import sigmoid
from support.project import Project

WORDS = {"evaluator": "lexical_groundedness", "metric": "supported_words"}
CURVE = {
    "kind": "logistic",
    "intercept": 0.0,
    "weights": [4.0],
    "means": [0.6],
    "scales": [0.2],
    "logs": [False],
}
TWO = '["lexical_groundedness", "strict"]'
CONTEXT = ["alpha beta gamma delta epsilon zeta eta theta iota kappa"]
ANSWERS = {
    "certain": "alpha beta gamma delta epsilon zeta eta theta iota kappa",
    "doubtful": "alpha beta gamma delta epsilon zeta eta apple banana cherry",
    "missed": "alpha beta gamma delta epsilon zeta apple banana cherry lemon orange",
    "bad": "alpha apple banana cherry lemon orange peach plum melon grape olive",
}


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    project = Project(pytester)
    project.lab(
        *(
            {"key": key, "input": "Letters?", "actual_output": answer, "context": CONTEXT}
            for key, answer in ANSWERS.items()
        )
    )
    return project


def calibration(
    project: Project, *metrics: dict[str, Any], curve: dict[str, Any] = CURVE, quantile: float = 0.9
) -> None:
    content = {
        "evalstudio_calibration": 1,
        "method": "logistic",
        "metrics": list(metrics) or [WORDS],
        "curve": curve,
        "labels": 50,
        "conformal": {"alpha": 0.1, "quantile": quantile, "labels": 49},
    }
    project.write("calibration.json", json.dumps(content))


def configure(project: Project, *more: str, evaluators: str = '["lexical_groundedness"]') -> None:
    lines = [
        f"evaluators = {evaluators}",
        "[evaluator.lexical_groundedness]",
        'calibration = "calibration.json"',
        *more,
    ]
    project.write("evalstudio.toml", "\n".join(lines))


def verdict(project: Project, key: str) -> dict[str, Any]:
    _, items = project.record()
    return items[f"{key}[m]"]["verdicts"]["lexical_groundedness"]


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
    result = project.run("answers_lab.json", "-rA")
    printed = result.stdout.str()
    assert "(uncertain: both good and bad are in the 0.9 prediction set): unsupported words: apple" in printed
    assert (
        "lexical_groundedness: calibrated_probability 0.8808 (uncertain: both good and bad are in the 0.9"
        " prediction set)" in printed
    )
    assert "4 scored, 2 uncertain" in printed
    assert (
        printed.count(
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
    printed = project.run("answers_lab.json").stdout.str()
    for id in json.loads(TWO):
        command = f"evalstudio review evalstudio-report --metric {id}.calibrated_probability"
        assert f"uncertain verdicts: `{command}` puts these answers before people" in printed


def test_an_empty_set_is_uncertain_too(project: Project) -> None:
    calibration(project, quantile=0.05)
    configure(project)
    printed = project.run("answers_lab.json", "-rA").stdout.str()
    assert verdict(project, "doubtful")["conformal_set"] == []
    assert "uncertain: neither good nor bad is in the 0.9 prediction set" in printed


def test_the_record_names_the_calibration(project: Project) -> None:
    calibration(project)
    configure(project)
    project.run("answers_lab.json")
    header, _ = project.record()
    entry = header["evaluators"]["lexical_groundedness"]
    told = {
        name: entry["calibration"][name]
        for name in ("file", "of", "method", "metrics", "labels", "alpha", "quantile")
    }
    assert told == {
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
    assert [key for key, metric in metrics.items() if metric["primary"]] == ["calibrated_probability"]
    assert metrics["supported_words"]["threshold"] == pytest.approx(0.6), "what the calibration makes of it"
    assert not metrics["supported_words"]["asserted"]


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


def test_an_answer_without_a_score_that_is_taken_is_not_judged(project: Project) -> None:
    calibration(project, {"evaluator": "lexical_groundedness", "metric": "supported_numbers"})
    configure(project)
    result = project.run("answers_lab.json", "-rs")
    assert result.parseoutcomes() == {"skipped": 4}
    assert (
        "its calibration takes lexical_groundedness.supported_numbers, which has no finite value here"
        in result.stdout.str()
    )


def test_an_error_of_another_evaluator_is_one_of_the_verdict(project: Project) -> None:
    project.lab({"key": "k", "input": "Letters?", "actual_output": ANSWERS["certain"], "context": CONTEXT})
    project.write(
        "conftest.py",
        """
from dataclasses import dataclass
from pytest_evalstudio import Metric, Outcome, evaluator

@evaluator("broken", name="Broken", domain="generation", needs=("actual_output",))
@dataclass(frozen=True)
class Broken:
    \"\"\"Never works.\"\"\"
    metrics = (Metric("score", primary=True),)
    def score(self, cases, tools):
        return [Outcome.error("it broke") for _ in cases]

def pytest_evalstudio_register(registry):
    registry.add_evaluator(Broken)
""",
    )
    two = {**CURVE, "weights": [4.0, 1.0], "means": [0.6, 0.0], "scales": [0.2, 1.0], "logs": [False, False]}
    calibration(project, WORDS, {"evaluator": "broken", "metric": "score"}, curve=two)
    configure(project, evaluators='["lexical_groundedness", "broken"]')
    assert project.run("answers_lab.json").parseoutcomes() == {"errors": 1}
    assert verdict(project, "k")["reason"] == "its calibration takes broken.score: it broke"


@pytest.mark.parametrize(
    ("metrics", "more", "message"),
    [
        pytest.param(
            [{"evaluator": "rouge", "metric": "rouge_l"}],
            [],
            "calibrates rouge.rouge_l, and no metric of lexical",
            id="other",
        ),
        pytest.param(
            [{**WORDS, "metric": "words"}],
            [],
            "takes the metric 'words' of lexical_groundedness, which has supported_words",
            id="metric",
        ),
        pytest.param(
            [{**WORDS, "better": "lower"}],
            [],
            "for one of which lower is better, and higher is; calibrate again",
            id="direction",
        ),
        pytest.param(
            [{**WORDS, "embedder": "another"}],
            [],
            "made with scores of the embedder 'another', and this run has",
            id="embedder",
        ),
        pytest.param(
            [WORDS],
            ["[evaluator.text_matching]", 'calibration = "calibration.json"'],
            "cannot have a calibration: it says passed or",
            id="bool",
        ),
        pytest.param(
            [WORDS],
            ["[evaluator.classification]", 'calibration = "calibration.json"'],
            "its figures are of a whole model",
            id="model-wide",
        ),
        pytest.param(
            [WORDS],
            ["[evaluator.rouge]", "calibration = 1"],
            "expected the name of a file that `evalstudio calibrate",
            id="no name",
        ),
        pytest.param(
            [WORDS],
            ["[evaluator.rouge]", 'calibration = "none.json"'],
            "none.json: cannot be read: No such file",
            id="no file",
        ),
    ],
)
def test_what_does_not_go_together_is_a_usage_error(
    project: Project, metrics: list[dict[str, Any]], more: list[str], message: str
) -> None:
    calibration(project, *metrics)
    configure(
        project, *more, evaluators='["lexical_groundedness", "text_matching", "classification", "rouge"]'
    )
    result = project.run("answers_lab.json")
    assert result.ret == 4
    assert message in result.stderr.str()


def test_scores_that_are_taken_must_be_made_in_the_same_run(project: Project) -> None:
    two = {**CURVE, "weights": [4.0, 1.0], "means": [0.6, 0.0], "scales": [0.2, 1.0], "logs": [False, False]}
    calibration(project, WORDS, {"evaluator": "looping_detection", "metric": "unique_sentences"}, curve=two)
    configure(project)
    result = project.run("answers_lab.json")
    assert result.ret == 4
    assert (
        "takes looping_detection.unique_sentences, and evaluator 'looping_detection' is not chosen with it"
        in result.stderr.str()
    )


def test_a_case_cannot_choose_a_calibration(project: Project) -> None:
    configure(project, "[[model]]", 'name = "m"', 'host = "extractive"')
    calibration(project)
    project.suite(
        {
            "key": "k",
            "prompt": "2+2?",
            "evaluators": {"lexical_groundedness": {"calibration": "calibration.json"}},
        }
    )
    result = project.run("sums_suite.json")
    assert (
        "a case cannot choose a calibration; give it to the evaluator in the configuration"
        in result.stderr.str() + result.stdout.str()
    )


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
    from pytest_evalstudio.core.errors import ConfigurationError
    from pytest_evalstudio.mrm.data.results import read_scores
    from pytest_evalstudio.mrm.steps.human_calibration.calibrate import calibrate

    calibration(project)
    configure(project)
    project.run("answers_lab.json")
    for source in (
        project.folder / "evalstudio-report",
        next((project.folder / "evalstudio-report").glob("explainer_*")),
    ):
        with pytest.raises(
            ConfigurationError, match="is what a calibration made already; calibrate the metrics"
        ):
            calibrate(read_scores([source]), {("certain", "m"): 1}, ["calibrated_probability"])
