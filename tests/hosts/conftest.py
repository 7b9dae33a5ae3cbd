from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.asking.hosts import open_model
from pytest_evalstudio.asking.resolve import ModelSession
from pytest_evalstudio.core.plugins.registry import Registry
from support.openai_server import OpenAIServer, serve


@pytest.fixture
def service() -> Iterator[OpenAIServer]:
    with serve() as running:
        yield running


@pytest.fixture
def model(tmp_path: Path) -> Iterator[Callable[..., ModelSession]]:
    """Opens models by host and settings, and closes them after the test."""
    sessions: list[ModelSession] = []

    def make(host: str, **settings: Any) -> ModelSession:
        sessions.append(
            open_model("mine", {"host": host, **settings}, Registry(), folder=tmp_path, cache=None)
        )
        return sessions[-1]

    yield make
    for session in sessions:
        session.close()


@pytest.fixture
def chat(model, service):
    """A model on the scripted service."""
    return lambda **settings: model(
        "openai_compatible",
        **{"url": service.url, "llm_model_name": "m", "api_key": "sk-very-secret-1234", **settings},
    )
