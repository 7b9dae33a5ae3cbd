"""What the extra `mrm` brings, and what to say where it is missing."""

from __future__ import annotations

import importlib
from types import ModuleType

from pytest_evalstudio.core.errors import ConfigurationError

_PACKAGES = {"sklearn": "scikit-learn", "umap": "umap-learn"}


def needed(module: str, purpose: str) -> ModuleType:
    """A module of the extra's packages.

    Args:
        purpose: what needs it, for the message.

    Raises:
        ConfigurationError: with the command that installs it, if it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as exc:
        package = module.partition(".")[0]
        if (exc.name or "").partition(".")[0] != package:
            raise
        raise ConfigurationError(
            f'{purpose} needs {_PACKAGES.get(package, package)}: pip install "pytest-evalstudio[mrm]"'
        ) from None
