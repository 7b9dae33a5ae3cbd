"""Shares corrected for a judge's errors: by hand, against other methods, and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchmarks.judge_correction import Sample, Truth, coverage
from pytest_evalstudio.stats.clustered import ClusteredShare, clustered_share
from pytest_evalstudio.stats.rogan_gladen import JudgeErrors, Uncorrectable, corrected_share, judge_errors


def independent(successes: int, total: int) -> ClusteredShare:
    return ClusteredShare(successes=successes, total=total, clusters=total, effective=float(total))


def errors_of(hits: int, good: int, rejections: int, bad: int) -> JudgeErrors:
    return JudgeErrors(sensitivity=independent(hits, good), specificity=independent(rejections, bad))


def lang_reiczigel(
    passed: tuple[int, int], hits: tuple[int, int], rejections: tuple[int, int]
) -> list[float]:
    """The interval of the article of 2014, written down anew."""
    z = stats.norm.ppf(0.975)
    p_n, p = passed[1] + z**2, (passed[0] + z**2 / 2) / (passed[1] + z**2)
    s_n, s = hits[1] + 2, (hits[0] + 1) / (hits[1] + 2)
    c_n, c = rejections[1] + 2, (rejections[0] + 1) / (rejections[1] + 2)
    share = (p + c - 1) / (s + c - 1)
    shift = 2 * z**2 * (share * s * (1 - s) / s_n - (1 - share) * c * (1 - c) / c_n)
    variance = p * (1 - p) / p_n + share**2 * s * (1 - s) / s_n + (1 - share) ** 2 * c * (1 - c) / c_n
    half = z * math.sqrt(variance) / (s + c - 1)
    return [max(0.0, share + shift - half), min(1.0, share + shift + half)]


def test_the_value_by_hand() -> None:
    # 70 of 100 pass; 90 of 100 good ones pass, 80 of 100 bad ones fail: (0.7 + 0.8 - 1) / (0.9 + 0.8 - 1)
    result = corrected_share(independent(70, 100), errors_of(90, 100, 80, 100))
    assert result.value == pytest.approx(0.5 / 0.7)


def test_the_interval_by_hand() -> None:
    """The shares p with |q − p·s − (1 − p)(1 − c)| within its half width, on a fine grid."""
    result = corrected_share(independent(70, 100), errors_of(90, 100, 80, 100))
    t = stats.t.ppf(0.975, 99)
    q = (70 + t**2 / 2) / (100 + t**2)
    s, c = 91 / 102, 81 / 102
    p = np.linspace(0, 1, 1_000_001)
    squares = (
        t**2 * q * (1 - q) / (100 + t**2)
        + p**2 * t**2 * s * (1 - s) / 102
        + (1 - p) ** 2 * t**2 * c * (1 - c) / 102
    )
    shares = p[(q - p * s - (1 - p) * (1 - c)) ** 2 <= squares]
    assert result.interval == pytest.approx((shares[0], shares[-1]), abs=2e-4)


def test_a_perfect_judge_corrects_nothing() -> None:
    result = corrected_share(independent(70, 100), errors_of(500, 500, 500, 500))
    assert result.value == 0.7
    assert result.interval == pytest.approx((0.6, 0.78), abs=0.02)


@pytest.mark.parametrize(
    ("passed", "hits", "rejections"),
    [((700, 1000), (450, 500), (400, 500)), ((450, 1000), (900, 1000), (700, 1000))],
)
def test_with_many_answers_it_is_the_interval_of_lang_and_reiczigel(passed, hits, rejections) -> None:
    result = corrected_share(independent(*passed), errors_of(*hits, *rejections))
    assert result.interval == pytest.approx(lang_reiczigel(passed, hits, rejections), abs=0.004)


def test_fewer_labels_widen_the_interval() -> None:
    widths = []
    for labels in (20, 100, 1000):
        result = corrected_share(
            independent(140, 200), errors_of(labels * 9 // 10, labels, labels * 8 // 10, labels)
        )
        assert result.interval is not None
        widths.append(result.interval[1] - result.interval[0])
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > 2 * widths[2]


@pytest.mark.parametrize(
    ("errors", "reason"),
    [
        pytest.param(errors_of(50, 50, 0, 0), "too_few_labels", id="no bad answers"),
        pytest.param(errors_of(1, 1, 40, 50), "too_few_labels", id="one good answer"),
        pytest.param(errors_of(50, 50, 0, 50), "not_discriminating", id="passes everything"),
        pytest.param(errors_of(25, 50, 25, 50), "not_discriminating", id="a coin"),
        pytest.param(errors_of(5, 50, 5, 50), "not_discriminating", id="upside down"),
        pytest.param(errors_of(3, 3, 2, 3), "not_discriminating", id="six labels"),
        pytest.param(errors_of(498, 500, 250, 500), "out_of_range", id="fewer pass than of bad ones"),
    ],
)
def test_what_cannot_be_corrected_is_not(errors: JudgeErrors, reason: str) -> None:
    result = corrected_share(independent(10, 100), errors)
    assert (result.value, result.interval, result.reason) == (None, None, Uncorrectable(reason))


def test_errors_are_counted_by_question() -> None:
    result = judge_errors([2, 1, 0], [2, 0, 0], [0, 1, 3], [0, 1, 0])
    assert (result.sensitivity.successes, result.sensitivity.total, result.sensitivity.clusters) == (2, 3, 2)
    assert (result.specificity.successes, result.specificity.total, result.specificity.clusters) == (3, 4, 2)


def test_the_covariance_is_that_of_resampled_questions() -> None:
    rng = np.random.default_rng(3)
    questions = 400
    lenient = rng.random(questions) < 0.5
    good, bad = rng.integers(0, 4, questions), rng.integers(0, 4, questions)
    good_passed = rng.binomial(good, np.where(lenient, 0.95, 0.6))
    bad_passed = rng.binomial(bad, np.where(lenient, 0.5, 0.1))
    result = judge_errors(good.tolist(), good_passed.tolist(), bad.tolist(), bad_passed.tolist())
    draws = rng.integers(0, questions, size=(4_000, questions))
    hits = good_passed[draws].sum(axis=1) / good[draws].sum(axis=1)
    rejections = 1 - bad_passed[draws].sum(axis=1) / bad[draws].sum(axis=1)
    assert result.covariance < 0
    assert result.covariance == pytest.approx(np.cov(hits, rejections)[0, 1], rel=0.15)


@given(
    st.integers(1, 60),
    st.integers(0, 60),
    st.integers(0, 60),
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_a_corrected_share_lies_in_its_interval(total, good, bad, passed, hits, rejections) -> None:
    result = corrected_share(
        independent(round(passed * total), total),
        errors_of(round(hits * good), good, round(rejections * bad), bad),
    )
    assert (result.value is None) == (result.interval is None) == (result.reason != Uncorrectable.NONE)
    if result.value is not None and result.interval is not None:
        assert 0.0 <= result.interval[0] <= result.value <= result.interval[1] <= 1.0


def test_copies_of_answers_to_one_question_change_nothing() -> None:
    single = clustered_share([1, 0, 1, 1, 1, 0, 1, 1], [1] * 8)
    threefold = clustered_share([3, 0, 3, 3, 3, 0, 3, 3], [3] * 8)
    errors = errors_of(190, 200, 180, 200)
    narrow, wide = corrected_share(single, errors).interval, corrected_share(threefold, errors).interval
    assert narrow is not None
    assert wide is not None
    assert wide[1] - wide[0] >= narrow[1] - narrow[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("run", "labelled", "truth"),
    [
        (Sample(questions=50), Sample(questions=60), Truth(good=0.8, sensitivity=0.9, specificity=0.8)),
        (Sample(questions=200), Sample(questions=200), Truth(good=0.7, sensitivity=0.95, specificity=0.6)),
        (
            Sample(questions=60, answers=4),
            Sample(questions=60, answers=3),
            Truth(good=0.5, sensitivity=0.8, specificity=0.7, correlation=0.4),
        ),
    ],
)
def test_the_interval_covers_the_share_of_good_answers(run: Sample, labelled: Sample, truth: Truth) -> None:
    counts = coverage(truth, run, labelled, simulations=1_500, seed=1)
    assert counts.covered / counts.corrected >= 0.94
    assert counts.raw_covered / 1_500 < 0.93, "the uncorrected rate does not"


def test_the_covariance_by_hand() -> None:
    errors = judge_errors([1, 1, 1], [1, 0, 1], [1, 1, 1], [1, 0, 0])
    # residuals (1/3, -2/3), (-2/3, 1/3), (1/3, 1/3): their products sum to -1/3; (-1/3) / (3 * 3) * 3 / 2
    assert errors.covariance == pytest.approx(-1 / 18)


def test_one_question_has_no_covariance() -> None:
    assert judge_errors([1], [1], [1], [0]).covariance == 0.0


@pytest.mark.parametrize(("good", "bad"), [([2, 2], [0, 0]), ([0, 0], [2, 2])], ids=["no bad", "no good"])
def test_answers_of_one_kind_have_no_covariance(good: list[int], bad: list[int]) -> None:
    half = [count // 2 for count in good], [count // 2 for count in bad]
    assert judge_errors(good, half[0], bad, half[1]).covariance == 0.0


def test_the_covariance_of_two_questions_with_unequal_counts_by_hand() -> None:
    # shares 2/3 and 3/4; residuals (2/3, 1/4), (-2/3, -1/4): products sum to 1/3; (1/3) / (3 * 4) * 2 / 1
    assert judge_errors([2, 1], [2, 0], [1, 3], [0, 1]).covariance == pytest.approx(1 / 18)
