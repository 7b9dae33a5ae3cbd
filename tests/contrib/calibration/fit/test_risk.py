"""Thresholds by risk, and calibrations that labels do not support."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_evalstudio.cli import main
from pytest_evalstudio.contrib.calibration.fit.calibrate import Calibrated, calibrate
from pytest_evalstudio.contrib.calibration.fit.decision import risk_rule
from pytest_evalstudio.contrib.calibration.fit.results import RefusalCode
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.record.score_table import Column, Scores, TableAnswer
from pytest_evalstudio.scoring.calibration.conformal import conformal_set
from pytest_evalstudio.scoring.calibration.curve import probability
from pytest_evalstudio.scoring.calibration.file import load_calibration
from pytest_evalstudio.stats.risk_rule import RiskRule
from pytest_evalstudio.text.figures import figure, percent
from support.labelled import scores_and_labels, write_labels, write_record

pytestmark = pytest.mark.slow

Labels = dict[tuple[str, str], int]


def answers(*columns: np.ndarray, each: int = 1, **metric: Any) -> Scores:
    """Answers with a score in each column; `each` answers have the same question."""
    table = Scores()
    for at in range(len(columns)):
        name = f"e{at}"
        table.columns[f"{name}.m"] = Column(evaluator=name, metric=Metric("m", **metric))
    for number, values in enumerate(zip(*columns, strict=True)):
        key, model = f"k{number // each}", f"m{number % each}"
        table.answers["f", key, model] = TableAnswer(
            file="f",
            key=key,
            model_key=model,
            test_key="",
            categories=(),
            scores={f"e{at}.m": {1: float(value)} for at, value in enumerate(values)},
        )
    return table


def labelled(table: Scores, labels: np.ndarray) -> Labels:
    return {identity[1:]: int(label) for identity, label in zip(table.answers, labels, strict=True)}


def calibration_of(scores: np.ndarray, labels: np.ndarray, *, each: int = 1, **options: Any) -> Calibrated:
    metric = {name: options.pop(name) for name in ("range", "better") if name in options}
    table = answers(scores, each=each, **metric)
    return calibrate(table, labelled(table, labels), ["e0.m"], **options)


def rag(seed: int, count: int = 300, share: float = 0.8) -> tuple[np.ndarray, np.ndarray]:
    """Mostly good answers, whose scores overlap with those of the bad ones."""
    rng = np.random.default_rng(seed)
    labels = rng.random(count) < share
    return np.clip(rng.normal(np.where(labels, 0.7, 0.45), 0.15), 0, 1), labels


def test_the_default_balances_both_errors_where_even_odds_let_bad_answers_pass() -> None:
    scores, labels = rag(0)
    calibrated = calibration_of(scores, labels)
    figures, saved = calibrated.figures, calibrated.calibration
    assert saved is not None
    assert figures.decision.rule == "balanced"
    assert abs(figures.type_1 - figures.type_2) < 0.15
    even = np.array([probability(saved.curve, [score]) >= 0.5 for score in scores])
    assert even[~labels].mean() > 2 * figures.type_2
    assert saved.cut == figures.decision.probability > 0.7


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0.1, 0.2])
def test_a_limit_holds_on_new_answers(limit: float) -> None:
    errors, promised = [], []
    for seed in range(4):
        scores, labels = rag(seed)
        calibrated = calibration_of(scores, labels, rule=RiskRule(rule="max_type_ii", limit=limit))
        new, truth = rag(100 + seed, 2000)
        errors.append((new >= calibrated.figures.threshold)[~truth].mean())
        promised.append(calibrated.figures.type_2)
    assert np.mean(errors) <= limit + 0.02
    assert np.mean(promised) == pytest.approx(np.mean(errors), abs=0.03), "the figures are honest"


def test_type_i_may_be_limited_instead() -> None:
    figures = calibration_of(*rag(1), rule=RiskRule(rule="max_type_i", limit=0.05)).figures
    assert figures.type_1 <= 0.07
    assert figures.type_2 > figures.type_1


def test_costs_move_the_threshold() -> None:
    scores, labels = rag(2)
    cheap, dear = (
        calibration_of(scores, labels, rule=risk_rule(cost=cost)).figures for cost in ("1:1", "1:20")
    )
    assert dear.threshold > cheap.threshold
    assert dear.type_2 < cheap.type_2
    expected = dear.expected
    wrong = expected.false_alarms_per_1000 + 20 * expected.misses_per_1000
    assert expected.cost_per_1000 == pytest.approx(wrong)
    low, high = expected.cost_per_1000_interval
    assert low < expected.cost_per_1000 < high
    assert calibration_of(scores, labels).figures.expected.cost_per_1000 is None


def test_the_expected_use_follows_from_errors_and_the_share_of_bad_answers() -> None:
    scores, labels = rag(3)
    figures = calibration_of(scores, labels).figures
    bad = 1 - labels.mean()
    assert figures.expected.misses_per_1000 == pytest.approx(1000 * bad * figures.type_2)
    assert figures.expected.flagged == pytest.approx(bad * (1 - figures.type_2) + (1 - bad) * figures.type_1)


def test_an_unattainable_limit_is_refused_with_the_best_that_there_is() -> None:
    scores, labels = rag(4)
    scores[:40] = 1.0
    labels[:10] = False
    calibrated = calibration_of(scores, labels, rule=RiskRule(rule="max_type_ii", limit=0.01))
    (refusal,) = calibrated.figures.refusals
    assert refusal.code == RefusalCode.TARGET_UNATTAINABLE
    assert refusal.text.startswith(
        "max_type_ii = 0.01: no threshold of e0.m attains it with 300 labels; the best is"
    )
    assert calibrated.figures.threshold is None
    with pytest.raises(ConfigurationError, match=r"c\.json: not written: max_type_ii = 0\.01"):
        calibrated.save(Path("c.json"))


def test_labels_against_the_direction_are_refused() -> None:
    scores, labels = rag(5)
    codes = [refusal.code for refusal in calibration_of(1 - scores, labels).figures.refusals]
    assert RefusalCode.AGAINST_DIRECTION in codes
    assert calibration_of(1 - scores, labels, better="lower").figures.is_accepted


def test_a_threshold_beyond_the_range_is_refused() -> None:
    scores, labels = rag(6)
    calibrated = calibration_of(scores * 3, labels, range=(0.0, 1.0))
    assert [refusal.code for refusal in calibrated.figures.refusals] == [RefusalCode.THRESHOLD_OUT_OF_RANGE]
    assert "is outside the metric's range, 0 to 1" in calibrated.figures.refusals[0].text


@pytest.mark.parametrize("each", [1, 4])
def test_labels_that_have_nothing_to_do_with_scores_are_refused(each: int) -> None:
    assert accepted_count(each, range(6)) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("each", [1, 4])
def test_at_most_one_in_twenty_permuted_calibrations_is_accepted(each: int) -> None:
    # 5 % of 40, and one and a half standard errors. Without the comparison of the area's interval with 0.5,
    # 10 (each = 1) and 13 (each = 4) of these calibrations are accepted.
    assert accepted_count(each, range(1000, 1040)) <= 4


def accepted_count(each: int, seeds: range) -> int:
    """Return the number of accepted calibrations by labels that are permuted."""
    count = 0
    for seed in seeds:
        scores, labels = rag(seed, 80, 0.6)
        permuted = np.random.default_rng(seed).permutation(labels)
        figures = calibration_of(scores, permuted, each=each, seed=seed).figures
        count += figures.is_accepted
        assert figures.is_accepted or {refusal.code for refusal in figures.refusals} & {
            RefusalCode.AUC_HOLDS_HALF,
            RefusalCode.AGAINST_DIRECTION,
            RefusalCode.ERRORS_AS_BY_CHANCE,
        }
    return count


def test_permuted_labels_of_several_metrics_are_refused() -> None:
    count = 0
    for seed in range(3):
        scores, labels = rag(seed, 80, 0.6)
        rng = np.random.default_rng(seed)
        table = answers(scores, rng.random(80), rng.random(80))
        permuted = labelled(table, rng.permutation(labels))
        count += calibrate(table, permuted, list(table.columns), seed=seed).figures.is_accepted
    assert count == 0


def test_answers_to_the_same_question_make_intervals_wider() -> None:
    scores, labels = rag(7)
    unique_figures = calibration_of(scores, labels).figures
    cluster_figures = calibration_of(np.repeat(scores, 4), np.repeat(labels, 4), each=4).figures
    width = asdict(cluster_figures)["type_2_interval"][1] - asdict(cluster_figures)["type_2_interval"][0]
    assert width > 0.75 * (unique_figures.type_2_interval[1] - unique_figures.type_2_interval[0])


def test_areas_in_sample_and_cross_validated_are_told_apart() -> None:
    rng = np.random.default_rng(8)
    scores, labels = rag(8, 60, 0.6)
    table = answers(scores, *(rng.random(60) for _ in range(5)))
    figures = calibrate(table, labelled(table, labels), list(table.columns)).figures
    assert figures.auc_in_sample > figures.auc_cross_validated
    assert figures.auc_in_sample_interval[0] < figures.auc_in_sample < figures.auc_in_sample_interval[1]
    assert figures.auc_cross_validated_interval[0] < figures.auc_cross_validated
    assert 0.5 < figures.best_single_auc < 1
    assert all(weight.weight >= 0 for weight in figures.weights.values())


def test_a_combined_score_that_is_no_better_than_one_metric_is_named() -> None:
    scores, labels = rag(9, 100)
    rng = np.random.default_rng(9)
    noisy = [scores + rng.normal(0, 0.6, 100) for _ in range(4)]
    table = answers(scores, *noisy, range=(-np.inf, np.inf))
    figures = calibrate(table, labelled(table, labels), list(table.columns)).figures
    is_noted = any("is no better than the best single metric" in note for note in figures.notes)
    assert is_noted == (figures.auc_cross_validated <= figures.best_single_auc)


@pytest.mark.slow
def test_sets_cover_good_and_bad_answers_by_default() -> None:
    good, bad, marginal_bad = [], [], []
    for seed in range(4):
        scores, labels = rag(seed, 300)
        conformal = calibration_of(scores, labels).figures.conformal
        good.append(conformal.coverage_good)
        bad.append(conformal.coverage_bad)
        marginal_bad.append(
            calibration_of(scores, labels, coverage="marginal").figures.conformal.coverage_bad
        )
    assert np.mean(good) == pytest.approx(0.9, abs=0.03)
    assert np.mean(bad) == pytest.approx(0.9, abs=0.05)
    assert np.mean(marginal_bad) < 0.75


def test_too_few_bad_labels_for_their_sets_are_named() -> None:
    scores, labels = rag(10, 60)
    conformal = calibration_of(scores, labels)
    assert conformal.calibration.conformal.quantile_bad == 1.0
    assert any(
        note.startswith("too few labels of bad answers: every conformal set holds bad")
        for note in conformal.figures.notes
    )


def test_levels_have_sets_of_their_own(tmp_path: Path) -> None:
    rng = np.random.default_rng(11)
    scores = rng.random(400)
    labels = np.digitize(scores + rng.normal(0, 0.1, 400), [0.25, 0.5, 0.75])
    table = answers(scores)
    calibrated = calibrate(table, labelled(table, labels), ["e0.m"], method="ordinal", good_from=2)
    levels = calibrated.figures.conformal.levels
    assert levels.coverage == pytest.approx(0.9, abs=0.06)
    assert set(levels.by_level) == {0, 1, 2, 3}
    assert min(levels.by_level.values()) > 0.8
    assert 1 <= levels.mean_size < 3
    calibrated.save(tmp_path / "c.json")
    loaded_calibration = load_calibration(tmp_path / "c.json")
    high, middle = (
        conformal_set(
            loaded_calibration.conformal,
            probability(loaded_calibration.curve, [score]),
            loaded_calibration.curve,
            [score],
        )
        for score in (0.99, 0.5)
    )
    assert high.levels == (3,)
    assert {1, 2} <= set(middle.levels)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["--max-type-i", "0.1", "--cost", "1:2"], "not allowed with argument", id="two targets"),
        pytest.param(["--max-type-ii", "1.5"], "max_type_ii = 1.5: must lie between 0 and 1", id="limit"),
        pytest.param(["--cost", "1"], "cost = '1': expected two positive numbers", id="one cost"),
        pytest.param(["--cost", "1:-2"], "cost = '1:-2': expected two positive numbers", id="negative"),
        pytest.param(["--coverage", "all"], "no coverage 'all'; there are class, marginal", id="coverage"),
    ],
)
def test_targets_that_make_no_sense_are_usage_errors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    scores, labels = scores_and_labels()
    files = [str(write_record(tmp_path, scores)), str(write_labels(tmp_path / "labels.csv", labels))]
    try:
        status = main(["calibrate", *files, "--metric", "quality", *arguments])
    except SystemExit as exc:
        status = exc.code
    assert status == 2
    assert message in capsys.readouterr().err


def test_the_command_states_the_rule_and_saves_the_cut(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores, labels = scores_and_labels()
    record, path = str(write_record(tmp_path, scores)), str(write_labels(tmp_path / "labels.csv", labels))
    saved = tmp_path / "c.json"
    command = ["calibrate", record, path, "--metric", "quality"]
    assert main([*command, "--max-type-ii", "0.2", "-o", str(saved)]) == 0
    output = capsys.readouterr().out
    assert "type II at most 0.2, smallest type I; answers pass from a probability of" in output
    assert load_calibration(saved).decision.limit == 0.2
    assert main([*command, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["decision"]["rule"] == "balanced"
    assert figures["accepted"] is True
    assert {"coverage", "coverage_good", "coverage_bad"} <= figures["conformal"].keys()


def test_the_command_refuses_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores, labels = scores_and_labels()
    record = str(write_record(tmp_path, scores))
    path = str(write_labels(tmp_path / "labels.csv", [1 - label for label in labels]))
    saved = tmp_path / "c.json"
    command = ["calibrate", record, path, "--metric", "quality"]
    assert main([*command, "-o", str(saved)]) == 1
    output = capsys.readouterr()
    assert "refused: quality.quality (higher is better): the labels go against" in output.out
    assert "not written, because the calibration is refused" in output.err
    assert not saved.exists()
    assert main([*command, "--json"]) == 1
    figures = json.loads(capsys.readouterr().out)
    assert figures["accepted"] is False
    assert figures["refusals"][0]["code"] == "against_direction"


def test_errors_as_by_chance_are_refused() -> None:
    """Make 80 labels: 60 follow the scores, and the 20 that are drawn at random contradict them."""
    scores = np.concatenate([np.linspace(0, 1, 60), np.linspace(0, 1, 20)])
    labels = scores > 0.5
    labels[[2, 57]] ^= True
    labels[60:] = np.arange(20) % 2 == 0
    labels[60:66], labels[74:] = True, False
    table = answers(scores)
    at_random = {identity[1:] for identity in list(table.answers)[60:]}
    figures = calibrate(table, labelled(table, labels), ["e0.m"], drawn=at_random).figures
    assert (figures.type_1, figures.type_2) == (0.8, 0.8)
    assert [refusal.code for refusal in figures.refusals] == [RefusalCode.ERRORS_AS_BY_CHANCE]
    assert figures.threshold is None


def weak(seed: int, count: int = 400) -> tuple[Any, Any]:
    """Return scores that hardly divide good from bad answers (area under ROC about 0.66), and labels."""
    rng = np.random.default_rng(seed)
    labels = rng.random(count) < 0.6
    return np.clip(rng.normal(np.where(labels, 0.55, 0.45), 0.17), 0, 1), labels


@pytest.mark.parametrize(
    ("rule", "name", "result"),
    [
        ("max_type_ii", "type I", "good answers fail"),
        ("max_type_i", "type II", "bad answers pass"),
    ],
)
def test_a_limit_at_the_price_of_most_other_answers_is_refused(rule: Any, name: str, result: str) -> None:
    figures = calibration_of(*weak(0), rule=RiskRule(rule=rule, limit=0.1)).figures
    (refusal,) = figures.refusals
    price = figures.type_1 if rule == "max_type_ii" else figures.type_2
    assert price > 0.5
    assert refusal.code == RefusalCode.PRICE_TOO_HIGH
    assert refusal.text.startswith(f"{rule} = 0.1: its price is {name} {figure(price)} (95 % interval ")
    assert f"{percent(price)} of the {result}" in refusal.text
    assert figures.threshold is None


def test_a_limit_with_a_fair_price_is_accepted() -> None:
    figures = calibration_of(*rag(1), rule=RiskRule(rule="max_type_ii", limit=0.1)).figures
    assert (figures.type_1 < 0.5, figures.refusals) == (True, ())


@pytest.mark.parametrize(("cost", "verdict"), [("1:12", "fails"), ("12:1", "passes")])
def test_costs_that_a_rule_without_scores_meets_as_cheaply_are_named(cost: str, verdict: str) -> None:
    scores, labels = weak(0)
    figures = calibration_of(scores, labels, rule=risk_rule(cost=cost)).figures
    expected = figures.expected
    type_i, type_ii = map(float, cost.split(":"))
    by_hand = min(1000 * type_i * labels.mean(), 1000 * type_ii * (~labels).mean())
    assert expected.trivial_cost_per_1000 == pytest.approx(by_hand)
    (refusal,) = figures.refusals
    assert refusal.code == RefusalCode.TRIVIAL_RULE
    assert expected.cost_per_1000 >= by_hand
    assert f"every answer {verdict}" in refusal.text


def test_costs_that_scores_lower_are_accepted() -> None:
    figures = calibration_of(*rag(2), rule=risk_rule(cost="1:3")).figures
    assert figures.refusals == ()
    assert figures.expected.cost_per_1000 < figures.expected.trivial_cost_per_1000


def test_labels_choose_the_metric_that_agrees_with_them() -> None:
    informative, labels = rag(3, 100)
    noise = np.random.default_rng(4).random(100)
    table = answers(noise, informative, 1 - informative)
    calibrated = calibrate(table, labelled(table, labels), list(table.columns), chooses=True)
    figures, saved = calibrated.figures, calibrated.calibration
    assert figures.metrics == ("e1.m",)
    assert figures.candidates == ("e0.m", "e1.m", "e2.m")
    assert figures.is_accepted
    assert saved is not None
    assert [metric.evaluator for metric in saved.metrics] == ["e1"]
    single_metric = calibrate(table, labelled(table, labels), ["e1.m"])
    assert single_metric.calibration is not None
    assert saved.curve == single_metric.calibration.curve


def test_labels_choose_among_metrics_whose_lower_scores_are_better() -> None:
    informative, labels = rag(3, 100)
    noise = np.random.default_rng(4).random(100)
    table = answers(noise, 0.95 - 0.9 * informative, better="lower")
    figures = calibrate(table, labelled(table, labels), list(table.columns), chooses=True).figures
    assert (figures.metrics, figures.is_accepted) == (("e1.m",), True)


@pytest.mark.slow
def test_a_choice_among_metrics_without_information_is_refused() -> None:
    """Of 20 metrics of noise one agrees well with the labels that choose it, and not with others."""
    accepted = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        table = answers(*rng.random((20, 80)))
        truth = labelled(table, rng.random(80) < 0.5)
        figures = calibrate(table, truth, list(table.columns), chooses=True).figures
        assert figures.auc_in_sample > 0.55
        accepted += figures.is_accepted
    assert accepted <= 1


def test_a_choice_takes_two_metrics() -> None:
    table = answers(np.linspace(0, 1, 40))
    with pytest.raises(ConfigurationError, match="takes two or more"):
        calibrate(table, labelled(table, np.arange(40) > 20), ["e0.m"], chooses=True)
