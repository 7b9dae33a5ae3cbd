"""Rules for the system prompt: chosen by the problems found, each for what it helps against."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_evalstudio.contrib.validation.artifacts.prompt_extension import (
    RULES,
    choose_rules,
    prompt_extension,
)
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.problems import Problem


def problem(description: str = "It is so.", problem_type: str = "accuracy", **attributes: Any) -> Problem:
    return Problem(
        description=description,
        severity="low",
        problem_type=problem_type,
        avid="P0200",
        attributes=attributes,
        actions="",
        resources=(),
    )


@pytest.mark.parametrize(
    ("attributes", "titles"),
    [
        pytest.param({"perturbator": "keyboard_typos:HIGH"}, ["Slips of the keyboard"], id="a perturbator"),
        pytest.param(
            {"perturbator": "comma:LOW+qwerty"},
            ["Slips of the keyboard", "Other words, same question"],
            id="a chain of two",
        ),
        pytest.param({"generator": "prompt_injection"}, ["Orders inside texts"], id="an attack"),
        pytest.param(
            {"by": {"topic": "1_fees", "generator": "numerical_reasoning"}}, ["Figures"], id="a weak cell"
        ),
        pytest.param(
            {"evaluator": "lexical_groundedness", "metric": "supported_words"},
            ["Nothing but the documents"],
            id="an evaluator",
        ),
        pytest.param({"metrics": ["toxicity.toxicity"]}, ["Tone"], id="a metric"),
        pytest.param({"evaluator": "rouge", "topic": "1_fees"}, [], id="what no prompt can mend"),
    ],
)
def test_a_problem_brings_the_rules_that_answer_it(attributes: dict[str, Any], titles: list[str]) -> None:
    assert [choice.rule.title for choice in choose_rules([problem(**attributes)])] == titles


def test_a_rule_is_told_once_with_all_that_it_answers() -> None:
    typos, ocr = problem("Typos.", perturbator="qwerty"), problem("OCR.", perturbator="ocr:LOW")
    (choice,) = choose_rules([typos, ocr, typos])
    assert choice.problems == ("Typos.", "OCR.")


def test_no_problem_no_rule() -> None:
    assert prompt_extension(choose_rules([])) == ""


def test_what_measures_badly_is_not_mended_by_a_prompt() -> None:
    assert (
        choose_rules([problem(problem_type="data_quality", metrics=["lexical_groundedness.supported_words"])])
        == []
    )


def test_the_text_holds_the_rules_and_nothing_of_the_problems() -> None:
    text = prompt_extension(
        choose_rules(
            [problem("Account 12345 of Jane.", generator="jailbreak"), problem(evaluator="pii_leakage")]
        )
    )
    assert text.count("* ") == 2
    assert "### Misleading questions" in text
    assert "Jane" not in text


def test_every_rule_answers_something_that_there_is() -> None:
    """Perturbators, evaluators and generators by their ids; so that no rule waits for a name that was
    changed.
    """
    registry = Registry()
    by_a_writer = {
        *(
            "multi_hop",
            "inference",
            "ambiguity_handling",
            "negation_and_contradiction",
            "demographic_representation",
        ),
        *("sentiment_variation", "irrelevant_information"),
    }
    names = {*registry.perturbators, *registry.evaluators, *registry.generators, *by_a_writer}
    assert set().union(*(rule.answers for rule in RULES)) <= names
