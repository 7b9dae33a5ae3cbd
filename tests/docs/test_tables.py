"""The tables of the documentation name what the code has."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import pytest_evalstudio
from pytest_evalstudio import Registry
from pytest_evalstudio.cli.commands import grouped_commands
from pytest_evalstudio.formats.config import Configuration
from support.evaluator_tables import by_need
from support.pages import DEVELOPER_PAGES, DOCS, PAGES, ROOT, name_of, read
from support.tables import API, CONFIGURATION, NOT_IN_FILES, Options, subcommands, table_in, with_tables

REFERENCE = DOCS / "reference"


def rows(page: str, table: str) -> list[str]:
    """Return the first words in the first column of a table."""
    cells = table_in(read(DOCS / page), table)
    return [re.match(r"`([^` ]+)", row[0])[1] for row in cells]


def evaluator_entries() -> dict[str, str]:
    """Return the text about each evaluator in the reference."""
    details = read(REFERENCE / "evaluators.md").partition("<!-- table evaluator_details -->")[2]
    details = details.partition("<!-- end of table -->")[0]
    return dict(re.findall(r"^### (\w+)\n(.*?)(?=^### |\Z)", details, re.DOTALL | re.MULTILINE))


@pytest.mark.parametrize("page", [*PAGES, *DEVELOPER_PAGES], ids=name_of)
def test_the_tables_of_a_page_are_as_the_code_has_them(page: Path) -> None:
    assert with_tables(read(page)) == read(page), "run: python tests/support/tables.py"


def test_every_option_is_in_the_table() -> None:
    declared = Options()
    page = "reference/configuration.md"
    assert rows(page, "options") == [name.split()[0] for name, _ in declared.declared]
    assert rows(page, "ini_keys") == [name for name, _, _ in declared.ini]


def test_every_configuration_key_is_in_one_table() -> None:
    page = "reference/configuration.md"
    keys = rows(page, "local_models")
    for title in CONFIGURATION:
        if title != "local_models":
            keys += dict.fromkeys(name.partition(".")[0] for name in rows(page, f"configuration_{title}"))
    assert sorted(keys) == sorted(
        field.alias or name for name, field in Configuration.model_fields.items() if name not in NOT_IN_FILES
    )


def test_every_step_is_in_the_table_of_parameters() -> None:
    assert set(rows("reference/configuration.md", "step_parameters")) == set(Registry().steps)


def test_every_evaluator_host_and_perturbator_is_in_its_table() -> None:
    registry = Registry()
    assert list(evaluator_entries()) == list(registry.evaluators)
    assert rows("reference/hosts.md", "hosts") == list(registry.hosts)
    assert rows("judge/perturbations.md", "perturbators") == list(registry.perturbators)


def test_differences_from_other_tools_are_those_that_the_page_shows() -> None:
    registry = Registry()
    specs = {id: registry.evaluators.spec(id) for id in registry.evaluators}
    section = read(REFERENCE / "evaluators.md").partition("## Metrics with the name of another")[2]
    table = section.partition("\n## ")[0]
    documented = {}
    for names, text in re.findall(r"^\| (`[^|]*`) \| ([^|]*) \|$", table, re.MULTILINE):
        documented |= dict.fromkeys(re.findall(r"`([^`]+)`", names), text.replace("`", ""))
    assert documented == {id: spec.difference for id, spec in specs.items() if spec.difference}


def test_every_evaluator_is_in_one_group() -> None:
    grouped = [id for ids in by_need().values() for id in ids]
    assert sorted(grouped) == sorted(Registry().evaluators)


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


def test_evaluators_that_need_labels_are_marked() -> None:
    """A score for support by words or embeddings has no threshold without labels."""
    marked = {id for id, entry in evaluator_entries().items() if "†" in entry}
    assert marked == {
        "groundedness",
        "groundedness_signals",
        "hcat_groundedness",
        "lexical_groundedness",
    }


def test_every_command_is_in_one_table() -> None:
    text = read(REFERENCE / "commands.md")
    groups = [group.replace(" ", "_") for group in grouped_commands()]
    commands = [
        row[0].strip("`").split()[1] for group in groups for row in table_in(text, f"commands_{group}")
    ]
    assert sorted(commands) == sorted(name for name, _, _ in subcommands())


def test_every_public_name_is_in_one_section() -> None:
    names = [name for task in API.values() for name in task]
    assert sorted(names) == sorted(pytest_evalstudio.__all__)
