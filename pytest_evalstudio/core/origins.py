"""Reads from a case's categories which perturbators made it, and whether they keep its meaning."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from msgspec import Struct

from pytest_evalstudio.core.plugins.perturbator import Perturbator, PerturbatorSpec
from pytest_evalstudio.core.plugins.registry import PluginRegistry, Registry

SOURCE = "perturbation_source"
"""Type of the relationship from a perturbed case to its original."""
PERTURBED = "perturbed"
PREFIX = "perturbed_by:"

Perturbators = PluginRegistry[type[Perturbator], PerturbatorSpec]

_MEANING_CHANGING = ("antonym", "contextual_misinformation", "encoding")
"""Prefixes of the names of perturbators that are known to change the meaning."""


class Origin(Struct, frozen=True):
    """Origin of a perturbed case.

    Attributes:
        by: "id:LEVEL" of each perturbator in order, the level upper case; "id" where it has none.
        meaning_kept: whether a good model must answer as it did before.
    """

    by: tuple[str, ...]
    meaning_kept: bool


def origin(categories: Iterable[str], perturbators: Perturbators | None = None) -> Origin:
    """Return the origin of a perturbed case according to its categories.

    Args:
        categories: e.g. "perturbed_by:comma:PerturbationIntensity.HIGH"; the reference engine's class names
            are understood.
        perturbators: the perturbators of the session; by default those of this package. An unknown perturbator
            counts as keeping the meaning, unless its name begins with that of an attack.

    >>> origin(["perturbed", "perturbed_by:h2o_sonar.utils.perturbations.CommaPerturbator:PerturbationIntensity.HIGH"])
    Origin(by=('comma:HIGH',), meaning_kept=True)
    >>> origin(["perturbed_by:comma:LOW", "perturbed_by:antonym:HIGH"]).meaning_kept
    False
    """  # noqa: E501
    from pytest_evalstudio.core.guide_names import own_perturbator

    perturbators = _builtin() if perturbators is None else perturbators
    made_by, meaning_kept = [], True
    for category in categories:
        if category.startswith(PREFIX):
            name, _, level = category.removeprefix(PREFIX).partition(":")
            id = own_perturbator(name)
            spec = perturbators.spec(id) if id in perturbators else None
            level = "" if spec is not None and not spec.intensities else level.rpartition(".")[2].upper()
            made_by.append(":".join(filter(None, (id, level))))
            meaning_kept &= spec.keeps_meaning if spec is not None else not id.startswith(_MEANING_CHANGING)
    return Origin(tuple(made_by), meaning_kept)


@lru_cache(maxsize=1)
def _builtin() -> Perturbators:
    return Registry().perturbators
