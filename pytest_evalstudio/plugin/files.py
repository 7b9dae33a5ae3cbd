"""Files that pytest collects as evaluations: by name, by a first look at their content, and from URLs."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_evalstudio.core.plugins.index import SUFFIXES as PART_SUFFIXES
from pytest_evalstudio.plugin.options import SUFFIXES, nearest_declared, settings_of

if TYPE_CHECKING:
    from pytest_evalstudio.core.plugins.contrib import FileKind

RECORD = "record.jsonl"
"""File that every folder of a report has."""


MAX_LOOKED_AT = 100
"""Files of a folder that are looked at where a session collected nothing."""


def uncollected_line(config: pytest.Config) -> str:
    """Return what to do about an evaluation file whose name kept it from being collected, "" for none.

    Only files of the folder that pytest was called in are looked at; beside a configuration a warning names
    them already.
    """
    from pytest_evalstudio.formats.recognition import (
        CONFIGURATION_FILE,
        Likeness,
        is_suite_name,
        likeness,
    )

    folder = config.invocation_params.dir
    if (folder / CONFIGURATION_FILE).exists():
        return ""
    with os.scandir(folder) as entries:
        names = sorted(
            entry.name for entry in entries if entry.name.lower().endswith((".json", ".yaml", ".yml"))
        )
    for name in names[:MAX_LOOKED_AT]:
        path = folder / name
        if likeness(path) is Likeness.LIKELY:
            remedy = f"run `pytest {name}`"
            if not is_suite_name(path):
                remedy = f"rename it, e.g. to {path.stem}_suite{path.suffix}, or {remedy}"
            return f"{name} looks like a suite, lab or data set: {remedy}"
    return ""


class FileSelection:
    """Files of a session that are evaluations.

    Args:
        config: of the session.
        warn: issues a warning about a file.
    """

    def __init__(self, config: pytest.Config, warn: Callable[[str, Path], None]) -> None:
        self.config = config
        self._warn = warn
        self._names: re.Pattern[str] | None = None
        self._patterns: list[str] = []
        self._configured: dict[Path, bool] = {}

    def part_of(self, path: Path, *, named: bool) -> FileKind | None:
        """Return the kind of an optional part that a file is, or is named as and nothing else.

        Args:
            path: of the file.
            named: whether the command line names it.
        """
        if not path.name.lower().endswith(PART_SUFFIXES):
            return None
        from pytest_evalstudio.core.plugins.contrib import file_kinds, loaded
        from pytest_evalstudio.formats.recognition import Likeness, likeness

        for kind in file_kinds():
            if not (kind.suffixes and path.name.lower().endswith(kind.suffixes)):
                continue
            recognises: Callable[[Path], bool] = loaded(kind.recognises)
            if recognises(path):
                is_selected = named or self._has_name(path)
            else:
                is_selected = named and likeness(path) is Likeness.NONE
            if is_selected:
                return kind
        return None

    def has(self, path: Path, *, named: bool) -> bool:
        """Return whether a file is named, or is surely an evaluation, or a near miss to be reported."""
        if not path.name.lower().endswith(SUFFIXES):
            return False
        if named:
            return True
        if not self._has_name(path):
            self._warn_of_name(path)
            return False
        return self._resembles_ours(path) or self._is_meant(path)

    def nodeid(self, path: Path) -> str | None:
        """Return the node id of a file outside the root folder, None to leave the choice to pytest.

        pytest takes such a path relative to the argument that led to it, which may be the same for two files.
        """
        if path.is_relative_to(self.config.rootpath):
            return None
        try:
            return Path(os.path.relpath(path, self.config.rootpath)).as_posix()
        except ValueError:  # another drive
            return path.as_posix()

    def _has_name(self, path: Path) -> bool:
        """Return whether the name of a file is one that is looked at while a folder is walked."""
        if self._names is None:
            patterns = self.config.getini("evalstudio_files")
            self._patterns = [pattern for pattern in patterns if "/" in pattern or os.sep in pattern]
            names = "|".join(fnmatch.translate(pattern) for pattern in set(patterns) - set(self._patterns))
            self._names = re.compile(names or r"(?!)", re.IGNORECASE if os.name == "nt" else 0)
        return self._names.match(path.name) is not None or any(map(path.match, self._patterns))

    def _warn_of_name(self, path: Path) -> None:
        """Warn of an evaluation file beside a configuration whose name keeps it from being collected."""
        if path.suffix.lower() in (".csv", ".tsv") or not self.is_configured(path.parent):
            return  # tables of numbers have the columns of a data set too often
        if any((folder / RECORD).is_file() for folder in path.parents):
            return  # a report's own files
        from pytest_evalstudio.core.plugins.contrib import is_artifact
        from pytest_evalstudio.formats.recognition import Likeness, likeness

        if likeness(path) is not Likeness.LIKELY or is_artifact(path):
            return
        patterns = " ".join(self.config.getini("evalstudio_files"))
        name = f"{path.stem}_suite{path.suffix}"
        self._warn(
            f"{path.name}: not collected: its name matches none of {patterns}; rename it, e.g. to {name}, or"
            f" name it on the command line",
            path,
        )

    def _resembles_ours(self, path: Path) -> bool:
        """Return whether a file deserves to be parsed; a near miss does if it is to be reported."""
        from pytest_evalstudio.formats.recognition import Likeness, likeness

        resemblance = likeness(path)
        if resemblance is Likeness.NONE or (
            resemblance is Likeness.NEAR
            and self.config.getoption("verbose", 0) < 1
            and not self.is_configured(path.parent)
        ):
            return False
        from pytest_evalstudio.core.plugins.contrib import is_artifact

        return not is_artifact(path)

    def _is_meant(self, path: Path) -> bool:
        """Return whether a file beside a configuration is named as a suite, whatever its content."""
        from pytest_evalstudio.formats.recognition import is_suite_name

        if not is_suite_name(path) or not self.is_configured(path.parent):
            return False
        if any((folder / RECORD).is_file() for folder in path.parents):
            return False  # a report's own files
        from pytest_evalstudio.core.plugins.contrib import is_artifact

        return not is_artifact(path)

    def is_configured(self, folder: Path) -> bool:
        """Return whether an evalstudio configuration applies to a folder."""
        if self.config.option.evalstudio_config:
            return True
        if folder not in self._configured:
            from pytest_evalstudio.formats.recognition import find_configuration

            self._configured[folder] = (
                find_configuration(folder, self.config.rootpath) is not None
                or nearest_declared(self.config, folder) is not None
            )
        return self._configured[folder]


def localise(config: pytest.Config) -> None:
    """Replace URLs among the arguments by the paths of the stored files.

    Raises:
        pytest.UsageError: if one cannot be fetched.
    """
    from pytest_evalstudio.asking.downloads import fetch_suite
    from pytest_evalstudio.core.errors import ConfigurationError, DataError
    from pytest_evalstudio.plugin.display import usage_error

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
