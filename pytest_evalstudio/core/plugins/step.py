"""Steps of workflows: their protocol, their declaration and the decorator that makes it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar, cast

from msgspec import Struct

from pytest_evalstudio.core.cases import NOTHING
from pytest_evalstudio.core.docstrings import summary_of
from pytest_evalstudio.core.plugins.declaring import attach, check_id, check_methods, has_method, names_in
from pytest_evalstudio.core.problems import Problem

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

KIND = "step"
T = TypeVar("T", bound=type)


class StepSpec(Struct, frozen=True, kw_only=True):
    """The declaration of a step.

    Attributes:
        number: its place in the workflow, 1 for the first.
        after: ids of the steps whose artifacts it needs.
        uses: ids of further steps whose artifacts it uses where they are completed.
        extra: the optional dependency group it needs, "" for none.
        description: a sentence for reports.
        configured: keys of the configuration that it uses, "evaluator.ID" for one evaluator's table; the
            step is outdated when one of them changes, or a small file that they name.
        dynamic_configured: those keys depend on its parameters: a property `configured` gives them.
        reads: it has a method `reads`, which names files whose content it depends on.
        editable: names of artifacts that people may edit: the step stays completed, and later ones are
            outdated.
    """

    id: str
    name: str
    number: int
    after: tuple[str, ...]
    uses: tuple[str, ...]
    extra: str
    description: str
    configured: tuple[str, ...] = ()
    dynamic_configured: bool = False
    reads: bool = False
    editable: tuple[str, ...] = ()

    def configured_of(self, step: RunnableStep) -> tuple[str, ...]:
        """Return the keys of the configuration that a step uses with its parameters."""
        return tuple(cast(Configured, step).configured) if self.dynamic_configured else self.configured

    def files_of(self, step: RunnableStep, home: Path, base: Path) -> Sequence[Path]:
        """Return the files, other than artifacts, that a step depends on.

        Args:
            home: folder of the workflow's artifacts.
            base: folder of the workflow's file.
        """
        return cast(Reads, step).reads(home, base) if self.reads else ()


class RunnableStep(Protocol):
    """A frozen dataclass whose fields are its parameters.

    `run` writes artifacts to `context.folder`; those of earlier steps are in `context.artifacts(ID)`. The
    same parameters, seed and earlier artifacts must give the same artifacts. Pictures among them, `*.svg`,
    are shown in reports under their `<title>`.
    """

    __evalstudio__: ClassVar[StepSpec]

    def run(self, context: Any) -> StepResult: ...


class Configured(Protocol):
    """A step whose use of the configuration depends on its parameters."""

    @property
    def configured(self) -> tuple[str, ...]: ...


class Reads(Protocol):
    """A step that depends on the content of files."""

    def reads(self, home: Path, base: Path) -> Sequence[Path]: ...


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
    editable: tuple[str, ...] = (),
) -> Callable[[T], T]:
    """Declare a frozen dataclass as a step; see `StepSpec` for the arguments.

    A class attribute or property `configured` and a method `reads(home, base)` belong to the declaration.

    Raises:
        TypeError: if the class has no `run`, or an optional capability is malformed.
    """
    check_id(KIND, id)

    def declare(cls: T) -> T:
        check_methods(KIND, id, cls, {"run": "run(self, context) -> StepResult"})
        dynamic = isinstance(inspect.getattr_static(cls, "configured", None), property)
        spec = StepSpec(
            id=id,
            name=name,
            number=number,
            after=after,
            uses=uses,
            extra=extra,
            description=summary_of(cls),
            configured=() if dynamic else names_in(KIND, id, cls, "configured"),
            dynamic_configured=dynamic,
            reads=has_method(KIND, id, cls, "reads", "reads(self, home, base) -> Sequence[Path]"),
            editable=editable,
        )
        return attach(cls, spec)

    return declare
