"""`--plugin-module`: plugins that a conftest.py or another module of the user's registers.

The command line runs no code from a folder unless the user names it: modules are given explicitly.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from pytest_evalstudio.core.errors import ConfigurationError

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.core.plugins.registry import Registry

OPTION = "--plugin-module"
HOOK = "pytest_evalstudio_register"


def add_plugin_option(parser: argparse.ArgumentParser) -> None:
    """Declare the option of a command that looks plugins up."""
    parser.add_argument(
        OPTION,
        action="append",
        default=[],
        metavar="MODULE",
        dest="plugin_modules",
        help=f"module or file whose {HOOK} adds plugins, e.g. conftest.py; its code is run; repeatable",
    )


def registry_for(arguments: argparse.Namespace) -> Registry:
    """Return a registry with what the modules of the option register.

    Raises:
        ConfigurationError: if one of them cannot be imported, or registers nothing.
    """
    from pytest_evalstudio.core.plugins.registry import Registry

    registry = Registry()
    for name in arguments.plugin_modules:
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
        sys.path.insert(0, folder)
    try:
        return _file(path) if is_file else importlib.import_module(name)
    except ConfigurationError:
        raise
    except Exception as exc:  # the user's code: the message names it, without a traceback
        raise ConfigurationError(f"{OPTION} {name}: does not load: {type(exc).__name__}: {exc}") from exc


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
