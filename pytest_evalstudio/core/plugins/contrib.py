"""Descriptors of optional parts: what each brings to the commands of the core.

A descriptor holds names, not objects, so that reading all of them imports none of the parts. It is found in
the folder `contrib`, and as an entry point of an installed package in the group `pytest_evalstudio.contrib`.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from pytest_evalstudio.core.errors import ConfigurationError, exception_text

GROUP = "pytest_evalstudio.contrib"
"""Package of the descriptors, and group of entry points of installed packages."""
ATTRIBUTE = "CONTRIB"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """Command of `evalstudio`.

    Attributes:
        target: "package.module:function"; the function declares the arguments on a parser, and sets the
            default `command`, which takes the arguments and returns the exit status.
        text: for `evalstudio --help`, one sentence.
    """

    target: str
    text: str

    @property
    def summary(self) -> str:
        """Return the text up to its first colon or semicolon, without a full stop."""
        return re.split(r"[:;.] |\.$", self.text, maxsplit=1)[0]

    def load(self) -> Callable[..., None]:
        """Return the function that declares the arguments."""
        declare: Callable[..., None] = loaded(self.target)
        return declare


@dataclass(frozen=True, slots=True, kw_only=True)
class FileKind:
    """Kind of file that an optional part collects as tests.

    Attributes:
        name: for messages and for the JSON Schema in `formats/schemas`.
        model: "package.module:class" of its content.
        root: key at the root of a JSON or YAML file of this kind, "" where the file name shows it.
        suffixes: ends of the names of its files, for a kind without such a key.
        recognises: "package.module:function" that returns whether a file with such a name is one.
        collector: "package.module:class" of pytest's collector of a file with such a name; besides pytest's
            own arguments it takes `project`, `services` and `log` of the session.
        items: "package.module:function" that yields the items of a file with the root key; it takes its
            collector and its source.
        validate: "package.module:function" that checks a file and describes it in a phrase; it takes the
            path, the name for messages, and the registry.
        review: "package.module:function" that opens a file as a source of answers that people label; it takes
            the path as it was written, the configuration and the registry.
    """

    name: str
    model: str
    root: str = ""
    suffixes: tuple[str, ...] = ()
    recognises: str = ""
    collector: str = ""
    items: str = ""
    validate: str = ""
    review: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrib:
    """Optional part.

    Attributes:
        name: unique among the parts.
        commands: by name.
        terms: terms of gates that name models, each with the number of models.
        check_terms: "package.module:function" that checks the models of such gates; an
            `analysis.gates.TermCheck`.
        entries: name of its entries in the header of a record, "" for none.
        extra: "package.module:function" that returns what the part computes from a record with such entries,
            a `analysis.summary.extras.RunExtra`, or None.
        source: "package.module:object", a `cli.sources.Source` of answers.
        file_kinds: kinds of files that it collects.
        artifact_mark: name of the file in a folder whose subfolders hold artifacts, which are no tests of the
            project.
        table: name of its table in the configuration, "" for none.
        items: "package.module:function" that yields further items of a collected file where the configuration
            has that table; it takes the collector, the configuration and the tasks.
        tool_source: "package.module:function" that returns what records and replays wrapped tools, a
            `core.restored.ToolSource`, where the configuration has the table; it takes the configuration.
        step_lines: "package.module:function" that yields lines for a terminal of a step of a workflow.
        fixtures: by name, "package.module:function" that returns the function of a fixture; it takes the
            project of the session.
        plugins: by kind ("section", "step", …), the package or module whose modules declare plugins.
        templates: package with the folder `templates` of its sections.
        options: options of a run by their name, each with the settings of pytest's parser. The index of
            plugins has them, so that a start imports no part; an installed package declares its own by
            pytest's hook.
        follow_up: "package.module:function" that returns what the part does with regressed cases, a
            `run.follow_ups.FollowUp`; it takes project and services of the session, and is called where
            one of the options is given.
        agent_part: "package.module:function" that returns what the part brings to `evalstudio mcp`, a
            `core.agent_part.AgentPart`, or None; it takes the folder of the project.
    """

    name: str
    commands: Mapping[str, Command] = field(default_factory=dict)
    terms: Mapping[str, int] = field(default_factory=dict)
    check_terms: str = ""
    entries: str = ""
    extra: str = ""
    source: str = ""
    file_kinds: tuple[FileKind, ...] = ()
    artifact_mark: str = ""
    table: str = ""
    items: str = ""
    tool_source: str = ""
    step_lines: str = ""
    fixtures: Mapping[str, str] = field(default_factory=dict)
    plugins: Mapping[str, str] = field(default_factory=dict)
    templates: str = ""
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    follow_up: str = ""
    agent_part: str = ""


def file_kinds() -> tuple[FileKind, ...]:
    """Return the kinds of files of all optional parts."""
    return tuple(kind for contrib in contribs() for kind in contrib.file_kinds)


def is_artifact(path: Path) -> bool:
    """Return True if a file is in a folder of artifacts, which are no tests of the project."""
    marks = [contrib.artifact_mark for contrib in contribs() if contrib.artifact_mark]
    return any((path.parent.parent / mark).is_file() for mark in marks)


def loaded(target: str) -> Any:
    """Return the object that "package.module:name" names."""
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)


@functools.cache
def contribs() -> tuple[Contrib, ...]:
    """Return the descriptors of all optional parts, those of this package first, by name.

    Raises:
        ConfigurationError: if the descriptor of an installed package does not load.
    """
    package = importlib.import_module(GROUP)
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    descriptors = [getattr(importlib.import_module(f"{GROUP}.{name}"), ATTRIBUTE) for name in names]
    installed = []
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            contrib = point.load()
        except Exception as exc:  # other people's code
            raise ConfigurationError(
                f"optional part {point.name!r} of an installed package does not load ({point.value}):"
                f" {exception_text(exc)}"
            ) from exc
        if not isinstance(contrib, Contrib):
            raise ConfigurationError(
                f"optional part {point.name!r} of an installed package ({point.value}) is not a Contrib but"
                f" {type(contrib).__name__}"
            )
        installed.append(contrib)
    return (*descriptors, *installed)
