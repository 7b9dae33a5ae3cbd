from __future__ import annotations

import dataclasses
import json
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from pytest_evalstudio.api.builders import make_case
from pytest_evalstudio.core.cases import Answer, Case, Relationship
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.tool_calls import ToolCall
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.scoring.plan import Plan
from pytest_evalstudio.scoring.score import score
from pytest_evalstudio.text.sentences import split_sentences
from support.toys import Reading, toy_registry

PLAN = Plan(toy_registry(), configuration({"evaluators": []}))


def outcomes(evaluator, *answers, **more):
    cases = [
        answer if isinstance(answer, Case) else Case(key="k", question="q", answer=Answer(text=answer))
        for answer in answers
    ]
    return score(
        PLAN.get(evaluator, more.get("options")),
        cases,
        Tools(max_text_chars=more.get("limit", 1000), split_sentences=split_sentences),
    )


def words(results):
    return [
        outcome.scores.get("value") if outcome.status == "score" else f"{outcome.status}: {outcome.reason}"
        for outcome in results
    ]


def test_each_case_has_its_outcome_in_order():
    assert words(outcomes("reading", "0.1", "silent", "0.3", "nothing")) == [
        0.1,
        "error: the judge is silent",
        0.3,
        "not_applicable: nothing to read",
    ]


def test_no_cases_have_no_outcomes():
    assert outcomes("reading") == []


@pytest.mark.parametrize(
    ("lacking", "reason"),
    [
        ({"question": " "}, "no question"),
        ({"expected_output": ""}, "no expected output"),
        ({"context": ()}, "no context"),
        ({"context": (" ", "")}, "no context"),
        ({"context": (), "expected_output": "\n"}, "no expected output and no context"),
    ],
)
def test_a_case_that_lacks_what_an_evaluator_needs_is_not_applicable(lacking, reason):
    full = {"question": "q", "actual_output": "a", "expected_output": "e", "context": ("c",), "is_rag": False}
    full_outcome, part = outcomes("picky", make_case(**full), make_case(**{**full, **lacking}))
    assert full_outcome.scores == {"picky": 1.0}
    assert (part.status, part.reason) == ("not_applicable", reason)


@pytest.mark.parametrize("answer", ["", " \n\t", "\u200b\u2060\ufeff", "\u00ad", "\x00"])
def test_an_evaluator_of_answers_does_not_apply_to_an_empty_one(answer):
    [outcome] = outcomes("answered", answer)
    assert (outcome.status, outcome.code) == ("not_applicable", OutcomeCode.ANSWER_EMPTY)


@pytest.mark.parametrize("answer", [".", "0", "\U0001f44d", "\u200b-"])
def test_an_answer_with_a_visible_character_is_not_empty(answer):
    [outcome] = outcomes("answered", answer)
    assert outcome.status == "score"


def test_an_answer_that_calls_a_tool_is_not_empty_and_has_no_text_to_judge():
    case = Case(key="k", question="q", answer=Answer(tool_calls=(ToolCall(name="search"),)))
    [outcome] = outcomes("answered", case)
    assert (outcome.status, outcome.code) == ("not_applicable", OutcomeCode.NOTHING_TO_SCORE)


@pytest.mark.parametrize(
    ("limit", "fields", "status", "code", "reason"),
    [
        (1, {}, "score", OutcomeCode.NONE, "calls: 2, at most 1 allowed; then the application failed: down"),
        (2, {}, "error", OutcomeCode.NO_ANSWER, "down"),
        (2, {"not_supported": True}, "error", OutcomeCode.NOT_SUPPORTED, "down"),
    ],
)
def test_calls_before_a_failure_break_a_rule_or_the_failure_is_the_outcome(
    limit, fields, status, code, reason
):
    calls = (ToolCall(name="search"), ToolCall(name="pay"))
    case = Case(key="k", question="q", answer=Answer(tool_calls=calls, error="down", **fields))
    selected = Plan(Registry(), configuration({})).get("effort", {"max_calls": limit})
    [outcome] = score(selected, [case], Tools(split_sentences=split_sentences))
    assert (outcome.status, outcome.code, outcome.reason) == (status, code, reason)


def test_a_case_without_an_answer_is_an_error_whatever_it_lacks():
    [outcome] = outcomes("picky", Case(key="k", question="", answer=Answer(error="the host is down")))
    assert (outcome.status, outcome.reason) == ("error", "the host is down")


@pytest.mark.parametrize(
    "long",
    [
        {"actual_output": "1" * 11},
        {"question": "q" * 11},
        {"expected_output": "e" * 11},
        {"context": ("c" * 6, "c" * 5)},
    ],
    ids=lambda long: next(iter(long)),
)
def test_a_text_that_is_too_long_is_an_error_that_names_the_option(long):
    case = make_case(**{"question": "q", "actual_output": "1", **long})
    outcome, other = outcomes("reading", case, "0.5", limit=10)
    assert (outcome.status, outcome.reason) == (
        "error",
        "a text of 11 characters is longer than max_text_chars = 10; raise it in the configuration",
    )
    assert other.scores["value"] == 0.5


def test_an_evaluator_that_raises_spoils_only_the_case_it_raises_for():
    result = words(outcomes("reading", "0.1", "no number", "0.3", "fault"))
    assert (result[0], result[2], result[3]) == (0.1, 0.3, "error: the judge is down")
    assert result[1].startswith(
        "error: evaluator reading failed: ValueError: could not convert string to float: 'no' ("
    )
    assert result[1].endswith(")")
    assert "toys.py:" in result[1]


def test_an_evaluator_that_raises_before_it_scores_spoils_only_that_case():
    first, second = words(outcomes("reading", "break early", "0.3"))
    assert first.startswith("error: evaluator reading failed: RuntimeError: broken early (")
    assert second == 0.3


def test_an_evaluator_of_groups_that_raises_spoils_only_the_group_it_raises_for():
    cases = [
        Case(key=str(place), question=question, answer=Answer(text=answer))
        for place, (question, answer) in enumerate(["x1", "y1", "x5", "y1"])
    ]
    result = outcomes("counting", *cases)
    assert [outcome.scores.get("count") for outcome in result] == [None, 2.0, None, 2.0]
    assert {result[place].reason.partition(" (")[0] for place in (0, 2)} == {
        "evaluator counting failed: ValueError: five"
    }


def test_a_wrong_number_of_outcomes_is_an_error_of_all():
    result = outcomes("counting", "1", "2", options={"surplus": 1})
    assert [outcome.reason for outcome in result] == [
        "evaluator counting gave 3 outcomes for 2 cases; it must give one each"
    ] * 2


def test_something_else_than_an_outcome_is_an_error_of_its_case():
    assert words(outcomes("reading", "none", "0.5")) == [
        "error: evaluator reading gave NoneType instead of an Outcome",
        0.5,
    ]


def test_an_evaluator_that_forgets_to_return_is_an_error_of_its_cases():
    selected = PLAN.get("reading")
    forgetful = dataclasses.replace(
        selected, evaluator=type("Forgetful", (Reading,), {"score": lambda self, cases, tools: None})()
    )
    result = score(
        forgetful,
        [Case(key="k", question="q", answer=Answer(text="1"))] * 2,
        Tools(split_sentences=split_sentences),
    )
    assert [outcome.status for outcome in result] == ["error", "error"]
    assert "TypeError: 'NoneType' object is not iterable" in result[0].reason


def test_outcomes_may_come_from_a_generator():
    lazy = type(
        "Lazy",
        (Reading,),
        {"score": lambda self, cases, tools: (Outcome.score({"value": 1.0}) for _ in cases)},
    )()
    result = score(
        dataclasses.replace(PLAN.get("reading"), evaluator=lazy),
        [Case(key="k", question="q", answer=Answer(text="1"))] * 2,
        Tools(split_sentences=split_sentences),
    )
    assert words(result) == [1.0, 1.0]


@pytest.mark.parametrize(
    "value", [np.float32(0.5), np.float64(0.5), np.array(0.5), True, Decimal("0.5"), Fraction(1, 2)], ids=repr
)
@pytest.mark.parametrize("others", [{}, {"free": None}], ids=["alone", "beside a missing score"])
def test_scores_become_pythons_own_numbers(value, others):
    assert json.dumps(scores_of({"value": value, **others})) == json.dumps({"value": float(value), **others})


def test_whole_numbers_stay_whole_numbers():
    assert json.dumps(scores_of({"value": 1, "free": None})) == '{"value": 1, "free": null}'


def scores_of(scores):
    """Return what becomes of the scores of an evaluator."""
    numeric = type(
        "Numeric",
        (Reading,),
        {"score": lambda self, cases, tools: [Outcome.score(scores) for _ in cases]},
    )()
    selected = dataclasses.replace(PLAN.get("reading"), evaluator=numeric)
    [result] = score(
        selected,
        [Case(key="k", question="q", answer=Answer(text="1"))],
        Tools(split_sentences=split_sentences),
    )
    return dict(result.scores)


def test_a_metric_that_is_not_declared_is_an_error():
    misspelt = type(
        "Misspelt",
        (Reading,),
        {"score": lambda self, cases, tools: [Outcome.score({"valu": 1.0}) for _ in cases]},
    )()
    selected = dataclasses.replace(PLAN.get("reading"), evaluator=misspelt)
    assert words(
        score(
            selected,
            [Case(key="k", question="q", answer=Answer(text="1"))],
            Tools(split_sentences=split_sentences),
        )
    ) == ["error: evaluator reading gave a score for 'valu', which is not one of its metrics"]


def test_a_score_that_is_not_a_number_is_an_error():
    assert words(outcomes("reading", "nan", "0.5")) == ["error: metric 'value' is not a number", 0.5]


COMPARED = Plan(Registry(), configuration({"evaluators": []}))


def outcome_of_pair(evaluator, counterpart, **fields):
    case = make_case("q", "a", counterpart=counterpart, **fields)
    [outcome] = score(COMPARED.get(evaluator), [case], Tools(split_sentences=split_sentences))
    return outcome


def link(kind):
    return (Relationship(type=kind, target="original"),)


def test_a_comparison_needs_a_counterpart():
    lone_outcome = outcome_of_pair("counterfactual_bias", None)
    assert (lone_outcome.status, lone_outcome.code) == ("not_applicable", OutcomeCode.NO_COUNTERPART)
    assert lone_outcome.reason == "it has no counterfactual_source"
    missing = outcome_of_pair("counterfactual_bias", None, relationships=link("counterfactual_source"))
    assert (missing.status, missing.code) == ("not_applicable", OutcomeCode.NO_COUNTERPART)
    assert missing.reason == (
        "the answer to 'original', its counterfactual_source, is missing or not comparable"
    )


def test_a_counterpart_in_error_is_an_error():
    outcome = outcome_of_pair("counterfactual_bias", make_case("p", key="original", error="down"))
    assert (outcome.status, outcome.code) == ("error", OutcomeCode.COUNTERPART_FAILED)
    assert outcome.reason == "the case that it is compared with, 'original', was not answered: down"


def test_a_counterpart_without_text_is_compared_only_by_evaluators_of_calls():
    calling = make_case("p", key="original", tool_calls=({"name": "search", "arguments": {}},))
    outcome = outcome_of_pair("counterfactual_bias", calling)
    assert (outcome.status, outcome.code) == ("not_applicable", OutcomeCode.NO_COUNTERPART)
    assert outcome.reason == "the answer to 'original', with which it is compared, is empty"
    by_calls = outcome_of_pair("tool_consistency", calling, tool_calls=({"name": "search", "arguments": {}},))
    assert (by_calls.status, by_calls.scores["tools_unchanged"]) == ("score", 1.0)
    empty = outcome_of_pair(
        "tool_consistency", make_case("p", key="original"), tool_calls=({"name": "search", "arguments": {}},)
    )
    assert (empty.status, empty.code) == ("not_applicable", OutcomeCode.NO_COUNTERPART)


def test_earlier_turns_count_towards_the_longest_text():
    turns = ({"role": "user", "content": "e" * 6}, {"role": "assistant", "content": "e" * 5})
    [outcome] = outcomes("reading", make_case("q", "1", conversation=turns), limit=10)
    assert outcome.code == OutcomeCode.TEXT_TOO_LONG
    [outcome] = outcomes("reading", make_case("q", "1", conversation=turns), limit=11)
    assert outcome.status == "score"


def test_without_the_models_of_an_evaluator_only_cases_that_reach_it_are_errors():
    tools = Tools(split_sentences=split_sentences, missing="no embedder")
    answer_outcome, empty_outcome = score(
        PLAN.get("reading"), [make_case("q", "1"), make_case("q", "")], tools
    )
    assert (answer_outcome.status, answer_outcome.code, answer_outcome.reason) == (
        "error",
        OutcomeCode.RESOURCE_MISSING,
        "no embedder",
    )
    assert empty_outcome.status == "not_applicable"
