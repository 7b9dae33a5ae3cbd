"""Answers that are kept, and scripted models."""

from __future__ import annotations

import pytest

from pytest_evalstudio.asking.answers import AnswerCache
from pytest_evalstudio.asking.hosts import open_model
from pytest_evalstudio.asking.runs import AskingRun, fixed_run
from pytest_evalstudio.core.plugins.registry import Registry


@pytest.fixture
def cache(tmp_path):
    with AnswerCache(tmp_path / "cache") as answer_cache:
        yield answer_cache


@pytest.fixture
def scripted(tmp_path):
    """Opens scripted models, and closes them after the test."""
    sessions = []

    def make(answers=None, *, cache=None, refresh=False, name="mine", **settings):
        table = {
            "host": "scripted",
            "answers": {} if answers is None else answers,
            "default": "fine",
            "cache": cache is not None,
            **settings,
        }
        run = fixed_run(AskingRun.new(refreshes=refresh))
        sessions.append(open_model(name, table, Registry(), folder=tmp_path, cache=cache, run=run))
        return sessions[-1]

    yield make
    for session in sessions:
        session.close()
