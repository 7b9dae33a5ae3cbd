"""Guardrail configurations: both kinds of ids, what a run takes of them, what is said of broken ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.cli import main
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.guide_names import EVALUATOR_CLASSES, REFERENCE
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import configuration, with_guardrails
from pytest_evalstudio.formats.guardrails import Guardrails, read_guardrails

OURS = {
    "calibrated_thresholds": {"toxicity": {"toxicity": 0.2}, "pii_leakage": {"model_passes": 0.5}},
    "evaluator_ids": ["toxicity", "pii_leakage"],
}
THEIRS = {
    "calibrated_thresholds": {
        "h2o_sonar.evaluators.toxicity_evaluator.ToxicityEvaluator": {"toxicity": 0.2},
        "h2o_sonar.evaluators.pii_leakage_evaluator.PiiLeakageEvaluator": {"model_passes": 0.5},
    },
    "evaluator_ids": [
        "h2o_sonar.evaluators.toxicity_evaluator.ToxicityEvaluator",
        "h2o_sonar.evaluators.pii_leakage_evaluator.PiiLeakageEvaluator",
    ],
}


def file_of(folder: Path, content: Any) -> Path:
    path = folder / "guardrails.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


@pytest.mark.parametrize("content", [OURS, THEIRS], ids=["ours", "the reference engine's"])
def test_both_kinds_of_ids_are_read(tmp_path: Path, content: Any) -> None:
    result = read_guardrails(file_of(tmp_path, content))
    assert result.model_dump(exclude_defaults=True) == OURS


def test_both_kinds_of_ids_are_written(tmp_path: Path) -> None:
    guardrails = Guardrails(
        calibrated_thresholds={
            **OURS["calibrated_thresholds"],
            "lexical_groundedness": {"supported_words": 0.8},
        },  # type: ignore[arg-type]
        evaluator_ids=["toxicity", "pii_leakage", "lexical_groundedness"],
    )
    guardrails.save(tmp_path / "ours.json")
    guardrails.save(tmp_path / "theirs.json", reference_ids=True)
    assert json.loads((tmp_path / "ours.json").read_text()) == guardrails.model_dump(exclude_defaults=True)
    assert json.loads((tmp_path / "theirs.json").read_text()) == THEIRS, (
        "the reference engine has no lexical groundedness"
    )


def test_optional_evaluators_are_read_by_both_kinds_of_ids_and_written(tmp_path: Path) -> None:
    foreign_id = "h2o_sonar.evaluators.pii_leakage_evaluator.PiiLeakageEvaluator"
    result = read_guardrails(file_of(tmp_path, {**OURS, "optional": [foreign_id, "toxicity.toxicity"]}))
    assert result.optional == ["pii_leakage", "toxicity.toxicity"]
    result.save(tmp_path / "again.json")
    assert read_guardrails(tmp_path / "again.json") == result


def test_every_counterpart_is_an_evaluator_of_ours() -> None:
    assert set(EVALUATOR_CLASSES) <= set(Registry().evaluators)
    assert len({name.partition(".")[0] for name in EVALUATOR_CLASSES.values()}) == len(EVALUATOR_CLASSES)


def test_a_run_takes_evaluators_and_thresholds_that_it_has_none_of(tmp_path: Path) -> None:
    file_of(tmp_path, THEIRS)
    guardrail_config = configuration({"guardrails": "guardrails.json"}, folder=tmp_path)
    assert guardrail_config.evaluators == ["toxicity", "pii_leakage"]
    assert guardrail_config.evaluator["toxicity"] == {"thresholds": {"toxicity": 0.2}}
    project_config = configuration(
        {
            "guardrails": "guardrails.json",
            "evaluators": ["toxicity"],
            "evaluator": {"toxicity": {"threshold": 0.1}},
        },
        folder=tmp_path,
    )
    assert (project_config.evaluators, project_config.evaluator["toxicity"]) == (
        ["toxicity"],
        {"threshold": 0.1},
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param("{", "is not JSON", id="no JSON"),
        pytest.param([], "is not a guardrail configuration", id="a list"),
        pytest.param(
            {"thresholds": {}}, "has neither 'calibrated_thresholds' nor 'evaluator_ids'", id="other keys"
        ),
        pytest.param(
            {"calibrated_thresholds": {"rouge": {"rouge_l": "much"}}},
            r"calibrated_thresholds\.rouge\.rouge_l",
            id="no number",
        ),
        pytest.param(
            {"evaluator_ids": [REFERENCE + "abc_evaluator.Abc"]},
            "'h2o_sonar.evaluators.abc",
            id="unknown to us",
        ),
    ],
)
def test_what_is_wrong_is_said_with_the_file(tmp_path: Path, content: Any, message: str) -> None:
    path = file_of(tmp_path, content)
    with pytest.raises(ConfigurationError, match=message) as exc_info:
        read_guardrails(path)
    assert str(exc_info.value).startswith(str(path))


def test_thresholds_that_labels_did_not_give_are_marked(tmp_path: Path) -> None:
    marked = Guardrails(
        calibrated_thresholds=OURS["calibrated_thresholds"],
        evaluator_ids=OURS["evaluator_ids"],
        not_calibrated={"toxicity": ["toxicity"]},
        expected={"flagged": 0.2},
    )
    marked.save(tmp_path / "ours.json")
    assert read_guardrails(tmp_path / "ours.json") == marked
    marked.save(tmp_path / "theirs.json", reference_ids=True)
    assert read_guardrails(tmp_path / "theirs.json").not_calibrated == {}


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        pytest.param({}, {"thresholds": {"toxicity": 0.2, "insult": 0.3}}, id="calibrated"),
        pytest.param(
            {"thresholds": {"toxicity": 0.9}},
            {"thresholds": {"toxicity": 0.9, "insult": 0.3}},
            id="one threshold of the user",
        ),
        pytest.param({"threshold": 0.9}, {"threshold": 0.9}, id="one threshold of the user for all"),
        pytest.param(
            {"calibration": "own.json"}, {"calibration": "own.json"}, id="another calibration of the user"
        ),
    ],
)
def test_the_user_s_threshold_comes_before_the_calibrated_one(
    table: dict[str, object], expected: dict[str, object]
) -> None:
    guardrails = Guardrails(calibrated_thresholds={"toxicity": {"toxicity": 0.2, "insult": 0.3}})
    config = configuration({"evaluator": {"toxicity": table}} if table else {})

    assert with_guardrails(config, guardrails).evaluator["toxicity"] == expected


@pytest.mark.part("guard")
def test_the_command_names_thresholds_that_are_not_calibrated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    marked = Guardrails(
        calibrated_thresholds={"pii_leakage": {"model_passes": 0.5}},
        evaluator_ids=["pii_leakage"],
        not_calibrated={"pii_leakage": ["model_passes"]},
    )
    marked.save(tmp_path / "guards.json")
    assert main(["guard", "check", str(tmp_path / "guards.json")]) == 0
    assert capsys.readouterr().out.splitlines()[1] == (
        "not calibrated by people's labels: pii_leakage.model_passes"
    )
