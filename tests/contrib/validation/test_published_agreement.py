"""The published figures in model cards are those of the documentation."""

from __future__ import annotations

import re

from pytest_evalstudio.contrib.validation.published_agreement import PUBLISHED, published_agreement
from support.pages import ROOT, read

ROW = re.compile(r"^\| `(\w+)` (\w+) \| (.+) \|$", re.MULTILINE)


def test_the_figures_are_those_of_the_documentation() -> None:
    page = read(ROOT / "tests" / "benchmarks" / "agreement.md")
    table = {f"{id}.{key}": cells.split(" | ") for id, key, cells in ROW.findall(page)}
    figures = {
        metric: tuple(cell.partition(";")[0].replace("–", "", cell == "–") for cell in table[metric])
        for metric in PUBLISHED
    }
    assert figures == PUBLISHED
    assert published_agreement("x.y") == ""
