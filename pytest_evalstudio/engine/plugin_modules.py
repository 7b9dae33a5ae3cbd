"""Plugins of modules that the user names explicitly: no code of a folder is run unasked."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from pytest_evalstudio.core.errors import ConfigurationError, exception_text

if TYPE_CHECKING:
    from pytest_evalstudio.core.plugins.registry import Registry

OPTION = "--plugin-module"
HOOK = "pytest_evalstudio_register"


def registry_of(modules: Sequence[str]) -> Registry:
    """Return a registry with what modules register.

    Args:
        modules: names of modules, or paths of files.

    Raises:
        ConfigurationError: if one of them cannot be imported, or registers nothing.
    """
    from pytest_evalstudio.core.plugins.registry import Registry

    registry = Registry()
    for name in modules:
        register = getattr(_imported(name), HOOK, None)
        if not callable(register):
            raise ConfigurationError(
                f"{OPTION} {name}: it has no function {HOOK}(registry); add one or name another module"
            )
        register(registry=registry)
    return registry


def _imported(name: str) -> ModuleType:
    """Import a module by its name or file path.

    The folder of a file is searched for the file's imports, as pytest does.

    Raises:
        ConfigurationError: if that fails.
    """
    path = Path(name)
    is_file = path.suffix == ".py"
    if is_file and not path.is_file():
        raise ConfigurationError(
            f"{OPTION} {name}: there is no such file; give a file or the name of a module"
        )
    folder = str(path.absolute().parent) if is_file else str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(_place_behind_library(), folder)
    try:
        return _file(path) if is_file else importlib.import_module(name)
    except ConfigurationError:
        raise
    except Exception as exc:  # the user's code: the message names it, without a traceback
        raise ConfigurationError(f"{OPTION} {name}: does not load: {exception_text(exc)}") from exc


def _place_behind_library() -> int:
    """Return the place behind the standard library, whose modules a file of the folder must not replace."""
    library = Path(os.__file__).parent
    folders = {str(library), str(library / "lib-dynload")}
    return 1 + max((place for place, folder in enumerate(sys.path) if folder in folders), default=-1)


def _file(path: Path) -> ModuleType:
    """Import a file under its own name."""
    spec = importlib.util.spec_from_file_location(path.stem, path.absolute())
    if spec is None or spec.loader is None:
        raise ConfigurationError(
            f"{OPTION} {path}: is not a Python file; give a file or the name of a module"
        )
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
