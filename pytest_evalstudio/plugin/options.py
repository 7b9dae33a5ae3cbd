"""Options of the command line and of the ini file."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest

from pytest_evalstudio.core.plugins.index import OPTIONS as PART_OPTIONS

if TYPE_CHECKING:
    from pytest_evalstudio.plugin.settings import Settings

FILES = ("*suite*", "*lab*", "*dataset*", "*workflow*", "*_scores.*")
"""Names of files that are looked at while a folder is walked."""
SUFFIXES = (".json", ".yaml", ".yml", ".csv", ".tsv")
"""Suffixes of files of test cases."""
OPTIONS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "--evalstudio-evaluators": {
            "metavar": "IDS",
            "help": "evaluators, comma-separated, 'all', 'method:M', 'domain:D' or 'tag:T' (default: the"
            " configuration's)",
        },
        "--evalstudio-unchecked": {
            "choices": ("skip", "fail", "note"),
            "help": "test cases that no evaluator checks: skip or fail them, or note them (default: skip"
            " with the default evaluators, else note)",
        },
        "--evalstudio-incomplete-answers": {
            "choices": ("fail", "note"),
            "help": "answers that were cut at a limit of tokens or ended by a content filter: fail their test"
            " cases, or note them (default: note)",
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
        "--evalstudio-name": {"metavar": "NAME", "help": "name of the run in the report"},
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
        "--evalstudio-shrink-flips": {
            "type": int,
            "metavar": "CALLS",
            "help": "search the smallest edit of each flip, with at most CALLS further calls of models and"
            " judges in the run; 0 for no search (default: 0)",
        },
        "--evalstudio-cache": {
            "metavar": "DIR",
            "help": "folder of stored answers and downloads (default: .evalstudio)",
        },
        "--evalstudio-refresh": {
            "action": "store_true",
            "help": "ask models and judges again: forget an interrupted run, and answers that are kept",
        },
        "--evalstudio-replay": {
            "action": "store_true",
            "help": "use stored answers of earlier runs instead of asking the models again",
        },
        "--evalstudio-allow-partial": {
            "action": "store_true",
            "help": "pass although a budget left test cases that were not run",
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
        "--evalstudio-pass": {
            "metavar": "POLICY",
            "help": "verdict on repeats: mean, all, any, or a share like 8/10 (default: mean)",
        },
        "--evalstudio-trust-lab": {
            "action": "store_true",
            "help": "use a lab's own descriptions of models that are not configured",
        },
        "--evalstudio-baseline": {
            "metavar": "FILE",
            "help": "compare the run with this baseline or earlier run",
        },
        "--evalstudio-baseline-model": {
            "action": "append",
            "default": [],
            "metavar": "OLD=NEW",
            "help": "name of a model in the baseline and in this run; repeatable",
        },
        "--evalstudio-fail-on": {
            "metavar": "REASONS",
            "help": "what fails the session beside failed items, comma-separated: 'case' (a regressed case),"
            " 'mean' (a metric that is worse), 'gone' (a case that is missing), 'unchecked' (a case that an"
            " evaluator no longer scores), or 'none'",
        },
        "--evalstudio-fail-on-inconclusive": {
            "action": "store_true",
            "help": "fail the session where the comparison is inconclusive",
        },
        "--evalstudio-confirm": {
            "type": int,
            "metavar": "N",
            "help": "ask a regressed item up to N times before it fails; 0 to fail it at once (default: 50;"
            " deterministic models are not asked again)",
        },
        "--evalstudio-known-failures": {
            "choices": ("xfail",),
            "help": "xfail: items that fail, or are errors, in the baseline too are expected to do so",
        },
        "--evalstudio-estimate": {
            "action": "store_true",
            "help": "print the calls, tokens and US dollars of the run without asking anything",
        },
        "--evalstudio-shard": {"metavar": "N/TOTAL", "help": "run the N-th part of the test cases"},
        "--evalstudio-history": {
            "metavar": "DIR",
            "help": "add the run to this folder, and show its history",
        },
        "--evalstudio-github": {
            "choices": ("yes", "no"),
            "help": "annotations and job summary of GitHub Actions (default: yes where GITHUB_ACTIONS is"
            " true)",
        },
        "--evalstudio-code-quality": {
            "metavar": "FILE",
            "help": "write the failures as GitLab's code quality report",
        },
        "--evalstudio-sarif": {"metavar": "FILE", "help": "write the failures as SARIF"},
        "--evalstudio-otlp": {
            "metavar": "URL",
            "help": "send the scores to this collector by OTLP over HTTP, as events of OpenTelemetry",
        },
        "--evalstudio-otlp-texts": {
            "action": "store_true",
            "help": "with the reasons of the scores, which quote answers",
        },
    }
)
"""By name, the settings of each option."""


def add_options(parser: pytest.Parser) -> None:
    """Declare the options; docs/reference/options.md says what each does."""
    group = parser.getgroup("evalstudio", "LLM and RAG evaluation")
    for name, settings in (*OPTIONS.items(), *PART_OPTIONS.items()):
        group.addoption(name, **deepcopy(settings))  # lists of a session are its own
    parser.addini("evalstudio_baseline", "baseline that runs are compared with, relative to the ini file")
    parser.addini("evalstudio_pass", "verdict on repeats, as --evalstudio-pass")
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


def _index_of_worker(id: str) -> int:
    """Return the number in the id of a worker, e.g. "gw3"; 0 for any other process."""
    digits = id.removeprefix("gw")
    return int(digits) if digits.isdecimal() else 0


def settings_of(config: pytest.Config) -> Settings:
    """Return the settings of a session: its options, ini keys and place in the run."""
    from pytest_evalstudio.plugin.settings import CommandLine, Settings

    option = config.option
    # Without earlier failures, --lf runs all tests.
    runs_last_failed = bool(getattr(option, "lf", False)) and bool(
        config.cache is not None and config.cache.get("cache/lastfailed", None)
    )
    worker: Mapping[str, Any] = getattr(config, "workerinput", {})
    return Settings(
        CommandLine(
            options=option,
            root=config.rootpath,
            start=config.invocation_params.dir,
            arguments=tuple(config.args),
            runs_last_failed=runs_last_failed,
            ini_baseline=str(config.getini("evalstudio_baseline") or ""),
            ini_policy=str(config.getini("evalstudio_pass") or ""),
            pytest=pytest.__version__,
            is_worker=hasattr(config, "workerinput"),
            workers=int(worker.get("workercount", 1)),
            worker_index=_index_of_worker(str(worker.get("workerid", ""))),
            run_id=str(worker.get("testrunuid", "")),
        )
    )
