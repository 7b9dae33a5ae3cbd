"""Sequential repeats: which evaluators take part in the test, and how many repeats it still needs."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.formats.repeats import SequentialRuns
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator
from pytest_evalstudio.stats.sequential import Sprt


def stopping_of(runs: int | SequentialRuns, location: str) -> Sprt | None:
    """Return the sequential test of a configured number of repeats, None for a fixed number.

    Raises:
        ConfigurationError: if the numbers allow no test.
    """
    if not isinstance(runs, SequentialRuns):
        return None
    try:
        return Sprt(max_runs=runs.max, p0=runs.p0, p1=runs.p1, alpha=runs.alpha, beta=runs.beta)
    except ValueError as exc:
        raise ConfigurationError(f"{location}: runs: {exc}") from None


def check_runs(config: Configuration) -> None:
    """Check the sequential tests of a configuration and of its models.

    Raises:
        ConfigurationError: for the first whose numbers allow no test.
    """
    stopping_of(config.runs, config.file or "configuration")
    for table in config.model:
        if table.runs is not None:
            stopping_of(table.runs, f"{config.file or 'configuration'}: model {table.name!r}")


@functools.lru_cache(maxsize=256)
def needing_all_repeats(selected: tuple[ConfiguredEvaluator, ...]) -> frozenset[ConfiguredEvaluator]:
    """Return the evaluators that are scored when all repeats are there, and take no part in a test.

    They compare the answers to one question with each other, or have a calibration that takes such a score.
    """
    groups = {each.id for each in selected if each.spec.scope == "group"}
    return frozenset(
        each
        for each in selected
        if each.id in groups
        or (
            each.attached is not None
            and any(metric.evaluator in groups for metric in each.attached.calibration.metrics)
        )
    )


def further_repeats(stopping: Sprt, states: Iterable[Sequence[bool | None]], repeat_count: int) -> int:
    """Return the least number of further repeats after which an item may be decided, 0 to stop.

    An item is decided if the test fails it for one evaluator, or passes it for all of them.

    Args:
        stopping: the test of each evaluator.
        states: of each evaluator that decides: whether each repeat passes, None where it does not say.
        repeat_count: repeats so far.
    """
    to_pass, to_fail = [], []
    for repeats in states:
        passed, failed = repeats.count(True), repeats.count(False)
        decision = stopping.decision(passed, failed)
        if decision == "fail":
            return 0
        if decision == "open" and passed + failed:
            to_pass.append(stopping.to_pass(passed, failed))
            to_fail.append(stopping.to_fail(passed, failed))
    if not to_pass:
        return 0
    return min(stopping.max_runs - repeat_count, max(to_pass), min(to_fail))
