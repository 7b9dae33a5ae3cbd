"""Import of optional packages, with the command that installs a missing one."""

from __future__ import annotations

import importlib
from types import ModuleType

from pytest_evalstudio.core.errors import ConfigurationError

_PACKAGES = {"sklearn": "scikit-learn", "umap": "umap-learn"}


def import_extra(module: str, purpose: str, *, extra: str = "mrm") -> ModuleType:
    """Import a module of a package that an extra installs.

    Args:
        module: dotted name of the module.
        purpose: what needs the module, for the message.
        extra: name of the extra; "" for a package that none installs.

    Raises:
        ConfigurationError: if the package is not installed; the message says how to install it.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as exc:
        package = module.partition(".")[0]
        if (exc.name or "").partition(".")[0] != package:
            raise
        name = _PACKAGES.get(package, package)
        source = f'"pytest-evalstudio[{extra}]"' if extra else name
        raise ConfigurationError(f"{purpose} needs {name}: pip install {source}") from None
