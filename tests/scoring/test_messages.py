"""Messages of failing items: their order, what they leave out, and what they mask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec import structs

from pytest_evalstudio.api.builders import make_case
from pytest_evalstudio.core.cases import Answer, Case, Exchange, Turn
from pytest_evalstudio.core.codes import ItemCode, OutcomeCode
from pytest_evalstudio.core.conversations import ConversationPlan, PlannedTurn
from pytest_evalstudio.core.flips import Flip, ShrinkCode, SmallestEdit
from pytest_evalstudio.core.origins import Origin
from pytest_evalstudio.core.outcomes import Outcome, Verdict
from pytest_evalstudio.core.repeats import PassPolicy
from pytest_evalstudio.core.tool_calls import ToolCall
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.scoring.calibration.conformal import ConformalSet
from pytest_evalstudio.scoring.messages import (
    brief_headline,
    doubts,
    explain,
    failure_signature,
    flip_line,
    has_misses,
    headline,
    misses,
    smallest_lines,
)
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator, Plan
from pytest_evalstudio.scoring.responses import ResponseVerdict
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.scoring.tasks import EvalTask, ModelInfo
from pytest_evalstudio.scoring.verdicts import verdict
from support.toys import toy_registry

PLAN = Plan(toy_registry(), configuration({"evaluators": []}))
READING, ANSWERED, TEXT, LEAKS = map(PLAN.get, ("reading", "answered", "text_matching", "pii_leakage"))
EMPTY = ResponseVerdict(passed=False, code=ItemCode.ANSWER_EMPTY, reason="no answer: the text is empty")
REFUSED = ResponseVerdict(code=ItemCode.UNEXPECTED_REFUSAL, reason="unexpected refusal")
FLIP = Flip(
    evaluator="reading",
    metric="value",
    direction="pass_to_fail",
    source="o",
    source_score=0.9,
    score=0.1,
    threshold=0.5,
    perturbators=("comma:HIGH",),
    meaning_kept=True,
    fails=True,
)


def result(
    *answers: Case, verdicts: dict[ConfiguredEvaluator, Verdict] | None = None, **fields: Any
) -> Result:
    case = answers[0] if answers else Case(key="k", question="q")
    task = EvalTask(name="k", model=ModelInfo(key="m", label="m"), case=case)
    return Result(task=task, answers=answers, verdicts=verdicts or {}, **fields)


def verdict_of(
    value: float, size: float = 1.0, *, reason: str = "", code: OutcomeCode = OutcomeCode.NONE
) -> Verdict:
    outcome = Outcome.score({"value": value, "size": size, "free": 1.0}, reason=reason, code=code)
    return verdict(READING, [outcome])


def no(reason: str, code: OutcomeCode = OutcomeCode.NONE) -> Verdict:
    """The verdict of a boolean evaluator that says no."""
    return verdict(TEXT, [Outcome.score(dict.fromkeys(_keys(TEXT), 0.0), reason=reason, code=code)])


def _keys(selected: ConfiguredEvaluator) -> Sequence[str]:
    return [metric.key for metric in selected.spec.metrics]


def error(reason: str, code: OutcomeCode = OutcomeCode.EVALUATOR_FAILED) -> Verdict:
    return Verdict(status="error", code=code, reason=reason)


def test_a_model_that_was_not_asked_has_no_other_headline() -> None:
    failing = result(verdicts={READING: verdict_of(0.1)}, not_run="budget used up at jane.roe@bank-mail.net")
    assert headline(failing).startswith("budget used up at ")
    assert "jane.roe" not in headline(failing)
    assert brief_headline(failing) == headline(failing)


def test_errors_come_first_and_once() -> None:
    failing = result(verdicts={READING: verdict_of(0.1), ANSWERED: error("down"), LEAKS: error("down")})
    assert headline(failing) == "down | reading: value 0.1 < 0.5"
    assert brief_headline(failing) == headline(failing)


def test_a_headline_is_one_line_without_personal_data() -> None:
    line = headline(
        result(verdicts={READING: verdict_of(0.1, reason="mail\njane.roe@bank-mail.net\x1b[31m")})
    )
    assert line.startswith("reading: value 0.1 < 0.5: mail ")
    assert "jane.roe" not in line
    assert "\x1b" not in line
    assert "\n" not in line


def test_a_brief_headline_of_a_plain_no_begins_with_its_reason() -> None:
    failing = result(verdicts={TEXT: no('answer: lacks "5 USD"')})
    assert headline(failing) == 'text_matching: answer: lacks "5 USD"'
    assert brief_headline(failing) == 'lacks "5 USD" (text_matching)'


def test_a_brief_headline_says_that_only_the_retrieval_fails() -> None:
    reason = 'context: lacks "5 USD"'
    failing = result(verdicts={TEXT: no(reason, OutcomeCode.RETRIEVAL_FAILED)})
    assert headline(failing) == f"retrieval: text_matching: {reason}"
    assert brief_headline(failing) == 'retrieval: lacks "5 USD" (text_matching)'
    other = result(verdicts={TEXT: no(reason)})
    assert brief_headline(other) == f"{reason} (text_matching)"


def test_a_brief_headline_of_a_score_is_its_headline() -> None:
    failing = result(verdicts={READING: verdict_of(0.1, reason="so")})
    assert brief_headline(failing) == headline(failing) == "reading: value 0.1 < 0.5: so"


def test_a_brief_headline_of_a_flip_alone_is_the_flip() -> None:
    flipped = result(flips=[FLIP])
    assert brief_headline(flipped) == headline(flipped) == flip_line(FLIP)


@pytest.mark.parametrize("response", [EMPTY, REFUSED])
def test_a_brief_headline_begins_with_the_verdict_on_the_answer(response: ResponseVerdict) -> None:
    failing = result(verdicts={TEXT: no("answer: empty")}, response=response)
    assert brief_headline(failing) == f"{response.reason} | text_matching: answer: empty"


def test_counted_repeats_of_a_boolean_evaluator_are_not_a_plain_no() -> None:
    outcomes = [Outcome.score(dict.fromkeys(_keys(TEXT), 0.0), reason="answer: not met")] * 2
    failing = result(verdicts={TEXT: verdict(TEXT, outcomes, PassPolicy.parse("all"))})
    assert brief_headline(failing) == headline(failing)
    assert headline(failing).startswith('text_matching: 0 of 2 repeats pass (pass = "all"; ')


def test_a_changed_meaning_hides_misses_but_no_leak() -> None:
    leak = verdict(LEAKS, [Outcome.score(dict.fromkeys(_keys(LEAKS), 0.0), reason="an address")])
    changed = Origin(by=("antonym:HIGH",), meaning_kept=False)
    harmless = result(verdicts={READING: verdict_of(0.1), TEXT: no("no")}, origin=changed)
    assert (headline(harmless), brief_headline(harmless), misses(harmless)) == ("", "", [])
    assert not has_misses(harmless)
    assert failure_signature(harmless) == ""
    leaking = result(verdicts={READING: verdict_of(0.1), LEAKS: leak}, origin=changed)
    assert headline(leaking) == "pii_leakage: an address"
    assert has_misses(leaking)
    comma_result = result(
        verdicts={READING: verdict_of(0.1)}, origin=Origin(by=("comma:HIGH",), meaning_kept=True)
    )
    assert headline(comma_result) == "reading: value 0.1 < 0.5"


def test_a_flip_that_is_only_reported_is_no_miss() -> None:
    reported = result(flips=[structs.replace(FLIP, fails=False)])
    assert (misses(reported), has_misses(reported)) == ([], False)
    assert has_misses(result(flips=[FLIP]))
    assert has_misses(result(response=EMPTY))


def test_equal_failures_have_equal_signatures_whatever_their_words() -> None:
    first = result(verdicts={READING: verdict_of(0.1, reason="one"), ANSWERED: error("down")})
    second = result(verdicts={READING: verdict_of(0.2, reason="two"), ANSWERED: error("gone")})
    assert failure_signature(first) == failure_signature(second)
    assert failure_signature(first) == "reading:score::value|answered:error:evaluator_failed:"
    assert failure_signature(result(verdicts={READING: verdict_of(0.9)})) == ""
    assert failure_signature(result(verdicts={READING: verdict_of(0.1)}, response=EMPTY)) == (
        "answer_empty|reading:score::value"
    )


def test_an_uncertain_verdict_has_a_line_although_it_passes() -> None:
    doubt = ConformalSet(labels=(0, 1), alpha=0.1).doubt
    uncertain = structs.replace(verdict_of(0.625), conformal_set=(0, 1), uncertain=True, doubt=doubt)
    certain = structs.replace(verdict_of(0.625), conformal_set=(1,), uncertain=False)
    assert doubts(result(verdicts={READING: uncertain, ANSWERED: certain, TEXT: no("no")})) == [
        "reading: value 0.625 (uncertain: both good and bad are in the 0.9 prediction set)"
    ]


def test_a_flip_names_the_turn_of_a_conversation() -> None:
    assert flip_line(structs.replace(FLIP, turn=2, perturbators=())) == (
        "reading: value flipped from pass to fail in turn 2 (0.9 -> 0.1, threshold 0.5; original: o)"
    )
    assert flip_line(structs.replace(FLIP, turn=1)) == (
        "reading: value flipped from pass to fail under comma:HIGH in turn 1 (0.9 -> 0.1, threshold 0.5;"
        " original: o)"
    )


def test_equal_smallest_edits_are_one_masked_line() -> None:
    edit = SmallestEdit(
        code=ShrinkCode.MINIMAL,
        original="Write to jane.roe@bank-mail.net now",
        question="Write to jane.roe@bank-mail.net not",
        edits=1,
        total_edits=4,
        calls=3,
    )
    other = structs.replace(edit, calls=2)
    flips = [structs.replace(FLIP, smallest=each) for each in (edit, None, other)]
    [line] = smallest_lines(flips)
    assert line.startswith("smallest edit that flips: ")
    assert line.endswith("(1 of 4 edits; 5 calls)")
    assert "jane.roe" not in line
    assert smallest_lines([FLIP]) == []
    assert line in explain(result(Case(key="k", question="q"), flips=flips)).splitlines()


def test_errors_name_the_evaluators_unless_the_service_is_to_blame() -> None:
    down, broken = error("timed out", OutcomeCode.NO_ANSWER), error("ValueError")
    judge = error("HTTP 500", OutcomeCode.JUDGE_FAILED)
    assert explain(result(verdicts={READING: down, ANSWERED: down})) == "error: timed out"
    assert explain(result(verdicts={READING: judge, ANSWERED: judge, TEXT: broken})).splitlines() == [
        "error: the judge of reading, answered did not answer: HTTP 500",
        "error: text_matching: ValueError",
    ]
    assert (
        explain(result(verdicts={READING: broken, ANSWERED: broken}))
        == "error: reading, answered: ValueError"
    )


def test_expectations_of_a_case_are_shown_with_its_answer() -> None:
    case = make_case(
        "Fee?",
        "6 USD",
        expected_output="5 USD",
        expects="refusal",
        condition='"5 USD"',
        condition_on="both",
        context=("The fee is 5 USD.", "Call us."),
        context_sources=("fees.md",),
    )
    assert explain(result(case)).splitlines() == [
        "question:  Fee?",
        "expected:  5 USD",
        "expects:   a refusal",
        'condition (on answer and context): "5 USD"',
        "answer:    6 USD",
        "context 1 (fees.md): The fee is 5 USD.",
        "context 2: Call us.",
    ]


def test_a_case_without_an_answer_shows_no_expectation() -> None:
    case = make_case("Fee?", expected_output="5 USD", condition='"5 USD"', error="down")
    assert explain(result(case)) == "question:  Fee?"


def test_three_chunks_are_shown_and_the_others_are_counted() -> None:
    chunks = [f"chunk {number}" for number in range(1, 6)]
    lines = explain(result(make_case("q", "a", context=chunks[:3]))).splitlines()
    assert lines[-1] == "context 3: chunk 3"
    lines = explain(result(make_case("q", "a", context=chunks))).splitlines()
    assert lines[-2:] == ["context 3: chunk 3", "... and 2 more chunks"]


def test_the_last_four_earlier_turns_are_shown() -> None:
    turns = tuple(Turn(role="user", content=f"message {number}") for number in range(1, 7))
    lines = explain(result(Case(key="k", question="q", conversation=turns))).splitlines()
    assert lines[:5] == [*(f"earlier user: message {number}" for number in range(3, 7)), "question:  q"]


def test_a_conversation_is_shown_turn_by_turn() -> None:
    calls = tuple(ToolCall(name="search", arguments={"page": page}) for page in range(1, 8))
    case = Case(
        key="k",
        question="b",
        plan=ConversationPlan(turns=tuple(PlannedTurn(prompt=prompt) for prompt in "abc")),
        answer=Answer(
            text="Bye",
            turns=(
                Exchange(prompt="a", answer=Answer(text="Hello", tool_calls=calls)),
                Exchange(prompt="b", answer=Answer(tool_calls=calls[:5])),
                Exchange(prompt="c", answer=Answer(error="down")),
            ),
        ),
    )
    assert explain(result(case)).splitlines() == [
        "turn 1, user:   a",
        *(f"turn 1, call:   search(page={page})" for page in range(1, 6)),
        "turn 1, ... and 2 more calls",
        "turn 1, answer: Hello",
        "turn 2, user:   b",
        *(f"turn 2, call:   search(page={page})" for page in range(1, 6)),
        "turn 2, answer: (no text)",
        "turn 3, user:   c",
    ]


def test_long_texts_are_shortened_by_their_kind() -> None:
    case = make_case(
        "q" * 700, "a" * 600, context=("c" * 201,), conversation=({"role": "user", "content": "e" * 201},)
    )
    assert explain(result(case)).splitlines() == [
        f"earlier user: {'e' * 200}...",
        f"question:  {'q' * 600}...",
        f"answer:    {'a' * 600}",
        f"context 1: {'c' * 200}...",
    ]


def test_the_first_wrong_call_is_explained_by_the_evaluator_of_calls_only() -> None:
    selected = PLAN.get("tool_calls")
    case = make_case(
        "q", "a", tool_calls=({"name": "find", "arguments": {}},), expected_tool_calls=({"name": "search"},)
    )
    wrong = verdict(selected, [Outcome.score(dict.fromkeys(_keys(selected), 0.0))])
    lines = explain(result(case, verdicts={selected: wrong})).splitlines()
    assert [line for line in lines if line.startswith("failed step: ")]
    assert not any(
        line.startswith("failed step: ")
        for line in explain(result(case, verdicts={TEXT: no("no")})).splitlines()
    )


def test_the_first_repeat_is_shown_unless_an_empty_one_fails_the_item() -> None:
    answers = [make_case("q", text, run=run) for run, text in enumerate(("a", "", "c"), 1)]
    assert explain(result(*answers)).splitlines()[-2:] == [
        "answer:    a",
        "(the first of 3 repeats is shown)",
    ]
    assert explain(result(*answers, response=EMPTY)).splitlines()[-2:] == [
        "answer:    (empty)",
        "(repeat 2 of 3 repeats is shown)",
    ]
    assert explain(result(answers[0])).splitlines()[-1] == "answer:    a"
