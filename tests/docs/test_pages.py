"""Links, commands, options and data in the pages exist and can be read."""

from __future__ import annotations

import argparse
import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import yaml

from pytest_evalstudio.cli.main import parser_of_commands
from pytest_evalstudio.contrib.tables.scores_file import ScoresFile
from pytest_evalstudio.formats.config import configuration
from support.pages import DEVELOPER_PAGES, PAGES, blocks, name_of, prose, read
from support.tables import Options

EVERY_PAGE = pytest.mark.parametrize("page", [*PAGES, *DEVELOPER_PAGES], ids=name_of)
LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"")


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", prose(read(page).replace("`", "")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


@EVERY_PAGE
def test_every_internal_link_leads_somewhere(page: Path) -> None:
    targets = [first or second for first, second in LINK.findall(read(page))]
    broken = []
    for target in targets:
        path, _, anchor = target.partition("#")
        if path.startswith(("http://", "https://")) or anchor.startswith("only-"):
            continue
        file = (page.parent / path) if path else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    assert not broken


@EVERY_PAGE
def test_every_command_is_one_that_the_parser_accepts(page: Path) -> None:
    lines = "\n".join(blocks(read(page), "sh", "bash", "yaml", "")).replace("\\\n", " ").splitlines()
    commands = [match[1] for line in lines if (match := re.match(r"^[\s$]*evalstudio (.*)$", line))]
    for command in commands:
        words = shlex.split(re.split(r" (?:\||&&|>)", command)[0], comments=True)
        try:
            parser_of_commands().parse_args(words)
        except (SystemExit, argparse.ArgumentError):
            pytest.fail(f"evalstudio {command}")


@EVERY_PAGE
def test_every_option_of_pytest_exists(page: Path) -> None:
    declared = {name.split()[0] for name, _ in Options().declared}
    assert set(re.findall(r"--evalstudio-[a-z-]*[a-z]", read(page))) <= declared


@EVERY_PAGE
def test_data_in_the_page_can_be_read(page: Path) -> None:
    text = read(page)
    for body in blocks(text, "json"):
        json.loads(body)
    for body in blocks(text, "yaml"):
        yaml.safe_load(body)
    for body in blocks(text, "toml"):
        tables = tomllib.loads(body)
        if "table" in tables:
            ScoresFile.model_validate(tables)
        elif "project" not in tables and "tool" not in tables:
            for model in tables.get("model", ()):
                model.pop("prompt", None)  # names files of the example
            configuration(tables)
