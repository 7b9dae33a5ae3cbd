"""The page about workflows names the steps and generators that exist."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from pytest_evalstudio.contrib.validation.workflow_file import read_workflow
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.source import Source

PAGE = (Path(__file__).parents[3] / "docs" / "validate" / "steps.md").read_text(encoding="utf-8")


def test_the_tables_name_each_step_in_its_order() -> None:
    steps = Registry().steps
    rows = re.findall(r"^\| (\d) `(\w+)` \|", PAGE, re.MULTILINE)
    assert [id for _, id in rows] == sorted(steps, key=lambda id: steps.spec(id).number)
    assert [int(number) for number, _ in rows] == [steps.spec(id).number for _, id in rows]


def test_it_names_each_kind_of_attack() -> None:
    generators = Registry().generators
    attacks = [id for id in generators if generators.spec(id).purpose == "adversarial"]
    assert attacks
    assert all(f"`{id}`" in PAGE for id in attacks)


def test_the_example_is_a_workflow() -> None:
    text = re.findall(r"```yaml[^\n]*\n(.*?)```", PAGE, re.DOTALL)[0]
    assert read_workflow(Source("steps.md", text, yaml.safe_load(text))).name == "Bank"
