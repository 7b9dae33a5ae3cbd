"""Imports of this package without pytest's rewriting of assertions."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

PACKAGE = __name__.partition(".")[0] + "."
_REWRITING = "AssertionRewritingHook"
"""Class of pytest's finder; there is none with `--assert=plain`."""


class PlainImports:
    """Finder of this package's modules that leaves their code as it is.

    pytest rewrites the assertions of every package with a plugin. It parses and compiles each of its modules
    again in the first session, and in all of them where it may not write bytecode files.
    """

    @staticmethod
    def find_spec(name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return the spec of a module of this package, None for other modules."""
        return PathFinder.find_spec(name, path, target) if name.startswith(PACKAGE) else None


def import_plainly() -> None:
    """Put the finder directly before that of pytest, without effect on finders that others put first."""
    if PlainImports in sys.meta_path:
        return
    for position, finder in enumerate(sys.meta_path):
        if type(finder).__name__ == _REWRITING:
            sys.meta_path.insert(position, PlainImports)
            return
