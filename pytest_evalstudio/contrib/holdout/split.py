"""Halves of a suite by a keyed digest of each case."""

from __future__ import annotations

import tomllib
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

from pytest_evalstudio.contrib.holdout.folder import create
from pytest_evalstudio.contrib.holdout.keyed import keyed_share
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.origins import SOURCE
from pytest_evalstudio.core.reading import read_utf8
from pytest_evalstudio.formats.config import Configuration, HoldoutTable
from pytest_evalstudio.formats.recognition import SHARED_FILE
from pytest_evalstudio.formats.suite import TestCase, TestSuite

MIN_CASES = 20
"""Cases of either half: about fewer, a rationed answer would say too much, and an interval too little."""
_OF_THE_PROJECT = frozenset({
    "model", "connection", "prices", "gate", "output", "cache", "baseline", "comparison", "run",
    "runs", "perturbations", "perturbator", "arena", "cause", "tools", "trace", "storage", "holdout",
})  # fmt: skip
"""Keys of a configuration that do not score answers, or say how the application is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Halves:
    """A suite in two halves."""

    open: TestSuite
    hidden: TestSuite

    @property
    def counts(self) -> tuple[int, int]:
        """Return the number of open and of hidden cases."""
        return len(self.open.cases()), len(self.hidden.cases())


def split_suite(suite: TestSuite, key: bytes, share: float) -> Halves:
    """Return the halves of a suite; perturbed cases go with their originals.

    Raises:
        DataError: if a case is a conversation that is run, which a look does not ask.
    """
    hidden: set[str] = set()
    originals = {case.key: _original(case) for _, case in suite.cases()}
    for _, case in suite.cases():
        if case.turns or case.user is not None:
            raise DataError(
                f"case {case.key!r} is a conversation that is run; a look asks single questions: move it to"
                " another suite"
            )
        if keyed_share(key, "case", suite.name, _root(case.key, originals)) < share:
            hidden.add(case.key)
    return Halves(open=without(suite, hidden), hidden=without(suite, originals.keys() - hidden))


def _scoring_tables(config: Configuration) -> dict[str, object]:
    """Return what scores answers, as the file has it: variables of the environment stay unread."""
    if not config.file:
        return {}
    path = Path(config.file)
    data = tomllib.loads(read_utf8(path))
    if path.name == SHARED_FILE:
        data = data["tool"]["evalstudio"]
    return {name: value for name, value in data.items() if name not in _OF_THE_PROJECT}


def _original(case: TestCase) -> str:
    return next((link.target for link in case.relationships if link.type == SOURCE), "")


def _root(key: str, originals: dict[str, str]) -> str:
    """Return the first case of a chain of perturbations; of a circle, its first key."""
    chain = [key]
    while (original := originals.get(chain[-1], "")) and original not in chain:
        chain.append(original)
    return min(chain) if originals.get(chain[-1]) in chain else chain[-1]


def without(suite: TestSuite, keys: Container[str], prompts: Container[str] = ()) -> TestSuite:
    """Return a copy of a suite without the cases of some keys and questions, and tests that get empty."""
    tests = []
    for test in suite.tests:
        cases = [case for case in test.test_cases if case.key not in keys and case.prompt not in prompts]
        if cases:
            tests.append(test.model_copy(update={"test_cases": cases}))
    return suite.model_copy(update={"tests": tests})


def hide(
    suite: TestSuite,
    suite_path: str,
    hidden_folder: Path,
    *,
    key: bytes,
    config: Configuration,
    table: HoldoutTable,
    is_shared: bool,
    ask_with: tuple[str, ...] = (),
) -> Halves:
    """Write the hidden half of a suite, and return both.

    Args:
        suite_path: path of the suite in the project.
        hidden_folder: new folder.
        config: of the project; what scores answers is taken into the folder.
        table: settings of the split.
        is_shared: whether the suite in the project keeps the hidden cases.

    Raises:
        ConfigurationError: if a half has too few cases, or the folder is in use.
    """
    halves = split_suite(suite, key, table.share)
    if min(halves.counts) < MIN_CASES:
        open_count, hidden_count = halves.counts
        raise ConfigurationError(
            f"{suite_path}: {open_count} open and {hidden_count} hidden cases are too few; a look needs"
            f" {MIN_CASES} of either: add cases"
        )
    create(
        hidden_folder,
        key=key,
        suite_path=suite_path,
        is_shared=is_shared,
        hidden=halves.hidden,
        table=table,
        scoring=_scoring_tables(config),
        ask_with=ask_with,
    )
    return halves
