"""The custom judge: its definition, its examples, and its judgement of chunks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.evaluators.custom_judge import CustomJudge
from support.judging import outcome, unfenced
from support.rating_judges import ROW, USEFUL, Says, by_chunk


def test_a_custom_judge_asks_by_its_definition_and_examples() -> None:
    judge = Says()
    options = {
        "definition": "The answer agrees with {expected_output} and {context}, whatever {else} says.",
        "examples": [
            "Swearing is a no.",
            {"answer": "Dear customer", "rating": "yes", "rationale": "a greeting"},
        ],
    }
    outcome("custom_judge", judge, ROW, options=options)
    [prompt] = judge.prompts
    instructions = unfenced(prompt)
    assert "whatever {else} says." in instructions
    assert (
        "- Swearing is a no.\n- answer: Dear customer | rating: yes | rationale: a greeting\n" in instructions
    )
    assert "30 USD a year." in prompt
    assert "yearly fee" in prompt
    assert "30 USD" not in instructions


def test_a_text_that_the_definition_names_stands_in_it_and_not_twice() -> None:
    judge = Says()
    outcome(
        "custom_judge",
        judge,
        ROW,
        options={"definition": "Is {actual_output} what a lawyer says to {question}?"},
    )
    assert (
        judge.prompts[0].count("It costs 30 USD.") == judge.prompts[0].count("What does the card cost?") == 1
    )


def test_a_custom_judge_of_chunks_holds_the_precision() -> None:
    result = outcome(
        "custom_judge",
        by_chunk(alpha="yes", beta="no"),
        {**ROW, "context": ["alpha", "beta"]},
        options=USEFUL,
    )
    assert result.scores == {"rating": 0.5}
    assert result.details["ratings"] == ["yes", "no"]
    assert result.reason == "rated no, of 2: chunk 2 (about beta)"


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"examples": "be kind"}, "examples: expected a list of texts or tables, found a text"),
        ({"examples": [3]}, r"examples\[0\]: expected a text or a table, found 3"),
        (
            {"examples": ["a", {"anwser": "x", "rating": "yes"}]},
            r"examples\[1\].anwser: unknown key. Did you mean 'answer'\?",
        ),
        ({"examples": [{"answer": 3, "rating": "yes"}]}, r"examples\[0\].answer: expected a text, found 3"),
        (
            {"examples": [{"answer": "x", "rating": "maybe"}]},
            r"examples\[0\].rating: expected \"yes\" or \"no\", found 'maybe'",
        ),
    ],
)
def test_wrong_examples_are_told(options: Mapping[str, Any], fault: str) -> None:
    with pytest.raises(ConfigurationError, match=fault):
        CustomJudge(definition="d", **options)
