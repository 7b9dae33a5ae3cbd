"""Programs of the user in this process: the modules below the folder of a configuration.

Two programs share no modules of theirs, though their files have equal names. The modules of the first one
have their plain names, so that a test that imports one gets the module that answers. A module of another
program whose plain name is taken by a file elsewhere has a name below a package of its program, which no
import statement can name. `program_imports` resolves the imports of each program's code, also at call time.

Installed packages and the standard library are shared.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import sys
import threading
from importlib.machinery import EXTENSION_SUFFIXES, FileFinder, ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

from pytest_evalstudio.core import program_imports
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.program_imports import mismatch

_lock = threading.RLock()
_packages: dict[str, str] = {}
"""Names of the packages of private modules, by folder; they outlast the programs."""


class ProgramTable:
    """The open programs of this process.

    Attributes:
        programs: by their folders, in the order of opening.
        owners: programs whose modules get the plain names, by name of the top-level module.
    """

    def __init__(self) -> None:
        self.programs: dict[str, Program] = {}
        self.owners: dict[str, Program] = {}

    def at(self, folder: str) -> Program | None:
        """Return the program of the nearest folder at or above one, None for installed modules."""
        # A virtual environment may be below the folder of a configuration; its packages are shared.
        if not folder or "site-packages" in folder or "dist-packages" in folder:
            return None
        folder = os.path.realpath(folder)
        while folder not in self.programs:
            parent = os.path.dirname(folder)
            if parent == folder:
                return None
            folder = parent
        return self.programs[folder]

    def of_package(self, package: str) -> Program | None:
        """Return the program whose private modules are below a package."""
        return next((program for program in self.programs.values() if program.package == package), None)

    def owner(self, top: str) -> Program | None:
        """Return the program that a top-level module is loaded from, None for other modules."""
        return self.owners.get(top)

    def update_hooks(self) -> None:
        """Set the hooks of imports where they are needed, else remove them."""
        programs = self.programs.values()
        is_needed = len(programs) > 1 or any(program.needs_hooks for program in programs)
        program_imports.update(self, is_needed=is_needed)


_table = ProgramTable()


class Program:
    """Modules below a folder.

    Attributes:
        folder: absolute, without symbolic links.
        package: parent of the private modules.
        needs_hooks: whether a name of the program's is taken by a file elsewhere.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.package = _package_of(folder)
        self.needs_hooks = False
        self._users = 0
        self._names: dict[str, str] = {}
        self._added: list[str] = []

    @property
    def is_on_path(self) -> bool:
        """Return whether this program's folder is importable because of the program."""
        return self.folder in self._added

    def import_module(self, name: str) -> ModuleType:
        """Import a module of the program, or an installed one.

        A module that a test or an application has imported from the same file, by any name, is that module.

        Raises:
            ConfigurationError: if a module of another program is in its place.
        """
        spec = self._spec(name)
        if spec is None:
            self._refuse_other_program(name)
            return importlib.import_module(name)
        # A second import would make second classes, to which objects of the first one do not belong.
        module = _module_of_file(spec.origin, name)
        if module is not None:
            from pytest_evalstudio.core.program_checks import check_imports

            check_imports(self, module)
            return module
        return program_imports.import_module(self.resolved(name), self)

    def load_file(self, path: Path) -> ModuleType:
        """Import a file of the folder.

        Raises:
            ConfigurationError: if it is no file of Python.
        """
        file = os.path.realpath(path)
        spec = self.spec_of(path.stem)
        if spec is not None and spec.origin and os.path.realpath(spec.origin) == file:
            return self.import_module(path.stem)
        name = f"{self.package}.{path.stem}"  # e.g. queue.py, which must not replace the library's module
        spec = importlib.util.spec_from_file_location(name, file)
        if spec is None or spec.loader is None:
            raise ConfigurationError(f"{path}: is not a Python file")
        self._ensure_package()
        if name not in sys.modules:
            # Before it is executed, as the import system does: the module may import itself in a circle.
            module = sys.modules[name] = importlib.util.module_from_spec(spec)
            try:
                spec.loader.exec_module(module)
            except BaseException:
                del sys.modules[name]
                raise
        return sys.modules[name]

    def resolved(self, name: str) -> str:
        """Return the name in `sys.modules` of what the program's code imports by a name.

        Raises:
            ConfigurationError: if another program's module has the place of an installed one.
            ModuleNotFoundError: if only another program has such a module.
        """
        top, dot, rest = name.partition(".")
        actual = self.top_name(top)
        if not actual:
            self._refuse_module(top)
            return name
        return actual + dot + rest

    def top_name(self, top: str) -> str:
        """Return the name of a top-level module of the program in `sys.modules`, "" if it has none."""
        name = self._names.get(top)
        if name is not None:
            return name
        with _lock:
            name = self._decided(top)
            # Only found modules are kept: a file may still be written.
            if name:
                self._names[top] = name
        return name

    def spec_of(self, top: str) -> ModuleSpec | None:
        """Return the spec of a top-level module in the folder."""
        if top in sys.stdlib_module_names or top == "conftest":  # pytest tells those of several folders apart
            return None
        return PathFinder.find_spec(top, [self.folder])

    def close(self) -> None:
        """Forget the program with its last user; its modules stay as they are."""
        with _lock:
            self._users -= 1
            if self._users:
                return
            del _table.programs[self.folder]
            # A copy, since the loop deletes.
            for top in [top for top, owner in _table.owners.items() if owner is self]:
                del _table.owners[top]
            for folder in self._added:
                if folder in sys.path:
                    sys.path.remove(folder)
            self._added = []
            _table.update_hooks()

    def open(self, *, place: int, with_current: bool) -> None:
        """Count a user; see `open_program`."""
        self._users += 1
        if self._users > 1:
            return
        finder = sys.path_importer_cache.get(self.folder)
        if isinstance(finder, FileFinder):
            finder.invalidate_caches()  # files may have been written since
        # The folders of further programs are not importable for all: `program_imports` searches them.
        is_first = not any(other.is_on_path for other in _table.programs.values())
        _table.programs[self.folder] = self
        folders = [self.folder] if is_first else []
        if with_current:
            folders.append(os.getcwd())
        sys.path[place:place] = folders
        self._added = folders
        self.needs_hooks = self.has_taken_names()
        _table.update_hooks()

    def _spec(self, name: str) -> ModuleSpec | None:
        """Return the spec of a module in the folder by its dotted name."""
        top, *parts = name.split(".")
        spec = self.spec_of(top)
        for part in parts:
            if spec is None or spec.submodule_search_locations is None:
                return None
            spec = PathFinder.find_spec(part, list(spec.submodule_search_locations))
        return spec

    def has_taken_names(self) -> bool:
        """Return whether the name of a top-level module of the folder is taken by a file elsewhere."""
        with os.scandir(self.folder) as entries:
            names = {entry.name.partition(".")[0] for entry in entries}
        return any(
            (spec := self.spec_of(name)) is not None and not _is_module_of(sys.modules[name], spec)
            for name in names.intersection(sys.modules)
        )

    def _decided(self, top: str) -> str:
        spec = self.spec_of(top)
        if spec is None:
            return ""
        private = f"{self.package}.{top}"
        if private in sys.modules:
            self.needs_hooks = True
            return private
        module = sys.modules.get(top)
        if module is not None:
            if _is_module_of(module, spec):
                return top
            if not spec.origin and not self._other_owner(top, module):
                return ""  # a folder without __init__.py gives way to a package, as in Python
        elif _table.owners.get(top, self) is self:
            if not spec.origin and self._spec_elsewhere(top) is not None:
                return ""
            _table.owners[top] = self
            return top
        if spec.origin and spec.origin.endswith(tuple(EXTENSION_SUFFIXES)):
            raise mismatch(top, _file_of(module), spec.origin)
        self._ensure_package()
        self.needs_hooks = True
        _table.update_hooks()
        return private

    def _ensure_package(self) -> None:
        if self.package not in sys.modules:
            package = ModuleType(self.package, f"Modules of {self.folder} whose plain names are taken.")
            package.__path__ = [self.folder]
            package.__spec__ = ModuleSpec(self.package, None, is_package=True)
            sys.modules[self.package] = package

    def _other_owner(self, top: str, module: ModuleType | None) -> Program | None:
        """Return the other program that a top-level module belongs to, None for an installed module."""
        if module is None:
            return next(
                (
                    other
                    for other in _table.programs.values()
                    if other is not self and other.is_on_path and other.spec_of(top) is not None
                ),
                None,
            )
        owner = _table.at(os.path.dirname(_file_of(module)))
        return None if owner is self else owner

    def _spec_elsewhere(self, top: str) -> ModuleSpec | None:
        """Return the spec of a module with a file that is in no program's folder."""
        folders = [folder for folder in sys.path if os.path.realpath(folder or ".") not in _table.programs]
        spec = PathFinder.find_spec(top, folders)
        return spec if spec is not None and spec.origin else None

    def _refuse_module(self, top: str) -> None:
        """Refuse a module that would be taken from another program."""
        if top in sys.stdlib_module_names:
            return
        module = sys.modules.get(top)
        owner = self._other_owner(top, module)
        if owner is None or self._sees(owner):
            return
        spec = self._spec_elsewhere(top)
        if spec is not None:
            theirs = owner.spec_of(top)
            raise mismatch(
                top, _file_of(module) or (theirs.origin if theirs else "") or "", spec.origin or ""
            )
        is_shown = sys.path.count(owner.folder) > owner.is_on_path  # by the user or pytest, not by us
        if not is_shown:
            raise ModuleNotFoundError(f"No module named {top!r}", name=top)

    def _refuse_other_program(self, name: str) -> None:
        """Refuse to test the module of another configuration's folder in place of a missing one.

        Raises:
            ModuleNotFoundError: if only another program has it.
        """
        top = name.partition(".")[0]
        module = sys.modules.get(top)
        owner = self._other_owner(top, module)
        if owner is not None and not self._sees(owner) and self._spec_elsewhere(top) is None:
            raise ModuleNotFoundError(f"No module named {top!r}", name=top)
        self._refuse_module(top)

    def _sees(self, owner: Program) -> bool:
        """Return whether another program's modules are importable for this one by themselves."""
        folder = owner.folder
        return folder == os.path.realpath(os.getcwd()) or self.folder.startswith(os.path.join(folder, ""))


def open_program(folder: Path, *, place: int = 0, with_current: bool = False) -> Program:
    """Return the program of a folder; each call needs a `close`.

    The folder of the first program becomes importable.

    Args:
        place: in `sys.path`.
        with_current: whether the current folder becomes importable, too.
    """
    key = os.path.realpath(folder)
    with _lock:
        program = _table.programs.get(key) or Program(key)
        program.open(place=place, with_current=with_current)
        return program


def _package_of(folder: str) -> str:
    """Return the name of the package of a folder's private modules."""
    if folder not in _packages:
        stem = "evalstudio_" + (re.sub(r"\W", "_", os.path.basename(folder)) or "root")
        name, number = stem, 1
        while name in _packages.values():
            number += 1
            name = f"{stem}_{number}"
        _packages[folder] = name
    return _packages[folder]


def _is_module_of(module: ModuleType, spec: ModuleSpec) -> bool:
    """Return whether a loaded module is the one of a spec; of folders without `__init__.py`, the only one."""
    if spec.origin:
        return os.path.realpath(_file_of(module)) == os.path.realpath(spec.origin)
    if getattr(module, "__file__", None):
        return False
    paths = {os.path.realpath(path) for path in getattr(module, "__path__", ())}
    return paths == {os.path.realpath(path) for path in spec.submodule_search_locations or ()}


def _file_of(module: ModuleType | None) -> str:
    """Return the file of a module, or the folder of one without a file."""
    file = getattr(module, "__file__", None)
    if isinstance(file, str):
        return file
    paths = [path for path in getattr(module, "__path__", ()) if isinstance(path, str)]
    return os.path.join(paths[0], "__init__.py") if paths else ""


def _module_of_file(file: str | None, name: str) -> ModuleType | None:
    """Return the loaded module of a file, by preference the one of a name."""
    if not file:
        return None
    real_path, tail = os.path.realpath(file), os.path.basename(file)
    # A copy of the keys: another thread may import meanwhile. "__main__" is a script's second module.
    names = [name, *(other for other in list(sys.modules) if other not in (name, "__main__"))]
    for each in names:
        module = sys.modules.get(each)
        file_name = getattr(module, "__file__", None)
        if (
            isinstance(file_name, str)
            # A cheap test first: `realpath` asks the file system, for each of thousands of modules.
            and file_name.endswith(tail)
            and os.path.realpath(file_name) == real_path
        ):
            return module
    return None
