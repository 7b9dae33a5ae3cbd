"""The picture of a validation: a dot for each score, and the cutoffs."""

from __future__ import annotations

from xml.etree import ElementTree

from pytest_evalstudio.contrib.validation.methods.test_cases.plot import validation_picture
from pytest_evalstudio.contrib.validation.methods.test_cases.results import ValidatedCase, ValidationMetric

SVG = "{http://www.w3.org/2000/svg}"


def case(key: str, score: float | None, *, rejected: bool = False) -> ValidatedCase:
    return ValidatedCase(
        key=key,
        verdict="rejected" if rejected else "valid",
        reasons=(),
        scores={"cosine": score, "support": 0.5},
        outliers=(),
    )


def metric(cutoff: float, median: float | None = 0.5) -> ValidationMetric:
    return ValidationMetric(
        method="", note="", cutoff=cutoff, cases=3, min=0.0, q1=0.1, median=median, q3=0.9, max=1.0
    )


def test_each_score_is_a_dot_with_its_case() -> None:
    cases = [case("a", 0.9), case("b", 0.1, rejected=True), case("c", None)]
    root = ElementTree.fromstring(
        validation_picture(cases, {"cosine": metric(0.3), "support": metric(0.4, None)})
    )
    assert root.findtext(f"{SVG}title") == "Validation of 3 test cases"
    assert root.findtext(f"{SVG}desc") == (
        "2 valid, 1 rejected; cosine: cutoff 0.3, median 0.5; support: cutoff 0.4, median none"
    )
    tips = [
        dot.findtext(f"{SVG}title")
        for dot in root.iter(f"{SVG}circle")
        if dot.find(f"{SVG}title") is not None
    ]
    assert tips[:2] == ["b: 0.1, rejected", "a: 0.9, valid"]
    assert len(tips) == 5, "a case without a score has no dot"
