"""Plugins of modules that the user names explicitly: no code of a folder is run unasked."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from pytest_evalstudio.core.errors import ConfigurationError, exception_text
from pytest_evalstudio.core.programs import open_program

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

    The folder of a file is searched for the file's imports; files of several folders share no modules.

    Raises:
        ConfigurationError: if that fails.
    """
    path = Path(name)
    is_file = path.suffix == ".py"
    if is_file and not path.is_file():
        raise ConfigurationError(
            f"{OPTION} {name}: there is no such file; give a file or the name of a module"
        )
    program = open_program(path.absolute().parent if is_file else Path.cwd(), place=_place_behind_library())
    try:
        return program.load_file(path) if is_file else program.import_module(name)
    except ConfigurationError as exc:
        raise ConfigurationError(f"{OPTION} {name}: {exc}") from exc
    except Exception as exc:  # the user's code: the message names it, without a traceback
        raise ConfigurationError(f"{OPTION} {name}: does not load: {exception_text(exc)}") from exc


def _place_behind_library() -> int:
    """Return the place behind the standard library, whose modules a file of the folder must not replace."""
    library = Path(os.__file__).parent
    folders = {str(library), str(library / "lib-dynload")}
    return 1 + max((place for place, folder in enumerate(sys.path) if folder in folders), default=-1)
