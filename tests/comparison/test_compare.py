"""Two records compared: classes of items, verdicts on metrics, and what else differs."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_evalstudio.comparison.compare import compare, item_class
from pytest_evalstudio.comparison.metrics import Limits
from pytest_evalstudio.comparison.results import Comparison
from pytest_evalstudio.comparison.sides import SideItem, of_model, read_side
from pytest_evalstudio.core.errors import ConfigurationError
from support.records import RecordBuilder, evaluator, perturbed, score

QUALITY = "quality"


def side(builder: RecordBuilder, **models: str) -> Any:
    return read_side(builder.run, builder.typed_items, models=models)


def record(values: list[float | None], *, prefix: str = "k", **header: Any) -> RecordBuilder:
    builder = RecordBuilder(evaluator(QUALITY), **header)
    for number, value in enumerate(values):
        outcome = score(value) if value is not None else {"status": "error", "reason": "no connection"}
        builder.add(f"{prefix}{number}", "one", {"outcomes": {QUALITY: outcome}})
    return builder


def compared(base: list[float | None], new: list[float | None], **limits: float) -> Comparison:
    return compare(side(record(base)), side(record(new)), limits=Limits(**limits))


@pytest.mark.parametrize(
    ("base", "new", "expected"),
    [
        ("passed", "failed", "regressed"),
        ("failed", "passed", "fixed"),
        ("failed", "failed", "still_failing"),
        ("passed", "passed", "still_passing"),
        (None, "failed", "new"),
        ("skipped", "passed", "new"),
        ("passed", None, "gone"),
        ("failed", "skipped", "gone"),
        ("passed", "error", "error_now"),
        (None, "error", "error_now"),
        ("error", "error", "error_now"),
        ("error", "passed", "error_then"),
        ("error", "failed", "error_then"),
        ("skipped", "skipped", None),
    ],
)
def test_an_item_has_one_class(base: str | None, new: str | None, expected: str | None) -> None:
    def item(outcome: str | None) -> SideItem | None:
        if outcome is None:
            return None
        return SideItem(
            nodeid="n",
            outcome=outcome,
            cluster=("f", "k"),
            flaky=False,
            scores={},
            case=b"",
            documents=(),
            duration_s=None,
            cost_usd=None,
            reason="",
            answer="",
        )

    assert item_class(item(base), item(new)) == expected


def test_counts_name_each_class_and_changes_show_regressions_first() -> None:
    base = record([1.0, 0.0, 0.0, 1.0, None])
    new = record([0.0, 1.0, 0.0, 1.0, 1.0])
    new.add("extra", "one", {"outcomes": {QUALITY: score(1.0)}})

    result = compare(side(base), side(new))

    assert result.items == {
        "regressed": 1,
        "fixed": 1,
        "still_failing": 1,
        "still_passing": 1,
        "new": 1,
        "gone": 0,
        "error_now": 0,
        "error_then": 1,
    }
    assert [change.item_class for change in result.changes] == [
        "regressed",
        "fixed",
        "still_failing",
        "new",
        "error_then",
    ]
    assert result.changes[0].key == "k0"
    assert [(score.base, score.new) for score in result.changes[0].scores] == [(1.0, 0.0)]


def test_equal_runs_are_not_worse() -> None:
    result = compared([1.0, 0.0, 1.0], [1.0, 0.0, 1.0])

    (metric,) = result.metrics
    assert (result.verdict, metric.verdict, metric.difference, metric.p) == (
        "not worse",
        "not worse",
        0.0,
        1.0,
    )
    assert (metric.low, metric.high) == (0.0, 0.0)
    assert not result.is_worse
    assert result.changed == ()


def test_a_clear_drop_is_worse() -> None:
    result = compared([1.0] * 40, [0.0] * 10 + [1.0] * 30)

    (metric,) = result.metrics
    assert result.verdict == metric.verdict == "worse"
    assert metric.difference == pytest.approx(-0.25)
    assert metric.low is not None
    assert metric.high is not None
    assert metric.low < -0.25 < metric.high < 0
    assert metric.p == pytest.approx(0.5**10)
    assert metric.n == 40


def test_an_allowed_drop_is_never_worse() -> None:
    assert compared([1.0] * 40, [0.0] * 10 + [1.0] * 30, allowed_drop=0.3).verdict == "inconclusive"


def test_a_drop_within_the_tolerance_is_not_worse() -> None:
    base = [0.9] * 50
    new = [0.89, 0.91] * 25
    assert compared(base, new).verdict == "not worse"
    assert compared(base, new, tolerance=0.0001).verdict == "inconclusive"


def test_few_cases_are_inconclusive_and_say_how_many_would_do() -> None:
    (metric,) = compared([1.0] * 10, [0.0, 0.0] + [1.0] * 8).metrics

    assert metric.verdict == "inconclusive"
    assert metric.smallest_detectable is not None
    assert metric.smallest_detectable >= 0.2
    assert metric.cases_needed is not None
    assert metric.cases_needed > 10


def test_for_a_metric_of_which_less_is_better_a_rise_is_worse() -> None:
    perplexity = {"better": "lower", "range": [0.0, "Infinity"], "threshold": 100.0}
    header = evaluator(QUALITY, {**evaluator(QUALITY)["metrics"][0], **perplexity})
    base, new = RecordBuilder(header), RecordBuilder(header)
    for number in range(30):
        base.add(f"k{number}", "one", {"outcomes": {QUALITY: score(20.0 + number)}})
        new.add(f"k{number}", "one", {"outcomes": {QUALITY: score(30.0 + number)}})

    (metric,) = compare(side(base), side(new)).metrics

    assert (metric.difference, metric.verdict) == (10.0, "worse")


def test_perturbations_count_with_their_original_as_one() -> None:
    base, new = RecordBuilder(evaluator(QUALITY)), RecordBuilder(evaluator(QUALITY))
    for builder, value in ((base, 1.0), (new, 0.0)):
        builder.add("a", "one", {"outcomes": {QUALITY: score(value)}})
        for number in range(9):
            row = {**perturbed("a", "comma:HIGH"), "outcomes": {QUALITY: score(value)}}
            builder.add(f"a-{number}", "one", row)
        for number in range(5):
            builder.add(f"b{number}", "one", {"outcomes": {QUALITY: score(1.0)}})

    (metric,) = compare(side(base), side(new)).metrics

    assert metric.n == 15
    assert metric.p == 0.5, "one original case fell"
    assert metric.verdict == "inconclusive"


def test_several_metrics_are_corrected_by_holm() -> None:
    headers = [evaluator("first"), evaluator("second")]
    base, new = RecordBuilder(*headers), RecordBuilder(*headers)
    for number in range(20):
        key = f"k{number}"
        base.add(key, "one", {"outcomes": {"first": score(1.0), "second": score(1.0)}})
        low = float(number >= 5)
        new.add(key, "one", {"outcomes": {"first": score(low), "second": score(low)}})

    metrics = compare(side(base), side(new)).metrics

    assert [metric.p for metric in metrics] == [0.03125, 0.03125]
    assert [metric.p_adjusted for metric in metrics] == [0.0625, 0.0625]
    assert {metric.verdict for metric in metrics} == {"inconclusive"}


def test_a_renamed_model_is_matched_by_its_old_name() -> None:
    base, new = record([1.0, 1.0], models=("old",)), record([1.0, 0.0], models=("one",))
    for item in base.items:
        item["model_key"] = "m-old"

    with pytest.raises(ConfigurationError, match="no item in common"):
        compare(side(base), side(new))

    assert compare(side(base, old="one"), side(new)).items["regressed"] == 1


def test_two_models_of_a_run_are_compared() -> None:
    builder = RecordBuilder(evaluator(QUALITY), models=("one", "two"))
    for number in range(6):
        builder.add(f"k{number}", "one", {"outcomes": {QUALITY: score(1.0)}})
        builder.add(f"k{number}", "two", {"outcomes": {QUALITY: score(0.0)}})
    both = side(builder)

    result = compare(of_model(both, "one", "two"), of_model(both, "two", "two"))

    assert result.items["regressed"] == 6
    assert str(result.base) == "one of run 0000"
    with pytest.raises(ConfigurationError, match="no model named 'three'"):
        of_model(both, "three", "")


def test_what_moved_is_named() -> None:
    def built(**changes: Any) -> RecordBuilder:
        entry = evaluator(
            QUALITY,
            **{key: value for key, value in changes.items() if key in ("judge", "embedder", "parameters")},
        )
        builder = RecordBuilder(entry, documents=changes.get("documents", {"fees.md": "aa", "faq.md": "bb"}))
        for number, corpus in enumerate((["fees.md"], ["faq.md"])):
            row = {
                "outcomes": {QUALITY: score(1.0)},
                "corpus": corpus,
                "input": changes.get("input", "What?"),
            }
            builder.add(f"k{number}", "one", row)
        return builder

    plain = side(built())
    changed = {
        "judge": compare(plain, side(built(judge={"templates": {"verdict": "2"}}))),
        "embedder": compare(plain, side(built(embedder="other"))),
        "evaluator": compare(plain, side(built(parameters={"strict": True}))),
        "case": compare(plain, side(built(input="What else?"))),
        "documents": compare(plain, side(built(documents={"fees.md": "cc", "faq.md": "bb"}))),
    }

    assert {name: result.changed for name, result in changed.items()} == {name: (name,) for name in changed}
    assert changed["case"].changed_cases == ("k0", "k1")
    assert changed["documents"].changed_documents == ("fees.md",)
    assert changed["documents"].document_cases == ("k0",)


def test_another_threshold_is_said() -> None:
    metric = {**evaluator(QUALITY)["metrics"][0], "threshold": 0.9}
    base = record([0.8])
    new = RecordBuilder(evaluator(QUALITY, metric))
    new.add("k0", "one", {"outcomes": {QUALITY: score(0.8)}})

    (note,) = compare(side(base), side(new)).notes

    assert note.startswith("the threshold of quality.score was 0.5 and is 0.9")
