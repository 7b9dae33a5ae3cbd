"""Files that tests of the command line write into the current folder."""

from __future__ import annotations

import json
from pathlib import Path

CONFIG = """
[[model]]
name = "four"
host = "scripted"
default = "4"

[[model]]
name = "picky"
host = "scripted"
answers = {"2+2?" = "four"}
retries = 0
"""


def write(name, content):
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return name


def suite(*cases, name="s.json"):
    return write(name, {"name": "Sums", "tests": [{"documents": [], "test_cases": list(cases)}]})


FOUR = {"key": "four", "prompt": "2+2?", "condition": 'word("4")'}
SIX = {"key": "six", "prompt": "3+3?", "condition": 'word("6")'}
