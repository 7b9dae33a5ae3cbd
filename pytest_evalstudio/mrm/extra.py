"""What the extra `mrm` brings, and what to say where it is missing."""

from __future__ import annotations

import importlib
from types import ModuleType

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.models.weights import WAYS

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
        raise ConfigurationError(f'{purpose} needs {_PACKAGES.get(package, package)}: pip install "pytest-evalstudio[mrm]"') from None


def why_lacking(message: str) -> str:
    """Why a model cannot be had, without the remedies and without folders of this machine: artifacts are the same elsewhere.

    >>> why_lacking("nli.model = 'x' cannot be had: there is no folder /home/me/x, and the hub's cache /home/me/hub has no such model")
    "nli.model = 'x' cannot be had: it is neither a folder nor in the hub's cache"
    """
    fact = message.partition(WAYS)[0]
    head, found, _ = fact.partition(": there is no folder ")
    return f"{head}: it is neither a folder nor in the hub's cache" if found else fact
