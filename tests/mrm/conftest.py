"""Fixtures of the tests of workflows."""

from __future__ import annotations

import importlib

import pytest

EXTENSIONS = (
    *("numpy", "scipy.cluster.hierarchy", "scipy.sparse.linalg", "scipy.spatial.distance", "scipy.stats"),
    *("sklearn.cluster", "sklearn.decomposition", "sklearn.ensemble", "sklearn.feature_extraction.text"),
    *("sklearn.linear_model", "sklearn.metrics", "sklearn.model_selection", "sklearn.preprocessing"),
    *("orjson", "msgspec", "pydantic", "regex", "yaml", "threadpoolctl"),
)


@pytest.fixture(scope="session", autouse=True)
def extensions() -> None:
    """Load extension modules before pytester does.

    pytester forgets the modules that a run in this process imports, and these cannot be loaded twice.
    """
    for name in EXTENSIONS:
        importlib.import_module(name)
