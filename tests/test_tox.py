"""The environments of tox: each file that a command names is there."""

from __future__ import annotations

import configparser
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAMED = re.compile(r"\{tox_root\}\{/\}(tests(?:\{/\}[\w.-]+)*)")


def test_each_file_that_an_environment_names_exists():
    paths = {name.replace("{/}", "/") for name in NAMED.findall((ROOT / "tox.ini").read_text("utf-8"))}
    assert "tests/hosts" in paths
    assert sorted(name for name in paths if not (ROOT / name).exists()) == []


def test_the_browser_environment_names_each_file_with_tests_for_it():
    settings = configparser.ConfigParser(interpolation=None)
    settings.read(ROOT / "tox.ini", "utf-8")
    folders = [ROOT / name.replace("{/}", "/") for name in NAMED.findall(settings["browser"]["tests"])]
    assert folders
    mark = "mark." + "browser"
    files = [path for path in (ROOT / "tests").rglob("test_*.py") if mark in path.read_text("utf-8")]
    assert files
    assert [path for path in files if not any(path.is_relative_to(folder) for folder in folders)] == []
