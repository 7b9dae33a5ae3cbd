"""Perturbed subjects: what a run adds to the files it collects, still to be asked for."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from pytest_evalstudio.core.cases import NOTHING, Case
from pytest_evalstudio.engine.perturbing.texts import Perturber
from pytest_evalstudio.engine.scoring.subjects import Subject, resolved
from pytest_evalstudio.formats.keys import Numbered


def perturbed_subjects(found: Sequence[Subject], perturber: Perturber) -> list[Subject]:
    """A subject per original and variant, under the original's model, with its evaluators, `xfail` and
    `skip`; none has an answer yet.
    """
    unique: dict[str, Numbered] = {}
    for subject in found:
        unique.setdefault(
            subject.model.key, Numbered(other.key for other in found if other.model.key == subject.model.key)
        )
    made_of: dict[int, list[Case]] = {}
    made = []
    for subject in found:
        case = subject.case
        if not perturber.wants(case.categories, (link.type for link in case.relationships)):
            continue
        if id(case) not in made_of:
            made_of[id(case)] = _variants(case, perturber, unique[subject.model.key])
        made += [
            Subject(
                name="",
                model=subject.model,
                case=variant,
                choice=subject.choice,
                xfail=subject.xfail,
                skip=subject.skip,
            )
            for variant in made_of[id(case)]
        ]
    return made


def _variants(case: Case, perturber: Perturber, unique: Numbered) -> list[Case]:
    return [
        dataclasses.replace(
            case,
            key=unique(variant.key(case.key)),
            question=variant.text,
            categories=tuple(variant.filed_under(case.categories)),
            relationships=variant.links(case.key),
            corpus=tuple(resolved(document, case.folder) for document in case.corpus),
            actual_output="",
            context=(),
            context_sources=(),
            run=1,
            duration_s=0.0,
            cost_usd=None,
            usage=NOTHING,
            retries=0,
            error="",
        )
        for variant in perturber.variants(case.question, case.key)
    ]
