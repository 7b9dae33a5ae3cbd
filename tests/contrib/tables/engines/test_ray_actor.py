"""An actor of the Ray engine returns the faults that a user can mend; Ray itself is not needed."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from pytest_evalstudio.contrib.tables.engines.ray import _Actor
from pytest_evalstudio.contrib.tables.input.sources import RowBatch
from pytest_evalstudio.contrib.tables.scoring.scorer import BatchScorer, ScorerSetup
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.formats.config import configuration


@pytest.fixture
def attempts(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Return a counter of attempts that answers 1, and take the place of Ray."""
    module = ModuleType("ray")
    module.get = lambda value: value  # type: ignore[attr-defined]
    module.exceptions = SimpleNamespace(RayError=RuntimeError)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ray", module)
    return SimpleNamespace(begin=SimpleNamespace(remote=lambda batch: 1))


@pytest.mark.parametrize("place", ["start", "batch"])
def test_a_fault_that_a_user_can_mend_is_returned(
    place: str, attempts: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(*_: object) -> None:
        raise ConfigurationError("the judge is not configured; add it")

    monkeypatch.setattr(BatchScorer, "__init__" if place == "start" else "score", fault)
    setup = ScorerSetup(config=configuration({"evaluators": ["rouge"]}, folder=tmp_path))
    row = _Actor(setup, attempts)({"batch": [pickle.dumps(RowBatch(0, None))]})
    result = pickle.loads(row["result"][0])
    assert isinstance(result, ConfigurationError)
    assert str(result) == "the judge is not configured; add it"
