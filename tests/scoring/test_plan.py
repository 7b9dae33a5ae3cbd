from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import DEFAULT_EVALUATORS, configuration
from pytest_evalstudio.scoring.plan import Plan
from pytest_evalstudio.scoring.run_header import evaluator_entry
from pytest_evalstudio.scoring.thresholds import parse_threshold
from pytest_evalstudio.scoring.verdicts import flipping_metrics
from support.toys import toy_registry


def plan_of(config=None, *, thresholds=None, **options):
    return Plan(
        toy_registry(),
        configuration({"evaluators": ["reading"], **(config or {})}),
        thresholds=thresholds,
        **options,
    )


def ids(selected):
    return [entry.id for entry in selected]


def test_without_a_choice_the_default_evaluators_judge():
    assert tuple(ids(Plan(toy_registry(), configuration({})).selected)) == DEFAULT_EVALUATORS


def test_an_empty_choice_is_a_choice():
    assert plan_of({"evaluators": []}).selected == ()


def test_the_order_is_the_users_and_a_name_counts_once():
    assert ids(plan_of({"evaluators": ["rouge", "reading", "rouge"]}).selected) == ["rouge", "reading"]


def test_all_means_every_evaluator_and_every_configured_instance():
    names = ids(
        plan_of(
            {"evaluators": ["bleu", "all"], "evaluator": {"reading_twice": {"type": "reading", "times": 2}}}
        ).selected
    )
    assert names[0] == "bleu"
    assert {"reading", "counting", "rouge", "reading_twice"} <= set(names)
    assert len(names) == len(set(names))


def test_only_all_leaves_out_what_cannot_be_had_and_says_why():
    def lacks(selected):
        return "no weights" if selected.id == "reading" else ""

    full_plan = plan_of({"evaluators": ["all"]}, lacks=lacks)
    assert "reading" not in ids(full_plan.selected)
    assert full_plan.left_out["reading"] == "no weights"
    assert ids(plan_of(lacks=lacks).selected) == ["reading"]


LAYERS = [
    pytest.param({}, {}, None, 0.5, id="the metric's default"),
    pytest.param({"threshold": 0.1}, {}, None, 0.1, id="the configuration's"),
    pytest.param({"thresholds": {"value": 0.2}}, {}, None, 0.2, id="the configuration's, by metric"),
    pytest.param({"threshold": 0.1}, {"reading": 0.3}, None, 0.3, id="the command line's"),
    pytest.param({"threshold": 0.1}, {"reading.value": 0.4}, None, 0.4, id="the command line's, by metric"),
    pytest.param({"threshold": 0.1}, {"reading": 0.3}, {"threshold": 0.7}, 0.7, id="the case's"),
    pytest.param({}, {"reading": 0.3}, {"thresholds": {"value": 0}}, 0.0, id="the case's, by metric"),
    pytest.param(
        {"threshold": 0.1}, {}, {"thresholds": {"size": 3}}, 0.1, id="a case that sets another metric's"
    ),
]


@pytest.mark.parametrize(("table", "line", "case_options", "threshold"), LAYERS)
def test_a_threshold_is_the_one_nearest_to_the_case(table, line, case_options, threshold):
    plan = plan_of({"evaluator": {"reading": table}}, thresholds=line)
    assert plan.get("reading", case_options).thresholds["value"] == threshold


def test_asserted_are_the_primary_metric_and_those_with_a_threshold_of_the_users():
    assert plan_of().get("reading").asserted == {"value"}
    plan = plan_of(
        {"evaluator": {"reading": {"thresholds": {"size": 10.0}}}}, thresholds={"reading.free": 2.0}
    )
    assert plan.get("reading").asserted == {"value", "size", "free"}
    assert plan.get("reading").thresholds == {"value": 0.5, "size": 10.0, "free": 2.0}
    assert plan_of().get("reading", {"thresholds": {"size": 1}}).asserted == {"value", "size"}


def test_options_of_a_case_come_on_top_of_the_configured_ones():
    plan = plan_of({"evaluator": {"reading": {"factor": 2, "times": 3}}})
    selection = plan.get("reading", {"times": 4})
    assert (selection.evaluator.factor, selection.evaluator.times) == (2, 4)
    assert selection.parameters == {"factor": 2, "times": 4, "mode": "plain", "label": "", "loud": False}
    assert plan.get("reading").evaluator.times == 3


def test_equal_options_are_made_once():
    plan = plan_of()
    assert plan.get("reading", {"times": 2, "factor": 1.5}) is plan.get(
        "reading", {"factor": 1.5, "times": 2}
    )
    assert plan.get("reading", {}) is plan.selected[0]
    assert len(plan.made()) == 2


def test_a_case_replaces_the_choice_of_the_run():
    plan = plan_of({"evaluators": ["reading", "rouge"]})
    assert plan.for_case(None) == plan.selected
    assert plan.for_case({}) == ()
    assert ids(plan.for_case({"bleu": {}, "reading": {"times": 2}})) == ["bleu", "reading"]


def test_instances_of_one_evaluator_have_their_own_names_options_and_thresholds():
    tables = {"strict": {"type": "reading", "threshold": 0.9}, "double": {"type": "reading", "factor": 2.0}}
    plan = plan_of({"evaluators": ["strict", "double"], "evaluator": tables}, thresholds={"double": 0.25})
    strict, double = plan.selected
    assert (strict.id, strict.spec.id, strict.thresholds["value"], strict.evaluator.factor) == (
        "strict",
        "reading",
        0.9,
        1.0,
    )
    assert (double.id, double.thresholds["value"], double.evaluator.factor) == ("double", 0.25, 2.0)
    assert (evaluator_entry(strict).name, evaluator_entry(strict).type) == ("Reading (strict)", "reading")


@pytest.mark.parametrize(
    ("config", "thresholds", "fault"),
    [
        (
            {"evaluators": ["readin"]},
            {},
            "no evaluator named 'readin'. Did you mean 'reading'? `evalstudio evaluators` lists all.",
        ),
        (
            {"evaluator": {"readin": {}}},
            {},
            "configuration: evaluator.readin: no evaluator named 'readin'. Did you mean 'reading'?",
        ),
        (
            {"evaluator": {"mine": {"type": "readin"}}},
            {},
            "configuration: evaluator.mine: no evaluator named 'readin'. Did you mean 'reading'?",
        ),
        ({"evaluator": {"mine": {"type": 5}}}, {}, "configuration: evaluator.mine: no evaluator named '5'."),
        (
            {"evaluator": {"reading": {"facto": 2}}},
            {},
            "configuration: evaluator.reading.facto: unknown option. Did you mean 'factor'?",
        ),
        (
            {"evaluator": {"reading": {"treshold": 2}}},
            {},
            "configuration: evaluator.reading.treshold: unknown option. Did you mean 'threshold'?",
        ),
        (
            {"evaluator": {"reading": {"zzz": 2}}},
            {},
            (
                "configuration: evaluator.reading.zzz: unknown option. Known options: factor, times, mode,"
                " label, loud, type, threshold, thresholds"
            ),
        ),
        (
            {"evaluator": {"reading": {"factor": "2"}}},
            {},
            "configuration: evaluator.reading.factor: expected a number, found '2'",
        ),
        (
            {"evaluator": {"reading": {"factor": True}}},
            {},
            "configuration: evaluator.reading.factor: expected a number, found True",
        ),
        (
            {"evaluator": {"reading": {"times": 2.0}}},
            {},
            "configuration: evaluator.reading.times: expected a whole number, found 2.0",
        ),
        (
            {"evaluator": {"reading": {"label": 2}}},
            {},
            "configuration: evaluator.reading.label: expected a string, found 2",
        ),
        (
            {"evaluator": {"reading": {"loud": 1}}},
            {},
            "configuration: evaluator.reading.loud: expected true or false, found 1",
        ),
        (
            {"evaluator": {"reading": {"mode": "x"}}},
            {},
            "configuration: evaluator.reading.mode: expected one of 'plain', 'strict', found 'x'",
        ),
        (
            {"evaluator": {"reading": {"threshold": "x"}}},
            {},
            "evaluator reading.threshold: expected a number, found 'x'",
        ),
        (
            {"evaluator": {"reading": {"threshold": True}}},
            {},
            "evaluator reading.threshold: expected a number, found True",
        ),
        (
            {"evaluator": {"reading": {"threshold": math.nan}}},
            {},
            "evaluator reading.threshold: expected a number, found nan",
        ),
        (
            {"evaluator": {"reading": {"threshold": 10**400}}},
            {},
            "evaluator reading.threshold: the number is too large",
        ),
        (
            {"evaluator": {"reading": {"thresholds": 1}}},
            {},
            "evaluator reading.thresholds: expected a table of metric = number, found 1",
        ),
        (
            {"evaluator": {"reading": {"thresholds": {"valu": 1}}}},
            {},
            (
                "evaluator reading.thresholds: no metric named 'valu'. Did you mean 'value'? reading has"
                " value, size, free."
            ),
        ),
        ({}, {"readin": 0.5}, "no evaluator named 'readin'. Did you mean 'reading'?"),
        (
            {},
            {"reading.valu": 0.5},
            (
                "--evalstudio-threshold reading: no metric named 'valu'. Did you mean 'value'? reading has"
                " value, size, free."
            ),
        ),
    ],
)
def test_what_nobody_knows_is_told_with_the_nearest_that_somebody_does(config, thresholds, fault):
    with pytest.raises(ConfigurationError) as exc_info:
        plan_of(config, thresholds=thresholds)
    assert str(exc_info.value).startswith(fault)


OUTSIDE = "95 is outside the range of value, 0 to 1; write 0.95 for 95 %"


@pytest.mark.parametrize(
    ("table", "line", "case_options", "place"),
    [
        pytest.param({"threshold": 95}, {}, None, "evaluator reading.threshold: ", id="configuration"),
        pytest.param(
            {"thresholds": {"value": 95}}, {}, None, "evaluator reading.thresholds.value: ", id="metric"
        ),
        pytest.param({}, {"reading": 95.0}, None, "--evalstudio-threshold reading: ", id="command line"),
        pytest.param({}, {}, {"threshold": 95}, "evaluator reading.threshold: ", id="test case"),
    ],
)
def test_a_threshold_outside_the_range_of_its_metric_is_refused(
    table: dict[str, Any], line: dict[str, float], case_options: dict[str, Any] | None, place: str
) -> None:
    with pytest.raises(ConfigurationError) as exc_info:
        plan_of({"evaluator": {"reading": table}}, thresholds=line).get("reading", case_options)
    assert str(exc_info.value) == place + OUTSIDE


@pytest.mark.parametrize("threshold", [0, 1, math.inf, -math.inf])
def test_the_ends_of_the_range_and_infinite_thresholds_are_accepted(threshold: float) -> None:
    plan = plan_of({"evaluator": {"reading": {"threshold": threshold}}})
    assert plan.get("reading").thresholds["value"] == threshold


@pytest.mark.parametrize(
    ("name", "options"), [("readin", {}), ("reading", {"facto": 1}), ("reading", {"threshold": None})]
)
def test_a_case_that_asks_for_what_nobody_knows_is_told(name, options):
    with pytest.raises(ConfigurationError):
        plan_of().for_case({name: options})


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("s.json", "/suites/s.json"),
        ("/abs/s.json", "/abs/s.json"),
        ('{"type": "object"}', '{"type": "object"}'),
    ],
)
def test_a_path_among_the_options_starts_at_the_configuration(option, expected):
    config = configuration(
        {"evaluators": [], "evaluator": {"picky": {"file": option}}}, folder=Path("/suites")
    )
    selected = Plan(toy_registry(), config).get("picky")
    assert (selected.evaluator.file, selected.parameters) == (expected, {"file": option})
    assert Plan(toy_registry(), config).get("picky", {"file": None}).evaluator.file is None


def test_an_evaluator_that_refuses_its_options_is_named():
    with pytest.raises(ConfigurationError, match="max_group_size is at least 2, not 1"):
        plan_of(
            {"evaluators": ["self_consistency"], "evaluator": {"self_consistency": {"max_group_size": 1}}}
        )


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("rouge=0.4", ("rouge", 0.4)),
        (" rouge.rouge_1 = 1e-3", ("rouge.rouge_1", 0.001)),
        ("perplexity=inf", ("perplexity", math.inf)),
    ],
)
def test_thresholds_of_the_command_line(text, parsed):
    assert parse_threshold(text) == parsed


@pytest.mark.parametrize("text", ["rouge", "rouge=", "=0.4", "rouge=high", "rouge=nan", "", "rouge=0.4=0.5"])
def test_a_threshold_of_another_form_is_told(text):
    with pytest.raises(
        ConfigurationError, match=r"expected ID=NUMBER or ID\.METRIC=NUMBER, e\.g\. rouge=0\.4"
    ):
        parse_threshold(text)


def test_a_case_cannot_make_an_instance():
    with pytest.raises(ConfigurationError, match="make an instance in the configuration"):
        plan_of().for_case({"reading": {"type": "reading"}})


@pytest.mark.parametrize(
    ("choice", "included", "excluded"),
    [
        ("domain:privacy", {"pii_leakage", "sensitive_data_leakage"}, {"rouge"}),
        ("method:ngrams", {"rouge", "bleu", "lexical_groundedness"}, {"pii_leakage"}),
        ("tag:capability-answer-highlight", {"pii_leakage", "lexical_groundedness"}, {"rouge"}),
    ],
)
def test_evaluators_are_chosen_by_a_property(choice: str, included: set[str], excluded: set[str]) -> None:
    selected = set(ids(Plan(Registry(), configuration({"evaluators": [choice]})).selected))
    assert included <= selected
    assert not excluded & selected


def test_a_property_chooses_what_is_available_and_names_the_rest() -> None:
    plan = Plan(
        Registry(),
        configuration({"evaluators": ["domain:privacy"]}),
        lacks=lambda selected: "no judge" if "judge" in selected.requires else "",
    )
    assert "pii_leakage" in ids(plan.selected)
    assert plan.left_out == {"contact_information": "no judge"}
    assert plan.broad_choice == "domain:privacy"


def test_an_unknown_property_value_proposes_the_nearest() -> None:
    with pytest.raises(ConfigurationError, match=r"no domain named 'privacie'\. Did you mean 'privacy'\?"):
        Plan(Registry(), configuration({"evaluators": ["domain:privacie"]}))


def test_flips_of_all_metrics_are_checked_on_request() -> None:
    by_option = {}
    for options in ({}, {"flips": "all"}, {"flips": "primary"}):
        config = configuration({"evaluators": ["pii_leakage"], "evaluator": {"pii_leakage": options}})
        (selected,) = Plan(Registry(), config).selected
        by_option[options.get("flips")] = [metric.key for metric in flipping_metrics(selected)]
    assert by_option[None] == by_option["primary"] == ["model_passes"]
    assert len(by_option["all"]) == 4
    with pytest.raises(ConfigurationError, match="expected 'all' or 'primary', found 'some'"):
        Plan(Registry(), configuration({"evaluator": {"pii_leakage": {"flips": "some"}}}))


def test_the_record_specifies_the_options_of_an_evaluator() -> None:
    (selected,) = Plan(Registry(), configuration({"evaluators": ["looping_detection"]})).selected
    (parameter,) = evaluator_entry(selected).parameters_meta
    assert (parameter.name, parameter.type, parameter.default) == ("min_repeat_chars", "int", 10)
    assert parameter.description.startswith("shortest repeated substring")


def test_options_of_the_report_are_those_of_an_evaluators_table() -> None:
    options = {"min_test_cases": 9, "save_llm_result": False, "sentence_level_metrics": False}
    plan = plan_of({"evaluator": {"reading": options}})

    entry = evaluator_entry(plan.selected[0])

    assert (entry.min_test_cases, entry.save_llm_result) == (9, False)
    assert not entry.parameters.keys() & options.keys()
    assert evaluator_entry(plan_of().selected[0]).save_llm_result
    for name, value in options.items():
        with pytest.raises(ConfigurationError, match=f"reading.{name}: it holds for the whole run"):
            plan_of().get("reading", {name: value})


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("min_test_cases", "9", "a whole number from 0, found '9'"),
        ("min_test_cases", -1, "a whole number from 0, found -1"),
        ("min_test_cases", True, "a whole number from 0, found True"),
        ("save_llm_result", 0, "true or false, found 0"),
        ("sentence_level_metrics", "no", "true or false, found 'no'"),
    ],
)
def test_options_of_the_report_have_types(name: str, value: object, expected: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"evaluator.reading.{name}: expected {expected}"):
        plan_of({"evaluator": {"reading": {name: value}}})


def test_a_parameter_of_the_same_name_is_the_evaluators_own() -> None:
    plan = Plan(Registry(), configuration({"evaluator": {"questions_drift": {"min_test_cases": 30}}}))

    selected = plan.get("questions_drift")

    assert (selected.parameters["min_test_cases"], selected.reporting.min_test_cases) == (30, None)
