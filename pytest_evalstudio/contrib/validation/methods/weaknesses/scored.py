"""Test cases with one score and their categories, for the search of weak cells and its pictures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from pytest_evalstudio.contrib.validation.methods.categories import GENERATOR, QUERY_TYPE, by_dimension
from pytest_evalstudio.core.errors import ConfigurationError, DataError, nearest
from pytest_evalstudio.record.score_table import Column, Scores

Identity = tuple[str, str]
"""File and key of a test case."""


@dataclass(slots=True, kw_only=True)
class ScoredCase:
    """A test case with one score per model and its categories by dimension."""

    file: str
    key: str
    scores: list[float] = field(default_factory=list)
    categories: dict[str, set[str]] = field(default_factory=dict)

    @property
    def identity(self) -> Identity:
        """Return file and key: a key occurs in several files."""
        return self.file, self.key

    @property
    def value(self) -> float:
        """Return the mean of the models' scores."""
        return math.fsum(self.scores) / len(self.scores)


def scored_cases(
    scores: Scores, column: Column, model: str | None = None
) -> tuple[list[ScoredCase], dict[str, int]]:
    """Return the original cases with a score and a category, and the number of other answers by reason.

    Args:
        column: metric.
        scores: of the answers.
        model: key or name of the model whose scores count; default: all.

    Raises:
        ConfigurationError: for an unknown model.
        DataError: if there is no such case.
    """
    model_key = _model_key(scores, model)
    cases: dict[Identity, ScoredCase] = {}
    excluded = {"perturbed": 0, "without_score": 0, "without_category": 0}
    for answer in scores.answers.values():
        score = answer.score(column.key)
        if model_key is not None and answer.model_key != model_key:
            continue
        if answer.source:
            excluded["perturbed"] += 1
        elif score is None:
            excluded["without_score"] += 1
        elif not answer.categories:
            excluded["without_category"] += 1
        else:
            case = cases.setdefault(
                (answer.file, answer.key),
                ScoredCase(file=answer.file, key=answer.key, categories=by_dimension(answer.categories)),
            )
            case.scores.append(score)
    if not cases:
        why = (
            ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in excluded.items() if count)
            or "there are no answers"
        )
        raise DataError(
            f"no answer has both a score by {column.key} and a category ({why}); give test cases"
            " `categories`, or choose another --metric"
        )
    return list(cases.values()), excluded


def dimensions_of(cases: Sequence[ScoredCase], by: Sequence[str]) -> list[str]:
    """Return the given dimensions, or all that occur.

    `query_type` means `generator` if no case has a query type.

    Raises:
        ConfigurationError: for a dimension that does not occur.
    """
    names_found = sorted({dimension for case in cases for dimension in case.categories})
    selected = [
        GENERATOR
        if name == QUERY_TYPE and QUERY_TYPE not in names_found and GENERATOR in names_found
        else name
        for name in by
    ]
    for name in selected:
        if name not in names_found:
            raise ConfigurationError(
                f"no case has a category of {name!r}."
                f" {nearest(name, names_found) or 'Cases have ' + ', '.join(names_found)}"
            )
    return list(dict.fromkeys(selected)) or names_found


def _model_key(scores: Scores, model: str | None) -> str | None:
    if model is None or model in scores.model_names:
        return model
    keys = [key for key, name in scores.model_names.items() if name == model]
    if len(keys) != 1:
        names = [*scores.model_names.values(), *scores.model_names]
        raise ConfigurationError(
            f"no one model is called {model!r}."
            f" {nearest(model, names) or 'There are ' + ', '.join(scores.model_names.values())}"
        )
    return keys[0]
