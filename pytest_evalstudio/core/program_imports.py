"""Imports of the code of several programs, each resolved for the program that it belongs to.

`import` statements, `__import__`, `importlib.import_module` and what of the standard library uses them ask
for a name; the answer depends on the code that asks. The hooks are set while they are needed: with a second
program, or if a name of the only one is taken.
"""

from __future__ import annotations

import builtins
import importlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.machinery import ExtensionFileLoader, ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, Protocol

from pytest_evalstudio.core.errors import ConfigurationError


class Program(Protocol):
    """A program of the user; see `programs`."""

    @property
    def package(self) -> str: ...

    def resolved(self, name: str, /) -> str: ...

    def spec_of(self, top: str, /) -> ModuleSpec | None: ...

    def top_name(self, top: str, /) -> str: ...

    def has_taken_names(self) -> bool: ...


class ProgramTable(Protocol):
    """The open programs; see `programs`."""

    def at(self, folder: str, /) -> Program | None: ...

    def of_package(self, package: str, /) -> Program | None: ...

    def owner(self, top: str, /) -> Program | None: ...


_original_import = builtins.__import__
_original_import_module = importlib.import_module
_table: ProgramTable | None = None
"""The programs; None while the hooks are not set."""
_programs_of: dict[tuple[str | None, str], Program | None] = {}
"""Programs by package and file of the code that imports."""


def update(table: ProgramTable, *, is_needed: bool) -> None:
    """Set or remove the hooks; called whenever a program is opened or closed."""
    global _table, _original_import, _original_import_module
    # The folders of programs have changed, and with them the answers.
    _programs_of.clear()
    if is_needed and _table is None:
        _table = table
        _original_import, builtins.__import__ = builtins.__import__, _import
        _original_import_module, importlib.import_module = importlib.import_module, _import_module
        sys.meta_path.insert(0, ProgramFinder)
    elif not is_needed and _table is not None and builtins.__import__ is _import:
        # Otherwise a test has replaced the hook meanwhile; without programs it changes nothing.
        _table = None
        builtins.__import__ = _original_import
        if importlib.import_module is _import_module:
            importlib.import_module = _original_import_module
        if ProgramFinder in sys.meta_path:
            sys.meta_path.remove(ProgramFinder)


def mismatch(name: str, loaded: str, wanted: str) -> ConfigurationError:
    """Return the error of a module that another file has the name of."""
    return ConfigurationError(
        f"import file mismatch: module {name!r} is {loaded or 'another one'} in this process, and not"
        f" {wanted}; rename one of them, or run the suites of the two folders one at a time"
    )


def import_module(name: str, program: Program) -> ModuleType:
    """Import a module by its name in `sys.modules`, for the code of a program."""
    with _plain_names(program):
        return _original_import_module(name)


class ProgramFinder:
    """Finder of the modules of programs; those with plain names are taken from the folder of their owner."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module of a program, None for other modules.

        Raises:
            ConfigurationError: for an extension module below the package of a program.
        """
        if _table is None:
            return None
        if path is None:
            owner = _table.owner(name)
            spec = owner.spec_of(name) if owner is not None else None
        elif (program := _table.of_package(name.partition(".")[0])) is not None:
            spec = PathFinder.find_spec(name, path)
            if spec is not None and isinstance(spec.loader, ExtensionFileLoader):
                plain = name.removeprefix(f"{program.package}.")
                loaded_file = str(getattr(sys.modules.get(plain), "__file__", None) or "")
                raise mismatch(plain, loaded_file, spec.origin or "")
        else:
            return None
        if spec is not None and not spec.origin and spec.submodule_search_locations is not None:
            # A path of several folders would change with `sys.path`, on which another program's folder is.
            spec.submodule_search_locations = list(spec.submodule_search_locations)
        return spec


def _import(
    name: str,
    globals: Mapping[str, object] | None = None,
    locals: Mapping[str, object] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> ModuleType:
    __tracebackhide__ = True
    if level == 0:
        program = _calling_program() if globals is None else _program_of(globals)
        if program is not None and (actual := program.resolved(name)) != name:
            with _plain_names(program):
                module = _original_import(actual, globals, locals, fromlist or (), 0)
            # `import a.b` binds `a`; the original function would return the private package above it.
            return module if fromlist else sys.modules[f"{program.package}.{name.partition('.')[0]}"]
    return _original_import(name, globals, locals, fromlist or (), level)


def _import_module(name: str, package: str | None = None) -> ModuleType:
    __tracebackhide__ = True
    if not name.startswith(".") and (program := _calling_program()) is not None:
        actual = program.resolved(name)
        if actual != name:
            return import_module(actual, program)
    return _original_import_module(name, package)


def _calling_program() -> Program | None:
    """Return the program of the nearest calling code that belongs to one."""
    # Above this function and the hook that called it.
    frame = sys._getframe(2)
    while frame is not None:
        if (program := _program_of(frame.f_globals)) is not None:
            return program
        frame = frame.f_back  # type: ignore[assignment]
    return None


def _program_of(globals: Mapping[str, Any]) -> Program | None:
    """Return the program of code by its globals: that of the folder which its top-level module is in."""
    file = globals.get("__file__")
    if not isinstance(file, str):
        return None
    package = globals.get("__package__")
    if not isinstance(package, str):
        package = None
    try:
        return _programs_of[package, file]
    except KeyError:
        program = _programs_of[package, file] = _found(package or "", file)
        return program


def _found(package: str, file: str) -> Program | None:
    if _table is None:
        return None
    if (program := _table.of_package(package.partition(".")[0])) is not None:
        return program
    folder = os.path.dirname(os.path.realpath(file))
    # Up to the folder from which the top-level package was imported.
    for _ in range(package.count(".") + 1 if package else 0):
        folder = os.path.dirname(folder)
    return _table.at(folder)


@contextmanager
def _plain_names(program: Program) -> Iterator[None]:
    """Name a missing module in errors as the program's code does."""
    try:
        yield
    except ModuleNotFoundError as exc:
        prefix = f"{program.package}."
        if exc.name and exc.name.startswith(prefix):
            exc.name = exc.name.removeprefix(prefix)
            exc.msg = str(exc.msg).replace(prefix, "")
            exc.args = (exc.msg,)
        raise
