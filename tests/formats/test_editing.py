"""Values in texts of JSON and YAML are replaced, and all other characters stay."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.editing import with_value
from pytest_evalstudio.formats.source import parse

YAML = """# suite
cases:
  - prompt: What does ä 😀 cost?   # first
    condition: word("5 USD")  # the fee
  # between
  - prompt: B?
    expected_output: |
      two
      lines
    # end of b
  - {prompt: C, condition: '"x, y"'}
  - prompt: D
    calls:
      - name: f
        arguments: {a: 1}
    # behind
"""


@pytest.mark.parametrize(
    ("number", "name", "value", "old", "new"),
    [
        (0, "condition", 'word("6 USD")', 'word("5 USD")  #', 'word("6 USD")  #'),
        (1, "expected_output", "yes: [no], # {a}", "|\n      two\n      lines", "'yes: [no], # {a}'"),
        (1, "expected_output", "a\nb", "|\n      two\n      lines", '"a\\nb"'),
        (2, "condition", '"a, b"', "'\"x, y\"'", "'\"a, b\"'"),
        (2, "key", "c", "'\"x, y\"'}", "'\"x, y\"', key: c}"),
        (3, "calls", [{"name": "g"}], "- name: f\n        arguments: {a: 1}", '[{"name": "g"}]'),
        (0, "expected", "true", "# the fee", "# the fee\n    expected: 'true'"),
    ],
)
def test_yaml(number: int, name: str, value: Any, old: str, new: str) -> None:
    source = parse(YAML, "x.yaml", yaml=True)
    assert with_value(source, ["cases", number], name, value) == YAML.replace(old, new)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_json(ending: str) -> None:
    text = ending.join(
        ['{"cases": [', "  {", '    "a": "\\u00e4 old",', '    "b": [1,', "      2],", "  },", "]}"]
    )
    source = parse(text, "x.json")
    assert with_value(source, ["cases", 0], "a", "neu ä", text) == text.replace('"\\u00e4 old"', '"neu ä"')
    assert with_value(source, ["cases", 0], "b", {}, text) == text.replace(f"[1,{ending}      2]", "{}")
    added = with_value(source, ["cases", 0], "c", 1, text)
    assert parse(added, "x.json").data == {"cases": [{"a": "ä old", "b": [1, 2], "c": 1}]}


def test_added_lines_end_as_the_others() -> None:
    text = "cases:\r\n  - prompt: A  # first\r\n  - prompt: B\r\n"
    changed = with_value(parse(text, "x.yaml", yaml=True), ["cases", 0], "key", "a")
    assert changed == text.replace("# first\r\n", "# first\r\n    key: a\r\n")
    text = '{\r\n  "a": 1\r\n}\r\n'
    changed = with_value(parse(text, "x.json"), [], "b", ["x" * 60, "y" * 60])
    assert "\n" not in changed.replace("\r\n", "")


def test_a_value_that_others_share_is_refused() -> None:
    text = "base: &b {a: 1}\nother: *b\n"
    with pytest.raises(DataError, match="edit it by hand"):
        with_value(parse(text, "x.yaml", yaml=True), ["other"], "a", 2)
