"""Sentences on the better model of a run: by an optional part that ranks models, else by paired tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pytest_evalstudio.analysis.ranking import PairedModels
from pytest_evalstudio.analysis.summary.models import ModelSummary
from pytest_evalstudio.analysis.wording import p_text
from pytest_evalstudio.text.figures import counted

if TYPE_CHECKING:
    from pytest_evalstudio.analysis.summary.extras import RunExtra

_NAMED = 3


def leader_sentences(
    models: Sequence[ModelSummary], pairs: Sequence[PairedModels], extras: Sequence[RunExtra] = ()
) -> Iterator[str]:
    """Yield which model leads, or that the data cannot rank the first ones; nothing for a single model.

    Args:
        models: the model with the highest share of passes first.
        pairs: all pairs of models with their tests.
        extras: results of optional parts; the first that ranks models decides.
    """
    if len(models) < 2:
        return
    for extra in extras:
        if (sentences := extra.leader_sentences(models)) is not None:
            yield from sentences
            break
    else:
        yield from _by_tests(models, pairs)
    models_assessed = [model for model in models if model.conformity != "not assessed"]
    meeting = [model for model in models_assessed if model.conformity == "meets conditions"]
    if models_assessed and not meeting:
        yield "No model meets its conditions."
    elif 0 < len(meeting) < len(models_assessed):
        verb = "meets its" if len(meeting) == 1 else "meet their"
        yield (
            f"{len(meeting)} of {len(models)} models {verb} conditions:"
            f" {listed_names([_with_share(model) for model in meeting])}."
        )


def _with_share(model: ModelSummary) -> str:
    """Return a model with its passes where tests fail: the conditions are on means, gates and safety."""
    return model.label if model.passed_all else f"{model.label} (passes {_share(model)})"


def leaders(models: Sequence[ModelSummary], pairs: Sequence[PairedModels]) -> list[ModelSummary]:
    """Return the first model and those that it is not proven to be better than; none without pairs.

    The first model is the one with the highest share of passes among those that none is proven to surpass.
    """
    first = next((model for model in models if model.rank == 1), None)
    if first is None:
        return []
    weaker = {pair.second for pair in pairs if pair.first == first.key and pair.is_proven}
    return [first, *(model for model in models if model is not first and model.key not in weaker)]


def _by_tests(models: Sequence[ModelSummary], pairs: Sequence[PairedModels]) -> Iterator[str]:
    if pairs and 2 * len(pairs) < len(models) * (len(models) - 1):
        yield f"Not ranked: these {len(models)} models were asked different questions."
        return
    group = leaders(models, pairs)
    if not group:
        return
    labels = {model.key: model.label for model in models}
    first = group[0]
    if len(group) == 1:
        yield _best(first, models, pairs, labels)
    elif all(model.passed_all for model in group):
        names = listed_names([model.label for model in group])
        yield f"{len(group)} models pass all; these data cannot rank them: {names}."
    elif len(group) == len(models) > 2 and len({model.share for model in models}) == 1:
        yield f"{len(models)} models pass {_share(first)} each; these data cannot rank them."
    elif len(models) == 2:
        yield f"{first.label} and {group[1].label} cannot be told apart: {_counts(pairs[0], labels)}."
    else:
        names = listed_names([f"{model.label} ({_share(model)})" for model in group])
        others = "" if len(group) == len(models) else f"the first {len(group)} of "
        yield (
            f"These data cannot rank {others}{len(models)} models: {names};"
            f" {_counts(_between(group[0], group[1], pairs), labels)}."
        )


def _best(
    first: ModelSummary,
    models: Sequence[ModelSummary],
    pairs: Sequence[PairedModels],
    labels: dict[str, str],
) -> str:
    """Return the sentence on a model that none equals, with its closest rival."""
    own = [pair for pair in pairs if pair.first == first.key and pair.is_proven]
    figures = f"{_share(first)} of {counted(first.asked, 'test case')}"
    closest = max(own, key=lambda pair: pair.p_adjusted)
    head = f"Best model: {first.label}, which passes {figures}"
    if len(models) > 2:
        head = f"Best of {len(models)} models: {first.label}, which passes {figures}"
    return f"{head}; {_counts(closest, labels)}."


def _between(one: ModelSummary, other: ModelSummary, pairs: Sequence[PairedModels]) -> PairedModels:
    keys = {one.key, other.key}
    return next(pair for pair in pairs if {pair.first, pair.second} == keys)


def _counts(pair: PairedModels, labels: dict[str, str]) -> str:
    """Return the questions that one of two models passes alone, with the test."""
    first, second = labels[pair.first], labels[pair.second]
    if not pair.first_alone:
        return f"{first} and {second} pass the same questions"
    other = (
        "none the other way"
        if not pair.second_alone
        else f"{counted(pair.second_alone, 'question')} the other way"
    )
    chance = f" ({p_text(pair.p_adjusted)})" if pair.is_proven else ", which may be chance"
    return f"{first} passes {counted(pair.first_alone, 'question')} that {second} fails, {other}{chance}"


def _share(model: ModelSummary) -> str:
    return f"{100 * (model.share or 0):.0f} %"


def listed_names(names: Sequence[str]) -> str:
    """Return the first names, and the number of the others."""
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
