"""Registry of plugins under its former name; see `core.plugins.registry`."""

from pytest_evalstudio.core.plugins.registry import Registry

__all__ = ["Registry"]
