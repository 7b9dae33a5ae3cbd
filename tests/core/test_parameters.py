"""Specifications of options."""

from __future__ import annotations

import pytest

from pytest_evalstudio.core.plugins.parameters import parameter_specs
from pytest_evalstudio.core.plugins.registry import Registry

EVALUATORS = Registry().evaluators


def test_type_default_choices_and_description_come_from_the_class() -> None:
    by_name = {spec.name: spec for spec in parameter_specs(EVALUATORS.get("pii_leakage"))}
    detector = by_name["detector"]
    assert (detector.default, detector.choices) == ("rules", ("rules", "presidio"))
    assert detector.description == '"rules" for formats only, "presidio" for both.'
    assert by_name["min_score"].type == "float"
    assert by_name["entities"].description.endswith("URLs, dates and UUIDs.")


@pytest.mark.parametrize("id", list(EVALUATORS))
def test_every_option_of_every_evaluator_has_a_specification(id: str) -> None:
    for spec in parameter_specs(EVALUATORS.get(id)):
        assert spec.name
        assert spec.type
        assert not spec.choices or spec.default in spec.choices
