"""Directions of edits of conditions and expectations, and what code in test files changes."""

from __future__ import annotations

import pytest

from pytest_evalstudio.contrib.attestation.code_effects import loaded_files, replacements
from pytest_evalstudio.contrib.attestation.conditions import direction_of
from pytest_evalstudio.contrib.attestation.expectations import edits
from pytest_evalstudio.core.tool_calls import ExpectedToolCall
from pytest_evalstudio.record.schema import RecordRow


@pytest.mark.parametrize(
    ("old", "new", "direction"),
    [
        ('"a"', '"a"', "same"),
        ('"a" AND "b"', '("b") AND "a"', "same"),
        ("", '"a"', "stricter"),
        ('"a"', "", "weaker"),
        ('"a"', '"a" AND NOT word("free")', "stricter"),
        ('"a" AND NOT "b"', '"a"', "weaker"),
        ('"a"', '"a" OR regexp("[a-z]")', "weaker"),
        ('"a" AND "c"', '("a" OR regexp("[a-z]")) AND "c"', "weaker"),
        ('NOT "a"', 'NOT ("a" AND "b")', "weaker"),
        ('NOT "a"', 'NOT ("a" OR "b")', "stricter"),
        ('number(15, unit="USD")', "number(15)", "weaker"),
        ('number(15, unit="USD")', 'number(15, unit="USD", tolerance=30%)', "weaker"),
        ("number(100, tolerance=1%)", "number(100, tolerance=0.5)", "stricter"),
        ("number(100, tolerance=1%)", "number(100.0, tolerance=1)", "same"),
        ('word("5 USD")', '"5 USD"', "weaker"),
        ("number(15)", "number(12)", "other"),
        ('"5 USD"', '"15 USD"', "other"),
        ('"a"', 'broken("', "other"),
    ],
)
def test_direction_of_an_edited_condition(old: str, new: str, direction: str) -> None:
    assert direction_of(old, new) == direction


def test_a_condition_that_is_too_large_to_compare_is_not_decided() -> None:
    first = " OR ".join(f'("a{number}" AND "b{number}")' for number in range(300))
    second = " OR ".join(f'("b{number}" AND "c{number}")' for number in range(300))
    assert direction_of(first, second) == "other"


def _directions(base: RecordRow, row: RecordRow) -> dict[str, str]:
    return {edit.name: edit.direction for edit in edits(base, row)}


def test_direction_of_edited_lists() -> None:
    base = RecordRow(expected_output="a", accepted_outputs=("b",), guidelines=("short", "polite"))
    assert _directions(base, base) == {}
    assert _directions(base, RecordRow(expected_output="a", guidelines=("short", "polite", "true"))) == {
        "expected output": "stricter",
        "guidelines": "stricter",
    }
    assert _directions(
        base, RecordRow(expected_output="a", accepted_outputs=("b", "c"), guidelines=("short",))
    ) == {"expected output": "weaker", "guidelines": "weaker"}
    assert _directions(base, RecordRow(expected_output="c", guidelines=("rude",))) == {
        "expected output": "other",
        "guidelines": "other",
    }


def test_direction_of_edited_calls() -> None:
    call = ExpectedToolCall(name="send", arguments={"amount": 5})
    strict = ExpectedToolCall(name="send", arguments={"amount": 5}, other_arguments="forbid")
    base = RecordRow(expected_tool_calls=(call,))
    name = "expected tool calls"
    assert _directions(base, RecordRow(expected_tool_calls=(strict,))) == {name: "stricter"}
    assert _directions(RecordRow(expected_tool_calls=(strict,)), base) == {name: "weaker"}
    assert _directions(base, RecordRow()) == {name: "weaker"}
    assert _directions(RecordRow(), base) == {name: "stricter"}
    assert _directions(base, RecordRow(expected_tool_calls=(call, call))) == {name: "other"}


@pytest.mark.parametrize(
    "code",
    [
        "import app\napp.ask = print\n",
        "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n",
        "import sys\nsys.modules['app'] = 1\n",
        "import sys\nsys.meta_path.insert(0, Finder)\n",
        "import os\ndef pytest_configure():\n    os.environ['X'] = '1'\n",
        "def pytest_configure():\n    setattr(app, 'ask', print)\n",
        "import app\n(app.ask, other) = (1, 2)\n",
        "from unittest.mock import patch\npatch('app.ask').start()\n",
        "import os\ndef pytest_sessionfinish():\n    os._exit(0)\n",
        "from app import HANDBOOK\nHANDBOOK['abroad'] = '15 USD'\n",
        "import app\napp.HANDBOOK.update(abroad='15 USD')\n",
        "@pytest.fixture(**{'autouse': True})\ndef calm():\n    app.ask = print\n",
        "@pytest.fixture(autouse=True)\ndef calm(monkeypatch):\n    monkeypatch.setattr('app.ask', 1)\n",
    ],
)
def test_code_that_changes_other_code_is_reported(code: str) -> None:
    assert replacements("", code)
    assert replacements(code, code) == []
    assert replacements(code, f"# a comment\n{code}") == []


@pytest.mark.parametrize(
    "code",
    [
        "def pytest_report_header():\n    return 'desk'\n",
        "def pytest_collection_modifyitems(items):\n    items[:] = items[::-1]\n    items.sort()\n",
        "import pytest\n@pytest.fixture\ndef fake(monkeypatch):\n    monkeypatch.setattr('other', 1)\n",
        "class Score:\n    def __init__(self):\n        self.words = []\n        self.words.append(1)\n",
        "NAMES = {}\nNAMES['a'] = 1\n",
    ],
)
def test_code_that_changes_nothing_else_is_not_reported(code: str) -> None:
    assert replacements("", code) == []


def test_fixtures_count_where_tests_of_suites_can_use_them() -> None:
    code = "@pytest.fixture\ndef fake(monkeypatch):\n    monkeypatch.setattr('app.ask', 1)\n"
    assert replacements("", code) == []
    assert replacements("", code, with_fixtures=True) == [(3, "monkeypatch.setattr()")]


def test_files_are_followed_through_imports() -> None:
    files = {
        "conftest.py": "pytest_plugins = ['tools.plugin']\nfrom checks import Politeness\n",
        "checks.py": "import words.rude\n",
        "words/rude.py": "",
        "tools/plugin.py": "from . import other\n",
        "tools/other.py": "import json\n",
        "app.py": "",
    }
    assert loaded_files(["conftest.py"], files.get, [""]) == files.keys() - {"app.py"}
