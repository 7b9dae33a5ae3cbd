"""Expected use of all thresholds of a guardrail, by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_evalstudio.analysis.stored_scores import read_scores
from pytest_evalstudio.contrib.calibration.fit.guardrail import guardrail_use
from pytest_evalstudio.record.score_table import Scores
from pytest_evalstudio.stats.risk_rule import RiskRule
from support.records import RecordBuilder, evaluator, metric, score

COSTS = RiskRule(rule="cost", cost_type_i=1.0, cost_type_ii=3.0)
THRESHOLDS = {"quality.score": 0.5, "toxicity.score": 0.3}
ANSWERS = {  # quality, toxicity
    "good": (0.9, 0.1),
    "at both thresholds": (0.5, 0.3),
    "poor": (0.4, 0.1),
    "toxic": (0.9, 0.4),
    "not scored by one": (0.9, None),
    "uncertain": (0.2, 0.9),
}
DRAWN_AT_RANDOM = {
    "good": True,
    "at both thresholds": False,
    "poor": True,
    "toxic": False,
    "not scored by one": True,
}


def scores(folder: Path) -> Scores:
    builder = RecordBuilder(evaluator("quality"), evaluator("toxicity", metric(better="lower")))
    for key, (quality, toxicity) in ANSWERS.items():
        outcomes = {"quality": score(quality)}
        if toxicity is not None:
            outcomes["toxicity"] = score(toxicity)
        builder.add(key, "one", {"outcomes": outcomes})
    return read_scores([builder.write(folder)])


def good_answers(labels: dict[str, bool]) -> dict[tuple[str, str], bool]:
    return {(key, "m-one"): good for key, good in labels.items()}


def test_the_shares_are_of_the_answers_drawn_at_random(tmp_path: Path) -> None:
    use = guardrail_use(scores(tmp_path), good_answers(DRAWN_AT_RANDOM), THRESHOLDS, COSTS, seed=0)

    assert use is not None
    assert use.flagged == pytest.approx(2 / 5)  # poor, toxic
    assert use.misses_per_1000 == pytest.approx(1000 / 5)  # at both thresholds
    assert use.false_alarms_per_1000 == pytest.approx(1000 / 5)  # poor
    assert use.cost_per_1000 == pytest.approx(1000 * (1 * 1 + 3 * 1) / 5)


def test_a_perfect_guardrail_misses_nothing_and_a_broken_one_passes_every_bad_answer(tmp_path: Path) -> None:
    good = good_answers(dict(zip(ANSWERS, (True, True, False, False, True, False), strict=True)))
    broken = {"quality.score": 0.0, "toxicity.score": 1.0}

    perfect = guardrail_use(scores(tmp_path), good, THRESHOLDS, COSTS, seed=0)
    useless = guardrail_use(scores(tmp_path), good, broken, COSTS, seed=0)

    assert perfect is not None
    assert useless is not None
    assert (perfect.flagged, perfect.misses_per_1000, perfect.cost_per_1000) == (0.5, 0.0, 0.0)
    assert (useless.flagged, useless.misses_per_1000, useless.cost_per_1000) == (0.0, 500.0, 1500.0)


def test_without_thresholds_or_random_labels_nothing_is_expected(tmp_path: Path) -> None:
    assert guardrail_use(scores(tmp_path), good_answers(DRAWN_AT_RANDOM), {}, COSTS, seed=0) is None
    assert guardrail_use(scores(tmp_path), {}, THRESHOLDS, COSTS, seed=0) is None
