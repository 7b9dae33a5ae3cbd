"""Declaration of the steps of model-risk-management workflows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_evalstudio.core.cases import NOTHING
from pytest_evalstudio.core.contracts import SPEC
from pytest_evalstudio.core.docstrings import summary_of
from pytest_evalstudio.core.problems import Problem

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound=type)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSpec:
    """The declaration of a step.

    Attributes:
        number: position in the workflow, from 1.
        after: ids of the steps whose artifacts it requires.
        uses: ids of further steps, whose artifacts it uses if they are completed.
        extra: optional dependency group that it requires, "" for none.
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
class StepResult:
    """Outcome of a step's run.

    Attributes:
        summary: a sentence for people.
        notes: further sentences: data that was left out, methods that were replaced by others.
        waits: input that the step waits for ("12 of 40 labels"), "" where it is complete.
        figures: results for status, reports and later steps: JSON-ready, or a dataclass of such values, whose
            fields become the keys of the state file and the record.
        problems: faults of the model under validation.
    """

    summary: str
    notes: tuple[str, ...] = ()
    waits: str = ""
    figures: Mapping[str, Any] | DataclassInstance = field(default_factory=lambda: NOTHING)
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
    """Declare a frozen dataclass as a step: its fields are its parameters, and it defines
    `run(context: StepContext) -> StepResult`.

    Write artifacts to `context.folder`; `context.artifacts(ID)` is the folder of an earlier step's. The same
    parameters, seed and earlier artifacts must give the same artifacts. Reports show pictures among them,
    `*.svg`, under their `<title>`.

    An attribute `configured` names the keys of the configuration that the step uses, "evaluator.ID" for one
    evaluator's table. A step is outdated if one of these keys, or a small file that they name, changes, or
    the content of a file that a method `reads(home: Path, base: Path) -> Sequence[Path]` names; home is the
    folder of the workflow's artifacts, base that of its file.
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
