"""Hooks, options, items, fixtures and scheduling: the only package of the core that imports pytest.

The hooks are in `hooks`; they import the rest when a session needs it.
"""

from pytest_evalstudio.plugin.hooks import (
    pytest_addhooks,
    pytest_addoption,
    pytest_cmdline_main,
    pytest_configure,
)

__all__ = ["pytest_addhooks", "pytest_addoption", "pytest_cmdline_main", "pytest_configure"]
