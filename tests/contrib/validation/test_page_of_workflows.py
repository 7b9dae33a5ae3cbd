"""The page about workflows names the steps, parameters and generators that exist."""

from __future__ import annotations

import json
import re
from pathlib import Path

from pytest_evalstudio.contrib.validation.workflow_file import read_workflow
from pytest_evalstudio.core.plugins.declaring import parameters
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.source import Source

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "workflows.md").read_text(encoding="utf-8")


def test_the_table_names_each_step_and_its_parameters() -> None:
    steps = Registry().steps
    table = PAGE.partition("| Step |")[2].partition("\n\n")[0]
    rows = [row.split(" | ") for row in table.splitlines() if row.startswith("| `")]
    said = {row[0].strip("| `"): re.findall(r"`(\w+)`", row[3]) for row in rows}
    assert said == {
        id: list(parameters(steps.get(id))) for id in sorted(steps, key=lambda id: steps.spec(id).number)
    }


def test_it_names_each_generator() -> None:
    assert all(f"`{id}`" in PAGE for id in Registry().generators)


def test_the_example_is_a_workflow() -> None:
    text = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[0]
    assert read_workflow(Source("workflows.md", text, json.loads(text))).name == "Bank"
