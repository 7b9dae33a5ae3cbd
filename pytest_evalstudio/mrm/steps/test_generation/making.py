"""From what a step wants to chosen test cases: found in the documents, or written by a judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pytest_evalstudio.core.errors import DataError, EvaluationError
from pytest_evalstudio.formats.suite import TestSuite
from pytest_evalstudio.mrm.steps.test_generation.generating import Wanted, choose, extracted, ground, suite_of
from pytest_evalstudio.mrm.steps.test_generation.writing import Written, described, open_writer, written
from pytest_evalstudio.mrm.workflow.context import StepContext


class Product(NamedTuple):
    """Test cases, and what people should know of how they came about.

    Attributes:
        short: words for a summary, "" where there are as many as were wanted.
        kinds: problem type and AVID code by generator.
    """

    suite: TestSuite
    figures: Mapping[str, Any]
    short: str
    notes: Sequence[str]
    kinds: Mapping[str, tuple[str, str]]


def make(context: StepContext, wanted: Wanted, name: str) -> Product:
    """Make a suite of test cases.

    Args:
        name: of the suite, behind that of the workflow.

    Raises:
        ConfigurationError: for a topic, generator or writer that cannot be had.
        DataError: if no test case comes of it.
        EvaluationError: if there are too few, since the writer did not answer.
    """
    writer = open_writer(context, wanted.writer) if wanted.writer else None
    on = ground(context, wanted)
    wrote = written(context, wanted, on, writer) if writer is not None else None
    if wrote is not None and not wrote.candidates:
        _nothing(context, wrote)
    made = choose(context, wanted, on, wrote.candidates if wrote is not None else extracted(context, on))
    count = len(made.chosen)
    if wrote is not None and wrote.is_unfinished and count < wanted.count:
        raise EvaluationError(
            f"{count} of {wanted.count} test cases, since the writer did not answer all requests:"
            f" {_again(wrote)}"
        )
    why = "the writer" if wrote is not None else "these chunks"
    specs = {id: context.registry.generators.spec(id) for id in on.ids}
    return Product(
        suite_of(context, name, made.chosen, on, writer=wanted.writer),
        {
            **made.figures,
            **(
                {"writer": {**described(context, wanted.writer), **wrote.figures}}
                if wrote is not None
                else {}
            ),
        },
        (
            f" of {wanted.count}: {why} give{'s' if wrote is not None else ''} no more"
            if count < wanted.count
            else ""
        ),
        wrote.notes() if wrote is not None else [],
        {id: (spec.problem_type, spec.avid) for id, spec in specs.items()},
    )


def _nothing(context: StepContext, wrote: Written) -> None:
    if wrote.is_unfinished:
        raise EvaluationError(f"the writer wrote nothing: {_again(wrote)}")
    raise DataError(
        f"the writer wrote nothing that can be used: {'; '.join(wrote.notes()) or 'its lists were empty'}",
        source=str(context.folder),
    )


def _again(wrote: Written) -> str:
    return (
        f"{wrote.told_faults()}. What it wrote is kept: run the step again, and it is asked for the rest"
        " alone"
    )
