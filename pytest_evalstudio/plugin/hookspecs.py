"""Hooks with which a conftest.py or another package adds to an evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pytest_evalstudio.core.plugins.registry import Registry


@pytest.hookspec(historic=True)
def pytest_evalstudio_register(registry: Registry) -> None:
    """Add plugins to this session: evaluators, hosts, perturbators, steps, generators, report sections.

    Called once, before the first of them is looked up; for a conftest.py that is loaded later, when it is
    loaded.

    Args:
        registry: `registry.add_evaluator(cls)`, `add_host`, `add_perturbator`, `add_step`, `add_generator`,
            `add_section(function)`.
    """


@pytest.hookspec
def pytest_evalstudio_configuration() -> Mapping[str, Any] | None:
    """Return a configuration in place of a file.

    It applies to the folder of its conftest.py and those below, as `evalstudio.toml` there would.

    Returns:
        The keys of `evalstudio.toml`. The `target` of a model of host `python` may be the function itself.
    """


@pytest.hookspec
def pytest_evalstudio_report_sections(analysis: Any) -> Iterable[tuple[str, str]] | None:
    """Add sections to the report's page.

    Args:
        analysis: `analysis.analyse.Analysis`: leaderboards, problems, insights and flips of the run.

    Returns:
        (title, HTML) pairs. The HTML is put into the page as it is: escape what is not yours. Scripts do not
        run.
    """
