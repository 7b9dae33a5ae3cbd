"""`--plugin-module`: plugins that a conftest.py or another module of the user's registers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_evalstudio.core.plugin_modules import HOOK, OPTION

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.core.plugins.registry import Registry


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
    from pytest_evalstudio.core.plugin_modules import registry_of

    return registry_of(arguments.plugin_modules)
