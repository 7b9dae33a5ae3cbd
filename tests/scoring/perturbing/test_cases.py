"""Perturbed suites, tests, cases and labs: keys, categories, relationships, and what stays."""

from __future__ import annotations

import pytest

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.formats.dataset import LlmDataset, Row
from pytest_evalstudio.formats.lab import Model, TestLab
from pytest_evalstudio.formats.suite import Test, TestCase, TestSuite
from pytest_evalstudio.scoring.perturbing.cases import perturb


def suite():
    test_suite = TestSuite(name="S", categories=["bank"])
    test = test_suite.add_test(documents=["d.md"], key="t", categories=["fees"])
    test.add_case(
        "What does a lazy copy cost?",
        key="copy",
        expected_output="5",
        condition='"5"',
        categories=["c"],
        evaluators={"rouge": {}},
        xfail="no",
    )
    test.add_case("Why?", key="why")
    return test_suite


def test_each_chain_makes_a_case_right_behind_its_original():
    result = perturb(suite(), "comma:high,word_swap:high+qwerty:high,copy")
    cases = result.content.tests[0].test_cases
    assert [case.key for case in cases] == [
        "copy",
        "copy-comma-high",
        "copy-word_swap-high-qwerty-high",
        "copy-copy",
        "why",
        "why-copy",
    ]
    assert [case.prompt for case in cases[:4]] == [
        "What does a lazy copy cost?",
        "What does, a lazy, copy cost?",
        "does What layz a cost copz?",
        "What does a lazy copy cost?",
    ]
    chained = cases[2]
    assert chained.categories == [
        "c",
        "perturbed",
        "perturbed_by:word_swap:PerturbationIntensity.HIGH",
        "perturbed_by:qwerty:PerturbationIntensity.HIGH",
    ]
    assert [(link.type, link.target, link.target_type) for link in chained.relationships] == [
        ("perturbation_source", "copy", "test_case")
    ]
    assert (chained.expected_output, chained.condition, chained.evaluators, chained.xfail) == (
        "5",
        '"5"',
        {"rouge": {}},
        "no",
    )
    assert result.added == 4
    assert result.notes == (
        (
            "comma:HIGH skipped 1 case ('why'): it has fewer than 2 words, except the last,"
            " that no punctuation follows"
        ),
        "word_swap:HIGH+qwerty:HIGH skipped 1 case ('why'): word_swap: it has fewer than 2 words",
    )


def test_what_is_given_stays_as_it_is():
    original = suite()
    before = original.to_dict()
    perturb(original, "comma:high,copy")
    assert original.to_dict() == before


def test_the_same_seed_gives_the_same_suite_and_another_one_another():
    first, repeat, other = (
        perturb(suite(), "random_replacement", seed=seed).content.to_dict() for seed in (1, 1, 2)
    )
    assert first == repeat != other


def test_where_looks_at_the_categories_of_case_test_and_suite():
    for where, added in (("c", 1), ("fees", 2), ("bank and not c", 1), ("other", 0)):
        assert perturb(suite(), "copy", where=where).added == added


def test_perturbed_cases_are_not_perturbed_again_and_keys_stay_unique():
    result = perturb(perturb(suite(), "copy").content, "copy,copy")
    keys = [case.key for _, case in result.content.cases()]
    assert keys == [
        "copy",
        "copy-copy-2",
        "copy-copy-3",
        "copy-copy",
        "why",
        "why-copy-2",
        "why-copy-3",
        "why-copy",
    ]


def test_a_test_and_a_single_case_can_be_perturbed():
    test = perturb(suite().tests[0], "copy").content
    assert isinstance(test, Test)
    assert [case.key for case in test.test_cases] == ["copy", "copy-copy", "why", "why-copy"]
    single_test = perturb(TestCase(prompt="Why not?", key="k"), "comma:high,word_swap:high").content
    assert [case.key for case in single_test.test_cases] == ["k", "k-word_swap-high"]


def test_a_counterfactual_names_its_original_twice():
    _, case = perturb(TestCase(prompt="May he?", key="k"), "counterfactual").content.test_cases
    assert [(link.type, link.target) for link in case.relationships] == [
        ("perturbation_source", "k"),
        ("counterfactual_source", "k"),
    ]
    assert case.categories == [
        "perturbed",
        "perturbed_by:counterfactual:PerturbationIntensity.MEDIUM",
        "counterfactual:gender",
    ]


def test_the_rows_of_a_lab_wait_for_their_answers():
    row = Row(
        key="k",
        input="What is it?",
        actual_output="It is so.",
        model_key="m",
        context=["c"],
        cost=1.0,
        expected_output="so",
    )
    lab = TestLab(
        models=[Model(key="m")], dataset=LlmDataset(inputs=[row, row.model_copy(update={"run": 2})])
    )
    result = perturb(lab, "word_swap:high")
    assert [item.key for item in result.content.dataset.inputs] == ["k", "k"]
    new = result.content.raw_dataset.inputs[-1]
    assert (new.key, new.input, new.actual_output, new.context, new.cost, new.run) == (
        "k-word_swap-high",
        "is What it?",
        "",
        [],
        None,
        None,
    )
    assert (new.expected_output, new.model_key, [link.target for link in new.relationships]) == (
        "so",
        "m",
        ["k"],
    )
    assert result.added == 1


@pytest.mark.parametrize(
    ("spec", "fault"),
    [("", "no perturbator is named; write e.g. comma:medium"), (" , ", "no perturbator is named")],
)
def test_nothing_asked_for_is_told(spec, fault):
    with pytest.raises(ConfigurationError, match=fault):
        perturb(suite(), spec)


def test_a_data_set_does_not_say_whom_to_ask():
    with pytest.raises(
        ConfigurationError,
        match="a LlmDataset cannot be perturbed: give a TestCase, Test, TestSuite or TestLab",
    ):
        perturb(LlmDataset(), "copy")
