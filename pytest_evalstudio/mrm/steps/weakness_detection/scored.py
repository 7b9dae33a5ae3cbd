"""Test cases with one score each, and what they are about: what weak points are found among, and pictured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from pytest_evalstudio.core.errors import ConfigurationError, DataError, nearest
from pytest_evalstudio.mrm.data.categories import GENERATOR, QUERY_TYPE, about
from pytest_evalstudio.mrm.data.results import Column, Scores


@dataclass(slots=True, kw_only=True)
class Scored:
    """A test case: its scores by the models, and what it is about by dimension."""

    key: str
    scores: list[float] = field(default_factory=list)
    about: dict[str, set[str]] = field(default_factory=dict)

    @property
    def value(self) -> float:
        """The mean of the models' scores."""
        return math.fsum(self.scores) / len(self.scores)


def scored_cases(
    scores: Scores, column: Column, model: str | None = None
) -> tuple[list[Scored], dict[str, int]]:
    """Originals with a score and a category, in the order of the results, and how many answers are left out,
    by reason.

    Args:
        model: key or name of the model whose scores count; all where not given.

    Raises:
        ConfigurationError: for a model that is not there.
        DataError: if there is no such case.
    """
    model_key = _model_key(scores, model)
    found: dict[tuple[str, str], Scored] = {}
    left = {"perturbed": 0, "without_score": 0, "without_category": 0}
    for answer in scores.answers.values():
        score = answer.score(column.key)
        if model_key is not None and answer.model_key != model_key:
            continue
        if answer.source:
            left["perturbed"] += 1
        elif score is None:
            left["without_score"] += 1
        elif not answer.categories:
            left["without_category"] += 1
        else:
            case = found.setdefault(
                (answer.file, answer.key), Scored(key=answer.key, about=about(answer.categories))
            )
            case.scores.append(score)
    if not found:
        why = (
            ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in left.items() if count)
            or "there are no answers"
        )
        raise DataError(
            f"no answer has a score by {column.key} and a category ({why}); give test cases `categories`, or"
            " name a --metric"
        )
    return list(found.values()), left


def dimensions_of(cases: Sequence[Scored], by: Sequence[str]) -> list[str]:
    """The wanted dimensions, or all that occur; `query_type` stands for `generator` where cases have
    categories of this one only.

    Raises:
        ConfigurationError: for one that does not occur.
    """
    known = sorted({dimension for case in cases for dimension in case.about})
    wanted = [
        GENERATOR if name == QUERY_TYPE and QUERY_TYPE not in known and GENERATOR in known else name
        for name in by
    ]
    for name in wanted:
        if name not in known:
            raise ConfigurationError(
                f"no case has a category of {name!r}."
                f" {nearest(name, known) or 'Cases have ' + ', '.join(known)}"
            )
    return list(dict.fromkeys(wanted)) or known


def _model_key(scores: Scores, model: str | None) -> str | None:
    if model is None or model in scores.model_names:
        return model
    found = [key for key, name in scores.model_names.items() if name == model]
    if len(found) != 1:
        known = [*scores.model_names.values(), *scores.model_names]
        raise ConfigurationError(
            f"no one model is called {model!r}."
            f" {nearest(model, known) or 'There are ' + ', '.join(scores.model_names.values())}"
        )
    return found[0]
