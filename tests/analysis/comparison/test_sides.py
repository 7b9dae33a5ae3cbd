"""The items of one side: figures of their repeats, and what counts as one case."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_evalstudio.analysis.comparison.sides import MAX_ANSWER_CHARS, Side, SideItem, of_model, read_side
from pytest_evalstudio.core.errors import ConfigurationError
from support.records import RecordBuilder, evaluator, model, perturbed, score

PASSED, FAILED = ({"outcomes": {"quality": score(value)}} for value in (1.0, 0.0))


def side(builder: RecordBuilder, **options: Any) -> Side:
    return read_side(builder.run, builder.typed_items, **options)


def item(*rows: dict[str, Any], builder: RecordBuilder | None = None, **fields: Any) -> SideItem:
    records = builder or RecordBuilder(evaluator("quality"))
    records.add("k", "one", *({**PASSED, **row} for row in rows), **fields)
    return list(side(records).items.values())[-1]


def test_figures_are_means_over_the_repeats() -> None:
    first = {"actual_output": "abc", "cost": 0.1, "actual_duration": 1.0, "usage": {"input_tokens": 10}}
    second = {
        "actual_output": "abcde",
        "cost": 0.3,
        "actual_duration": 2.0,
        "usage": {"input_tokens": 10, "output_tokens": 6, "cached_tokens": 99},
        "tool_calls": [{"name": "search"}],
    }
    single_run, repeated_run = item(first), item(first, second)
    assert (
        single_run.answer_chars,
        single_run.cost_usd,
        single_run.duration_s,
        single_run.tokens,
        single_run.tool_calls,
    ) == (
        3,
        0.1,
        1,
        10,
        None,
    )
    assert (
        repeated_run.answer_chars,
        repeated_run.duration_s,
        repeated_run.tokens,
        repeated_run.tool_calls,
    ) == (4, 1.5, 13, 0.5)
    assert repeated_run.cost_usd == pytest.approx(0.2)
    assert item(second).tool_calls == 1.0


def test_repeats_in_error_have_a_cost_and_neither_seconds_nor_answers() -> None:
    down = {"error": "down", "actual_output": "", "actual_duration": 9.0, "cost": 0.4}
    good = {"actual_duration": 1.0, "cost": 0.2, "usage": {}}
    error_item, among = item(down), item(down, good)
    assert (error_item.duration_s, error_item.cost_usd, error_item.answers, error_item.tokens) == (
        None,
        0.4,
        None,
        None,
    )
    assert (among.duration_s, among.answers, among.answer_chars, among.context) == (1.0, None, None, None)
    assert among.cost_usd == pytest.approx(0.3)


def test_a_baseline_without_answers_has_figures_and_no_digests() -> None:
    builder = RecordBuilder(evaluator("quality"), baseline={"saved": "2026-11-20", "has_answers": False})
    saved = item({"cost": 0.2}, builder=builder)
    assert (saved.cost_usd, saved.answers, saved.context, saved.calls) == (0.2, None, None, None)


def test_chunks_have_a_digest_in_their_order_and_one_without_it() -> None:
    first, second, other = (item({"context": chunks}) for chunks in (["a", "b"], ["b", "a"], ["a", "c"]))
    assert first.context != second.context
    assert first.chunks == second.chunks != other.chunks
    single_chunk = item({"context": ["a"]})
    assert single_chunk.context == single_chunk.chunks


def test_calls_differ_by_name_arguments_and_order() -> None:
    calls = [{"name": "find", "arguments": {"id": 1}}, {"name": "mail"}]
    digests = {
        item({"tool_calls": each}).calls
        for each in (calls, calls[::-1], calls[:1], [{"name": "find", "arguments": {"id": 2}}], [])
    }
    assert len(digests) == 5
    assert item({"tool_calls": calls}).calls == item({"tool_calls": calls}).calls


def test_a_perturbation_belongs_to_the_case_of_its_original() -> None:
    assert item(perturbed("original", "comma:HIGH")).cluster == ("suite.json", "original")
    follows = {"relationships": [{"type": "follows", "target": "other", "target_type": "test_case"}]}
    assert item(follows).cluster == ("suite.json", "k")


@pytest.mark.parametrize(
    ("verdict", "is_flaky"),
    [
        ({"passed": True, "pass_k": 0.0, "repeats": [True, False]}, True),
        ({"passed": False, "pass_k": 0.0, "repeats": [True, False]}, True),
        ({"passed": False, "pass_k": 0.0, "repeats": [False, False]}, False),
        ({"passed": True, "pass_k": 1.0, "repeats": [True, True]}, False),
        ({"passed": True}, False),
    ],
)
def test_an_item_is_flaky_if_its_repeats_disagree(verdict: dict[str, Any], is_flaky: bool) -> None:
    verdicts = {"quality": {"status": "score", "scores": {"score": 0.5}, "missed": [], **verdict}}
    assert item({}, verdicts=verdicts).flaky is is_flaky
    assert item({}, verdicts=verdicts, flaky=True).flaky


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [
        ({"verdict": "xpassed"}, "passed"),
        ({"verdict": "xfailed"}, "failed"),
        ({"verdict": "xfailed", "code": "expected_error"}, "error"),
        ({"verdict": "skipped"}, "skipped"),
    ],
)
def test_expected_failures_count_by_what_happened(fields: dict[str, Any], outcome: str) -> None:
    assert item({}, **fields).outcome == outcome


def test_only_evaluators_that_decide_pass_or_fail_an_item() -> None:
    outcomes = {"quality": score(1.0), "other": score(0.0)}

    def verdicts(**fields: Any) -> tuple[set[str], set[str]]:
        builder = RecordBuilder(evaluator("quality"), evaluator("other"))
        result = item({"outcomes": outcomes}, builder=builder, **fields)
        return set(result.passing), set(result.failing)

    assert verdicts() == ({"quality"}, {"other"})
    assert verdicts(verdict="error") == (set(), set())
    origin = {"by": ["antonym:HIGH"], "meaning_kept": False}
    assert verdicts(perturbed=origin) == (set(), set())
    assert verdicts(perturbed={**origin, "meaning_kept": True}) == ({"quality"}, {"other"})
    refuted = {"code": "not_confirmed", "passed": 2, "failed": 1, "cases": 3, "evaluators": ["other"]}
    assert verdicts(confirmation=refuted) == ({"quality"}, set())
    assert verdicts(confirmation={**refuted, "code": "confirmed"}) == ({"quality"}, {"other"})


def test_answers_are_kept_of_the_named_outcomes_and_cut() -> None:
    builder = RecordBuilder(evaluator("quality"))
    long = {"actual_output": "x" * (MAX_ANSWER_CHARS + 1), "tool_calls": [{"name": "search"}]}
    builder.add("good", "one", {**PASSED, **long})
    builder.add("bad", "one", {**FAILED, **long})
    every, failed = side(builder), side(builder, answers_of=("failed",))
    assert [len(each.answer) for each in every.items.values()] == [MAX_ANSWER_CHARS] * 2
    assert [(len(each.answer), bool(each.trajectory)) for each in failed.items.values()] == [
        (0, True),
        (MAX_ANSWER_CHARS, True),
    ]
    assert [each.question for each in every.items.values()] == ["", "What about bad?"]


def test_models_are_named_by_their_key_where_a_name_is_not_unique() -> None:
    builder = RecordBuilder(evaluator("quality"), models=("one", "two"))
    for name in ("one", "two"):
        builder.add("k", name, PASSED)
    assert [identity[2] for identity in side(builder).items] == ["one", "two"]
    assert [identity[2] for identity in side(builder, models={"one": "new"}).items] == ["new", "two"]
    builder.header["models"]["m-two"] = {**model("two"), "name": "one"}
    assert [identity[2] for identity in side(builder).items] == ["m-one", "m-two"]


def test_the_items_of_one_model_have_the_name_of_the_other() -> None:
    builder = RecordBuilder(evaluator("quality"), models=("one", "two"))
    for name in ("one", "two"):
        builder.add("k", name, PASSED)
    only = of_model(side(builder), "two", "one")
    assert list(only.items) == [("suite.json", "k", "one", 0)]
    assert (only.model, str(only.label)) == ("two", "two of run 0000")
    with pytest.raises(ConfigurationError) as exc_info:
        of_model(side(builder), "tow", "one")
    assert str(exc_info.value).endswith("Did you mean 'two'? The run has one, two.")


@pytest.mark.parametrize(
    ("verdict", "question"), [("skipped", "What about k?"), ("xpassed", "What about k?"), ("passed", "")]
)
def test_the_question_is_kept_unless_the_item_passed(verdict: str, question: str) -> None:
    assert item({}, verdict=verdict).question == question
