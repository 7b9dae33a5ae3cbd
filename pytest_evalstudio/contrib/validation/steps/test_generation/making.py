"""Make the test cases of a step: extracted from the documents, or written by a judge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from pytest_evalstudio.contrib.questions.api import available_pipeline, missing_pipeline, pipeline_language
from pytest_evalstudio.contrib.validation.methods.texts.language import NAMES
from pytest_evalstudio.contrib.validation.methods.topics.origins import describe_languages
from pytest_evalstudio.contrib.validation.steps.test_generation.choosing import choose
from pytest_evalstudio.contrib.validation.steps.test_generation.generating import (
    Candidate,
    GenerationSettings,
    Material,
    extracted,
    read_material,
)
from pytest_evalstudio.contrib.validation.steps.test_generation.results import GenerationResults
from pytest_evalstudio.contrib.validation.steps.test_generation.suites import suite_of
from pytest_evalstudio.contrib.validation.steps.test_generation.writing import (
    WriterResult,
    open_writer,
    write,
    writer_results,
)
from pytest_evalstudio.contrib.validation.workflow.context import StepContext
from pytest_evalstudio.core.errors import DataError, EvaluationError
from pytest_evalstudio.core.guide_names import NamesRead, own_generators
from pytest_evalstudio.formats.suite import TestSuite


class Product(NamedTuple):
    """Generated test cases.

    Attributes:
        shortfall: words for a summary, "" if there are as many test cases as asked for.
        notes: sentences for people.
        kinds: problem type and AVID code by generator.
    """

    suite: TestSuite
    results: GenerationResults
    shortfall: str
    notes: Sequence[str]
    kinds: Mapping[str, tuple[str, str]]


def make(
    context: StepContext,
    settings: GenerationSettings,
    name: str,
    drafts_of: Callable[[StepContext, Material], Iterable[Candidate]] = extracted,
) -> Product:
    """Make a suite of test cases.

    Args:
        context: of the step.
        settings: parameters of the step.
        name: of the suite, after that of the workflow.
        drafts_of: returns the drafts where no writer writes them.

    Raises:
        ConfigurationError: for a topic, generator or writer that is not available.
        DataError: if there is no test case.
        EvaluationError: if there are too few because the writer did not answer.
    """
    read = NamesRead()
    settings = replace(
        settings, generators=own_generators(settings.generators, list(context.registry.generators), read)
    )
    writer = open_writer(context, settings.writer) if settings.writer else None
    material = read_material(context, settings)
    written = write(context, settings, material, writer) if writer is not None else None
    if written is not None and not written.candidates:
        raise _no_drafts(settings, written)
    candidates = written.candidates if written is not None else drafts_of(context, material)
    choice = choose(context, settings, material, candidates)
    count = len(choice.candidates)
    if written is not None and written.is_unfinished and count < settings.count:
        raise EvaluationError(
            f"{count} of {settings.count} test cases, since the writer did not answer all requests:"
            f" {_rerun(written)}"
        )
    results = choice.results
    if written is not None:
        results = replace(results, writer=writer_results(context, settings.writer, written))
    source = "these chunks give" if written is None else "the writer gives"
    specs = {id: context.registry.generators.spec(id) for id in material.generators}
    notes = written.notes() if written is not None else _notes(settings, material)
    return Product(
        suite=suite_of(context, name, choice.candidates, material, writer=settings.writer),
        results=results,
        shortfall=f" of {settings.count}: {source} no more" if count < settings.count else "",
        notes=[*filter(None, [read.note()]), *notes],
        kinds={id: (spec.problem_type, spec.avid) for id, spec in specs.items()},
    )


def _notes(settings: GenerationSettings, material: Material) -> list[str]:
    notes = list(filter(None, [missing_pipeline(settings.pipeline)]))
    if material.foreign:
        language = NAMES[pipeline_language(available_pipeline(settings.pipeline))]
        languages = describe_languages(material.foreign)
        notes.append(f"no questions are made from documents that are not in {language}: {languages}")
    return notes


def _no_drafts(settings: GenerationSettings, written: WriterResult) -> Exception:
    if written.is_unfinished:
        return EvaluationError(f"the writer wrote nothing: {_rerun(written)}")
    return DataError(
        f"the writer wrote nothing that can be used: {'; '.join(written.notes()) or 'its lists were empty'};"
        f" change the `writer` {settings.writer!r}, or omit it"
    )


def _rerun(written: WriterResult) -> str:
    return (
        f"{written.describe_faults()}. What it wrote is kept: run the step again, and it is asked for the"
        " rest alone"
    )
