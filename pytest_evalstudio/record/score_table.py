"""Answers with their scores by every evaluator, as one table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pytest_evalstudio.core.errors import ConfigurationError, nearest
from pytest_evalstudio.core.outcomes import Metric

Identity = tuple[str, str, str]
"""File, key and model key of an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A metric of an evaluator.

    Attributes:
        embedder: the embedding model that its scores are of, "" for none.
        is_calibrated: whether it is the probability that a calibration made.
    """

    evaluator: str
    metric: Metric
    embedder: str = ""
    is_calibrated: bool = False

    @property
    def key(self) -> str:
        """Return `evaluator.metric`."""
        return f"{self.evaluator}.{self.metric.key}"


@dataclass(slots=True)
class TableAnswer:
    """One model's answer to one test case, repeats in one.

    Attributes:
        source: key of the original that it is a perturbation of, "" for an original.
        text_id: `answer_id` of its text, of several repeats of the first one's; "" where the results do not
            hold it.
        scores: `evaluator.metric` to the scores of its repeats.
    """

    file: str
    key: str
    model_key: str
    test_key: str
    categories: tuple[str, ...]
    source: str = ""
    text_id: str = ""
    scores: dict[str, dict[int, float]] = field(default_factory=dict)

    def score(self, column: str) -> float | None:
        """Return the mean over the repeats; None where there is none, or it is not finite."""
        by_run = self.scores.get(column)
        if not by_run:
            return None
        # `fsum` raises an error for infinities of both signs.
        mean = (
            math.fsum(by_run.values()) / len(by_run) if all(map(math.isfinite, by_run.values())) else math.inf
        )
        return mean if math.isfinite(mean) else None


@dataclass(slots=True)
class Scores:
    """Read results files, records or reports as one table.

    Attributes:
        columns: by `evaluator.metric`.
        model_names: by model key.
    """

    columns: dict[str, Column] = field(default_factory=dict)
    answers: dict[Identity, TableAnswer] = field(default_factory=dict)
    model_names: dict[str, str] = field(default_factory=dict)

    def column(self, name: str) -> Column:
        """Return the metric of a name: `evaluator.metric`, or a metric key that only one evaluator has.

        Raises:
            ConfigurationError: if there is none, or several.
        """
        if name in self.columns:
            return self.columns[name]
        matching = [column for column in self.columns.values() if column.metric.key == name]
        if len(matching) == 1:
            return matching[0]
        if matching:
            raise ConfigurationError(
                f"metric {name!r} is one of several evaluators; say which:"
                f" {', '.join(column.key for column in matching)}"
            )
        keys = [*self.columns, *(column.metric.key for column in self.columns.values())]
        hint = nearest(name, keys)
        raise ConfigurationError(
            f"these results have no metric {name!r}. {hint or 'They have ' + ', '.join(self.columns)}"
        )


def originals(answers: Iterable[TableAnswer]) -> Iterator[tuple[TableAnswer, tuple[str, str]]]:
    """Yield each answer with file and key of its original case; an original is its own."""
    remaining = list(answers)
    sources = {(answer.file, answer.key): answer.source for answer in remaining}
    for answer in remaining:
        # Relationships may form a circle.
        key, visited = answer.key, {answer.key}
        while (source := sources.get((answer.file, key), "")) and source not in visited:
            visited.add(source)
            key = source
        yield answer, (answer.file, key)
