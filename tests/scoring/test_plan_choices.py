"""Evaluators that a configuration, a case or a turn may choose, and those that it may not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.core.conversations import ConversationPlan, PlannedTurn
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator, Plan, is_selector
from support.toys import toy_registry


def plan_of(**config: Any) -> Plan:
    return Plan(toy_registry(), configuration({"evaluators": ["reading"], **config}))


def ids(selected: tuple[ConfiguredEvaluator, ...]) -> list[str]:
    return [each.id for each in selected]


def agent_judge(config: dict[str, Any]) -> Any:
    return Plan(Registry(), configuration({"evaluators": [], **config})).get("fact_check").own_judge


AGENT = {"name": "agent", "host": "h2ogpte", "llm_args": {"use_agent": True}}
PLAIN = {"name": "plain", "host": "h2ogpte"}


def test_without_a_judge_an_agent_among_the_models_judges_by_agents() -> None:
    assert agent_judge({"model": [PLAIN, AGENT]}) == {"model": "agent"}
    assert agent_judge({"model": [PLAIN]}) == {}
    assert agent_judge({"model": [AGENT], "judge": {"model": "plain"}}) == {}
    steady = {"evaluator": {"fact_check": {"judge": {"temperature": 0.5}}}}
    assert agent_judge({"model": [AGENT], **steady}) == {"temperature": 0.5, "model": "agent"}
    config = {"evaluator": {"fact_check": {"judge": {"model": "plain"}}}}
    assert agent_judge({"model": [AGENT], **config}) == {"model": "plain"}
    plan = Plan(Registry(), configuration({"evaluators": [], "model": [AGENT]}))
    assert plan.get("correctness_judge").own_judge == {}


def test_only_an_evaluator_that_asks_a_judge_has_a_table_for_it() -> None:
    table = {"judge": {"model": "m"}}
    plan = Plan(Registry(), configuration({"evaluator": {"correctness_judge": table}}))
    assert plan.get("correctness_judge").own_judge == {"model": "m"}
    with pytest.raises(ConfigurationError, match=r"evaluator\.rouge\.judge: unknown option"):
        Plan(Registry(), configuration({"evaluator": {"rouge": table}}))
    with pytest.raises(ConfigurationError, match=r"evaluator\.correctness_judge\.judge: expected a table"):
        Plan(Registry(), configuration({"evaluator": {"correctness_judge": {"judge": "m"}}}))


@pytest.mark.parametrize(
    ("option", "value"),
    [("judge", {"model": "m"}), ("calibration", "c.json"), ("judge_check", "c.json")],
)
def test_a_case_chooses_neither_judge_nor_measured_errors(option: str, value: object) -> None:
    with pytest.raises(
        ConfigurationError, match=rf"evaluator correctness_judge\.{option}: a case cannot choose"
    ):
        Plan(Registry(), configuration({})).for_case({"correctness_judge": {option: value}})


def test_a_calibration_that_cannot_be_read_is_named_with_its_table(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text("{}")
    config = {"evaluators": ["reading"], "evaluator": {"reading": {"calibration": "c.json"}}}
    with pytest.raises(ConfigurationError) as exc_info:
        Plan(toy_registry(), configuration(config, folder=tmp_path))
    assert str(exc_info.value).startswith("configuration: evaluator.reading.calibration: ")
    with pytest.raises(ConfigurationError, match="expected the name of a file that `evalstudio calibrate"):
        plan_of(evaluator={"reading": {"calibration": 3}})


def test_a_case_may_repeat_the_file_of_the_configuration_and_name_no_other() -> None:
    plan = plan_of(evaluators=[], evaluator={"picky": {"file": "s.json"}})
    [selected] = plan.for_case({"picky": {"file": "s.json"}})
    assert selected.id == "picky"
    with pytest.raises(ConfigurationError) as exc_info:
        plan.for_case({"picky": {"file": "other.json"}})
    assert str(exc_info.value) == (
        "evaluator picky.file: a case cannot choose a file; give it in [evaluator.picky]"
    )
    with pytest.raises(ConfigurationError, match="a case cannot choose a file"):
        plan_of().for_case({"picky": {"file": "s.json"}})


def test_a_case_may_repeat_the_model_of_the_configuration_and_name_no_other() -> None:
    options = {"perplexity": {"model": "gpt2"}}
    plan = Plan(Registry(), configuration({"evaluators": [], "evaluator": options}))
    assert ids(plan.for_case(options)) == ["perplexity"]
    with pytest.raises(ConfigurationError) as exc_info:
        plan.for_case({"perplexity": {"model": "org/other"}})
    assert str(exc_info.value) == (
        "evaluator perplexity: a case cannot choose the language model 'org/other'; give it in"
        " [evaluator.perplexity]"
    )


def test_an_evaluator_may_have_a_name_before_all_in_the_alphabet() -> None:
    plan = Plan(Registry(), configuration({"evaluators": ["agent_sanity_check"]}))
    assert (ids(plan.selected), plan.broad_choice, plan.left_out) == (["agent_sanity_check"], "", {})


@pytest.mark.parametrize(
    ("name", "expected"),
    [("all", True), ("tag:x", True), ("domain:", True), ("tag", False), ("type:x", False), ("rouge", False)],
)
def test_a_selector_is_all_or_a_property_with_a_value(name: str, expected: bool) -> None:
    assert is_selector(name) is expected


def test_the_first_broad_choice_is_remembered() -> None:
    plan = Plan(Registry(), configuration({"evaluators": ["rouge", "domain:privacy", "method:ngrams"]}))
    assert plan.broad_choice == "domain:privacy"


def test_a_turn_names_only_evaluators_of_its_case() -> None:
    plan = plan_of(evaluators=["reading", "rouge"])

    def turns(name: str) -> ConversationPlan:
        return ConversationPlan(turns=(PlannedTurn(prompt="q", evaluators=(name,)),))

    assert plan.for_case(None, turns("rouge")) == plan.selected
    with pytest.raises(ConfigurationError) as exc_info:
        plan.for_case(None, turns("roug"))
    assert str(exc_info.value) == (
        "no evaluator named 'roug'. Did you mean 'rouge'? The case has: reading, rouge."
    )
