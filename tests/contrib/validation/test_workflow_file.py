"""Files of workflows: faults of their outermost value."""

from __future__ import annotations

import json

import pytest

from pytest_evalstudio.contrib.validation.workflow_file import read_workflow
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.source import Source


@pytest.mark.parametrize("text", ["5", "null", '"evalstudio_workflow"', '["evalstudio_workflow"]', "{}"])
def test_a_file_that_is_no_workflow_is_named(text: str) -> None:
    with pytest.raises(DataError, match=r"bank_workflow\.json.*'evalstudio_workflow'"):
        read_workflow(Source("bank_workflow.json", text, json.loads(text)))
