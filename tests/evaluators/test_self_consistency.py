"""Self-consistency: groups, pairs and their mean."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_evalstudio.core.cases import Case, Turn
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators.ngrams import SelfConsistency
from support.scored_cases import outcomes_of

Make = Callable[..., Case]


def test_a_question_asked_once_is_not_applicable(case: Make, tools: Tools) -> None:
    outcomes = SelfConsistency().score(
        [case("a", question="1"), case("a", question="2"), case("a", question="1", model_key="other")], tools
    )
    assert [outcome.status for outcome in outcomes] == ["not_applicable"] * 3


def test_the_mean_over_all_pairs_by_hand(case: Make, tools: Tools) -> None:
    # pairs: (a b, a b) = 1; (a b, a c) = 1/2 twice: mean 2/3
    outcomes = SelfConsistency().score(
        [case(text, key=text, run=run) for run, text in enumerate(["a b", "a b", "a c"], 1)], tools
    )
    assert [outcome.scores["rouge_l"] for outcome in outcomes] == [pytest.approx(2 / 3)] * 3
    assert "'a b' run 1 and 'a c' run 3" in outcomes[0].reason


def test_an_empty_answer_is_left_out_of_its_group(case: Make, tools: Tools) -> None:
    outcomes = outcomes_of(SelfConsistency(), [case("yes"), case("yes"), case("")], tools)
    assert [outcome.scores.get("rouge_l") for outcome in outcomes] == [1.0, 1.0, None]
    assert outcomes[2].code == OutcomeCode.ANSWER_EMPTY


def test_identical_answers_in_any_script_agree(case: Make, tools: Tools) -> None:
    outcomes = SelfConsistency().score([case("東京"), case("東京 ")], tools)
    assert [outcome.scores["rouge_1"] for outcome in outcomes] == [1.0, 1.0]


def test_models_and_questions_are_groups_of_their_own(case: Make, tools: Tools) -> None:
    cases = [
        case("x", model_key="1"),
        case("y", model_key="2"),
        case("x", model_key="1"),
        case("z", model_key="2"),
    ]
    assert [outcome.scores["rouge_1"] for outcome in SelfConsistency().score(cases, tools)] == [
        1.0,
        0.0,
        1.0,
        0.0,
    ]


def test_a_large_group_is_cut(case: Make, tools: Tools) -> None:
    outcomes = SelfConsistency(max_group_size=2).score([case("a"), case("a"), case("b")], tools)
    assert [outcome.scores["rouge_1"] for outcome in outcomes] == [1.0, 1.0, 1.0]


def test_a_group_of_one_at_most_is_a_usage_error() -> None:
    with pytest.raises(ConfigurationError, match="at least 2"):
        SelfConsistency(max_group_size=1)


def test_one_question_in_two_conversations_is_two_questions(case: Make, tools: Tools) -> None:
    cases = [
        case("a", conversation=(Turn(role="user", content=text),))
        for text in ("In Paris?", "In Rome?", "In Rome?")
    ]
    assert [outcome.status for outcome in SelfConsistency().score(cases, tools)] == [
        "not_applicable",
        "score",
        "score",
    ]
