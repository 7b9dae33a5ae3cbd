"""Specifications: what they ask for, and what is said of those that cannot be understood."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.perturbator import Change, perturbator
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.scoring.perturbing.specs import parse_perturbations
from pytest_evalstudio.scoring.perturbing.texts import put_to


def labels(text, registry=None, options=None):
    return [
        [step.label for step in chain] for chain in parse_perturbations(text, registry or Registry(), options)
    ]


@pytest.mark.parametrize(
    ("text", "chains"),
    [
        ("comma", [["comma:MEDIUM"]]),
        ("comma:medium,word_swap:low+qwerty", [["comma:MEDIUM"], ["word_swap:LOW", "qwerty:MEDIUM"]]),
        (" comma : HIGH , copy ,, ", [["comma:HIGH"], ["copy"]]),
        ("ocr:very_high", [["ocr:VERY_HIGH"]]),
        ("", []),
    ],
)
def test_a_comma_separates_and_a_plus_chains(text, chains):
    assert labels(text) == chains


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("coma", "no perturbator named 'coma'. Did you mean 'comma'? `evalstudio perturbators` lists all."),
        (
            "comma:medum",
            "perturbator comma: no intensity 'medum'. Did you mean 'medium'? It has low, medium, high",
        ),
        ("comma:extreme", "perturbator comma: no intensity 'extreme'. It has low, medium, high"),
        ("copy:low", "perturbator copy: no intensity 'low'. It has none; leave it out"),
        ("comma:low:high", "perturbator 'comma:low:high': two intensities, 'low' and 'high'; give one"),
        ("comma+", "a perturbator is missing next to '+'; write ID[:INTENSITY], joined by '+' or ','"),
        (
            "random_delete:replacment=X",
            "perturbator random_delete.replacment: unknown option. Did you mean 'replacement'?",
        ),
        ("comma:x=1", "perturbator comma.x: unknown option. It has none"),
        (
            "encoding_base16:spaces=maybe",
            "perturbator encoding_base16.spaces: expected true or false, found 'maybe'",
        ),
        (
            "counterfactual:group=job",
            (
                "perturbator counterfactual.group: expected one of 'all', 'gender', 'race', 'age', 'income',"
                " 'religion', found 'job'"
            ),
        ),
    ],
)
def test_what_cannot_be_understood_is_told(text, fault):
    with pytest.raises(ConfigurationError) as exc_info:
        labels(text)
    assert str(exc_info.value) == fault


def test_options_of_the_configuration_hold_until_the_specification_says_otherwise():
    options = {"random_delete": {"replacement": "X"}}
    (configured,), (own_chain,) = parse_perturbations(
        "random_delete:high,random_delete:high:replacement=#", Registry(), options
    )
    assert "X" in configured.perturb("something", 1).text
    assert "#" in own_chain.perturb("something", 1).text


def test_a_wrong_table_is_told_even_if_nobody_uses_it():
    with pytest.raises(ConfigurationError, match=r"perturbator\.comma\.k: unknown option"):
        labels("", options={"comma": {"k": 3}})


@perturbator("shout", name="Shout", intensities=())
@dataclass(frozen=True)
class Shout:
    """Says it in capitals."""

    mark: str = "!"

    def perturb(self, text, intensity, seed):
        if text == "boom":
            raise RuntimeError("too loud")
        return Change(text.upper() + self.mark if text != "BLANK" else " ", len(text))


@pytest.fixture
def shouting():
    registry = Registry()
    registry.add_perturbator(Shout)
    return registry


def test_a_perturbator_of_ones_own(shouting):
    (chain,) = parse_perturbations("shout:mark=?+comma:high", shouting)
    assert put_to(chain, "is it free", 1).text == "IS IT, FREE?"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("boom", "the perturbator failed: RuntimeError: too loud"),
        ("BLANK", "nothing is left of it"),
        ("", "it is blank"),
    ],
)
def test_what_a_perturbator_does_wrong_is_a_note(shouting, text, reason):
    (chain,) = parse_perturbations("shout", shouting)
    assert put_to(chain, text, 1).reason == reason


def test_a_text_that_stays_the_same_is_no_perturbation(shouting):
    (chain,) = parse_perturbations("shout:mark=", shouting)
    assert put_to(chain, "LOUD", 1).reason == "the perturbator left it as it is"


def test_two_perturbators_of_one_name_are_refused(shouting):
    @perturbator("shout", name="Other")
    @dataclass(frozen=True)
    class Other:
        """Another."""

        def perturb(self, text, intensity, seed): ...

    with pytest.raises(ConfigurationError, match="two perturbators are named 'shout'"):
        shouting.add_perturbator(Other)
    with pytest.raises(
        ConfigurationError,
        match=r"is not declared as perturbator: decorate it with pytest_evalstudio\.perturbator",
    ):
        shouting.add_perturbator(int)
