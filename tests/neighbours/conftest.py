"""Tests with other pytest plugins.

A test names its plugins by `neighbour`; absent ones skip it. Where EVALSTUDIO_NEIGHBOURS is set, as by
`tox -e neighbours`, an absent plugin is an error.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable

import pytest

from support.project import Project

neighbours_required = bool(os.environ.get("EVALSTUDIO_NEIGHBOURS"))


def require(module: str) -> None:
    """Skip the test, or fail it, if a plugin's module is not installed."""
    if importlib.util.find_spec(module) is None:
        if neighbours_required:
            pytest.fail(f"{module} is not installed; tox -e neighbours must have it", pytrace=False)
        pytest.skip(f"{module} is not installed; `tox -e neighbours` has it")


@pytest.fixture
def neighbour() -> Callable[[str], None]:
    return require


@pytest.fixture(autouse=True)
def _neighbours(request: pytest.FixtureRequest) -> None:
    for mark in request.node.iter_markers("neighbours"):
        for module in mark.args:
            require(module)


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    return Project(pytester)
