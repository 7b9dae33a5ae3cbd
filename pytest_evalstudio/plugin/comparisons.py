"""Explanations of failed comparisons of outcomes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from pytest_evalstudio.core.outcomes import Outcome


def differences(left: Outcome, right: Outcome) -> list[str]:
    """Return a headline, then a line per field and metric that differs."""
    lines = [f"Outcome({left.status}) == Outcome({right.status})"]
    for field in dataclasses.fields(Outcome):
        first, other = getattr(left, field.name), getattr(right, field.name)
        if first == other:
            continue
        if field.name == "scores":
            lines += _scores(first, other)
        else:
            lines.append(f"{field.name}: {first!r} != {other!r}")
    return lines


def _scores(left: Mapping[str, float | None], right: Mapping[str, float | None]) -> Iterator[str]:
    for metric in dict.fromkeys((*left, *right)):
        if metric not in left or metric not in right:
            yield f"{metric}: only on the {'left' if metric in left else 'right'}"
        elif left[metric] != right[metric]:
            yield f"{metric}: {left[metric]!r} != {right[metric]!r}"
