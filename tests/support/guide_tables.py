"""Tables of the names of H2O Eval Studio's documents, made from `core.guide_names`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pytest_evalstudio.core import guide_names
from pytest_evalstudio.core.guide_names import EVALUATOR_CLASSES, EVALUATOR_NAMES, KNOWN_EVALUATORS, OPTIONS
from support.table_rows import code_list


def evaluators() -> Iterator[tuple[str, ...]]:
    """Yield titles, module and class, and our id of each evaluator whose names are not our id in words."""
    for id in sorted(KNOWN_EVALUATORS):
        titles = ", ".join(title for title in EVALUATOR_NAMES.get(id, ()) if _words(title) != id) or "–"
        place = f"`{EVALUATOR_CLASSES[id]}`" if id in EVALUATOR_CLASSES else "–"
        name = EVALUATOR_CLASSES.get(id, "").rpartition(".")[2].removesuffix("Evaluator")
        if titles != "–" or name.lower() not in ("", id.replace("_", "")):
            yield titles, place, f"`{id}`"


def _words(title: str) -> str:
    """Return a title in the form of an id."""
    return re.sub(r"\W+", "_", title.lower()).strip("_")


def options() -> Iterator[tuple[str, ...]]:
    """Yield evaluators, name in the guide and name here of each option that is called differently."""
    for option in OPTIONS:
        own_name = f"`{option.ours}`"
        if option.ours == guide_names.JUDGE_MODEL:
            own_name += f" for a `[[model]]`, `{guide_names.JUDGE_CONNECTION}` for a `[connection.NAME]`"
        for name, value in option.implies.items():
            own_name += f', and `{name} = "{value}"` where it is not given'
        names = ", ".join(f"`{id}`" for id in option.evaluators) or "all of the guide's"
        yield f"`{option.guide}`", names, own_name


def others() -> Iterator[tuple[str, ...]]:
    """Yield place, name in the guide and name here of other names."""
    yield (
        "Perturbators: `apply`, `[perturbator.ID]`, `evalstudio perturb`, categories",
        "`h2o_sonar.utils.perturbations.CommaPerturbator`, `CommaPerturbator` and so on,"
        " `PerturbationIntensity.HIGH`",
        "`comma`, `HIGH`",
    )
    yield _pairs("Perturbators", guide_names.PERTURBATORS)
    suffix = guide_names.GENERATOR_SUFFIX
    yield "Generators of questions", f"`simple_factual{suffix}` and so on", "`simple_factual`"
    yield _pairs("Types of problems", guide_names.PROBLEM_TYPE_NAMES)
    for name, side in guide_names.ARENA_REPLY.items():
        yield (
            "Replies of an arena's judge",
            f'`"choice": "{name}"`, `"scores": {{"{name}": 8}}`',
            f'`"choice": "{side}"`, `"score_{side}": 8`',
        )
    yield _pairs("`llm_host_connection` as a mapping", guide_names.CONNECTION_KEYS)


def _pairs(place: str, names: Mapping[str, str]) -> tuple[str, ...]:
    """Return one row for names in the guide and, in the same order, names here."""
    return place, code_list(list(names)), code_list(list(names.values()))
