"""The report of a small run."""

from __future__ import annotations

import pytest

from pytest_evalstudio.report.build import build_report
from support.small_run import Macro, small_run


@pytest.fixture
def small_report(tmp_path):
    return build_report(small_run().write(tmp_path), tmp_path, {"classification": Macro()})
