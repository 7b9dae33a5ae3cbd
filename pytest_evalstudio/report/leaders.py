"""Leading models of a run: by an optional part that ranks them, else by the share of passing test cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pytest_evalstudio.report.conclusions import CONFORMING, ModelConclusion
from pytest_evalstudio.text.figures import counted

if TYPE_CHECKING:
    from pytest_evalstudio.report.extras import RunExtra

_NAMED = 3


def leaders(conclusions: Sequence[ModelConclusion]) -> list[ModelConclusion]:
    """Return the model with the most passes and those that the data do not distinguish from it.

    Models that miss their conditions do not count. The list is empty for fewer than two models, and where
    the models were judged on different numbers of test cases.
    """
    conforming = [model for model in conclusions if model.conformity in CONFORMING]
    judged = {model.judged for model in conclusions}
    if len(conclusions) < 2 or not conforming or len(judged) != 1 or 0 in judged:
        return []
    low = conforming[0].interval[0] if conforming[0].interval is not None else 0.0
    return [model for model in conforming if model.interval is not None and model.interval[1] >= low]


def leader_sentences(
    conclusions: Sequence[ModelConclusion], extras: Sequence[RunExtra] = ()
) -> Iterator[str]:
    """Yield which model leads, or that the data cannot rank the first ones; nothing for a single model.

    Args:
        conclusions: the model with the highest share of passes first.
        extras: results of optional parts; the first that ranks models decides.
    """
    if len(conclusions) < 2:
        return
    for extra in extras:
        if (sentences := extra.leader_sentences(conclusions)) is not None:
            yield from sentences
            break
    else:
        yield from _by_passes(conclusions)
    is_judged = any(model.conformity != "not assessed" for model in conclusions)
    if is_judged and not any(model.conformity in CONFORMING for model in conclusions):
        yield "No model meets its conditions."


def _by_passes(conclusions: Sequence[ModelConclusion]) -> Iterator[str]:
    group = leaders(conclusions)
    if not group or group[0].interval is None:
        return
    first, (low, high) = group[0], group[0].interval
    figures = (
        f"{_percent(first)} of {counted(first.judged, 'test case')} pass"
        f" (95 % interval {100 * low:.0f}–{100 * high:.0f} %)"
    )
    conforming = sum(model.conformity in CONFORMING for model in conclusions)
    if conforming == 1:
        yield f"Only {first.label} meets its conditions: {figures}."
    elif len(group) == 1:
        best = (
            "Best model"
            if conforming == len(conclusions)
            else f"Best of the {conforming} models that meet their conditions"
        )
        yield f"{best}: {first.label}, {figures}."
    elif all(model.passed == model.judged for model in group):
        names = listed_names([model.label for model in group])
        yield f"{len(group)} models pass all; these data cannot rank them: {names}."
    else:
        names = listed_names([f"{model.label} ({_percent(model)})" for model in group])
        yield f"These data cannot rank {len(group)} models, whose 95 % intervals of passes overlap: {names}."


def _percent(model: ModelConclusion) -> str:
    return f"{100 * (model.share or 0):.0f} %"


def listed_names(names: Sequence[str]) -> str:
    """Return the first names, and the number of the others."""
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
