"""Configuration of a folder: that of the nearest file, overridden by the command line."""

from __future__ import annotations

import argparse
import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_evalstudio.analysis.gates import parse_gate
from pytest_evalstudio.asking.lab_models import LabTrust
from pytest_evalstudio.core.defaults import REPORT_FOLDER
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.repeats import PassPolicy
from pytest_evalstudio.formats.config import (
    Configuration,
    configuration,
    fail_reasons,
    load_configuration,
    with_evaluators,
)
from pytest_evalstudio.formats.recognition import find_configuration
from pytest_evalstudio.scoring.repeats import check_runs
from pytest_evalstudio.scoring.thresholds import parse_threshold

if TYPE_CHECKING:
    from pytest_evalstudio.run.declared import DeclaredConfiguration

DEFAULT_CACHE = ".evalstudio"
_SHARD = re.compile(r"([1-9]\d{0,5})/([1-9]\d{0,5})")


class Shard(NamedTuple):
    """The number of a shard, from 1, and how many there are."""

    number: int
    total: int

    def has(self, family: str) -> bool:
        """Return whether the items of a family are in this shard; each family is in one."""
        # Not hash(), whose value of a text differs from process to process.
        digest = hashlib.sha256(family.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8]) % self.total + 1 == self.number


def parse_shard(text: str) -> Shard:
    """Return the shard of an option.

    Raises:
        ConfigurationError: if the option is malformed.

    >>> parse_shard("2/5")
    Shard(number=2, total=5)
    """
    match = _SHARD.fullmatch(text.strip())
    shard = Shard(int(match[1]), int(match[2])) if match else None
    if shard is None or shard.number > shard.total:
        raise ConfigurationError(f"--evalstudio-shard {text}: write NUMBER/TOTAL, e.g. 2/5")
    return shard


@dataclass(frozen=True, slots=True, kw_only=True)
class IniSettings:
    """Keys of the ini file, by their names after `evalstudio_`; `plugin.options` says what each does.

    Paths start at the root folder of the session. None, "" and () where a key is not set.
    """

    baseline: str = ""
    baseline_model: tuple[str, ...] = ()
    confirm: int | None = None
    known_failures: str = ""
    fail_on_inconclusive: bool = False
    policy: str = ""
    unchecked: str = ""
    incomplete_answers: str = ""
    allow_partial: bool = False
    shrink_flips: int | None = None
    trust_lab: bool = False
    name: str = ""
    cache: str = ""
    history: str = ""
    github: str = ""
    code_quality: str = ""
    sarif: str = ""
    otlp: str = ""
    otlp_texts: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLine:
    """Options of a pytest session and its place in a run.

    Attributes:
        options: values by name; lists and flags as `plugin.options` declares them.
        root: root folder of the session.
        start: folder that pytest was started in; relative paths of options start here.
        arguments: files, folders and node ids.
        runs_last_failed: whether `--lf` leaves out tests.
        ini: keys of the ini file, and of `-o`.
        pytest: its version.
        is_worker: whether another process collects the reports.
        workers: number of processes that share the run.
        worker_index: of this process among them, from 0.
        run_id: what all workers of a run have in common, "" without workers.
        declared: returns the nearest configuration in Python of a folder, None for none.
    """

    options: argparse.Namespace
    root: Path
    start: Path
    arguments: tuple[str, ...] = ()
    runs_last_failed: bool = False
    ini: IniSettings = field(default_factory=lambda: IniSettings())
    pytest: str = ""
    is_worker: bool = False
    workers: int = 1
    worker_index: int = 0
    run_id: str = ""
    declared: Callable[[Path], DeclaredConfiguration | None] = lambda folder: None


class Settings:
    """Configurations by folder.

    Args:
        command_line: of the session; its options win over every file.
    """

    def __init__(self, command_line: CommandLine) -> None:
        self.command_line = command_line
        self._option = command_line.options
        self._ini = command_line.ini
        self._root = command_line.root
        self._invocation = command_line.start
        self._arguments = command_line.arguments
        self._by_file: dict[Path | None, Configuration] = {}
        self._by_folder: dict[Path, Configuration] = {}

    def check(self) -> None:
        """Refuse options that are wrong whatever is collected.

        Raises:
            ConfigurationError: for the first of them.
        """
        if self._option.evalstudio_runs is not None and self._option.evalstudio_runs < 1:
            raise ConfigurationError(f"--evalstudio-runs {self._option.evalstudio_runs}: must be 1 or more")
        if self._option.evalstudio_evaluators is not None and not _names(self._option.evalstudio_evaluators):
            raise ConfigurationError(
                "--evalstudio-evaluators names no evaluator; give ids separated by commas, or 'all'"
            )
        if self._option.evalstudio_replay and self._option.evalstudio_refresh:
            raise ConfigurationError(
                "--evalstudio-replay and --evalstudio-refresh contradict each other; give one of them"
            )
        paths = {
            "--evalstudio-output": self._option.evalstudio_output,
            "--evalstudio-config": self._option.evalstudio_config,
            "evalstudio_cache": self._ini.cache,
        }
        for name, path in paths.items():
            if "\0" in str(path or ""):
                raise ConfigurationError(f"{name}: the path has a NUL character; remove it")
        _ = self.thresholds
        for gate in self._option.evalstudio_gate:
            parse_gate(gate)
        # Each of these properties checks its option when it is read.
        _ = self.renamed_models, self.shard, self.policy, self.fail_on, self.otlp
        if self._option.evalstudio_config:
            self.for_folder(self._root)

    @property
    def thresholds(self) -> dict[str, float]:
        """Return the thresholds of the command line: `ID` or `ID.METRIC` to value."""
        return dict(parse_threshold(text) for text in self._option.evalstudio_threshold)

    @property
    def model_names(self) -> list[str]:
        """Return the models that the command line selects, [] for all."""
        return list(self._option.evalstudio_model)

    @property
    def chooses_evaluators(self) -> bool:
        """Return whether the command line chooses the evaluators, in place of the configuration."""
        return bool(self._option.evalstudio_evaluators)

    @property
    def selects_cases(self) -> bool:
        """Return whether node ids or --lf leave out test cases before they are collected."""
        return self.command_line.runs_last_failed or any("::" in argument for argument in self._arguments)

    @property
    def from_step(self) -> str:
        """Return the step of a workflow that is to run again, "" for none."""
        return str(self._option.evalstudio_from or "")

    @property
    def of_suites(self) -> list[str]:
        """Return the given options that have no effect on workflows, whose files define these settings."""
        paths = {
            "--evalstudio-threshold": self._option.evalstudio_threshold,
            "--evalstudio-model": self._option.evalstudio_model,
            "--evalstudio-perturb": self._option.evalstudio_perturb,
        }
        return [name for name, value in paths.items() if value]

    @property
    def renamed_models(self) -> dict[str, str]:
        """Return the name of a model in the baseline to its name in this run, where they differ.

        Raises:
            ConfigurationError: if an option is malformed.
        """
        names = {}
        for option in self._ini.baseline_model:
            old, equals, new = option.partition("=")
            if not (equals and old and new):
                raise ConfigurationError(f"evalstudio_baseline_model = {option}: write OLD=NEW")
            names[old] = new
        return names

    @property
    def otlp(self) -> str:
        """Return the address of the collector that scores are sent to, "" for none.

        Raises:
            ConfigurationError: if the option is no such address, or reasons are asked for without one.
        """
        url = self._ini.otlp
        if not url:
            if self._ini.otlp_texts:
                raise ConfigurationError("evalstudio_otlp_texts needs evalstudio_otlp = URL")
            return ""
        from pytest_evalstudio.traces.otel.sending import log_address

        return log_address(url)

    @property
    def fail_on(self) -> tuple[str, ...]:
        """Return what fails the session, () where the command line does not say.

        Raises:
            ConfigurationError: if the option is malformed.
        """
        text = self._option.evalstudio_fail_on
        if text is None:
            return ()
        try:
            return fail_reasons(_names(text))
        except ValueError as exc:
            raise ConfigurationError(f"--evalstudio-fail-on {text}: {exc}") from None

    @property
    def fail_on_inconclusive(self) -> bool:
        return self._ini.fail_on_inconclusive

    @property
    def confirm(self) -> int:
        """Return how often a regressed item is asked at most; 0 for no confirmation."""
        return self.session.comparison.confirm if self._ini.confirm is None else self._ini.confirm

    @property
    def shrink_calls(self) -> int:
        """Return how many calls the search for the smallest edits of flips may take; 0 for no search."""
        calls = self._ini.shrink_flips
        return self.session.perturbations.shrink_calls if calls is None else calls

    @property
    def expects_known_failures(self) -> bool:
        """Return whether items that fail in the baseline too are expected to fail."""
        return self._ini.known_failures == "xfail"

    @property
    def names_baseline(self) -> bool:
        """Return whether the command line names a baseline, which must exist then."""
        return bool(self._option.evalstudio_baseline)

    def baseline(self) -> Path | None:
        """Return the baseline of the command line, of pytest's ini file or of the configuration."""
        if self._option.evalstudio_baseline:
            return self._invocation / str(self._option.evalstudio_baseline)
        if self._ini.baseline:
            return self._root / self._ini.baseline
        config = self.session
        return config.folder / config.baseline if config.baseline else None

    @property
    def shard(self) -> Shard | None:
        """Return the part of the test cases that is run, None for all.

        Raises:
            ConfigurationError: if the option is malformed.
        """
        shard_text = self._option.evalstudio_shard
        return parse_shard(shard_text) if shard_text else None

    def history(self) -> Path | None:
        """Return the folder of earlier runs, None for none."""
        return self._root / self._ini.history if self._ini.history else None

    @property
    def policy(self) -> str:
        """Return the verdict on repeats of pytest's ini file, "" for none.

        Raises:
            ConfigurationError: if it is malformed.
        """
        try:
            return PassPolicy.parse(self._ini.policy).text if self._ini.policy else ""
        except ValueError as exc:
            raise ConfigurationError(f"evalstudio_pass: {exc}") from None

    @property
    def refresh(self) -> bool:
        return bool(self._option.evalstudio_refresh)

    @property
    def otlp_texts(self) -> bool:
        """Return whether the collector gets the reasons of the scores, too."""
        return self._ini.otlp_texts

    @property
    def replay(self) -> bool:
        return bool(self._option.evalstudio_replay)

    @property
    def allows_partial(self) -> bool:
        """Return whether a run passes although items were not run."""
        return self._ini.allow_partial

    @property
    def estimates(self) -> bool:
        """Return whether the run is only estimated."""
        return bool(self._option.evalstudio_estimate)

    @property
    def lab_trust(self) -> LabTrust:
        """Return whether the user trusts the model descriptions of lab files."""
        return LabTrust(is_trusted=self._ini.trust_lab, option="-o evalstudio_trust_lab=true")

    @property
    def session(self) -> Configuration:
        """Return the configuration of the run as a whole, the one nearest to the first argument."""
        first = (self._arguments or (str(self._root),))[0].split("::")[0]
        path = Path(os.path.normpath(self._invocation / first))
        return self.for_folder(path if os.path.isdir(path) else path.parent)

    def for_folder(self, folder: Path) -> Configuration:
        """Return the configuration of a folder.

        Raises:
            ConfigurationError: if its file is wrong.
        """
        if folder not in self._by_folder:
            file, load = self._nearest(folder)
            if file not in self._by_file:
                config = self._with_options(load())
                check_runs(config)
                self._by_file[file] = config
            self._by_folder[folder] = self._by_file[file]
        return self._by_folder[folder]

    def _nearest(self, folder: Path) -> tuple[Path | None, Callable[[], Configuration]]:
        """Return the file of the configuration of a folder, None for none, and a function that loads it.

        Raises:
            ConfigurationError: if a folder has both a configuration file and one in Python.
        """
        path_text = self._option.evalstudio_config
        file = self._invocation / path_text if path_text else find_configuration(folder, self._root)
        declared = None if path_text else self.command_line.declared(folder)
        if declared is not None:
            depth = len(declared.file.parts)
            if file is None or len(file.parts) < depth:
                return declared.file, declared.load
            if len(file.parts) == depth:
                raise ConfigurationError(
                    f"{declared.file}: pytest_evalstudio_configuration and {file.name} both configure this"
                    " folder; remove one of them"
                )
        if file is None:
            return None, lambda: configuration({}, folder=self._root)
        return file, lambda: load_configuration(file)

    def output(self) -> Path:
        """Return the folder of the report."""
        if self._option.evalstudio_output:
            return self._invocation / str(self._option.evalstudio_output)
        config = self.session
        return config.folder / config.output if config.output else self._invocation / REPORT_FOLDER

    def cache(self) -> Path:
        """Return the folder of stored answers and downloads."""
        if self._ini.cache:
            return self._root / self._ini.cache
        config = self.session
        return config.folder / config.cache if config.cache else self._root / DEFAULT_CACHE

    def gates(self) -> list[str]:
        """Return the gates of configuration and command line."""
        return [*self.session.gate, *self._option.evalstudio_gate]

    def _with_options(self, config: Configuration) -> Configuration:
        update: dict[str, Any] = {}
        if self._option.evalstudio_evaluators:
            config = with_evaluators(config, _names(self._option.evalstudio_evaluators))
        if self._ini.unchecked:
            update["unchecked"] = self._ini.unchecked
        if self._ini.incomplete_answers:
            update["incomplete_answers"] = self._ini.incomplete_answers
        if self._option.evalstudio_perturb is not None:
            update["perturbations"] = config.perturbations.model_copy(
                update={"apply": self._option.evalstudio_perturb}
            )
        if self._ini.name:
            update["run"] = config.run.model_copy(update={"name": self._ini.name})
        if self._option.evalstudio_runs is not None:
            update["runs"] = self._option.evalstudio_runs
        if self.policy:
            update["policy"] = self.policy
        return config.model_copy(update=update)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
