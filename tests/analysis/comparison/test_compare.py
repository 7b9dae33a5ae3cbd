"""Two records compared: classes of items, verdicts on metrics, and what else differs."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_evalstudio.analysis.comparison.compare import compare
from pytest_evalstudio.analysis.comparison.markdown import comparison_markdown
from pytest_evalstudio.analysis.comparison.matching import item_class
from pytest_evalstudio.analysis.comparison.metrics import ComparisonLimits
from pytest_evalstudio.analysis.comparison.results import Comparison
from pytest_evalstudio.analysis.comparison.sentences import summary_of
from pytest_evalstudio.analysis.comparison.sides import SideItem, of_model, read_side
from pytest_evalstudio.analysis.comparison.text import comparison_lines, metric_line
from pytest_evalstudio.core.errors import ConfigurationError
from support.records import RecordBuilder, evaluator, perturbed, score

QUALITY = "quality"
EMPTY_ANSWER: dict[str, Any] = {
    "context": [],
    "context_sources": [],
    "actual_output": "",
    "actual_duration": 0.0,
    "cost": None,
    "usage": {},
    "retries": 0,
    "error": "",
}


def side(builder: RecordBuilder, **models: str) -> Any:
    return read_side(builder.run, builder.typed_items, models=models)


def old_side(builder: RecordBuilder) -> Any:
    """A run whose record has no digests of its test cases."""
    return read_side(builder.run, builder.undigested_items)


def record(values: list[float | None], *, prefix: str = "k", **header: Any) -> RecordBuilder:
    builder = RecordBuilder(evaluator(QUALITY), **header)
    for number, value in enumerate(values):
        outcome = score(value) if value is not None else {"status": "error", "reason": "no connection"}
        builder.add(f"{prefix}{number}", "one", {"outcomes": {QUALITY: outcome}})
    return builder


def comparison_of(base: list[float | None], new: list[float | None], **limits: float) -> Comparison:
    return compare(side(record(base)), side(record(new)), limits=ComparisonLimits(**limits))


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
        ("error", "error", "still_error"),
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
        "still_error": 0,
        "test_changed": 0,
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


def test_equal_runs_are_not_worse_where_there_are_enough_cases() -> None:
    result = comparison_of([1.0, 0.0, 1.0] * 30, [1.0, 0.0, 1.0] * 30)

    (metric,) = result.metrics
    assert (result.verdict, metric.verdict, metric.difference, metric.p) == (
        "not worse",
        "not worse",
        0.0,
        1.0,
    )
    assert metric.low is not None
    assert metric.high is not None
    assert -0.05 < metric.low < 0 < metric.high
    assert not result.is_worse
    assert result.changed == ()


def test_a_clear_drop_is_worse() -> None:
    result = comparison_of([1.0] * 40, [0.0] * 10 + [1.0] * 30)

    (metric,) = result.metrics
    assert result.verdict == metric.verdict == "worse"
    assert metric.difference == pytest.approx(-0.25)
    assert metric.low is not None
    assert metric.high is not None
    assert metric.low < -0.25 < metric.high < 0
    assert metric.p == pytest.approx(0.5**10)
    assert metric.n == 40


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        (0, "not worse"),
        # 2 of 400 may have fallen by 1: the limit 0.0092 of 398 equal pairs grows to 0.0142.
        (2, "not worse"),
        # 17 of 400: 0.0425 + 0.9575 * 0.0096 = 0.0517
        (17, "inconclusive"),
        (80, "inconclusive"),
    ],
)
def test_new_errors_may_hide_a_drop(errors: int, expected: str) -> None:
    result = comparison_of([1.0] * 400, [None] * errors + [1.0] * (400 - errors))

    (metric,) = result.metrics
    assert (result.verdict, metric.verdict, metric.new_errors) == (expected, expected, errors)
    assert metric.max_drop == pytest.approx(1 - 0.045 ** (1 / (400 - errors)), rel=0.1)
    if expected == "inconclusive":
        assert f"Nothing can be said about other questions: {errors} cases are errors now" in str(
            summary_of(result)
        )
        assert metric_line(metric).endswith(f"; {errors} new errors may hide a drop")
        assert metric.cases_needed is None


def test_errors_of_both_runs_and_errors_that_are_gone_hide_nothing() -> None:
    assert comparison_of([None] * 80 + [1.0] * 320, [None] * 80 + [1.0] * 320).verdict == "not worse"
    assert comparison_of([None] * 80 + [1.0] * 320, [1.0] * 400).verdict == "not worse"


def test_a_drop_is_worse_beside_errors() -> None:
    assert comparison_of([1.0] * 100, [None] * 50 + [0.0] * 20 + [1.0] * 30).verdict == "worse"


def test_an_allowed_drop_is_never_worse() -> None:
    assert comparison_of([1.0] * 40, [0.0] * 10 + [1.0] * 30, allowed_drop=0.3).verdict == "inconclusive"


def test_a_drop_within_the_tolerance_is_not_worse() -> None:
    base = [0.9] * 100
    new = [0.89, 0.91] * 50
    assert comparison_of(base, new).verdict == "not worse"
    assert comparison_of(base, new, tolerance=0.0001).verdict == "inconclusive"


def test_few_cases_are_inconclusive_and_say_how_many_would_do() -> None:
    (metric,) = comparison_of([1.0] * 10, [0.0, 0.0] + [1.0] * 8).metrics

    assert metric.verdict == "inconclusive"
    assert metric.smallest_detectable is not None
    assert metric.smallest_detectable >= 0.5
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


def test_a_metric_without_any_change_is_no_test_of_the_family() -> None:
    headers = [evaluator("first"), evaluator("second")]
    base, new = RecordBuilder(*headers), RecordBuilder(*headers)
    for number in range(20):
        base.add(f"k{number}", "one", {"outcomes": {"first": score(1.0), "second": score(1.0)}})
        row = {"outcomes": {"first": score(float(number >= 5)), "second": score(1.0)}}
        new.add(f"k{number}", "one", row)

    first, second = compare(side(base), side(new)).metrics

    assert (first.p_adjusted, first.verdict) == (0.03125, "worse")
    assert (second.p_adjusted, second.verdict) == (1.0, "inconclusive")


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
    def record_with_changes(**changes: Any) -> RecordBuilder:
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

    plain = old_side(record_with_changes())
    changed = {
        "judge": compare(plain, old_side(record_with_changes(judge={"templates": {"verdict": "2"}}))),
        "embedder": compare(plain, old_side(record_with_changes(embedder="other"))),
        "evaluator": compare(plain, old_side(record_with_changes(parameters={"strict": True}))),
        "case": compare(plain, old_side(record_with_changes(input="What else?"))),
        "documents": compare(
            plain, old_side(record_with_changes(documents={"fees.md": "cc", "faq.md": "bb"}))
        ),
    }

    assert {name: result.changed for name, result in changed.items()} == {name: (name,) for name in changed}
    assert compare(plain, old_side(record_with_changes())).changed == ()
    assert changed["case"].changed_cases == ("k0", "k1")
    assert changed["documents"].changed_documents == ("fees.md",)
    assert changed["documents"].document_cases == ("k0",)


@pytest.mark.parametrize(("version", "changed"), [("0.1.0", ()), ("0.2.0", ("evaluator",))])
def test_another_version_of_the_tool_is_a_change_of_its_evaluators(
    version: str, changed: tuple[str, ...]
) -> None:
    new = record([1.0], tool={"name": "pytest-evalstudio", "version": version})
    assert compare(side(record([1.0])), side(new)).changed == changed


def test_another_threshold_is_said() -> None:
    metric = {**evaluator(QUALITY)["metrics"][0], "threshold": 0.9}
    base = record([0.8])
    new = RecordBuilder(evaluator(QUALITY, metric))
    new.add("k0", "one", {"outcomes": {QUALITY: score(0.8)}})

    blind, note = compare(old_side(base), side(new)).notes

    assert blind.startswith(
        "tests that were edited cannot be seen: the base run has test cases without digest"
    )
    assert note.startswith("the threshold of quality.score was 0.5 and is 0.9")


def test_runs_without_an_evaluator_in_common_are_inconclusive_and_say_so() -> None:
    base, new = RecordBuilder(evaluator("first")), RecordBuilder(evaluator("second"))
    for number in range(80):
        base.add(f"k{number}", "one", {"outcomes": {"first": score(1.0)}})
        new.add(f"k{number}", "one", {"outcomes": {"second": score(1.0)}})

    result = compare(side(base), side(new))

    assert (result.verdict, result.metrics, result.is_worse) == ("inconclusive", (), False)
    text = str(summary_of(result))
    assert text == (
        "no case changed. Nothing follows for other questions: the runs have no evaluator in common."
    )


def test_scores_that_only_one_run_has_are_inconclusive_and_said() -> None:
    result = compare(side(record([1.0, 1.0])), side(record([None, None])))

    assert result.verdict == "inconclusive"
    assert "no primary or asserted metric has a score in both runs" in str(summary_of(result))


def record_with_answers(*answers: str, **rows: Any) -> RecordBuilder:
    builder = RecordBuilder(evaluator(QUALITY))
    for number, answer in enumerate(answers):
        more = {name: values[number] for name, values in rows.items()}
        row = {"outcomes": {QUALITY: score(1.0)}, "actual_output": answer, **more}
        builder.add(f"k{number}", "one", row)
    return builder


def test_changed_answers_and_contexts_of_passing_cases_are_counted_and_listed() -> None:
    base = record_with_answers("a", "b", "c", context=[["x", "y"], ["x", "y"], ["x", "y"]])
    new = record_with_answers("a", "B", "C!", context=[["y", "x"], ["x", "z"], ["x", "y"]])

    result = compare(side(base), side(new))

    assert result.changed == ("answer", "context", "context order")
    assert (result.answers.changed, result.answers.compared, result.answers.keys) == (2, 3, ("k1", "k2"))
    assert (result.contexts.keys, result.context_order.keys) == (("k1",), ("k0",))
    lines = list(comparison_lines(result))
    assert "no case changed its result, although 2 of 3 answers differ. With 3 cases, a real drop" in lines[1]
    assert "changed: answer, context, context order" in lines
    assert "  answers: 2 of 3 (k1, k2)" in lines
    assert "  contexts: 1 of 3 (k1)" in lines
    assert "  order of contexts: 1 of 3 (k0)" in lines
    assert any(line.startswith("  length of one: 1 -> 1.333 characters per answer") for line in lines)
    markdown = comparison_markdown(result)
    assert "**Changed between the runs**: answer, context, context order." in markdown
    assert "- answers: 2 of 3 (k1, k2)" in markdown


def test_changed_calls_are_listed_although_the_answers_are_the_same() -> None:
    find, cancel = {"name": "find", "arguments": {"code": "E1"}}, {"name": "cancel"}
    base = record_with_answers("a", "b", "c", tool_calls=[[find], [find, cancel], []])
    new = record_with_answers(
        "a", "b", "c", tool_calls=[[{**find, "arguments": {"code": "E2"}}], [find, find, cancel], []]
    )

    result = compare(side(base), side(new))

    assert result.changed == ("tool calls",)
    assert (result.calls.keys, result.calls.compared) == (("k0", "k1"), 2)
    [calls] = [operation for operation in result.operations if operation.quantity == "tool_calls"]
    assert (calls.base, calls.new, calls.changed, calls.n) == (1.5, 2.0, 1, 2)
    assert "  tool calls: 2 of 2 (k0, k1)" in list(comparison_lines(result))


def test_an_earlier_turn_that_differs_is_a_changed_answer() -> None:
    def turn(prompt: str, text: str) -> dict[str, Any]:
        return {"prompt": prompt, "answer": {**EMPTY_ANSWER, "actual_output": text}}

    base = record_with_answers("bye", turns=[[turn("a", "first"), turn("b", "bye")]])
    new = record_with_answers("bye", turns=[[turn("a", "other"), turn("b", "bye")]])
    assert compare(side(base), side(new)).changed == ("answer",)


@pytest.mark.parametrize(
    "change",
    [{"expected_tool_calls": [[{"name": "find"}]]}, {"expected_state": [{"/a": 1}]}, {"plan": ["5f"]}],
)
def test_other_expectations_of_calls_state_or_turns_are_a_changed_case(change: dict[str, Any]) -> None:
    assert compare(old_side(record_with_answers("a")), side(record_with_answers("a", **change))).changed == (
        "case",
    )


def test_tokens_and_cost_that_differ_are_changes_and_seconds_are_said() -> None:
    usage = [{"input_tokens": 10, "output_tokens": 5}, {"input_tokens": 10, "output_tokens": 5}]
    base = record_with_answers("a", "b", usage=usage, cost=[0.1, 0.1], actual_duration=[1.0, 1.0])
    dearer = record_with_answers(
        "a",
        "b",
        usage=[usage[0], {**usage[0], "output_tokens": 9}],
        cost=[0.1, 0.3],
        actual_duration=[1.0, 2.0],
    )
    slower = record_with_answers("a", "b", usage=usage, cost=[0.1, 0.1], actual_duration=[1.0, 2.0])

    first, second = (compare(side(base), side(each)) for each in (dearer, slower))

    assert first.changed == ("tokens", "cost")
    lines = list(comparison_lines(first))
    assert any(line.startswith("  tokens of one: 15 -> 17 tokens per answer") for line in lines)
    assert any("cost of one: 0.1 -> 0.2 USD" in line and "1 of 2 differ" in line for line in lines)
    assert second.changed == ()
    assert "changed: nothing but the seconds per answer" in list(comparison_lines(second))
    assert "changed: nothing recorded" in list(comparison_lines(compare(side(base), side(base))))


def test_answers_of_several_repeats_are_compared_together() -> None:
    def repeated(*answers: str) -> RecordBuilder:
        builder = RecordBuilder(evaluator(QUALITY))
        rows = [{"outcomes": {QUALITY: score(1.0)}, "actual_output": answer} for answer in answers]
        builder.add("k", "one", *rows)
        return builder

    changed = compare(side(repeated("a", "b")), side(repeated("a", "c")))

    assert changed.answers.keys == ("k",)
    assert compare(side(repeated("a", "b")), side(repeated("a", "b"))).answers.changed == 0


def test_most_cases_regressed_is_said_before_what_follows() -> None:
    result = comparison_of([1.0] * 5, [0.0] * 4 + [1.0])

    assert str(summary_of(result)) == (
        "4 of 5 cases regressed. 5 cases are too few to tell whether other questions got worse (p 0.06)."
    )
    lines = list(comparison_lines(result))
    assert lines[1] == str(summary_of(result))
    assert sum("regressed: What about k" in line for line in lines) == 4


@pytest.mark.parametrize(
    ("base", "new", "text"),
    [
        (
            [1.0] * 5,
            [1.0] * 5,
            "no case changed. With 5 cases, a real drop of up to 0.47 could go unnoticed.",
        ),
        (
            [1.0] * 100,
            [1.0] * 100,
            "no case changed. Drops above 0.031 are excluded for other questions (100 cases).",
        ),
        (
            [1.0] * 40,
            [0.0] * 10 + [1.0] * 30,
            "10 of 40 cases regressed. The drop is more than chance: quality.score of one by 0.25"
            " (p < 0.001, 40 cases).",
        ),
        (
            [0.0] * 2 + [1.0] * 4,
            [1.0] * 6,
            "none of 6 cases regressed; 2 fixed. 6 cases are too few to tell whether other questions got"
            " worse (p > 0.99).",
        ),
    ],
)
def test_two_sentences_say_what_happened_and_what_follows(
    base: list[float], new: list[float], text: str
) -> None:
    assert str(summary_of(comparison_of(base, new))) == text


def moved(builder: RecordBuilder, file: str) -> RecordBuilder:
    for item in builder.items:
        item["file"] = file
        item["nodeid"] = item["nodeid"].replace("suite.json", file)
    return builder


def test_a_renamed_file_with_unchanged_cases_is_matched_and_said() -> None:
    result = compare(side(record([1.0] * 4)), side(moved(record([1.0, 1.0, 0.0, 1.0]), "fees/prices.json")))

    assert (result.items["regressed"], result.items["new"], result.items["gone"]) == (1, 0, 0)
    assert result.renamed_files == {"suite.json": "fees/prices.json"}
    line = "  file suite.json is now fees/prices.json; its cases are matched"
    assert line in list(comparison_lines(result))


def test_another_file_with_the_same_keys_is_no_renamed_one() -> None:
    base = record([1.0] * 4)
    other = moved(record([1.0] * 4), "other.json")
    for item in other.items:
        item["rows"][0]["input"] = f"Another question about {item['key']}?"
    both = record([1.0], prefix="shared")
    base.items += moved(both, "shared.json").items
    other.items += both.items

    result = compare(side(base), side(other))

    assert (result.items["new"], result.items["gone"], result.renamed_files) == (4, 4, {})


@pytest.mark.parametrize("moved_last", [True, False])
def test_files_below_another_root_folder_are_the_same_ones(moved_last: bool) -> None:
    short, long = record([1.0] * 4), moved(record([0.0, 1.0, 1.0, 1.0]), "home/me/suites/suite.json")
    for item in long.items:
        item["rows"][0]["input"] = "reworded"

    result = compare(*((side(short), side(long)) if moved_last else (side(long), side(short))))

    assert result.items["regressed"] + result.items["fixed"] == 1
    assert (result.items["new"], result.items["gone"], result.renamed_files) == (0, 0, {})
