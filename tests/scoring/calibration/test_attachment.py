"""A calibration belongs to the metrics, the direction and the embedder that it was made with."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.evaluator import EvaluatorSpec
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.scoring.calibration.attachment import attach
from pytest_evalstudio.scoring.calibration.file import CalibratedMetric
from support.calibration_files import save_logistic

ROUGE = Registry().evaluators.spec("rouge")


def calibration_file(path: Path, *metrics: CalibratedMetric) -> Path:
    return save_logistic(path, *metrics, quantile=0.5, probability=0.625)


def rouge(**fields: Any) -> CalibratedMetric:
    return CalibratedMetric(**{"evaluator": "rouge", "metric": "rouge_l", "better": "higher", **fields})


def attached(path: Path, spec: EvaluatorSpec = ROUGE, embedder: str = "") -> Any:
    return attach("rouge", spec, path, "c.json", embedder)


def test_the_probability_becomes_the_primary_metric_with_the_cut_as_threshold(tmp_path: Path) -> None:
    path = calibration_file(
        tmp_path / "c.json", rouge(), CalibratedMetric(evaluator="bleu", metric="bleu_1", better="higher")
    )
    result, spec = attached(path)
    assert [metric.key for metric in spec.metrics] == [
        "calibrated_probability",
        *(metric.key for metric in ROUGE.metrics),
    ]
    assert [metric.primary for metric in spec.metrics] == [True, *[False] * len(ROUGE.metrics)]
    assert spec.primary.threshold == 0.625
    description = result.describe()
    assert description["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (description["of"], description["labels"], description["file"]) == (
        ROUGE.primary.key,
        50,
        "c.json",
    )
    assert description["metrics"] == ["rouge.rouge_l", "bleu.bleu_1"]


def test_a_calibration_of_another_evaluator_is_refused(tmp_path: Path) -> None:
    path = calibration_file(
        tmp_path / "c.json", CalibratedMetric(evaluator="bleu", metric="bleu_1", better="higher")
    )
    with pytest.raises(ConfigurationError) as exc_info:
        attached(path)
    assert (
        str(exc_info.value)
        == "c.json calibrates bleu.bleu_1, but no metric of rouge; give a calibration of rouge"
    )


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (
            rouge(metric="rouge_9"),
            (
                "c.json needs the metric 'rouge_9' of rouge, which only has rouge_1, rouge_2, rouge_l;"
                " calibrate again"
            ),
        ),
        (
            rouge(better="lower"),
            (
                "c.json was made when lower values of 'rouge_l' of rouge were better; now higher values"
                " are better. Calibrate again"
            ),
        ),
    ],
)
def test_a_metric_that_has_changed_since_is_refused(
    tmp_path: Path, metric: CalibratedMetric, message: str
) -> None:
    with pytest.raises(ConfigurationError) as exc_info:
        attached(calibration_file(tmp_path / "c.json", metric))
    assert str(exc_info.value) == message


def test_scores_of_another_embedder_are_refused(tmp_path: Path) -> None:
    path = calibration_file(tmp_path / "c.json", rouge(embedder="one"))
    attached(path, embedder="one")
    with pytest.raises(ConfigurationError, match="with scores of the embedder 'one', and this run has 'two'"):
        attached(path, embedder="two")


def test_only_an_evaluator_that_says_how_much_can_have_a_calibration(tmp_path: Path) -> None:
    path = calibration_file(tmp_path / "c.json", rouge())
    boolean = replace(Registry().evaluators.spec("text_matching"), id="rouge")
    with pytest.raises(ConfigurationError, match="it says passed or failed, not how much"):
        attached(path, boolean)
    with pytest.raises(ConfigurationError, match="its figures are of a whole model"):
        attached(path, replace(ROUGE, scope="model"))


def test_the_conformal_set_is_of_the_calibrated_probability(tmp_path: Path) -> None:
    result, _ = attached(calibration_file(tmp_path / "c.json", rouge()))
    assert result.conformal_set({"calibrated_probability": 0.9, "rouge_l": 0.1}).labels == (1,)
    assert result.conformal_set({"rouge_l": 0.9}) is None
    assert result.conformal_set({"calibrated_probability": None}) is None
