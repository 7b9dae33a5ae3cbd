"""Options of the command line and of the ini file."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from copy import deepcopy
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest

from pytest_evalstudio.core.plugins.index import OPTIONS as PART_OPTIONS

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_evalstudio.run.declared import DeclaredConfiguration
    from pytest_evalstudio.run.settings import IniSettings, Settings

FILES = ("*suite*", "*lab*", "*dataset*", "*workflow*", "*_scores.*")
"""Names of files that are looked at while a folder is walked."""
SUFFIXES = (".json", ".yaml", ".yml", ".csv", ".tsv")
"""Suffixes of files of test cases."""
# The words that pytest takes for its own keys.
_BOOLEANS = {
    **dict.fromkeys(("true", "yes", "1", "on"), True),
    **dict.fromkeys(("false", "no", "0", "off"), False),
}
OPTIONS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "--evalstudio-evaluators": {
            "metavar": "IDS",
            "help": "evaluators, comma-separated, 'all', 'method:M', 'domain:D' or 'tag:T' (default: the"
            " configuration's)",
        },
        "--evalstudio-model": {
            "action": "append",
            "default": [],
            "metavar": "NAME",
            "help": "only this model; repeatable",
        },
        "--evalstudio-output": {
            "metavar": "DIR",
            "help": "folder of the report (default: evalstudio-report)",
        },
        "--evalstudio-config": {
            "metavar": "FILE",
            "help": "configuration file, in place of the nearest evalstudio.toml or pyproject.toml",
        },
        "--evalstudio-threshold": {
            "action": "append",
            "default": [],
            "metavar": "ID[.METRIC]=X",
            "help": "threshold of a metric; repeatable",
        },
        "--evalstudio-gate": {
            "action": "append",
            "default": [],
            "metavar": "EXPR",
            "help": "condition every model must meet, 'rouge.rouge_l >= 0.3'; repeatable",
        },
        "--evalstudio-perturb": {
            "metavar": "SPEC",
            "help": "add perturbed cases, e.g. 'comma:medium,word_swap:low+qwerty'",
        },
        "--evalstudio-refresh": {
            "action": "store_true",
            "help": "ask models and judges again: forget an interrupted run, and answers that are kept",
        },
        "--evalstudio-replay": {
            "action": "store_true",
            "help": "use stored answers of earlier runs instead of asking the models again",
        },
        "--evalstudio-from": {
            "metavar": "STEP",
            "help": "run this step of a workflow anew, and what depends on it",
        },
        "--evalstudio-runs": {
            "type": int,
            "metavar": "N",
            "help": "how often each question is asked (default: 1)",
        },
        "--evalstudio-baseline": {
            "metavar": "FILE",
            "help": "compare the run with this baseline or earlier run",
        },
        "--evalstudio-fail-on": {
            "metavar": "REASONS",
            "help": "what fails the session in addition to failed items, comma-separated: 'case' (a regressed"
            " case), 'mean' (a metric that is worse), 'gone' (a case that is missing), 'unchecked' (a case"
            " that an evaluator no longer scores), or 'none'",
        },
        "--evalstudio-estimate": {
            "action": "store_true",
            "help": "print the calls, tokens and US dollars of the run without asking anything",
        },
        "--evalstudio-shard": {"metavar": "N/TOTAL", "help": "run the N-th part of the test cases"},
    }
)
"""By name, the settings of each option of the command line: what changes from run to run."""
INI_KEYS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "baseline": {"help": "baseline that runs are compared with"},
        "baseline_model": {
            "type": "args",
            "help": "OLD=NEW: name of a model in the baseline, and in this run",
        },
        "confirm": {
            "type": "int",
            "help": "ask a regressed item up to N times before it fails; 0 to fail it at once (default: 50;"
            " deterministic models are not asked again)",
        },
        "known_failures": {
            "choices": ("xfail",),
            "help": "xfail: items that fail, or are errors, in the baseline too are expected to do so",
        },
        "fail_on_inconclusive": {
            "type": "bool",
            "help": "fail the session where the comparison is inconclusive",
        },
        "pass": {"help": "verdict on repeats: mean, all, any, or a share like 8/10 (default: mean)"},
        "unchecked": {
            "choices": ("skip", "fail", "note"),
            "help": "test cases that no evaluator checks: skip or fail them, or note them (default: skip"
            " with the default evaluators, else note)",
        },
        "incomplete_answers": {
            "choices": ("fail", "note"),
            "help": "answers that were cut at a limit of tokens or ended by a content filter: fail their test"
            " cases, or note them (default: note)",
        },
        "allow_partial": {"type": "bool", "help": "pass although a budget left test cases that were not run"},
        "shrink_flips": {
            "type": "int",
            "help": "search the smallest edit of each flip, with at most N further calls of models and"
            " judges in the run; 0 for no search (default: 0)",
        },
        "trust_lab": {
            "type": "bool",
            "help": "use a lab's own descriptions of models that are not configured",
        },
        "name": {"help": "name of the run in the report"},
        "cache": {"help": "folder of stored answers and downloads (default: .evalstudio)"},
        "history": {"help": "folder that each run is added to; its report shows the history"},
        "github": {
            "choices": ("yes", "no"),
            "help": "annotations and job summary of GitHub Actions (default: yes on GitHub)",
        },
        "code_quality": {"help": "file of the failures as GitLab's code quality report"},
        "sarif": {"help": "file of the failures as SARIF"},
        "otlp": {
            "help": "URL of a collector that gets the scores by OTLP over HTTP, as events of OpenTelemetry"
        },
        "otlp_texts": {"type": "bool", "help": "with the reasons of the scores, which quote answers"},
    }
)
"""By name after `evalstudio_`, what a project sets once: in the ini file, or by `-o evalstudio_KEY=VALUE`."""


def add_options(parser: pytest.Parser) -> None:
    """Declare the options; docs/reference/configuration.md says what each does."""
    group = parser.getgroup("evalstudio", "LLM and RAG evaluation")
    for name, settings in (*OPTIONS.items(), *PART_OPTIONS.items()):
        group.addoption(name, **deepcopy(settings))  # lists of a session are its own
    for key, declared in INI_KEYS.items():
        # Numbers and flags as texts: pytest's own conversion fails with a traceback.
        kind = "args" if declared.get("type") == "args" else "string"
        parser.addini(f"evalstudio_{key}", declared["help"], type=kind, default=None)  # type: ignore[arg-type]
    parser.addini(
        "evalstudio_files",
        "names of files that are looked at while a folder is walked",
        type="args",
        default=list(FILES),
    )


def add_markers(config: pytest.Config) -> None:
    """Declare the markers of the items."""
    config.addinivalue_line("markers", "evalstudio: a test case of a suite, lab or data set")
    config.addinivalue_line("markers", "arena: a pair of models whose answers a judge compares")
    config.addinivalue_line("markers", "scores: a gate over a scored table")
    config.addinivalue_line("markers", "mrm: a step of a model-risk-management workflow")
    config.addinivalue_line(
        "markers", "mrm_step(id): the step of that id, e.g. -m 'mrm_step(id=\"topic_modeling\")'"
    )


def check_ini(config: pytest.Config) -> None:
    """Refuse malformed values of our keys, and unknown ones of `-o`, before anything is collected.

    Unknown keys of the file are named by pytest itself, in a warning.

    Raises:
        UsageError: for the first one.
    """
    overridden = [text for text in config.option.override_ini or () if text.startswith("evalstudio_")]
    values = {key: config.getini(f"evalstudio_{key}") for key in INI_KEYS}
    if not (overridden or any(values.values())):
        return
    from pytest_evalstudio.core.errors import ConfigurationError, unknown_name

    key_names = [f"evalstudio_{key}" for key in (*INI_KEYS, "files")]
    try:
        for text in overridden:
            key = text.partition("=")[0].strip()
            if key not in key_names:
                raise unknown_name(
                    "key of the ini file", key, key_names, f"Known keys: {', '.join(key_names)}."
                )
        for key, value in values.items():
            _ini_value(key, value)
    except ConfigurationError as exc:
        from pytest_evalstudio.plugin.display import usage_error

        raise usage_error(exc) from None


def ini_settings(get: Callable[[str], Any]) -> IniSettings:
    """Return the values of the ini keys.

    Args:
        get: returns the value of an ini key.

    Raises:
        ConfigurationError: for a value of another type, or none of the choices.
    """
    from pytest_evalstudio.run.settings import IniSettings

    values = {key: _ini_value(key, get(f"evalstudio_{key}")) for key in INI_KEYS}
    values["policy"] = values.pop("pass")  # no field of a class can have this name
    return IniSettings(**{key: value for key, value in values.items() if value is not None})


def _ini_value(key: str, value: Any) -> Any:
    """Return a value as its type has it; None for one that is not set."""
    from pytest_evalstudio.core.errors import ConfigurationError

    kind, choices = INI_KEYS[key].get("type", "text"), INI_KEYS[key].get("choices", ())
    if kind == "args":
        return tuple(value or ())
    text = str(value or "").strip()
    if not text or (kind == "text" and (not choices or text in choices)):
        return text or None
    if kind == "bool" and text.lower() in _BOOLEANS:
        return _BOOLEANS[text.lower()]
    if kind == "int" and text.isascii() and text.isdecimal():
        return int(text)
    allowed = {"bool": "true or false", "int": "a whole number of 0 or more"}.get(
        kind, f"one of {', '.join(choices)}"
    )
    raise ConfigurationError(f"evalstudio_{key} = {text}: must be {allowed}")


def _index_of_worker(id: str) -> int:
    """Return the number in the id of a worker, e.g. "gw3"; 0 for any other process."""
    digits = id.removeprefix("gw")
    return int(digits) if digits.isdecimal() else 0


def nearest_declared(config: pytest.Config, folder: Path) -> DeclaredConfiguration | None:
    """Return the nearest configuration in Python of a folder, None where no plugin has one."""
    # Asked each time: a conftest.py may be loaded later.
    if not config.hook.pytest_evalstudio_configuration.get_hookimpls():
        return None
    from pytest_evalstudio.run.declared import HOOK, DeclaredConfigurations

    return DeclaredConfigurations(getattr(config.hook, HOOK), config.rootpath).nearest(folder)


def settings_of(config: pytest.Config) -> Settings:
    """Return the settings of a session: its options, ini keys and place in the run.

    Raises:
        UsageError: for a malformed value of an ini key.
    """
    from pytest_evalstudio.core.errors import ConfigurationError
    from pytest_evalstudio.plugin.display import usage_error
    from pytest_evalstudio.run.settings import CommandLine, Settings

    option = config.option
    try:
        ini = ini_settings(config.getini)
    except ConfigurationError as exc:
        raise usage_error(exc) from None
    # Without earlier failures, --lf runs all tests.
    runs_last_failed = bool(getattr(option, "lf", False)) and bool(
        config.cache is not None and config.cache.get("cache/lastfailed", None)
    )
    worker: Mapping[str, Any] = getattr(config, "workerinput", {})
    return Settings(
        CommandLine(
            options=option,
            ini=ini,
            root=config.rootpath,
            start=config.invocation_params.dir,
            arguments=tuple(config.args),
            runs_last_failed=runs_last_failed,
            pytest=pytest.__version__,
            is_worker=hasattr(config, "workerinput"),
            workers=int(worker.get("workercount", 1)),
            worker_index=_index_of_worker(str(worker.get("workerid", ""))),
            run_id=str(worker.get("testrunuid", "")),
            declared=functools.partial(nearest_declared, config),
        )
    )
