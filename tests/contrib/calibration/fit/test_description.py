"""The description of a calibration on a terminal, line by line."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_evalstudio.contrib.calibration.fit.description import describe
from pytest_evalstudio.contrib.calibration.fit.results import (
    CalibrationFigures,
    ConformalFigures,
    ExpectedUse,
    LeftOut,
    LevelFigures,
    Refusal,
    RefusalCode,
    RunErrorRates,
    Weight,
)
from pytest_evalstudio.scoring.calibration.file import Decision

CONFORMAL = ConformalFigures(
    alpha=0.1,
    kind="class",
    quantile=0.5,
    quantile_good=0.4,
    quantile_bad=0.6,
    labels=60,
    coverage=0.91,
    coverage_interval=(0.85, 0.95),
    coverage_good=0.92,
    coverage_good_interval=(0.84, 0.97),
    coverage_bad=None,
    coverage_bad_interval=None,
    sets={"zero": 10, "one": 80, "both": 29, "empty": 1},
)
FIGURES = CalibrationFigures(
    n=120,
    good=70,
    tested=120,
    left_out=LeftOut(without_answer=0, without_score={"e.m": 0}),
    metrics=("e.m",),
    auc=0.9,
    auc_interval=(0.85, 0.95),
    auc_in_sample=0.9,
    auc_in_sample_interval=(0.84, 0.96),
    auc_cross_validated=0.88,
    auc_cross_validated_interval=None,
    best_single_auc=None,
    ece_before=None,
    ece_after=0.05,
    ece_after_interval=(0.02, 0.1),
    brier=0.125,
    brier_interval=None,
    type_1=0.25,
    type_1_interval=(0.2, 0.3),
    type_2=0.1,
    type_2_interval=(0.05, 0.2),
    kappa=0.6,
    before=None,
    conformal=CONFORMAL,
    folds=5,
    good_from=1,
    curve_labels=60,
    method="logistic",
    alpha=0.1,
    seed=0,
    threshold=0.712345,
    threshold_of="e.m",
    weights=None,
    intercept=None,
    notes=(),
    decision=Decision(rule="balanced", probability=0.625),
    expected=ExpectedUse(
        flagged=0.4,
        flagged_interval=(0.3, 0.5),
        misses_per_1000=42.4,
        misses_per_1000_interval=(20.0, 70.0),
        false_alarms_per_1000=100.0,
        false_alarms_per_1000_interval=(70.0, 130.0),
    ),
)


def lines(**changes: Any) -> list[str]:
    return list(describe(replace(FIGURES, **changes)))


def test_a_calibration_of_one_metric_is_described_by_its_figures() -> None:
    assert lines() == [
        "e.m: logistic, 120 labelled answers, 70 of them good",
        "threshold               0.7123 of e.m",
        (
            "chosen by               smallest balanced error, the mean of type I and type II; answers pass"
            " from a probability of 0.625 on"
        ),
        "area under ROC          0.900  95% interval 0.840 to 0.960",
        "cross-validated over 5 folds:",
        "area under ROC          0.880",
        "calibration error       0.050  95% interval 0.020 to 0.100",
        "Brier score             0.125",
        "type I: good but fails  0.250  95% interval 0.200 to 0.300",
        "type II: bad but passes 0.100  95% interval 0.050 to 0.200",
        "Cohen’s kappa           0.600",
        "expected: flagged       0.400 of all answers  95% interval 0.300 to 0.500",
        "expected: misses        42 bad answers that pass per 1,000  95% interval 20 to 70",
        "coverage                0.910  95% interval 0.850 to 0.950; wanted 0.9 of each kind",
        "coverage of good        0.920  95% interval 0.840 to 0.970",
        "conformal sets          80 good, 10 bad; uncertain: 29 either, 1 neither",
    ]


def test_what_is_left_out_is_counted() -> None:
    left_out = LeftOut(without_answer=3, without_score={"e.m": 2, "e.n": 0})
    assert [line for line in lines(left_out=left_out) if line.startswith("left out")] == [
        "left out: 3 labels of answers that are not in the results",
        "left out: 2 labelled answers without a score by e.m",
    ]


def test_the_thresholds_of_run_and_calibration_are_compared() -> None:
    before = RunErrorRates(
        threshold=0.5,
        type_1=0.5,
        type_1_interval=None,
        type_2=None,
        type_2_interval=None,
        kappa=0.0,
        kappa_interval=None,
    )
    text = lines(before=before, ece_before=0.2)
    assert "threshold               0.7123 of e.m  (the run's: 0.5)" in text
    assert (
        "calibration error       0.050  95% interval 0.020 to 0.100  (of the score as it is: 0.200)" in text
    )
    assert [line for line in text if "by the run's threshold" in line] == [
        "type I: good but fails  0.250  95% interval 0.200 to 0.300  (by the run's threshold: 0.500)",
        "Cohen’s kappa           0.600  (by the run's threshold: 0.000)",
    ]


def test_weights_have_the_sign_and_the_scale_of_their_score() -> None:
    weights = {
        "e.m": Weight(weight=1.5, mean=0.123456, scale=0.5, log=False),
        "e.n": Weight(weight=-0.25, mean=2.0, scale=1.0, log=True),
    }
    text = lines(weights=weights, intercept=-0.5, metrics=("e.m", "e.n"), best_single_auc=0.85)
    assert [line for line in text if line.startswith(("weight", "intercept", "of the best"))] == [
        "weight                  +1.500 × (e.m − 0.1235) / 0.5",
        "weight                  -0.250 × (log(1 + e.n) − 2) / 1",
        "intercept               -0.500",
        "of the best metric      0.850  (area under ROC of one alone)",
    ]
    assert text[0].startswith("e.m, e.n: logistic")


def test_costs_are_compared_with_those_of_a_verdict_without_a_score() -> None:
    expected = replace(
        FIGURES.expected,
        cost_per_1000=250.0,
        cost_per_1000_interval=(200.0, 300.0),
        trivial_cost_per_1000=400.0,
        trivial_verdict="fails",
    )
    text = lines(expected=expected)
    assert "expected: cost          250 per 1,000 answers  95% interval 200 to 300" in text
    assert "cost without a score    400 if every answer fails" in text


def test_levels_have_their_own_coverage() -> None:
    levels = LevelFigures(
        coverage=0.9, coverage_interval=(0.8, 0.95), by_level={1: 0.875, 2: 1.0}, mean_size=1.25
    )
    conformal = replace(CONFORMAL, kind="marginal", levels=levels)
    text = lines(conformal=conformal)
    assert "coverage                0.910  95% interval 0.850 to 0.950; wanted 0.9 of all together" in text
    assert text[-1] == (
        "coverage of levels      0.900  95% interval 0.800 to 0.950; 1: 0.88, 2: 1.00; 1.25 levels in a set"
    )


def test_a_refused_calibration_has_no_threshold_and_its_reasons() -> None:
    refusal = Refusal(code=RefusalCode.NO_THRESHOLD, text="no score divides")
    text = list(describe(replace(FIGURES, notes=("so",)).with_refusals((refusal,))))
    assert "threshold               none: the calibration is refused" in text
    assert text[-2:] == ["note: so", "refused: no score divides"]
    assert "threshold               none" in lines(threshold=None)


def test_candidates_and_held_out_answers_are_named() -> None:
    text = lines(candidates=("e.m", "e.n"), folds=None, tested=40)
    assert text[1] == "chosen by the labels, in each fold anew, among e.m, e.n"
    assert "of 40 answers that the curve was not fitted to:" in text
