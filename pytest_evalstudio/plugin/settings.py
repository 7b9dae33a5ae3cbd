"""Configuration of a folder: that of the nearest file, overridden by the command line."""

from __future__ import annotations

import argparse
import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

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
class CommandLine:
    """Options of a pytest session and its place in a run.

    Attributes:
        options: values by name; lists and flags as `plugin.options` declares them.
        root: root folder of the session.
        start: folder that pytest was started in; relative paths of options start here.
        arguments: files, folders and node ids.
        runs_last_failed: whether `--lf` leaves out tests.
        ini_baseline: baseline of the ini file, "" for none.
        ini_policy: verdict on repeats of the ini file, "" for none.
        pytest: its version.
        is_worker: whether another process collects the reports.
        workers: number of processes that share the run.
        worker_index: of this process among them, from 0.
        run_id: what all workers of a run have in common, "" without workers.
    """

    options: argparse.Namespace
    root: Path
    start: Path
    arguments: tuple[str, ...] = ()
    runs_last_failed: bool = False
    ini_baseline: str = ""
    ini_policy: str = ""
    pytest: str = ""
    is_worker: bool = False
    workers: int = 1
    worker_index: int = 0
    run_id: str = ""


class Settings:
    """Configurations by folder.

    Args:
        command_line: of the session; its options win over every file.
    """

    def __init__(self, command_line: CommandLine) -> None:
        self.command_line = command_line
        self._option = command_line.options
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
        for name in ("output", "cache", "config"):
            if "\0" in str(getattr(self._option, f"evalstudio_{name}") or ""):
                raise ConfigurationError(f"--evalstudio-{name}: the path has a NUL character; remove it")
        if (self._option.evalstudio_confirm or 0) < 0:
            raise ConfigurationError(
                f"--evalstudio-confirm {self._option.evalstudio_confirm}: must be 0 or more"
            )
        if (self._option.evalstudio_shrink_flips or 0) < 0:
            raise ConfigurationError(
                f"--evalstudio-shrink-flips {self._option.evalstudio_shrink_flips}: must be 0 or more"
            )
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
        for option in self._option.evalstudio_baseline_model:
            old, equals, new = option.partition("=")
            if not (equals and old and new):
                raise ConfigurationError(f"--evalstudio-baseline-model {option}: write OLD=NEW")
            names[old] = new
        return names

    @property
    def otlp(self) -> str:
        """Return the address of the collector that scores are sent to, "" for none.

        Raises:
            ConfigurationError: if the option is no such address, or reasons are asked for without one.
        """
        url: str | None = self._option.evalstudio_otlp
        if url is None:
            if self._option.evalstudio_otlp_texts:
                raise ConfigurationError("--evalstudio-otlp-texts needs --evalstudio-otlp URL")
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
        return bool(self._option.evalstudio_fail_on_inconclusive)

    @property
    def confirm(self) -> int:
        """Return how often a regressed item is asked at most; 0 for no confirmation."""
        option = self._option.evalstudio_confirm
        return self.session.comparison.confirm if option is None else int(option)

    @property
    def shrink_calls(self) -> int:
        """Return how many calls the search for the smallest edits of flips may take; 0 for no search."""
        option = self._option.evalstudio_shrink_flips
        return self.session.perturbations.shrink_calls if option is None else int(option)

    @property
    def expects_known_failures(self) -> bool:
        """Return whether items that fail in the baseline too are expected to fail."""
        return bool(self._option.evalstudio_known_failures == "xfail")

    @property
    def names_baseline(self) -> bool:
        """Return whether the command line names a baseline, which must exist then."""
        return bool(self._option.evalstudio_baseline)

    def baseline(self) -> Path | None:
        """Return the baseline of the command line, of pytest's ini file or of the configuration."""
        if self._option.evalstudio_baseline:
            return self._invocation / str(self._option.evalstudio_baseline)
        if self.command_line.ini_baseline:
            return self._root / self.command_line.ini_baseline
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
        path_text = self._option.evalstudio_history
        return self._invocation / str(path_text) if path_text else None

    @property
    def policy(self) -> str:
        """Return the verdict on repeats of the command line or of pytest's ini file, "" for none.

        Raises:
            ConfigurationError: if it is malformed.
        """
        policies = {
            "--evalstudio-pass": self._option.evalstudio_pass,
            "evalstudio_pass": self.command_line.ini_policy,
        }
        for name, text in policies.items():
            if text:
                try:
                    return PassPolicy.parse(text).text
                except ValueError as exc:
                    raise ConfigurationError(f"{name}: {exc}") from None
        return ""

    @property
    def refresh(self) -> bool:
        return bool(self._option.evalstudio_refresh)

    @property
    def otlp_texts(self) -> bool:
        """Return whether the collector gets the reasons of the scores, too."""
        return bool(self._option.evalstudio_otlp_texts)

    @property
    def replay(self) -> bool:
        return bool(self._option.evalstudio_replay)

    @property
    def allows_partial(self) -> bool:
        """Return whether a run passes although items were not run."""
        return bool(self._option.evalstudio_allow_partial)

    @property
    def estimates(self) -> bool:
        """Return whether the run is only estimated."""
        return bool(self._option.evalstudio_estimate)

    @property
    def lab_trust(self) -> LabTrust:
        """Return whether the user trusts the model descriptions of lab files."""
        return LabTrust(is_trusted=bool(self._option.evalstudio_trust_lab), option="--evalstudio-trust-lab")

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
            path_text = self._option.evalstudio_config
            file = self._invocation / path_text if path_text else find_configuration(folder, self._root)
            if file not in self._by_file:
                config = self._with_options(
                    load_configuration(file) if file else configuration({}, folder=self._root)
                )
                check_runs(config)
                self._by_file[file] = config
            self._by_folder[folder] = self._by_file[file]
        return self._by_folder[folder]

    def output(self) -> Path:
        """Return the folder of the report."""
        if self._option.evalstudio_output:
            return self._invocation / str(self._option.evalstudio_output)
        config = self.session
        return config.folder / config.output if config.output else self._invocation / REPORT_FOLDER

    def cache(self) -> Path:
        """Return the folder of stored answers and downloads."""
        if self._option.evalstudio_cache:
            return self._invocation / str(self._option.evalstudio_cache)
        config = self.session
        return config.folder / config.cache if config.cache else self._root / DEFAULT_CACHE

    def gates(self) -> list[str]:
        """Return the gates of configuration and command line."""
        return [*self.session.gate, *self._option.evalstudio_gate]

    def _with_options(self, config: Configuration) -> Configuration:
        update: dict[str, Any] = {}
        if self._option.evalstudio_evaluators:
            config = with_evaluators(config, _names(self._option.evalstudio_evaluators))
        if self._option.evalstudio_unchecked is not None:
            update["unchecked"] = self._option.evalstudio_unchecked
        if self._option.evalstudio_incomplete_answers is not None:
            update["incomplete_answers"] = self._option.evalstudio_incomplete_answers
        if self._option.evalstudio_perturb is not None:
            update["perturbations"] = config.perturbations.model_copy(
                update={"apply": self._option.evalstudio_perturb}
            )
        if self._option.evalstudio_name is not None:
            update["run"] = config.run.model_copy(update={"name": self._option.evalstudio_name})
        if self._option.evalstudio_runs is not None:
            update["runs"] = self._option.evalstudio_runs
        if self.policy:
            update["policy"] = self.policy
        return config.model_copy(update=update)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
