"""Fixtures that every session offers; the evaluation is imported when a test uses one.

Fixtures of evaluators from a conftest.py or another package are offered when a test is collected that uses
a fixture with such a name.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pytest_evalstudio.core.plugins.index import FIXTURES, MODULES

PREFIX = "eval_"
GENERAL = (f"{PREFIX}case", f"{PREFIX}model", f"{PREFIX}suite", f"{PREFIX}perturb")
"""Names of the fixtures that are of no evaluator."""
NAMES = frozenset((*GENERAL, *FIXTURES, *(PREFIX + id for id in MODULES["evaluator"])))
FixtureFunction = Callable[[pytest.FixtureRequest], Iterator[object]]
_SIGNATURE = inspect.Signature([inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD)])


def evaluates(item: pytest.Item) -> bool:
    """Return whether a test uses a fixture that evaluates."""
    return any(name.startswith(PREFIX) for name in getattr(item, "fixturenames", ()))


def late_fixtures(function: Callable[[str], FixtureFunction]) -> types.ModuleType:
    """Return a plugin whose attributes are the fixtures; pytest looks for them in modules, not in instances.

    Args:
        function: returns the function of a fixture by its name; called when a test uses the fixture.
    """
    holder: Any = types.ModuleType("pytest_evalstudio_late_fixtures")
    for name in NAMES:
        setattr(holder, name, _late_fixture(name, function))
    return holder  # type: ignore[no-any-return]


def _late_fixture(name: str, function: Callable[[str], FixtureFunction]) -> object:
    def fixture(request: pytest.FixtureRequest) -> Iterator[object]:
        yield from function(name)(request)

    # pytest asks for the signature of each; reading it anew takes most of the time of offering a fixture.
    fixture.__signature__ = _SIGNATURE  # type: ignore[attr-defined]
    return pytest.fixture(name=name)(fixture)
