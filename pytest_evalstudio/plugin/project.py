"""What is known of a project before its files are collected."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.plugin.model_tables import ModelTables
from pytest_evalstudio.plugin.settings import Settings
from pytest_evalstudio.scoring.model_provider import left_out
from pytest_evalstudio.scoring.perturbing.specs import parse_perturbations
from pytest_evalstudio.scoring.perturbing.texts import Perturber
from pytest_evalstudio.scoring.plan import Plan

if TYPE_CHECKING:
    from pytest_evalstudio.scoring.model_provider import ModelProvider

Warn = Callable[[str, Path], None]
"""Issues a warning about a file, each text once."""


@dataclass(slots=True)
class CollectionLog:
    """What the files of a session bring besides their items.

    Attributes:
        refusals: why the run must not start.
        files: number of files that were read.
        broken_cases: number of test cases that are errors of the collection.
        near_misses: files that resemble evaluation files and were not collected, for -v.
        host_fixtures: names of fixtures that answer for models, and of those that they depend on.
    """

    refusals: list[str] = field(default_factory=list)
    files: int = 0
    broken_cases: int = 0
    near_misses: list[str] = field(default_factory=list)
    host_fixtures: set[str] = field(default_factory=set)


@dataclass(frozen=True, kw_only=True, eq=False)
class Project:
    """Settings, plugins, evaluators and model tables of a project.

    Attributes:
        settings: options of the session, and configurations by folder.
        warn: issues a warning about a file.
        register: adds the plugins of conftest.py files to a registry.
        provider: returns the provider of models, which knows what evaluators lack here.
        plans: evaluators of the configurations that were asked for, made once.
    """

    settings: Settings
    warn: Warn
    register: Callable[[Registry], None]
    provider: Callable[[], ModelProvider]
    plans: dict[Configuration, Plan] = field(default_factory=dict)

    @functools.cached_property
    def registry(self) -> Registry:
        """Return the plugins of this session, those of its conftest.py files included."""
        registry = Registry()
        self.register(registry)
        return registry

    @functools.cached_property
    def models(self) -> ModelTables:
        """Return the tables of the models that answer."""
        return ModelTables(self.settings, lambda: self.registry)

    def configuration(self, folder: Path) -> Configuration:
        """Return the configuration of a folder."""
        config = self.settings.for_folder(folder)
        for note in config.notes:
            self.warn(note, Path(config.file or config.folder))
        return config

    def plan(self, config: Configuration) -> Plan:
        """Return the evaluators of a configuration, made once."""
        if config not in self.plans:
            lacks = functools.partial(self.provider().lacks, config)
            plan = self.plans[config] = Plan(
                self.registry, config, thresholds=self.settings.thresholds, lacks=lacks
            )
            if plan.left_out:
                self.warn(left_out(plan.left_out, plan.broad_choice), Path(config.file or config.folder))
            for note in plan.notes():
                self.warn(note, Path(config.file or config.folder))
        return self.plans[config]

    def perturber(self, config: Configuration) -> Perturber | None:
        """Return the maker of perturbed cases of a configuration, None if it asks for none.

        Raises:
            ConfigurationError: if a perturbation is malformed or not available.
        """
        specs = config.perturbations
        chains = parse_perturbations(specs.apply, self.registry, config.perturbator, folder=config.folder)
        return Perturber(chains, seed=specs.seed, where=specs.where) if specs.apply.strip() else None
