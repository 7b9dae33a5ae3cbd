"""Perturbed questions that were graded by the rubric of their folder."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

from pytest_evalstudio.core.plugins.perturbator import INTENSITIES
from pytest_evalstudio.core.plugins.registry import Registry

GRADED = Path(__file__).parents[1] / "data/perturbations/graded.csv"
CONTROL = "control"
"""Rows with a planted change of the meaning, which the graders could not tell from the others."""
PAGE = GRADED.with_name("README.md")


def grades() -> dict[tuple[str, str], list[tuple[bool, bool]]]:
    """Return perturbator and intensity to the grades of both graders."""
    by_level: dict[tuple[str, str], list[tuple[bool, bool]]] = defaultdict(list)
    with GRADED.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            pair = (row["grade_1"] == "1", row["grade_2"] == "1")
            by_level[row["perturbator"], row["intensity"]].append(pair)
    return by_level


def table() -> list[str]:
    """Return the rows of the folder's table: good by each grader and by both, of all."""
    by_level = grades()
    del by_level[CONTROL, ""]
    order = {level.lower(): number for number, level in enumerate(INTENSITIES)}
    lines = []
    for (id, level), pairs in sorted(by_level.items(), key=lambda entry: (entry[0][0], order[entry[0][1]])):
        first, second, both = (
            sum(a for a, _ in pairs),
            sum(b for _, b in pairs),
            sum(a and b for a, b in pairs),
        )
        lines.append(f"| `{id}` | {level} | {len(pairs)} | {first} | {second} | {both} |")
    return lines


def test_two_hundred_questions_were_graded_and_the_page_shows_the_figures():
    page = PAGE.read_text(encoding="utf-8").splitlines()
    rows = [
        line for line in page if line.startswith("| `") and line.count("|") == 7 and line[-3:-2].isdigit()
    ]
    assert rows == table()
    assert sum(int(line.split("|")[3]) for line in rows) == 200


def test_both_graders_call_all_planted_changes_bad():
    controls = grades()[CONTROL, ""]
    assert len(controls) == 12
    assert not any(first or second for first, second in controls)


def test_the_graded_intensities_exist():
    plugins = Registry().perturbators
    for line in table():
        id, level = (cell.strip(" `") for cell in line.split("|")[1:3])
        assert level.upper() in plugins.spec(id).intensities


if __name__ == "__main__":
    print(*table(), sep="\n")  # noqa: T201
