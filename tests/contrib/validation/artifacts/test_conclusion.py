"""Conclusions by hand-made decisions: shares, findings and missing evidence."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_evalstudio.contrib.validation.artifacts.conclusion import (
    Conclusion,
    ConclusionDecision,
    ConclusionFinding,
    concluded,
    min_cases,
)
from pytest_evalstudio.contrib.validation.methods.controls.deciding import DecidingMetric
from pytest_evalstudio.contrib.validation.methods.controls.results import ControlCount, ControlResults
from pytest_evalstudio.stats.intervals import wilson_interval

METRIC = DecidingMetric(metric="match.passes", better="higher", threshold=0.5, basis="yes_or_no")
COUNT = ControlCount(control="expected_answer", must_pass=True, tested=100, contradicted=0)
CONTROLS = ControlResults(counts=(COUNT,), tested=100)
LOW = ConclusionFinding(text="a", is_high=False, metrics=("match.passes",))
HIGH = ConclusionFinding(text="b", is_high=True, metrics=("match.passes",))
OTHER = ConclusionFinding(text="c", is_high=True, metrics=("rouge.rouge_2",))
LEAK = ConclusionFinding(text="d", is_high=True, metrics=("match",))
WRITTEN = ConclusionFinding(text="e", is_high=True, metrics=())


def decision(passed: int, judged: int, **changes: Any) -> ConclusionDecision:
    return ConclusionDecision(
        **{
            "metrics": (METRIC,),
            "passed": passed,
            "judged": judged,
            "interval": wilson_interval(passed, judged) if judged else None,
            "min_share": 0.8,
            "min_cases": min_cases(0.8),
            "controls": CONTROLS,
            "undecided": (),
            **changes,
        }
    )


def codes(conclusion: Conclusion) -> list[str]:
    return [gap.code for gap in conclusion.gaps]


@pytest.mark.parametrize("share", [0.5, 0.75, 0.8, 0.9, 0.95, 0.99])
def test_from_the_minimum_number_on_a_faultless_result_reaches_the_required_share(share: float) -> None:
    cases = min_cases(share)
    assert wilson_interval(cases, cases)[0] >= share
    assert wilson_interval(cases - 1, cases - 1)[0] < share


@pytest.mark.parametrize(
    ("passed", "judged", "findings", "fitness"),
    [
        (100, 100, [], "fit"),
        (100, 100, [OTHER], "fit"),
        (100, 100, [LOW], "fit with limits"),
        (100, 100, [HIGH], "not fit"),
        (100, 100, [LEAK], "not fit"),
        (100, 100, [WRITTEN], "not fit"),
        (85, 100, [], "fit with limits"),  # interval 0.767 to 0.907, narrower than 0.2
        (78, 100, [], "not fit"),  # interval 0.689 to 0.850
        (17, 20, [], "insufficient evidence"),  # interval 0.640 to 0.948
        (5, 100, [], "not fit"),
        (15, 15, [], "insufficient evidence"),
        (16, 16, [], "fit"),
        (0, 15, [], "insufficient evidence"),
    ],
)
def test_share_and_findings_make_the_conclusion(
    passed: int, judged: int, findings: list[ConclusionFinding], fitness: str
) -> None:
    assert concluded(decision(passed, judged), findings, {}).fitness == fitness


@pytest.mark.parametrize(
    ("changes", "incomplete", "code", "also_if_unfit"),
    [
        ({"metrics": ()}, {}, "nothing_decides", True),
        ({"controls": ControlResults()}, {}, "not_controlled", True),
        (
            {"controls": ControlResults(counts=(COUNT,), tested=100, cases=dict.fromkeys("abcdef", ("x",)))},
            {},
            "controls_contradict",
            True,
        ),
        ({"undecided": ("rouge.rouge_l",)}, {}, "not_calibrated", False),
        ({}, {"robustness_adversarial": "Attacks"}, "not_tested", False),
    ],
)
def test_missing_evidence_has_a_code(
    changes: dict[str, Any], incomplete: dict[str, str], code: str, also_if_unfit: bool
) -> None:
    good = concluded(decision(100, 100, **changes), [], incomplete)
    assert (good.fitness, codes(good)) == ("insufficient evidence", [code])
    bad = concluded(decision(5, 100, **changes), [], incomplete)
    assert bad.fitness == ("insufficient evidence" if also_if_unfit else "not fit")


def test_five_of_a_hundred_contradicted_cases_leave_a_conclusion() -> None:
    controls = ControlResults(counts=(COUNT,), tested=100, cases=dict.fromkeys("abcde", ("x",)))
    assert concluded(decision(95, 95, controls=controls), [], {}).fitness == "fit"


def test_a_calibration_that_no_deciding_score_needs_may_wait() -> None:
    assert concluded(decision(100, 100), [], {"human_calibration": "Labels"}).fitness == "fit"


def test_an_uncontrolled_evaluator_that_decides_is_a_limit() -> None:
    controls = ControlResults(counts=(COUNT,), tested=100, not_controlled={"match": "no budget", "x": "y"})
    conclusion = concluded(decision(100, 100, controls=controls), [], {})
    assert (conclusion.fitness, conclusion.limits) == (
        "fit with limits",
        ("not controlled: match (no budget)",),
    )


def test_without_an_evaluation_there_is_no_conclusion() -> None:
    assert concluded(None, [WRITTEN], {}).fitness == "not assessed"
