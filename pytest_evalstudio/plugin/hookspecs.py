"""Hooks with which a conftest.py or another package adds to an evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_evalstudio.core.plugins.registry import Registry


@pytest.hookspec(historic=True)
def pytest_evalstudio_register(registry: Registry) -> None:
    """Add evaluators, hosts and perturbators to this session.

    Called once, before the first of them is looked up; for a conftest.py that is loaded later, when it is
    loaded.

    Args:
        registry: `registry.add_evaluator(cls)`, `registry.add_host(cls)`, `registry.add_perturbator(cls)`.
    """


@pytest.hookspec
def pytest_evalstudio_report_sections(analysis: Any) -> Iterable[tuple[str, str]] | None:
    """Add sections to the report's page.

    Args:
        analysis: `engine.analysis.Analysis`: leaderboards, problems, insights and flips of the run.

    Returns:
        (title, HTML) pairs. The HTML is put into the page as it is: escape what is not yours. Scripts do not
        run.
    """
