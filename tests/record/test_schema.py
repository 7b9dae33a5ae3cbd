"""Entries of workflow steps in records."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from pytest_evalstudio.record.schema import StepEntry

ENTRY: dict[str, Any] = {
    "workflow": "Bank",
    "step": "topic_modeling",
    "number": 1,
    "name": "Topic modeling",
    "description": "",
    "lacks": [],
    "parameters": {},
    "summary": "4 topics",
    "notes": [],
    "waits": "",
    "figures": {},
    "problems": [],
    "pictures": {},
    "finished": "",
    "seconds": 1.0,
}


@pytest.mark.parametrize("name", ["status", "standing"])
def test_the_status_is_read_by_its_present_and_its_earlier_name(name: str) -> None:
    entry = msgspec.convert({**ENTRY, name: "completed"}, StepEntry)
    written = msgspec.to_builtins(entry)
    assert (entry.status, written["status"]) == ("completed", "completed")
    assert "standing" not in written
