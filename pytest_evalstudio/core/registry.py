"""Finds evaluators, hosts, perturbators and report sections: one file each in its folder, an entry point, or
a hook.

A registry belongs to one session; what a conftest.py adds to it is gone with the session.
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import pkgutil
from collections.abc import Iterator
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar

from pytest_evalstudio.core.contracts import SPEC, Evaluator, EvaluatorSpec, Host, HostSpec
from pytest_evalstudio.core.errors import ConfigurationError, unknown_name
from pytest_evalstudio.core.generators import Generator, GeneratorSpec
from pytest_evalstudio.core.perturbators import Perturbator, PerturbatorSpec
from pytest_evalstudio.core.steps import StepSpec

E = TypeVar("E")
S = TypeVar("S", EvaluatorSpec, HostSpec, PerturbatorSpec, StepSpec, GeneratorSpec)


class Shelf(Generic[E, S]):
    """The declared classes of one kind, by id; the folder is scanned on the first look-up.

    Args:
        kind: the word for one of them, in messages.
        package: dotted name of the folder, which is the entry-point group too.
        spec: the declaration's class.
    """

    def __init__(self, kind: str, package: str, spec: type[S]) -> None:
        self.kind = kind
        self._package = package
        self._spec: type[S] = spec
        self._classes: dict[str, type[E]] = {}
        self._scanned = False

    def add(self, cls: type[E]) -> None:
        """Put a declared class on the shelf.

        Raises:
            ConfigurationError: if the class is not declared or no dataclass, or its id is taken by another
                class.
        """
        spec = getattr(cls, SPEC, None)
        if not isinstance(spec, self._spec):
            raise ConfigurationError(
                f"{cls!r} is no {self.kind}: decorate it with pytest_evalstudio.{self.kind}(...)"
            )
        if not dataclasses.is_dataclass(cls):
            raise ConfigurationError(
                f"{self.kind} {spec.id!r}, {cls!r}, is no dataclass: decorate it with"
                " @dataclass(frozen=True) too"
            )
        taken = self._classes.get(spec.id)
        if taken is not None and taken is not cls:
            raise ConfigurationError(
                f"two {self.kind}s are named {spec.id!r}: {taken.__module__}.{taken.__qualname__} and"
                f" {cls.__module__}.{cls.__qualname__}; rename one"
            )
        self._classes[spec.id] = cls

    def get(self, id: str) -> type[E]:
        """The class with that id.

        Raises:
            ConfigurationError: if there is none; the nearest known id is named.
        """
        self._scan()
        if id not in self._classes:
            raise unknown_name(self.kind, id, self._classes, f"`evalstudio {self.kind}s` lists all.")
        return self._classes[id]

    def spec(self, id: str) -> S:
        found: S = getattr(self.get(id), SPEC)
        return found

    def __iter__(self) -> Iterator[str]:
        self._scan()
        return iter(sorted(self._classes))

    def __contains__(self, id: object) -> bool:
        self._scan()
        return id in self._classes

    def _scan(self) -> None:
        if self._scanned:
            return
        self._scanned = True
        package = importlib.import_module(self._package)
        for info in pkgutil.iter_modules(package.__path__):
            if info.name.startswith("_"):
                continue
            name = f"{self._package}.{info.name}"
            if info.ispkg:
                # steps/topic_modeling/step.py declares a step; packages without such a module are skipped
                name += f".{self.kind}"
                if importlib.util.find_spec(name) is None:
                    continue
            for cls in declared_in(importlib.import_module(name), self._spec):
                self.add(cls)
        for point in entry_points(group=self._package):
            try:
                self.add(point.load())
            except ConfigurationError:
                raise
            except Exception as exc:
                fault = f"{type(exc).__name__}: {exc}"
                raise ConfigurationError(
                    f"{self.kind} {point.name!r} of an installed package does not load ({point.value}):"
                    f" {fault}"
                ) from exc


class Registry:
    """What is known in one session: evaluators, hosts, perturbators, steps of workflows and generators of
    test questions.
    """

    def __init__(self) -> None:
        self.evaluators: Shelf[Evaluator, EvaluatorSpec] = Shelf(
            "evaluator", "pytest_evalstudio.evaluators", EvaluatorSpec
        )
        self.hosts: Shelf[Host, HostSpec] = Shelf("host", "pytest_evalstudio.hosts", HostSpec)
        self.perturbators: Shelf[Perturbator, PerturbatorSpec] = Shelf(
            "perturbator", "pytest_evalstudio.perturbations", PerturbatorSpec
        )
        self.steps: Shelf[Any, StepSpec] = Shelf("step", "pytest_evalstudio.mrm.steps", StepSpec)
        self.generators: Shelf[Generator, GeneratorSpec] = Shelf(
            "generator", "pytest_evalstudio.mrm.generators", GeneratorSpec
        )

    def add_evaluator(self, cls: type[Any]) -> None:
        """Add an evaluator class, e.g. from `pytest_evalstudio_register` in a conftest.py."""
        self.evaluators.add(cls)

    def add_host(self, cls: type[Any]) -> None:
        """Add a host class, e.g. from `pytest_evalstudio_register` in a conftest.py."""
        self.hosts.add(cls)

    def add_perturbator(self, cls: type[Any]) -> None:
        """Add a perturbator class, e.g. from `pytest_evalstudio_register` in a conftest.py."""
        self.perturbators.add(cls)

    def add_step(self, cls: type[Any]) -> None:
        """Add a step of workflows, e.g. from `pytest_evalstudio_register` in a conftest.py."""
        self.steps.add(cls)

    def add_generator(self, cls: type[Any]) -> None:
        """Add a generator of test questions, e.g. from `pytest_evalstudio_register` in a conftest.py."""
        self.generators.add(cls)


def declared_in(module: object, spec: type) -> list[type[Any]]:
    """Classes that a module itself declares with a specification of that type."""
    return [
        cls
        for cls in vars(module).values()
        if isinstance(cls, type)
        and isinstance(vars(cls).get(SPEC), spec)
        and cls.__module__ == getattr(module, "__name__", "")
    ]
