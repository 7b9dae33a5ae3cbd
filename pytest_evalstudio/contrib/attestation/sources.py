"""Files that differ between the protected revision and the tree under test, and what they can change."""

from __future__ import annotations

import configparser
import itertools
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from pytest_evalstudio.contrib.attestation.code_effects import (
    START_UP_FILES,
    configures,
    is_test_code,
    loaded_files,
    replacements,
)
from pytest_evalstudio.contrib.attestation.findings import Finding, FindingCode
from pytest_evalstudio.contrib.attestation.revisions import Repository

_CONFIGURATIONS = ("evalstudio.toml", "pyproject.toml")
_INI_FILES = (
    "pytest.toml",
    ".pytest.toml",
    "pytest.ini",
    ".pytest.ini",
    "pyproject.toml",
    "tox.ini",
    "setup.cfg",
)
"""Configuration files of pytest, in the order of precedence."""
_LENIENT = {"unchecked": "fail", "incomplete_answers": "fail", "flips": "fail"}
"""Keys of a configuration whose strict value is this one."""
_PLUGIN_OPTION = "-p"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trees:
    """The protected revision and the tree under test.

    Attributes:
        base, head: revisions, "" for the working tree.
        prefix: folder of the tests, "" for the root.
        targets: modules of the applications.
        search_path: folders that modules are imported from, relative to the folder of the tests.
        trusts_judges: whether stored verdicts of judges count, so that their settings must be the same.
    """

    repository: Repository
    base: str
    head: str
    prefix: str
    targets: tuple[str, ...]
    search_path: tuple[str, ...]
    trusts_judges: bool = False

    def before(self, path: str) -> str | None:
        """Return the text of a file in the protected revision."""
        return self.repository.text(self.base, path)

    def after(self, path: str) -> str | None:
        """Return the text of a file in the tree under test."""
        return self.repository.text(self.head, path)

    @property
    def folders(self) -> tuple[str, ...]:
        """Return the folders that modules are imported from, relative to the root."""
        names = (PurePosixPath(self.prefix, path).as_posix() for path in ("", *self.search_path))
        return tuple(dict.fromkeys("" if name == "." else name for name in names))


def file_findings(trees: Trees) -> Iterator[Finding]:
    """Yield what changed files can do to answers and verdicts."""
    files = trees.repository.changed_files(trees.base, trees.head)
    test_code = _test_code(trees, files)
    texts = [str(_pytest_settings(trees, head=True)), *(trees.after(path) or "" for path in test_code)]
    with_fixtures = any("usefixtures" in text for text in texts)
    for path, letter in files.items():
        name = PurePosixPath(path).name
        text = {"A": "new file", "D": "file removed"}.get(letter, "changed file")
        effects = []
        if name in START_UP_FILES or name.endswith(".pth"):
            if letter != "D":
                yield Finding(
                    kind="weakness",
                    code=FindingCode.START_UP_CODE,
                    place=path,
                    text="is run by Python at its start, and can replace the application",
                )
                continue
        elif path in test_code and letter != "D":
            effects = replacements(trees.before(path), trees.after(path) or "", with_fixtures=with_fixtures)
        if effects:
            shown = ", ".join(f"{what} in line {line}" for line, what in effects[:3])
            yield Finding(
                kind="weakness",
                code=FindingCode.TEST_CODE,
                place=path,
                text=f"changes other code, so that the answers cannot be trusted: {shown}",
            )
            continue
        yield Finding(kind="change", code=FindingCode.FILE, place=path, text=text)
    yield from _configuration_findings(trees, files)
    yield from _search_path_findings(trees, files)
    yield from _judge_findings(trees, files)


def _test_code(trees: Trees, files: Mapping[str, str]) -> set[str]:
    """Return the Python files that the tests load, without those that the application loads as well."""
    roots = [path for path in files if is_test_code(path) and path.endswith(".py")]
    roots += _files_named(trees, [*_plugins(trees), *_entry_points(trees)])
    # An unchanged conftest.py may import a changed module.
    folders = {str(parent) for path in files for parent in PurePosixPath(path).parents}
    roots += [PurePosixPath(folder, "conftest.py").as_posix() for folder in folders]
    loaded = loaded_files(roots, trees.after, trees.folders)
    targets = _files_named(trees, trees.targets)
    return loaded - (loaded_files(targets, trees.after, trees.folders) - set(roots))


def _files_named(trees: Trees, modules: Sequence[str]) -> list[str]:
    stems = [
        "/".join(filter(None, (folder, *module.split(".")))) for module in modules for folder in trees.folders
    ]
    return [name for stem in stems for name in (f"{stem}.py", f"{stem}/__init__.py")]


def _plugins(trees: Trees) -> list[str]:
    """Return the modules that addopts of the tree under test loads as plugins."""
    words = str(_pytest_settings(trees, head=True).get("addopts", "")).split()
    pairs = itertools.pairwise(words)
    names = [after for before, after in pairs if before == _PLUGIN_OPTION]
    names += [
        word[len(_PLUGIN_OPTION) :] for word in words if word.startswith(_PLUGIN_OPTION) and len(word) > 2
    ]
    return [name for name in names if not name.startswith("no:")]


def _entry_points(trees: Trees) -> list[str]:
    """Return the modules that the project under test registers as plugins when it is installed."""
    names = []
    for folder in (PurePosixPath(trees.prefix), *PurePosixPath(trees.prefix).parents):
        text = trees.after(PurePosixPath(folder, "pyproject.toml").as_posix())
        try:
            groups = tomllib.loads(text or "").get("project", {}).get("entry-points", {})
            values = [
                value
                for group, points in groups.items()
                if group == "pytest11" or group.startswith("pytest_evalstudio")
                for value in points.values()
            ]
        except (tomllib.TOMLDecodeError, AttributeError):
            continue
        names += [str(value).partition(":")[0].strip() for value in values]
    return names


def _pytest_settings(trees: Trees, *, head: bool) -> dict[str, Any]:
    """Return pytest's settings of the folder of the tests, or of the nearest one above."""
    read = trees.after if head else trees.before
    folder = PurePosixPath(trees.prefix)
    for parent in (folder, *folder.parents):
        for name in _INI_FILES:
            text = read(PurePosixPath(parent, name).as_posix())
            settings = _settings_in(name, text) if text is not None else None
            if settings is not None:
                return settings
    return {}


def _settings_in(name: str, text: str) -> dict[str, Any] | None:
    """Return pytest's settings in a file, None where it has none."""
    try:
        if name.endswith(".toml"):
            data = tomllib.loads(text)
            if name == "pyproject.toml":
                tool = data.get("tool", {}).get("pytest")
                return None if tool is None else {**tool, **tool.get("ini_options", {})}
            return dict(data.get("pytest", {}))
        parser = configparser.ConfigParser(interpolation=None, strict=False)
        parser.read_string(text)
    except (tomllib.TOMLDecodeError, configparser.Error, AttributeError, TypeError):
        return {}
    section = "tool:pytest" if name == "setup.cfg" else "pytest"
    if parser.has_section(section):
        return dict(parser.items(section))
    return {} if name in ("pytest.ini", ".pytest.ini") else None


def _search_path_findings(trees: Trees, files: Mapping[str, str]) -> Iterator[Finding]:
    if not any(PurePosixPath(path).name in _INI_FILES for path in files):
        return
    before, after = (_pytest_settings(trees, head=head) for head in (False, True))
    first, second = (" ".join(_words(settings.get("pythonpath", ""))) for settings in (before, after))
    if first != second:
        yield Finding(
            kind="weakness",
            code=FindingCode.SEARCH_PATH,
            place="pytest's pythonpath",
            text=f"modules are searched elsewhere: {first or 'not set'} → {second or 'not set'}",
        )


def _judge_findings(trees: Trees, files: Mapping[str, str]) -> Iterator[Finding]:
    """Yield what can give judges other settings; a record has only their models and prompts."""
    if not trees.trusts_judges:
        return
    for path, letter in files.items():
        if path.endswith(".py") and letter != "D" and configures(trees.before(path), trees.after(path) or ""):
            yield _judge_weakness(path, "configures the evaluation by code, and can name another judge")
    before, after = (_pytest_settings(trees, head=head).get("addopts", "") for head in (False, True))
    if before != after and "evalstudio" in str(after):
        yield _judge_weakness("pytest's addopts", "other options of the evaluation can name another judge")
    folders = {PurePosixPath(path).parent for path in files if PurePosixPath(path).name in _CONFIGURATIONS}
    for folder in sorted(folders):
        first, second = (_configuration(trees, folder, head=head) or {} for head in (False, True))
        names = [
            name for name, table in _judge_tables(first).items() if table != _judge_tables(second).get(name)
        ]
        names += [name for name in _judge_tables(second) if name not in _judge_tables(first)]
        if names:
            yield _judge_weakness(
                f"configuration of {folder}",
                f"{', '.join(names)} is edited, so that stored verdicts of judges do not count",
            )


def _judge_tables(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables of a configuration that say which judge is asked, by name."""
    judge = configuration.get("judge", {})
    tables = {"[judge]": judge, "[connection]": configuration.get("connection")}
    evaluators = configuration.get("evaluator", {})
    for id, table in evaluators.items() if isinstance(evaluators, Mapping) else ():
        if isinstance(table, Mapping) and "judge" in table:
            tables[f"[evaluator.{id}.judge]"] = table["judge"]
    if isinstance(judge, Mapping) and "model" in judge:
        tables["[[model]]"] = configuration.get("model")
    return {name: table for name, table in tables.items() if table}


def _judge_weakness(place: str, text: str) -> Finding:
    return Finding(kind="weakness", code=FindingCode.JUDGE, place=place, text=text)


def _words(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else str(value).split()


def _configuration_findings(trees: Trees, files: Mapping[str, str]) -> Iterator[Finding]:
    folders = {PurePosixPath(path).parent for path in files if PurePosixPath(path).name in _CONFIGURATIONS}
    for folder in sorted(folders):
        after = _configuration(trees, folder, head=True)
        if after is None:
            continue
        before = _configuration(trees, folder, head=False) or {}
        place = "configuration" if folder.as_posix() == "." else f"configuration of {folder}"
        yield from _policy_findings(place, before, after)


def _configuration(trees: Trees, folder: PurePosixPath, *, head: bool) -> dict[str, Any] | None:
    """Return the nearest configuration of a folder, None for none."""
    read = trees.after if head else trees.before
    for parent in (folder, *folder.parents):
        for name in _CONFIGURATIONS:
            text = read(PurePosixPath(parent, name).as_posix())
            if text is None:
                continue
            try:
                data = tomllib.loads(text)
            except tomllib.TOMLDecodeError:
                continue
            table = data if name == _CONFIGURATIONS[0] else data.get("tool", {}).get("evalstudio")
            if isinstance(table, dict):
                return table
    return None


def _policy_findings(place: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Finding]:
    first, second = (set(_fail_on(table)) for table in (before, after))
    if first - second:
        yield Finding(
            kind="weakness",
            code=FindingCode.CONFIGURATION,
            place=place,
            text=f"comparison.fail_on has no longer {', '.join(sorted(first - second))}",
        )
    for key, strict in _LENIENT.items():
        old, new = before.get(key), after.get(key)
        default_is_strict = key == "flips"
        if old != new:
            is_weaker = (old == strict or (old is None and default_is_strict)) and new not in (strict, None)
            is_weaker = is_weaker or (old == strict and new is None and not default_is_strict)
            yield Finding(
                kind="weakness" if is_weaker else "change",
                code=FindingCode.CONFIGURATION,
                place=place,
                text=f"{key}: {old or 'default'} → {new or 'default'}",
            )


def _fail_on(table: Mapping[str, Any]) -> list[str]:
    comparison = table.get("comparison")
    value = comparison.get("fail_on", ["case"]) if isinstance(comparison, Mapping) else ["case"]
    names = [name.strip() for name in value.split(",")] if isinstance(value, str) else value
    return [str(name) for name in names if name != "none"]
