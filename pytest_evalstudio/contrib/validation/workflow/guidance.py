"""Guidance on model risk: editions with dates and links, and the parts that a workflow's evidence bears on.

A table of data, so that an institution changes it without code.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from pytest_evalstudio.contrib.validation.workflow.governance_files import governance_file, governance_of
from pytest_evalstudio.formats.fields import Text
from pytest_evalstudio.formats.kinds import read_source
from pytest_evalstudio.formats.source import Source, pointer

if TYPE_CHECKING:
    import pytest

    from pytest_evalstudio.core.plugins.registry import Registry

ROOT = "evalstudio_guidance"
ClaimCode = Literal[
    "scope",
    "inventory",
    "test_cases",
    "topics",
    "validated_cases",
    "results",
    "labels",
    "calibration",
    "failures",
    "weak_points",
    "variations",
    "attacks",
    "sign_off",
]
CLAIM_CODES: tuple[ClaimCode, ...] = get_args(ClaimCode)
"""Claims that a workflow can give evidence of; each has content or is not claimed."""
CardPart = Literal[
    "identity",
    "intended_use",
    "version",
    "documents",
    "validation",
    "attacks",
    "results",
    "limitations",
    "weaknesses",
    "metrics",
    "register",
    "fingerprints",
    "monitoring",
]
"""Parts of a model card that a page of technical documentation shows."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)


class Edition(_Table):
    """An edition of a guidance.

    Attributes:
        id: that parts name.
        title: with the issuer.
        date: ISO 8601, from which it applies.
        link: "" where there is none.
        status: in words: in force, replaced, its scope.
    """

    id: Text
    title: Text
    date: Text
    link: Text = ""
    status: Text


class Claim(_Table):
    """Evidence that a workflow may give.

    Attributes:
        needs: what must have content; without all of it the claim is not made.
        text: the evidence, in words.
    """

    needs: Annotated[list[ClaimCode], Field(min_length=1)]
    text: Text


class GuidancePart(_Table):
    """A part of a guidance.

    Attributes:
        edition: id of the edition.
        section: as the guidance names it.
        claims: evidence that a workflow may give.
        not_covered: what the part asks beyond it.
    """

    edition: Text
    section: Text
    claims: list[Claim] = Field(default_factory=list)
    not_covered: Text


class AnnexPoint(_Table):
    """A point of Annex IV of the EU AI Act, technical documentation.

    Attributes:
        point: number.
        title: in words of this project.
        shows: parts of the model card that bear on it.
        supply: what the provider adds.
    """

    point: Text
    title: Text
    shows: list[CardPart] = Field(default_factory=list)
    supply: Text


class Guidance(_Table):
    """Content of a guidance file under `evalstudio_guidance`.

    Attributes:
        as_of: ISO 8601 date on which the editions were looked up.
        editions: with dates, links and status.
        parts: with the evidence that a workflow may give.
        annex_iv: points of the technical documentation; none for no such page.
    """

    as_of: Text
    editions: Annotated[list[Edition], Field(min_length=1)]
    parts: list[GuidancePart] = Field(default_factory=list)
    annex_iv: list[AnnexPoint] = Field(default_factory=list)


@functools.cache
def default_guidance() -> Guidance:
    """Return the guidance of a workflow that names no file."""
    text = (files("pytest_evalstudio.contrib.validation") / "data" / "guidance.json").read_text("utf-8")
    return Guidance.model_validate(json.loads(text)[ROOT])


def governing_guidance(name: str, workflow: Path) -> tuple[Guidance, Path | None]:
    """Return the guidance of a workflow and its file, None for the default.

    Args:
        name: of the file, from the folder of the workflow's; "" for none.
        workflow: path of the workflow's file.

    Raises:
        DataError: if there is no such file below that folder, or it is no guidance.
    """
    if not name:
        return default_guidance(), None
    file = governance_file(name, workflow, "guidance")
    return guidance_of(read_source(file)), file


def guidance_of(source: Source) -> Guidance:
    """Return the guidance in a parsed file.

    Raises:
        DataError: at the place of the first thing that is wrong.
    """
    guidance = governance_of(source, Guidance, ROOT, "guidance")
    edition_ids = [edition.id for edition in guidance.editions]
    for number, part in enumerate(guidance.parts):
        if part.edition not in edition_ids:
            raise source.error(
                pointer(ROOT, "parts", number, "edition"),
                f"there is no edition {part.edition!r}; editions: {', '.join(edition_ids)}",
            )
    return guidance


def no_items(collector: pytest.Collector, source: Source) -> Iterator[pytest.Item]:
    """Check a guidance that is collected; it has no tests."""
    guidance_of(source)
    yield from ()


def validate_guidance(path: Path, name: str, registry: Registry) -> str:
    """Check a guidance, and describe it.

    Raises:
        DataError: at the place of the first thing that is wrong.
    """
    return f"guidance, {len(guidance_of(read_source(path, name)).editions)} editions"
