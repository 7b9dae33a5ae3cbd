"""The seam of workflow steps: how a step of model risk management declares itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pytest_evalstudio.core.cases import NOTHING
from pytest_evalstudio.core.contracts import SPEC
from pytest_evalstudio.core.docstrings import summary_of
from pytest_evalstudio.core.problems import Problem

T = TypeVar("T", bound=type)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSpec:
    """The declaration of a step.

    Attributes:
        number: its place in the workflow, 1 for the first.
        after: ids of the steps whose artifacts it needs.
        uses: ids of further ones whose artifacts it uses where they are completed, and does without where
            they are not.
        extra: the optional dependency group it needs, "" for none.
        description: a sentence for reports.
    """

    id: str
    name: str
    number: int
    after: tuple[str, ...]
    uses: tuple[str, ...]
    extra: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a step has come to.

    Attributes:
        summary: a sentence for people.
        notes: what else they should know: what was left out, what was done in place of something else.
        waits: what it waits for ("12 of 40 labels"), "" where it is complete.
        figures: JSON-ready results, for status, reports and later steps.
        problems: what it found wrong with the model under validation.
    """

    summary: str
    notes: tuple[str, ...] = ()
    waits: str = ""
    figures: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    problems: tuple[Problem, ...] = ()


def step(
    id: str,
    *,
    name: str,
    number: int,
    after: tuple[str, ...] = (),
    uses: tuple[str, ...] = (),
    extra: str = "",
) -> Callable[[T], T]:
    """Declare a frozen dataclass as a step: its fields are its parameters, `run(work) -> Done` does the work.

    Artifacts go to `work.folder`; those of earlier steps are found by `work.artifacts(ID)`. The same
    parameters, seed and earlier artifacts must give the same artifacts. Pictures among them, `*.svg`, stand
    in reports under their `<title>`.

    An attribute `configured` names the keys of the configuration that the step uses, "evaluator.ID" for one
    evaluator's table: where one of them, or a small file that they name, changes, the step is outdated. So it
    is where the content of a file changes that a method `reads(home: Path, base: Path) -> Sequence[Path]`
    names; home is the folder of the workflow's artifacts, base that of its file.
    """

    def declare(cls: T) -> T:
        description = summary_of(cls)
        setattr(
            cls,
            SPEC,
            StepSpec(
                id=id, name=name, number=number, after=after, uses=uses, extra=extra, description=description
            ),
        )
        return cls

    return declare
