"""Suites at URLs: fetched once, stored, and then read like any other file."""

from __future__ import annotations

import pytest

from pytest_evalstudio.asking.downloads import fetch_suite
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.plugin.display import usage_error
from pytest_evalstudio.plugin.options import settings_of


def localise(config: pytest.Config) -> None:
    """Replace URLs among the arguments by the paths of the stored files.

    Raises:
        pytest.UsageError: if one cannot be fetched.
    """
    settings = settings_of(config)
    arguments = []
    for argument in config.args:
        url, sign, rest = argument.partition("::")
        if not url.lower().startswith(("http://", "https://")):
            arguments.append(argument)
            continue
        try:
            path = fetch_suite(
                url,
                settings.cache() / "suites",
                refresh=settings.refresh,
                allow_private_hosts=settings.session.allow_private_hosts,
            )
        except (DataError, ConfigurationError) as exc:
            raise usage_error(exc) from None
        arguments.append(f"{path}{sign}{rest}")
    config.args = arguments
