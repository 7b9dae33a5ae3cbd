"""Finds the plugins of all kinds.

Each kind is found in the same three ways: a file in its folder, an entry point of an installed package in the
group of the kind, and `Registry.add_<kind>` from `pytest_evalstudio_register` in a conftest.py. A registry
belongs to one session; what a conftest.py adds to it is gone with the session.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import os
import pkgutil
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any, Generic, Protocol, TypeVar

from pytest_evalstudio.core.errors import ConfigurationError, exception_text, unknown_name
from pytest_evalstudio.core.plugins.contrib import contribs
from pytest_evalstudio.core.plugins.declaring import SPEC
from pytest_evalstudio.core.plugins.evaluator import Evaluator, EvaluatorSpec
from pytest_evalstudio.core.plugins.generator import Generator, GeneratorSpec
from pytest_evalstudio.core.plugins.host import Host, HostSpec
from pytest_evalstudio.core.plugins.index import MODULES
from pytest_evalstudio.core.plugins.perturbator import Perturbator, PerturbatorSpec
from pytest_evalstudio.core.plugins.section import Section, SectionSpec
from pytest_evalstudio.core.plugins.step import RunnableStep, StepSpec


class Spec(Protocol):
    """The declaration of a plugin of any kind."""

    @property
    def id(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...


_GROUPS = __name__.partition(".")[0] + "."
"""Beginning of the names of the groups of entry points."""

P = TypeVar("P")
S = TypeVar("S", bound=Spec)


class PluginRegistry(Generic[P, S]):
    """The plugins of one kind by id; folder and entry points are read on the first look-up.

    Modules of the folder are imported until the plugin is known. With plugins from elsewhere (entry points,
    conftest.py) all are, so that a clash of ids is always reported.

    Args:
        kind: name of the kind: that of its decorator, of its `Registry.add_<kind>` and in messages.
        package: dotted name of its folder in the core, "" for a kind that optional parts alone bring.
        spec: type of the declaration.
        group: entry-point group of installed packages; default: the name of the folder.
        classes: its plugins are dataclasses, not functions.
    """

    def __init__(
        self, kind: str, package: str, spec: type[S], *, group: str = "", classes: bool = True
    ) -> None:
        self.kind = kind
        self._package = package
        self.group = group or package
        self._spec = spec
        self._classes = classes
        self._plugins: dict[str, P] = {}
        self._imported: set[str] = set()
        self._modules: set[str] | None = None
        self._scanned = False

    def add(self, plugin: P) -> None:
        """Add a declared class or function.

        Raises:
            ConfigurationError: if it is not declared, is a class but not a dataclass, or its id belongs to
                another plugin.
        """
        spec = spec_of(plugin, self._spec)
        if spec is None:
            raise ConfigurationError(
                f"{plugin!r} is not declared as {self.kind}: decorate it with"
                f" pytest_evalstudio.{self.kind}(...)"
            )
        if self._classes and not dataclasses.is_dataclass(plugin):
            raise ConfigurationError(
                f"{self.kind} {spec.id!r}, {plugin!r}, is not a dataclass: decorate it with"
                " @dataclass(frozen=True) too"
            )
        registered = self._plugins.get(spec.id)
        if registered is not None and registered is not plugin:
            raise ConfigurationError(
                f"two {self.kind}s are named {spec.id!r}: {_address(registered)} and {_address(plugin)};"
                " rename one"
            )
        self._plugins[spec.id] = plugin

    def get(self, id: str) -> P:
        """Return the plugin with that id.

        Raises:
            ConfigurationError: if there is no such plugin; the message names the nearest known id.
        """
        self._look_up(id)
        if id not in self._plugins:
            raise unknown_name(self.kind, id, self._plugins, f"`evalstudio {self.kind}s` lists all.")
        return self._plugins[id]

    def spec(self, id: str) -> S:
        """Return the declaration of the plugin with that id.

        Raises:
            ConfigurationError: if there is no such plugin.
        """
        spec = spec_of(self.get(id), self._spec)
        assert spec is not None  # add() refuses plugins without one
        return spec

    def specs(self) -> list[S]:
        """Return all declarations, by id."""
        return [self.spec(id) for id in self]

    def __iter__(self) -> Iterator[str]:
        self._scan()
        return iter(sorted(self._plugins))

    def __contains__(self, id: object) -> bool:
        if isinstance(id, str):
            self._look_up(id)
        return id in self._plugins

    def _look_up(self, id: str) -> None:
        """Make the plugin with that id known, by importing only its module if the index has it."""
        if self._scanned or id in self._imported:
            return
        # Plugins from elsewhere may have the id of a module that has not been imported.
        if self._plugins.keys() != self._imported or _installed(self.group):
            self._scan()
            return
        module = MODULES.get(self.kind, {}).get(id, "")
        if module in self._unread():
            self._read(module)
        # The index may be older than the folder.
        if id not in self._imported:
            self._scan()

    @property
    def packages(self) -> tuple[str, ...]:
        """Return the packages whose modules declare plugins: of the core, then of the optional parts."""
        parts = [contrib.plugins[self.kind] for contrib in contribs() if self.kind in contrib.plugins]
        return (self._package, *parts) if self._package else tuple(parts)

    def _unread(self) -> set[str]:
        """Return the names of the modules that have not been imported yet."""
        if self._modules is None:
            self._modules = {module for package in self.packages for module in _declaring(package, self.kind)}
        return self._modules

    def _read(self, module: str) -> None:
        """Import a module of the folder and add its plugins."""
        for plugin in declared_in(importlib.import_module(module), self._spec):
            self.add(plugin)
        self._imported = set(self._plugins)
        self._unread().discard(module)

    def _scan(self) -> None:
        if self._scanned:
            return
        # Before the modules are imported: one that asks the registry must not scan again.
        self._scanned = True
        try:
            self._read_all()
        except BaseException:
            self._scanned = False  # the next look-up meets the fault again, and not an incomplete registry
            raise

    def _read_all(self) -> None:
        for module in sorted(self._unread()):
            self._read(module)
        for point in _installed(self.group):
            try:
                self.add(point.load())
            except ConfigurationError:
                raise
            except Exception as exc:
                fault = exception_text(exc)
                raise ConfigurationError(
                    f"{self.kind} {point.name!r} of an installed package does not load ({point.value}):"
                    f" {fault}"
                ) from exc


class Registry:
    """The plugins that one session knows, to which `pytest_evalstudio_register` in a conftest.py adds.

    Attributes:
        kinds: all kinds, for code that treats them alike.
    """

    def __init__(self) -> None:
        self.evaluators: PluginRegistry[type[Evaluator], EvaluatorSpec] = PluginRegistry(
            "evaluator", "pytest_evalstudio.evaluators", EvaluatorSpec
        )
        self.hosts: PluginRegistry[type[Host], HostSpec] = PluginRegistry(
            "host", "pytest_evalstudio.hosts", HostSpec
        )
        self.perturbators: PluginRegistry[type[Perturbator], PerturbatorSpec] = PluginRegistry(
            "perturbator", "pytest_evalstudio.perturbations", PerturbatorSpec
        )
        self.steps: PluginRegistry[type[RunnableStep], StepSpec] = PluginRegistry(
            "step", "", StepSpec, group="pytest_evalstudio.steps"
        )
        self.generators: PluginRegistry[type[Generator], GeneratorSpec] = PluginRegistry(
            "generator", "", GeneratorSpec, group="pytest_evalstudio.generators"
        )
        self.sections: PluginRegistry[Section, SectionSpec] = PluginRegistry(
            "section", "pytest_evalstudio.report.sections", SectionSpec, classes=False
        )

    @property
    def kinds(self) -> tuple[PluginRegistry[Any, Any], ...]:
        return tuple(value for value in vars(self).values() if isinstance(value, PluginRegistry))

    def add_evaluator(self, cls: type[Any]) -> None:
        """Add an evaluator class."""
        self.evaluators.add(cls)

    def add_host(self, cls: type[Any]) -> None:
        """Add a host class."""
        self.hosts.add(cls)

    def add_perturbator(self, cls: type[Any]) -> None:
        """Add a perturbator class."""
        self.perturbators.add(cls)

    def add_step(self, cls: type[Any]) -> None:
        """Add a step of workflows."""
        self.steps.add(cls)

    def add_generator(self, cls: type[Any]) -> None:
        """Add a generator of test questions."""
        self.generators.add(cls)

    def add_section(self, function: Section) -> None:
        """Add a section of the report's page."""
        self.sections.add(function)


def _installed(group: str) -> list[EntryPoint]:
    # Installing or removing a package changes the time of its folder, which makes the cache miss.
    folders = tuple((folder, _changed_at(folder)) for folder in sys.path)
    return _entry_points(folders).get(group, [])


@functools.lru_cache(maxsize=4)
def _entry_points(folders: tuple[tuple[str, int], ...]) -> dict[str, list[EntryPoint]]:
    """Return the entry points of installed packages in groups of ours; 200 packages take 10 ms to read.

    Args:
        folders: the folders of the packages, each with the time of its last change; key of the cache only.
    """
    points = entry_points()
    groups = (group for group in points.groups if group.startswith(_GROUPS))
    return {group: list(points.select(group=group)) for group in groups}


def _changed_at(folder: str) -> int:
    """Return the time of the last change of a folder in nanoseconds, 0 where it is not there."""
    try:
        return os.stat(folder or ".").st_mtime_ns
    except OSError:
        return 0


def spec_of(plugin: object, spec: type[S]) -> S | None:
    """Return the declaration that a class or function itself carries, None where a base class does."""
    try:
        declared = vars(plugin).get(SPEC)
    except TypeError:  # an object without attributes of its own is no plugin
        return None
    return declared if isinstance(declared, spec) else None


def declared_in(module: ModuleType, spec: type[Any]) -> list[Any]:
    """Return the plugins that a module itself declares with a declaration of that type."""
    return [
        plugin
        for plugin in vars(module).values()
        if not isinstance(plugin, ModuleType)
        and spec_of(plugin, spec) is not None
        # A module may import a declared class, which another module has brought already.
        and plugin.__module__ == module.__name__
    ]


def _declaring(package: str, kind: str) -> Iterable[str]:
    """Return the names of the modules of a package, or of one module, that may declare plugins."""
    path = getattr(importlib.import_module(package), "__path__", None)
    return [package] if path is None else _modules(package, path, kind)


def _modules(package: str, path: Iterable[str], kind: str) -> Iterator[str]:
    """Yield the names of the modules of a folder that may declare plugins, without importing them.

    A package with a module that is named like the kind (`<step>/step.py`) is one plugin, and only that module
    counts; any other package is a folder of further ones. Names that begin with "_" are left out.
    """
    for info in _entries(path):
        name = f"{package}.{info.name}"
        if not info.ispkg:
            yield name
            continue
        spec = info.module_finder.find_spec(info.name, None)
        inside = (spec.submodule_search_locations if spec is not None else None) or ()
        if any(entry.name == kind and not entry.ispkg for entry in _entries(inside)):
            yield f"{name}.{kind}"
        else:
            yield from _modules(name, inside, kind)


def _entries(path: Iterable[str]) -> list[pkgutil.ModuleInfo]:
    return [info for info in pkgutil.iter_modules(path) if not info.name.startswith("_")]


def _address(plugin: Any) -> str:
    return f"{plugin.__module__}.{plugin.__qualname__}"
