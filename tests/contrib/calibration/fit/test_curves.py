"""Curves: fitted by scikit-learn and statsmodels, applied in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from statsmodels.miscmodels.ordinal_model import OrderedModel

from pytest_evalstudio.contrib.calibration.fit.curves import Trees, fit, probabilities
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.scoring.calibration.curve import probability, sigmoid
from pytest_evalstudio.scoring.calibration.file import Line, Logistic, Method, Steps

UP, DOWN, COUNT = (
    Metric("up"),
    Metric("down", better="lower"),
    Metric("count", better="lower", range=(0.0, float("inf"))),
)
NEW = np.linspace(-0.2, 1.2, 141)[:, None]


def random_scores(seed: int = 0, count: int = 150) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    scores = rng.random((count, 1))
    return scores, (rng.random(count) < scores[:, 0] ** 1.5).astype(np.int64)


def fitted(method: Method, scores: np.ndarray, labels: np.ndarray, *metrics: Metric, good_from: int = 1):
    return fit(method, scores, labels, good_from=good_from, metrics=metrics or (UP,), seed=0)


class Score(ClassifierMixin, BaseEstimator):
    """A classifier whose decision function is its one feature."""

    def fit(self, scores: np.ndarray, labels: np.ndarray) -> Score:
        self.classes_ = np.array([0, 1])
        return self

    def decision_function(self, scores: np.ndarray) -> np.ndarray:
        return scores[:, 0]

    def predict(self, scores: np.ndarray) -> np.ndarray:
        return (scores[:, 0] > 0).astype(int)


@pytest.mark.parametrize("seed", range(5))
def test_logistic_is_platts_scaling(seed: int) -> None:
    scores, labels = random_scores(seed)
    platt = CalibratedClassifierCV(
        FrozenEstimator(Score().fit(scores, labels)), method="sigmoid", ensemble=False
    ).fit(scores, labels)
    result = fitted("logistic", scores, labels)
    assert probabilities(result, NEW) == pytest.approx(platt.predict_proba(NEW)[:, 1], abs=2e-4)


def test_a_metric_that_divides_the_labels_is_not_trusted_without_limit() -> None:
    scores = np.linspace(0, 1, 20)[:, None]
    result = fitted("logistic", scores, (scores[:, 0] > 0.5).astype(np.int64))
    assert 0.01 < probabilities(result, np.array([[0.0]]))[0] < 0.15


@pytest.mark.parametrize(("metric", "increasing"), [(UP, True), (DOWN, False)])
@pytest.mark.parametrize("seed", range(5))
def test_isotonic_is_scikit_learns_centred(seed: int, metric: Metric, increasing: bool) -> None:
    """At the centre of each level stretch it says what scikit-learn says there; between 0 and 1 no two scores
    share a probability.
    """
    scores, labels = random_scores(seed)
    labels = labels if increasing else 1 - labels
    reference = IsotonicRegression(y_min=0, y_max=1, increasing=increasing).fit_transform(
        scores[:, 0], labels
    )
    result = fitted("isotonic", scores, labels, metric)
    assert isinstance(result, Line)
    centres = {level: scores[reference == level].mean() for level in set(reference)}
    assert len(centres) > 5
    for level, centre in centres.items():
        assert probability(result, [centre]) == pytest.approx(level, abs=1e-12)
    curve = probabilities(result, np.unique(scores)[:, None])
    inner = curve[(curve > 0) & (curve < 1)]
    assert len(set(inner.tolist())) == len(inner) > 100
    assert (np.diff(curve) * (1 if increasing else -1) >= 0).all()


def test_centred_isotonic_by_hand() -> None:
    scores = np.array([0.1, 0.2, 0.3, 0.3, 0.4, 0.5, 0.6])[:, None]
    result = fitted("isotonic", scores, np.array([0, 1, 0, 0, 1, 1, 1]))
    # level 0 at 0.1; level 1/3 of 0.2, 0.3 and 0.3, whose mean is 0.8/3; level 1 from 0.4 to 0.6, which stays
    # as it is
    assert isinstance(result, Line)
    assert result.x == pytest.approx([0.1, 0.8 / 3, 0.4, 0.6])
    assert result.p == pytest.approx([0, 1 / 3, 1, 1])
    assert probability(result, [0.3]) == pytest.approx(1 / 3 + 2 / 3 * (0.3 - 0.8 / 3) / (0.4 - 0.8 / 3))
    assert [probability(result, [x]) for x in (0.0, 0.5, 0.9)] == [0, 1, 1]


@pytest.mark.parametrize("metric", [UP, DOWN])
@pytest.mark.parametrize("count", [60, 900])
def test_the_table_of_boosted_trees_is_the_trees(metric: Metric, count: int) -> None:
    scores, labels = random_scores(3, count)
    labels = labels if metric is UP else 1 - labels
    result = fitted("boosting", scores, labels, metric)
    assert isinstance(result, Steps)
    trees = HistGradientBoostingClassifier(
        monotonic_cst=[1 if metric is UP else -1],
        max_iter=50,
        max_leaf_nodes=8,
        min_samples_leaf=max(5, count // 20),
        early_stopping=False,
        random_state=0,
    ).fit(scores, labels)
    near = np.array(result.x)
    points = np.concatenate([NEW[:, 0], scores[:, 0], near, np.nextafter(near, 2)])[:, None]
    assert probabilities(result, points) == pytest.approx(trees.predict_proba(points)[:, 1], abs=1e-12)
    assert result.p == sorted(result.p, reverse=metric is DOWN)


def test_boosted_trees_of_several_metrics_never_fall_where_one_gets_better() -> None:
    rng = np.random.default_rng(4)
    scores = rng.random((200, 2))
    labels = (rng.random(200) < scores[:, 0] * (1 - scores[:, 1])).astype(np.int64)
    result = fitted("boosting", scores, labels, UP, DOWN)
    assert isinstance(result, Trees)
    line = np.linspace(0, 1, 50)
    assert (np.diff(probabilities(result, np.column_stack([line, np.full(50, 0.4)]))) >= 0).all()
    assert (np.diff(probabilities(result, np.column_stack([np.full(50, 0.6), line]))) <= 0).all()


def test_ordinal_is_statsmodels_proportional_odds() -> None:
    rng = np.random.default_rng(5)
    scores = rng.random((200, 1))
    labels = np.digitize(scores[:, 0] * 4 + rng.logistic(size=200), [1, 2, 3])
    result = fitted("ordinal", scores, labels, good_from=2)
    assert isinstance(result, Logistic)
    standard = (scores - scores.mean()) / scores.std()
    reference = OrderedModel(labels, standard, distr="logit").fit(method="bfgs", maxiter=500, disp=0)
    assert probabilities(result, scores) == pytest.approx(
        reference.predict(standard)[:, 2:].sum(axis=1), abs=1e-6
    )
    for level, cutpoint in result.cuts.items():
        at_least = [sigmoid(cutpoint + result.weights[0] * value) for value in standard[:, 0].tolist()]
        assert at_least == pytest.approx(reference.predict(standard)[:, level:].sum(axis=1), abs=1e-6)


def test_ordinal_of_two_levels_is_logistic() -> None:
    scores, labels = random_scores()
    assert fitted("ordinal", scores, labels * 3 + 1, good_from=4) == fitted("logistic", scores, labels)


def test_levels_count_as_good_from_the_one_that_is_named() -> None:
    scores, labels = random_scores()
    assert fitted("logistic", scores, labels + 1, good_from=2) == fitted("logistic", scores, labels)


def test_a_count_is_taken_by_its_logarithm() -> None:
    rng = np.random.default_rng(6)
    scores = rng.integers(0, 12, size=(120, 1)).astype(float)
    labels = (rng.random(120) < 1 / (1 + scores[:, 0])).astype(np.int64)
    result = fitted("logistic", scores, labels, COUNT)
    logs = fitted("logistic", np.log1p(scores), labels, DOWN)
    assert result.logs == [True]
    assert probabilities(result, scores) == pytest.approx(probabilities(logs, np.log1p(scores)), abs=1e-9)


@pytest.mark.parametrize("method", ["isotonic"])
def test_a_method_of_one_metric_refuses_two(method: Method) -> None:
    with pytest.raises(ConfigurationError, match="takes one metric; use --method logistic or boosting"):
        fitted(method, np.random.default_rng(0).random((30, 2)), np.arange(30) % 2, UP, DOWN)


def test_a_score_at_a_step_is_below_it() -> None:
    steps = Steps(x=[0.2, 0.5], p=[0.1, 0.4, 0.9])
    assert [probability(steps, [x]) for x in (0.0, 0.2, 0.21, 0.5, 0.51)] == [0.1, 0.1, 0.4, 0.4, 0.9]


def test_a_search_that_ends_short_of_its_tolerance_is_at_the_minimum() -> None:
    """Of these scores scikit-learn warns that it has not converged; the sums whose zeros make the minimum are
    0 to six digits.
    """
    rng = np.random.default_rng(816)
    scores = np.round(
        rng.random((int(rng.integers(2, 40)), int(rng.integers(1, 4)))), int(rng.integers(0, 3))
    )
    labels = (scores[:, 0] > 0.5).astype(int)
    result = fitted("logistic", scores, labels, *[Metric(str(number)) for number in range(scores.shape[1])])
    assert isinstance(result, Logistic)
    good, standard = int(labels.sum()), (scores - np.array(result.means)) / np.array(result.scales)
    gaps = probabilities(result, scores) - np.where(
        labels == 1, (good + 1) / (good + 2), 1 / (len(labels) - good + 2)
    )
    assert abs(gaps.sum()) < 1e-6
    weights = np.array(result.weights)
    gradient = gaps @ standard + (weights if scores.shape[1] > 1 else 0.0)
    assert gradient[weights != 0] == pytest.approx(0.0, abs=1e-6)
    assert (gradient[weights == 0] >= 0).all(), "a weight of 0 would only fall below it"


def test_ordinal_of_several_metrics_has_no_weight_against_a_direction() -> None:
    rng = np.random.default_rng(6)
    scores = rng.random((400, 3))
    labels = np.digitize(scores[:, 0] - 0.4 * scores[:, 2] + rng.normal(0, 0.1, 400), [0.1, 0.4])
    result = fitted("ordinal", scores, labels, Metric("a"), Metric("b"), Metric("c"))
    assert isinstance(result, Logistic)
    first, _, against = result.weights
    assert first > 1
    assert against == 0, "higher is declared better"
    assert result.cuts is not None
    assert result.cuts[1] > result.cuts[2]
    helpful = fitted("ordinal", scores, labels, Metric("a"), Metric("b"), Metric("c", better="lower"))
    assert helpful.weights[2] < 0
    single = fitted("ordinal", scores[:, :1], labels, Metric("a"))
    pair = fitted("ordinal", np.column_stack([scores[:, 0], np.zeros(400)]), labels, Metric("a"), Metric("b"))
    assert pair.weights[0] == pytest.approx(single.weights[0], rel=0.1), "a constant metric adds nothing"


def test_combined_weights_are_those_of_scikit_learn_where_no_sign_binds() -> None:
    rng = np.random.default_rng(7)
    scores = rng.random((300, 2))
    labels = (rng.random(300) < 1 / (1 + np.exp(-4 * (scores[:, 0] + scores[:, 1] - 1)))).astype(int)
    result = fitted("logistic", scores, labels, Metric("a"), Metric("b"))
    standard = (scores - np.array(result.means)) / np.array(result.scales)
    good, bad = int(labels.sum()), int((1 - labels).sum())
    targets = np.where(labels == 1, (good + 1) / (good + 2), 1 / (bad + 2))
    model = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000)
    model.fit(
        np.vstack([standard, standard]),
        np.repeat([1, 0], 300),
        sample_weight=np.concatenate([targets, 1 - targets]),
    )
    assert result.weights == pytest.approx(model.coef_[0].tolist(), abs=1e-5)
    assert result.intercept == pytest.approx(float(model.intercept_[0]), abs=1e-5)


@pytest.mark.parametrize(
    ("limits", "logs"),
    [((0, np.inf), [True]), ((0, 10), [False]), ((-1, np.inf), [False]), ((-np.inf, np.inf), [False])],
)
def test_only_counts_from_zero_are_taken_by_their_logarithm(
    limits: tuple[float, float], logs: list[bool]
) -> None:
    scores, labels = random_scores()
    assert fitted("logistic", scores, labels, replace(UP, range=limits)).logs == logs
