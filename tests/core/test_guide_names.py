"""Names of the documents of H2O Eval Studio: each leads to something that exists, and is declared once."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import pytest_evalstudio
from pytest_evalstudio import Registry
from pytest_evalstudio.core import guide_names
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.guide_names import (
    EVALUATOR_CLASSES,
    EVALUATOR_NAMES,
    OPTIONS,
    REFERENCE,
    NamesRead,
    own_arena_reply,
    own_evaluator,
    own_options,
    own_perturbations,
)
from pytest_evalstudio.core.problems import PROBLEM_TYPES
from pytest_evalstudio.eval_studio import ExplainableModelType
from pytest_evalstudio.formats.lab import FOREIGN_MODEL_TYPES

REGISTRY = Registry()
SOURCES = [
    path
    for path in Path(pytest_evalstudio.__file__).parent.rglob("*.py")
    if path.name not in ("guide_names.py", "descriptions.py")
]


@pytest.mark.parametrize("id", sorted({*EVALUATOR_NAMES, *EVALUATOR_CLASSES}))
def test_every_name_of_an_evaluator_leads_to_it(id: str) -> None:
    assert id in REGISTRY.evaluators
    for name in EVALUATOR_NAMES.get(id, ()):
        assert own_evaluator(name) == id
        assert own_evaluator(f"{name.upper()} Evaluator") == id
    if id in EVALUATOR_CLASSES:
        address = EVALUATOR_CLASSES[id]
        for name in (REFERENCE + address, address, address.partition(".")[2]):
            assert own_evaluator(name) == id
        assert own_evaluator(id) == ""


@pytest.mark.parametrize("id", EVALUATOR_NAMES)
def test_the_first_name_is_the_title_of_the_evaluator(id: str) -> None:
    assert EVALUATOR_NAMES[id][0].casefold() == REGISTRY.evaluators.spec(id).name.casefold()


def test_a_class_that_no_table_has_is_read_by_its_words() -> None:
    assert own_evaluator("StepAlignmentEvaluator") == "step_alignment"
    assert own_evaluator("h2o_sonar.evaluators.x.AgentSanityCheckEvaluator") == "agent_sanity_check"


@pytest.mark.parametrize(
    "name", ["", "rouge", "Evaluator", "MyEvaluator", "EffortEvaluator", "h2o_sonar.evaluators.x.Y", "pii"]
)
def test_other_names_are_not_of_the_guide(name: str) -> None:
    assert own_evaluator(name) == ""


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.guide)
def test_every_option_leads_to_one_of_ours(option: guide_names.OptionName) -> None:
    for id in option.evaluators:
        fields = {field.name for field in dataclasses.fields(REGISTRY.evaluators.get(id))}
        assert option.ours in fields | {"threshold"} or option.ours.startswith("judge.")
        assert option.implies.keys() <= fields
        assert option.guide not in fields
    assert option.evaluators or option.ours in ("threshold", "judge.model")


def test_an_option_of_another_evaluator_stays_as_it_is() -> None:
    read = NamesRead()
    for id, name in (("rouge", "agent_eval_h2ogpte_collection_id"), ("my_own", "metric_threshold")):
        assert own_options(id, {name: 1}, read, "there") == {name: 1}
    assert read.note() == ""


def test_a_connection_is_told_from_a_model_and_joined_with_the_own_table() -> None:
    read = NamesRead()
    guide_options = {"agent_host_connection_config_key": "mine", "judge": {"llm_model_name": "big"}}
    for connections, key in ((["mine"], "connection"), ([], "model")):
        options = own_options("fact_check", guide_options, read, "there", connections=connections)
        assert options == {"judge": {"llm_model_name": "big", key: "mine"}}
    assert guide_options["judge"] == {"llm_model_name": "big"}


def test_the_judge_of_step_alignment_extracts_the_steps_unless_told_otherwise() -> None:
    read = NamesRead()
    options = own_options("step_alignment", {"h2ogpte_llm_model_name": "big"}, read, "there")
    assert options == {"judge": {"llm_model_name": "big"}, "step_extractor": "llm"}
    guide_options = {"h2ogpte_llm_model_name": "big", "step_extractor": "rules"}
    assert own_options("step_alignment", guide_options, read, "there")["step_extractor"] == "rules"
    # The guide's default.
    assert own_options("step_alignment", {"h2ogpte_llm_model_name": ""}, read, "there") == {}


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"metric_threshold": 0.1, "threshold": 0.2}, "threshold"),
        ({"custom_eval_judge_config_key": "a", "judge": {"model": "b"}}, "judge.model"),
        ({"custom_eval_judge_config_key": "a", "judge": 5}, "judge.model"),
    ],
)
def test_both_names_of_an_option_are_refused(options: dict[str, object], path: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^there.\\w+: is '{path}' here, which is given too"):
        own_options("faithfulness", options, NamesRead(), "there")


@pytest.mark.parametrize(
    ("guide", "expected"),
    [
        ("CommaPerturbator:HIGH,word_swap:low+QwertyPerturbator", "comma:HIGH,word_swap:low+qwerty"),
        (
            "h2o_sonar.utils.perturbations.RandomOCRPerturbator:PerturbationIntensity.LOW,comma",
            "ocr:LOW,comma",
        ),
        ("EncodingPerturbatorBase16,KeywordTyposPerturbator", "encoding_base16,keyboard_typos"),
        ("random_keyboard_typos:low,random_OCR", "keyboard_typos:low,ocr"),
    ],
)
def test_perturbators_are_read_by_the_guides_names(guide: str, expected: str) -> None:
    read = NamesRead()
    assert own_perturbations(guide, read) == expected
    assert read.note()
    assert own_perturbations(expected, read) == expected
    assert read.note() == ""


def test_perturbators_and_types_of_problems_exist() -> None:
    assert set(guide_names.PERTURBATORS.values()) <= set(REGISTRY.perturbators)
    assert not guide_names.PERTURBATORS.keys() & set(REGISTRY.perturbators)
    assert set(guide_names.PROBLEM_TYPE_NAMES.values()) <= set(PROBLEM_TYPES)
    assert {each.name for each in ExplainableModelType} == FOREIGN_MODEL_TYPES.keys()


@pytest.mark.parametrize(
    "reply",
    [
        {"choice": "first", "reason": "x", "score_first": 9, "score_second": 1},
        {"choice": "tie", "scores": [1, 2]},
        {"choice": "model_c", "scores": {"model_c": 1}},
        {},
    ],
)
def test_a_reply_in_another_form_stays_as_it_is(reply: dict[str, object]) -> None:
    assert own_arena_reply(reply) == reply


def test_each_name_is_noted_once() -> None:
    read = NamesRead()
    read.add("a", "b")
    read.add("a", "b")
    assert read.note() == "names of H2O Eval Studio are read: 'a' as 'b'"
    read.add("a", "b")
    assert read.note() == ""


@pytest.mark.parametrize("name", [*(option.guide for option in OPTIONS), *guide_names.PERTURBATORS])
def test_an_alias_is_declared_in_one_module(name: str) -> None:
    """Names that mean something else here too (`model_a` of battles, `stability`) are left out."""
    assert [path.name for path in SOURCES if f'"{name}"' in path.read_text(encoding="utf-8")] == []
