"""Calibration by people's labels, from files to figures and back."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, roc_auc_score

from pytest_evalstudio.analysis.stored_scores import read_scores
from pytest_evalstudio.contrib.calibration.fit.calibrate import calibrate
from pytest_evalstudio.contrib.calibration.fit.curves import probabilities
from pytest_evalstudio.contrib.calibration.fit.description import describe
from pytest_evalstudio.contrib.calibration.fit.results import RefusalCode
from pytest_evalstudio.contrib.calibration.fit.sample import TooFewLabels, sample
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.formats.labels import read_labels
from pytest_evalstudio.report.build import build_report
from pytest_evalstudio.scoring.calibration.curve import probability
from pytest_evalstudio.scoring.calibration.file import METHODS, load_calibration
from pytest_evalstudio.stats.conformal import nonconformity
from support.labelled import KEYS, scores_and_labels, write_labels, write_record
from support.records import RecordBuilder, evaluator, metric, perturbed, score


def calibrated(
    folder: Path,
    scores: list[Any],
    labels: Any,
    metrics: str = "quality",
    *,
    levels: bool = False,
    **options: Any,
):
    more = {name: options.pop(name) for name in ("better", "second") if name in options}
    record = write_record(folder, scores, **more)
    names = metrics.split(",")
    return calibrate(
        read_scores([record]),
        read_labels(write_labels(folder / "labels.csv", labels), levels=levels),
        names,
        **options,
    )


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("better", ["higher", "lower"])
def test_every_method_calibrates_and_what_is_saved_says_the_same(
    tmp_path: Path, method: Any, better: Any
) -> None:
    scores, labels = scores_and_labels()
    scores = scores if better == "higher" else [1 - value for value in scores]
    calibration = calibrated(tmp_path, scores, labels, method=method, better=better)
    figures = calibration.figures
    assert asdict(figures).keys() >= KEYS
    assert figures.n == 120
    assert figures.auc == pytest.approx(
        roc_auc_score(labels, scores if better == "higher" else [-value for value in scores])
    )
    assert figures.conformal.coverage == pytest.approx(0.9, abs=0.08)
    assert sum(figures.conformal.sets.values()) == 120
    assert 0.55 < (figures.threshold if better == "higher" else 1 - figures.threshold) < 0.9, (
        "the truth is 0.71"
    )
    calibration.save(tmp_path / "saved.json")
    loaded_calibration = load_calibration(tmp_path / "saved.json")
    assert loaded_calibration == calibration.calibration
    passing = [
        probability(loaded_calibration.curve, [figures.threshold + step]) >= loaded_calibration.cut
        for step in (-1e-6, 1e-6)
    ]
    assert passing == [better == "lower", better == "higher"]


@pytest.mark.slow
def test_no_figure_is_of_answers_that_the_curve_was_fitted_to(tmp_path: Path) -> None:
    """Labels that have nothing to do with the scores: a flexible curve would learn them by heart."""
    rng = np.random.default_rng(1)
    figures = calibrated(
        tmp_path, rng.random(300).tolist(), rng.integers(0, 2, 300).tolist(), method="boosting"
    ).figures
    assert figures.brier > 0.25
    assert abs(figures.kappa) < 0.15
    assert figures.type_1 + figures.type_2 == pytest.approx(1.0, abs=0.15)


def test_the_folds_and_halves_do_not_share_answers(tmp_path: Path) -> None:
    scores, labels = scores_and_labels()
    record = write_record(tmp_path, scores)
    table = read_scores([record])
    data = sample(table, read_labels(write_labels(tmp_path / "l.csv", labels)), [table.column("quality")])
    test_rows = []
    for training, test in data.folds(7):
        curve, conformal = data.halves(training, 7)
        assert not {*curve} & {*conformal}
        assert not {*test} & {*training}
        assert {*curve} | {*conformal} == {*training}
        assert abs(len(curve) - len(conformal)) <= 2
        test_rows += test.tolist()
    assert sorted(test_rows) == list(range(120))


def test_figures_are_those_of_scikit_learn_on_held_out_answers(tmp_path: Path) -> None:
    from pytest_evalstudio.contrib.calibration.fit.curves import fit

    scores, labels = scores_and_labels(3)
    figures = calibrated(tmp_path, scores, labels, seed=5).figures
    table = read_scores([tmp_path / "record.jsonl"])
    column = table.column("quality")
    data = sample(table, read_labels(tmp_path / "labels.csv"), [column])
    held_out, covered = np.empty(len(data)), []
    for training, test in data.folds(5):
        rows, others = data.halves(training, 5)
        curve = fit(
            "logistic", data.scores[rows], data.labels[rows], good_from=1, metrics=[column.metric], seed=5
        )
        held_out[test] = probabilities(curve, data.scores[test])
        distances = sorted(nonconformity(probabilities(curve, data.scores[others]), data.labels[others]))
        limit = distances[math.ceil(0.9 * (len(others) + 1)) - 1]
        covered += (nonconformity(held_out[test], data.labels[test]) <= limit).tolist()
    assert figures.brier == pytest.approx(brier_score_loss(data.labels, held_out))
    assert figures.conformal.coverage == pytest.approx(np.mean(covered))


def test_several_metrics_make_one_score_with_weights(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    scores, words = rng.random(160), rng.integers(1, 200, 160)
    labels = (
        (rng.random(160) < 1 / (1 + np.exp(-(6 * scores - 1.2 * np.log1p(words) + 1.5)))).astype(int).tolist()
    )
    options = {"second": words.astype(float).tolist()}
    figures = calibrated(tmp_path, scores.tolist(), labels, "quality.quality,words", **options).figures
    assert (figures.threshold, figures.threshold_of, figures.ece_before) == (
        figures.decision.probability,
        "calibrated_probability",
        None,
    )
    weights = figures.weights
    assert weights["quality.quality"].weight > 0
    assert weights["length.words"].weight == 0, "more words are declared better, and labels say the opposite"
    assert [entry.log for entry in weights.values()] == [False, True]
    assert "without weight, since labels give them none in their direction: length.words" in figures.notes[0]


def test_levels_need_to_be_told_from_which_on_an_answer_is_good(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    scores = rng.random(150)
    labels = np.digitize(scores + rng.normal(0, 0.15, 150), [0.3, 0.7]).tolist()
    with pytest.raises(
        ConfigurationError, match=r"levels 0, 1, 2: give the lowest level that counts as good, e.g. --good 2"
    ):
        calibrated(tmp_path, scores.tolist(), labels, levels=True)
    lenient, strict = (
        calibrated(tmp_path, scores.tolist(), labels, levels=True, method="ordinal", good_from=level).figures
        for level in (1, 2)
    )
    assert lenient.threshold == pytest.approx(0.3, abs=0.12), "balanced error: most answers are good"
    assert strict.threshold == pytest.approx(0.7, abs=0.12)
    assert lenient.good > strict.good


def test_ordinal_of_two_levels_says_that_it_is_logistic(tmp_path: Path) -> None:
    scores, labels = scores_and_labels()
    ordinal, logistic = (
        calibrated(tmp_path, scores, labels, method=method).figures for method in ("ordinal", "logistic")
    )
    assert "logistic regression" in ordinal.notes[0]
    assert ordinal.threshold == logistic.threshold


def test_the_same_seed_gives_the_same_figures(tmp_path: Path) -> None:
    first, repeat, other = (
        calibrated(tmp_path, *scores_and_labels(), seed=seed).figures for seed in (1, 1, 2)
    )
    assert first == repeat
    assert first != other


def test_missing_and_infinite_scores_are_left_out_and_counted(tmp_path: Path) -> None:
    scores, labels = scores_and_labels()
    scores[0], scores[1], scores[2] = None, "Infinity", "-Infinity"
    figures = calibrated(tmp_path, scores, [*labels, 1, 0]).figures
    assert figures.n == 117
    assert asdict(figures.left_out) == {"without_answer": 2, "without_score": {"quality.quality": 3}}
    text = "\n".join(describe(figures))
    assert "left out: 2 labels of answers that are not in the results" in text
    assert "left out: 3 labelled answers without a score by quality.quality" in text


def test_answers_to_one_case_stay_together(tmp_path: Path) -> None:
    builder = RecordBuilder(evaluator("quality", metric("quality")), models=("one", "two"))
    labels = {}
    for number in range(30):
        for model in ("one", "two"):
            builder.add(f"k{number}", model, {"outcomes": {"quality": score(number / 30, "quality")}})
            labels[f"k{number}", f"m-{model}"] = number % 2
        builder.add(
            f"p{number}",
            "one",
            {"outcomes": {"quality": score(0.5, "quality")}, **perturbed(f"k{number}", "comma:HIGH")},
        )
        labels[f"p{number}", "m-one"] = number % 2
    table = read_scores([builder.write(tmp_path)])
    data = sample(table, labels, [table.column("quality")])
    assert len(data) == 90
    assert len({*data.cases.tolist()}) == 30
    for training, test in data.folds(1):
        assert not {*data.cases[training].tolist()} & {*data.cases[test].tolist()}


def test_repeats_count_with_their_mean(tmp_path: Path) -> None:
    builder = RecordBuilder(evaluator("quality", metric("quality")))
    builder.add("k", "one", *({"outcomes": {"quality": score(value, "quality")}} for value in (0.2, 0.6)))
    answer = next(iter(read_scores([builder.write(tmp_path)]).answers.values()))
    assert answer.score("quality.quality") == pytest.approx(0.4)


def test_results_files_records_and_reports_say_the_same(tmp_path: Path) -> None:
    scores, labels = scores_and_labels()
    record = write_record(tmp_path, scores, second=[1.0 + number for number in range(120)])
    report = build_report(record, tmp_path / "report", aggregates={})
    files = [
        folder / "global_llm_eval_results" / "application_json" / "explanation.json"
        for folder in report.explainers.values()
    ]
    record.rename(tmp_path / "report" / "record.jsonl")
    stored_labels = read_labels(write_labels(tmp_path / "labels.csv", labels))
    sources = [
        files,
        list(report.explainers.values()),
        [tmp_path / "report"],
        [tmp_path / "report" / "record.jsonl"],
    ]
    figures = [
        calibrate(read_scores(source), stored_labels, ["quality", "words"]).figures for source in sources
    ]
    assert all(entry == figures[0] for entry in figures)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        pytest.param(
            [0, 1] * 13,
            "13 good and 13 bad labelled answers are too few: label at least 28 answers",
            id="few",
        ),
        pytest.param([1] * 40, "40 good and 0 bad labelled answers are too few", id="one kind"),
        pytest.param(
            [0] * 36 + [1] * 4, "4 good and 36 bad .* including 10 good and 10 bad ones", id="few of a kind"
        ),
    ],
)
def test_too_few_labels_are_told_with_how_many_there_must_be(
    tmp_path: Path, labels: list[int], message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        calibrated(tmp_path, scores_and_labels()[0][: len(labels)], labels)


def test_just_enough_labels_do(tmp_path: Path) -> None:
    assert calibrated(tmp_path, scores_and_labels()[0][:28], [0, 1] * 14).figures.n == 28
    with pytest.raises(ConfigurationError, match=r"at least 53 answers \(required by alpha = 0.05\)"):
        calibrated(tmp_path, scores_and_labels()[0][:50], [0, 1] * 25, alpha=0.05)


def test_constant_scores_tell_nothing(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigurationError, match=r"all 40 labelled answers have the same score 0\.5 by quality\.quality"
    ):
        calibrated(tmp_path, [0.5] * 40, [0, 1] * 20)


def test_a_metric_that_people_contradict_has_no_threshold_and_is_not_saved(tmp_path: Path) -> None:
    scores, labels = scores_and_labels()
    calibration = calibrated(tmp_path, scores, [1 - label for label in labels])
    assert (calibration.figures.threshold, calibration.figures.auc < 0.3) == (None, True)
    assert [refusal.code for refusal in calibration.figures.refusals] == [RefusalCode.AGAINST_DIRECTION]
    assert "none: the calibration is refused" in "\n".join(describe(calibration.figures))
    with pytest.raises(ConfigurationError, match=r"not written: .*labels go against the metric's direction"):
        calibration.save(tmp_path / "c.json")
    assert not (tmp_path / "c.json").exists()


def test_boosted_trees_of_several_metrics_are_measured_and_not_saved(tmp_path: Path) -> None:
    scores, labels = scores_and_labels()
    calibration = calibrated(
        tmp_path, scores, labels, "quality,words", second=list(map(float, range(120))), method="boosting"
    )
    assert calibration.figures.auc > 0.6
    with pytest.raises(
        ConfigurationError, match="boosted trees over several metrics cannot be saved; use --method logistic"
    ):
        calibration.save(tmp_path / "c.json")


@pytest.mark.parametrize(
    ("metrics", "options", "message"),
    [
        pytest.param("qualtiy", {}, "no metric 'qualtiy'. Did you mean 'quality'", id="metric"),
        pytest.param("quality,quality.quality", {}, "quality.quality is named twice", id="twice"),
        pytest.param(
            "quality,words,words", {"second": [*range(120)]}, "length.words is named twice", id="last twice"
        ),
        pytest.param("quality", {"alpha": 1.0}, "alpha = 1.0: must lie between 0 and 1", id="alpha"),
        pytest.param(
            "quality", {"alpha": math.nan}, "alpha = nan: must lie between", id="alpha that is no number"
        ),
        pytest.param("quality", {"method": "magic"}, "no method 'magic'; there are logistic", id="method"),
    ],
)
def test_what_makes_no_sense_is_told(
    tmp_path: Path, metrics: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        calibrated(tmp_path, *scores_and_labels(), metrics, **options)


def test_where_some_answers_were_drawn_at_random_the_figures_are_theirs(tmp_path: Path) -> None:
    scores, labels = scores_and_labels()
    record = write_record(tmp_path, scores)
    stored_labels = read_labels(write_labels(tmp_path / "labels.csv", labels))
    at_random = {(f"k{number}", "m-one") for number in range(0, 120, 3)}
    marginal_result = calibrate(
        read_scores([record]), stored_labels, ["quality"], drawn=at_random, coverage="marginal"
    )
    figures, calibration = marginal_result.figures, marginal_result.calibration
    assert calibration is not None
    assert (figures.n, figures.tested, figures.folds) == (120, 40, None)
    assert (calibration.labels, calibration.conformal.labels) == (80, 40)
    tested = np.array([number for number in range(120) if number % 3 == 0])
    result = np.array([probability(calibration.curve, [scores[number]]) for number in tested])
    good = np.array(labels)[tested]
    assert figures.auc == pytest.approx(roc_auc_score(good, np.array(scores)[tested]))
    assert figures.brier == pytest.approx(brier_score_loss(good, result))
    # the 37th of 40 rising nonconformity scores: ceil(41 × 0.9)
    assert calibration.conformal.quantile == sorted(nonconformity(result, good))[36]
    assert figures.conformal.coverage == pytest.approx(37 / 41)
    assert sum(figures.conformal.sets.values()) == 40
    assert "of 40 answers that the curve was not fitted to:" in "\n".join(describe(figures))


@pytest.mark.parametrize(
    ("good_for_curve", "good_at_random", "count", "message"),
    [
        pytest.param(
            4,
            5,
            20,
            r"of the 20 answers that the curve is fitted to, 4 are good and 16 are bad; at least 5 of each",
            id="the curve",
        ),
        pytest.param(
            10,
            4,
            8,
            r"only 8 labelled answers were drawn at random; alpha = 0.1 needs 9",
            id="the quantile",
        ),
        pytest.param(
            10,
            0,
            20,
            r"all 20 labelled answers drawn at random are bad, so error rates cannot be estimated",
            id="one kind",
        ),
    ],
)
def test_parts_with_too_few_labels(
    tmp_path: Path, good_for_curve: int, good_at_random: int, count: int, message: str
) -> None:
    labels = (
        [1] * good_for_curve
        + [0] * (20 - good_for_curve)
        + [1] * good_at_random
        + [0] * (count - good_at_random)
    )
    record = write_record(tmp_path, np.linspace(0, 1, len(labels)).tolist())
    stored_labels = read_labels(write_labels(tmp_path / "labels.csv", labels))
    with pytest.raises(TooFewLabels, match=message):
        calibrate(
            read_scores([record]),
            stored_labels,
            ["quality"],
            drawn={(f"k{number}", "m-one") for number in range(20, len(labels))},
        )
