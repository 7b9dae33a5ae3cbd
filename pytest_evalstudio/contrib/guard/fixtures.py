"""Fixture `eval_guard` of tests in Python."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

import pytest

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.scoring.masking import shown

if TYPE_CHECKING:
    from pytest_evalstudio.contrib.guard.checking import Guard
    from pytest_evalstudio.plugin.late_fixtures import FixtureFunction
    from pytest_evalstudio.run.project import Project


class EvalGuard(Protocol):
    """Type of the fixture `eval_guard`: opens a guardrail configuration."""

    def __call__(self, path: str, /) -> Guard: ...


def guard_fixture(project: Project) -> FixtureFunction:
    """Return the function of the fixture."""

    def eval_guard(request: pytest.FixtureRequest) -> Iterator[EvalGuard]:
        """Opens a guardrail configuration; a relative path starts at the test's folder."""
        from pytest_evalstudio.contrib.guard.checking import Guard

        with contextlib.ExitStack() as guards:

            def opened(path: str) -> Guard:
                try:
                    guard = Guard(
                        request.path.parent / path,
                        settings=project.configuration(request.path.parent),
                        registry=project.registry,
                        cache=project.settings.cache(),
                    )
                except ConfigurationError as exc:
                    pytest.fail(shown(f"configuration: {exc}"), pytrace=False)
                return guards.enter_context(guard)

            yield opened

    return eval_guard
