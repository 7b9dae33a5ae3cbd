"""Saved calibrations: what is written is read, and what is no calibration is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.scoring.calibration.conformal import conformal_set
from pytest_evalstudio.scoring.calibration.curve import threshold
from pytest_evalstudio.scoring.calibration.file import Calibration, Conformal, load_calibration

LOGISTIC = {
    "kind": "logistic",
    "intercept": 0.5,
    "weights": [2.0],
    "means": [0.4],
    "scales": [0.1],
    "logs": [False],
}

SOFTMAX = {
    "kind": "softmax",
    "levels": [1, 2, 3],
    "good_from": 3,
    "intercepts": [-0.5, 0.5, 0.0],
    "weights": [[-1.0], [0.0], [1.0]],
    "means": [0.4],
    "scales": [0.1],
    "logs": [False],
}


def content(**changes: Any) -> dict[str, Any]:
    base = {
        "evalstudio_calibration": 1,
        "method": "logistic",
        "metrics": [{"evaluator": "groundedness", "metric": "groundedness"}],
        "curve": LOGISTIC,
        "labels": 50,
        "conformal": {"alpha": 0.1, "quantile": 0.4, "labels": 49},
    }
    return {**base, **changes}


def calibration_file(tmp_path: Path, data: object) -> Path:
    path = tmp_path / "calibration.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return path


PLAIN = Path(__file__).parent / "files" / "calibration_without_decision.json"


def test_answers_pass_from_one_half_on_in_a_file_without_a_decision(tmp_path: Path) -> None:
    plain = load_calibration(PLAIN)
    assert (plain.cut, plain.decision, plain.conformal.kind) == (0.5, None, "marginal")
    assert plain.conformal.limits == (plain.conformal.quantile, plain.conformal.quantile)
    assert threshold(plain) == pytest.approx(0.6752, abs=1e-4)
    plain.save(tmp_path / "again.json")
    assert load_calibration(tmp_path / "again.json") == plain


def test_sets_by_class_have_a_limit_for_each_kind() -> None:
    parts = {"alpha": 0.1, "quantile": 0.4, "labels": 49, "kind": "class"}
    conformal = Conformal.model_validate({**parts, "quantile_good": 0.3, "quantile_bad": 0.75})
    assert conformal.limits == (0.75, 0.3)
    assert conformal_set(conformal, 0.65).labels == (0,)
    assert conformal_set(conformal, 0.72).labels == (0, 1)
    assert conformal_set(conformal, 0.8).labels == (1,)
    with pytest.raises(ValueError, match="the kind 'class' needs quantile_good and quantile_bad"):
        Conformal.model_validate(parts)


@pytest.mark.parametrize(
    "curve",
    [
        pytest.param(LOGISTIC, id="logistic"),
        pytest.param({"kind": "line", "x": [0.1, 0.5], "p": [0.2, 0.9]}, id="line"),
        pytest.param({"kind": "steps", "x": [0.1, 0.5], "p": [0.9, 0.5, 0.2]}, id="steps"),
        pytest.param({**LOGISTIC, "cuts": {"1": 0.5, "2": -1.0}}, id="ordinal"),
        pytest.param(SOFTMAX, id="softmax"),
    ],
)
def test_what_is_saved_is_read_again(tmp_path: Path, curve: dict[str, Any]) -> None:
    version = 2 if curve is SOFTMAX else 1
    saved = content(curve=curve, good_from=2, figures={"auc": 0.9}, evalstudio_calibration=version)
    calibration = Calibration.model_validate(saved)
    calibration.save(tmp_path / "deep" / "saved.json")
    assert load_calibration(tmp_path / "deep" / "saved.json") == calibration
    assert json.loads((tmp_path / "deep" / "saved.json").read_text())["evalstudio_calibration"] == version


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param("{", "is not JSON", id="no JSON"),
        pytest.param("[" * 100_000, "is not JSON", id="nested"),
        pytest.param([], "is not a calibration; `evalstudio calibrate", id="a list"),
        pytest.param({"a": 1}, "is not a calibration", id="another JSON"),
        pytest.param(
            content(evalstudio_calibration=3),
            "is a calibration of version 3; this version reads 1 and 2. Calibrate again",
            id="version",
        ),
        pytest.param(
            content(curve=SOFTMAX),
            "curve: files with the kind 'softmax' have the version 2",
            id="softmax of version 1",
        ),
        *(
            pytest.param(
                content(curve={**SOFTMAX, **change}, evalstudio_calibration=2),
                message,
                id=f"softmax: {message}",
            )
            for change, message in (
                ({"weights": [[1.0], [1.0, 2.0], [0.0]]}, "must have one entry for each of the 1 metrics"),
                ({"intercepts": [0.0]}, "levels, intercepts and weights must have the same length"),
                ({"levels": [1, 3, 2]}, "curve.levels: each level must be larger"),
                ({"good_from": 1}, "curve.good_from: must be above the lowest level"),
                ({"good_from": 4}, "curve.good_from: must be above the lowest level"),
            )
        ),
        pytest.param(content(extra=1), "extra: extra inputs are not permitted", id="unknown key"),
        pytest.param(content(metrics=[]), "metrics: list should have at least 1 item", id="no metrics"),
        pytest.param(
            content(metrics=content()["metrics"] * 2),
            "'groundedness.groundedness' is named twice",
            id="a metric twice",
        ),
        pytest.param(
            content(curve={**LOGISTIC, "weights": [1.0, 2.0]}),
            "must have one entry for each of the 1 metrics",
            id="weights",
        ),
        pytest.param(
            content(curve={**LOGISTIC, "scales": [0.0]}),
            "curve.logistic.scales.0: input should be greater than 0",
            id="a scale of 0",
        ),
        pytest.param(
            json.dumps(content(curve={**LOGISTIC, "intercept": float("nan")})),
            "intercept: expected a finite number",
            id="NaN",
        ),
        pytest.param(
            content(curve={"kind": "line", "x": [0.5, 0.5], "p": [0, 1]}),
            r"curve\.x: each value must be larger",
            id="x that stands",
        ),
        pytest.param(
            content(curve={"kind": "line", "x": [0.1, 0.2, 0.3], "p": [0, 1, 0.5]}),
            r"curve\.p: must be sorted, in ascending or descending order",
            id="p",
        ),
        pytest.param(
            content(curve={"kind": "line", "x": [0.5], "p": [2]}),
            "line.p.0: input should be less than or equal to 1",
            id="no chance",
        ),
        pytest.param(
            content(curve={"kind": "steps", "x": [0.5], "p": [0.2]}),
            "steps have one p more than x",
            id="steps",
        ),
        pytest.param(content(curve={"kind": "tree"}), "curve: ", id="another curve"),
        pytest.param(
            content(decision={"rule": "cost", "probability": 0.5, "price": 1}),
            "decision.price: extra inputs are not permitted",
            id="unknown key of a decision",
        ),
        pytest.param(
            content(decision=5), "decision: expected an object, found 5", id="a decision that is a number"
        ),
        pytest.param(
            content(decision={"rule": "balanced", "probability": 2}),
            "decision.probability: input should be less than 1",
            id="a decision that no answer reaches",
        ),
        pytest.param(
            content(conformal={"alpha": 0, "quantile": 0.4, "labels": 9}),
            "conformal.alpha: input should be greater than 0",
            id="alpha",
        ),
    ],
)
def test_what_is_no_calibration_is_told_with_its_place(tmp_path: Path, data: object, message: str) -> None:
    path = calibration_file(tmp_path, data)
    with pytest.raises(ConfigurationError, match=message) as exc_info:
        load_calibration(path)
    assert str(exc_info.value).startswith(f"{path}: ")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"none\.json: cannot be read: No such file"):
        load_calibration(tmp_path / "none.json")
