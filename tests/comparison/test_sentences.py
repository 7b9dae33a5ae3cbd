"""The sentences of a comparison name what matters most."""

from __future__ import annotations

from pytest_evalstudio.comparison.compare import compare
from pytest_evalstudio.comparison.sentences import summary_of
from pytest_evalstudio.comparison.sides import Side, read_side
from support.records import RecordBuilder, boolean_evaluator, evaluator, score

CASES = 40


def side(*, is_base: bool) -> Side:
    """Return a run in which 12 of 40 answers became wrong, and all lost a little of their wording."""
    builder = RecordBuilder(evaluator("wording"), boolean_evaluator())
    for number in range(CASES):
        passes = 1.0 if is_base or number >= 12 else 0.0
        outcomes = {
            "wording": score(0.6 if is_base else 0.59),
            "text_matching": score(passes, "model_passes"),
        }
        builder.add(f"k{number}", "one", {"outcomes": outcomes})
    return read_side(builder.run, builder.typed_items)


def test_the_largest_proven_drop_is_named_not_the_surest_one() -> None:
    comparison = compare(side(is_base=True), side(is_base=False))
    worse = [metric for metric in comparison.metrics if metric.verdict == "worse"]
    assert min(worse, key=lambda metric: metric.p_adjusted).evaluator == "wording"
    assert "text_matching.model_passes of one by 0.3 (" in summary_of(comparison).follows
