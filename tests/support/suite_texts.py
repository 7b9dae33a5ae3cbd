"""Suites as text, and what is read of them."""

from __future__ import annotations

import json

from pytest_evalstudio.formats.files import read
from pytest_evalstudio.formats.source import parse


def suite_of(*cases, **keys):
    return {"name": "S", "tests": [{"test_cases": list(cases)}], **keys}


def read_text(text, *, yaml=False):
    return read(parse(text, "s.yaml" if yaml else "s.json", yaml=yaml))


def read_cases(*cases):
    file = read_text(json.dumps(suite_of(*cases)))
    return [case for _, case in file.content.cases()], [str(error) for error in file.errors], file.warnings
