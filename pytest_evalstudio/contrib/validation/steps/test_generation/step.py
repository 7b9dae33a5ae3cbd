"""Step 2: generate questions and expected answers from the documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from pytest_evalstudio.contrib.validation.steps.test_generation.coverage import (
    COVERAGE,
    describe,
    figures,
    statements,
)
from pytest_evalstudio.contrib.validation.steps.test_generation.generating import (
    GenerationSettings,
    Selection,
)
from pytest_evalstudio.contrib.validation.steps.test_generation.importing import import_suite
from pytest_evalstudio.contrib.validation.steps.test_generation.making import make
from pytest_evalstudio.contrib.validation.steps.test_generation.results import ID, SUITE, Coverage
from pytest_evalstudio.contrib.validation.steps.topic_modeling.files import ID as TOPIC_MODELING
from pytest_evalstudio.contrib.validation.steps.topic_modeling.files import read_topics
from pytest_evalstudio.contrib.validation.workflow.context import StepContext
from pytest_evalstudio.contrib.validation.workflow.parameters import Fraction, Weight
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.paths import path_below
from pytest_evalstudio.core.plugins.step import StepResult, step
from pytest_evalstudio.formats.fields import write_json
from pytest_evalstudio.formats.suite import TestSuite


@step(ID, name="Test generation", number=2, after=(TOPIC_MODELING,), editable=(SUITE,))
@dataclass(frozen=True, kw_only=True)
class TestGeneration(Selection):
    """Make questions with expected answers from the chunks, sampled over topics and kinds of question.

    People may edit the suite: it is used as it is then, and the step does not run again by itself.

    Attributes:
        weights: topic id to factor of its share in proportion to its chunks; default: 1.
        min_relevance: minimum share of a question's content words that occur in its chunk; it does not apply
            to written questions, whose evidence is a quotation.
        max_similarity: maximum share of words that two questions have in common (Jaccard); of two more
            similar ones the first is kept.
        suite: file of your own test cases, from the workflow file's folder, in place of generated ones; in
            any language. The other parameters have no effect then.
    """

    __test__ = False  # no class of tests

    weights: Mapping[str, Weight] = field(default_factory=dict)
    min_relevance: Fraction = 0.5
    max_similarity: Fraction = 0.8
    suite: str = ""

    @property
    def configured(self) -> tuple[str, ...]:
        """Return the keys of the configuration that the step uses."""
        return ("model", "judge") if self.writer else ()

    def reads(self, home: Path, base: Path) -> Sequence[Path]:
        """Return the file of the user's own test cases.

        Raises:
            ConfigurationError: if `suite` leads out of the folder of the workflow's file.
        """
        if not self.suite:
            return ()
        try:
            return (path_below(base, self.suite),)
        except ValueError as exc:
            raise ConfigurationError(f"suite: {exc}") from None

    def run(self, context: StepContext) -> StepResult:
        """Run the step."""
        for path in self.reads(context.home, context.base):
            suite, imported = import_suite(context, path)
            suite.save(context.folder / SUITE)
            placed = sum(imported.by_topic.values())
            coverage = self._cover(context, suite)
            return StepResult(
                summary=f"{imported.cases} test cases of {path.name}, {placed} with a chunk of the documents",
                figures=replace(imported, coverage=coverage),
                notes=(describe(coverage),),
            )
        settings = GenerationSettings(
            purpose="ordinary",
            **self.selection,
            weights=self.weights,
            min_relevance=self.min_relevance,
            max_similarity=self.max_similarity,
        )
        product = make(context, settings, "generated tests")
        product.suite.save(context.folder / SUITE)
        results = product.results
        topics = sum(map(bool, results.by_topic.values()))
        kinds = sum(map(bool, results.by_generator.values()))
        summary = (
            f"{results.cases} test cases{product.shortfall}, {topics} topic{'s' if topics != 1 else ''},"
            f" {kinds} kind{'s' if kinds != 1 else ''} of question"
        )
        coverage = self._cover(context, product.suite)
        return StepResult(
            summary=summary,
            figures=replace(results, coverage=coverage),
            notes=(*product.notes, describe(coverage)),
        )

    def _cover(self, context: StepContext, suite: TestSuite) -> Coverage:
        """Write what the test cases do not test, and return the figures."""
        chunks = read_topics(context.artifacts(TOPIC_MODELING)).chunks
        found = list(statements(suite, chunks))
        coverage = figures(found)
        untested = [
            {"kind": each.kind, "document": each.document, "chunk": each.chunk, "text": each.text}
            for each in found
            if not each.tested
        ]
        write_json(
            context.folder / COVERAGE, {"version": 1, "coverage": asdict(coverage), "untested": untested}
        )
        return coverage
