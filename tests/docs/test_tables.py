"""The tables of the documentation name what the code has."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import pytest_evalstudio
from pytest_evalstudio import Registry
from pytest_evalstudio.formats.config import Configuration
from support.pages import DOCS, PAGES, ROOT, name_of, read
from support.tables import API, NOT_IN_FILES, Options, subcommands, table_in, with_tables

REFERENCE = DOCS / "reference"


def rows(page: str, table: str) -> list[str]:
    """Return the first words in the first column of a table."""
    cells = table_in(read(DOCS / page), table)
    return [re.match(r"`([^` ]+)", row[0])[1] for row in cells]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_tables_of_a_page_are_as_the_code_has_them(page: Path) -> None:
    assert with_tables(read(page)) == read(page), "run: python tests/support/tables.py"


def test_every_option_is_in_the_table() -> None:
    declared = Options()
    assert rows("reference/options.md", "options") == [
        *(name.split()[0] for name, _ in declared.declared),
        *(name for name, _, _ in declared.ini),
    ]


def test_every_configuration_key_is_in_the_table() -> None:
    top = dict.fromkeys(
        name.partition(".")[0] for name in rows("reference/configuration.md", "configuration")
    )
    assert list(top) == [
        field.alias or name for name, field in Configuration.model_fields.items() if name not in NOT_IN_FILES
    ]


def test_every_evaluator_host_and_perturbator_is_in_its_table() -> None:
    registry = Registry()
    assert rows("reference/evaluators.md", "evaluators") == list(registry.evaluators)
    assert rows("reference/hosts.md", "hosts") == list(registry.hosts)
    assert rows("how-to/perturbations.md", "perturbators") == list(registry.perturbators)


def test_differences_from_other_tools_are_those_that_the_page_shows() -> None:
    registry = Registry()
    specs = {id: registry.evaluators.spec(id) for id in registry.evaluators}
    section = read(REFERENCE / "evaluators.md").partition("## Metrics with the name of another")[2]
    table = section.partition("\n## ")[0]
    documented = {}
    for names, text in re.findall(r"^\| (`[^|]*`) \| ([^|]*) \|$", table, re.MULTILINE):
        documented |= dict.fromkeys(re.findall(r"`([^`]+)`", names), text.replace("`", ""))
    assert documented == {id: spec.difference for id, spec in specs.items() if spec.difference}


def test_every_extra_is_on_the_page_of_installation() -> None:
    project = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]
    extras = project["optional-dependencies"]
    section = read(DOCS / "start" / "install.md").partition("## Extras")[2]
    cells = re.findall(r"^\| (`[^|]+) \|", section, re.MULTILINE)
    documented = set(re.findall(r"`([^`]+)`", " ".join([*cells, "`hosts`"])))
    assert documented == set(extras)
    [all_of_them] = extras["all"]
    included = set(re.split(r"[\[\],]", all_of_them)[1:-1])
    left_out = set(re.findall(r"`(\w+)`", re.search(r"^\| `all` \| (.*)$", section, re.MULTILINE)[1]))
    reached = included | {"all", "hosts"} | set(re.split(r"[\[\],]", extras["hosts"][0])[1:-1]) | {"models"}
    assert set(extras) - reached == left_out


def test_every_command_is_in_the_table() -> None:
    table = table_in(read(REFERENCE / "commands.md"), "commands")
    assert [row[0].split()[1] for row in table] == [name for name, _, _ in subcommands()]


def test_every_public_name_is_on_the_page_of_one_task() -> None:
    names = [name for task in API.values() for name in task]
    assert sorted(names) == sorted(pytest_evalstudio.__all__)
