"""Step 2: generate questions and expected answers from the documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_evalstudio.core.plugins.step import StepResult, step
from pytest_evalstudio.mrm.steps.test_generation.generating import Wanted
from pytest_evalstudio.mrm.steps.test_generation.making import make
from pytest_evalstudio.mrm.steps.test_generation.results import ID, SUITE
from pytest_evalstudio.mrm.steps.topic_modeling.results import ID as TOPIC_MODELING
from pytest_evalstudio.mrm.workflow.checks import (
    check_counts,
    check_fraction,
    check_fractions,
    check_names,
    check_text,
)
from pytest_evalstudio.mrm.workflow.context import StepContext


@step(ID, name="Test generation", number=2, after=(TOPIC_MODELING,))
@dataclass(frozen=True)
class TestGeneration:
    """Questions with expected answers are made of the chunks, sampled over topics and kinds of question.

    Attributes:
        count: of test cases; there are fewer where the documents give no more.
        generators: kinds of question; where not given all that can be had with the writer, or without one.
        topics_included: ids of topics; all where not given.
        topics_excluded: ids of topics.
        weights: topic id to how many times its share in proportion to its chunks it gets; 1 where not given.
        min_relevance: share of a question's content words that must stand in its chunk; not of written ones,
            whose evidence is a quotation.
        max_similarity: share of words that two questions may have in common (Jaccard); of two that are nearer
            the first is kept.
        writer: a language model that writes the questions: the name of a `[[model]]`, or "judge" for that of
            `[judge]`; where not given they are found in the documents' sentences, without any.
    """

    __test__ = False  # no class of tests

    count: int = 30
    generators: list[str] = field(default_factory=list)
    topics_included: list[str] = field(default_factory=list)
    topics_excluded: list[str] = field(default_factory=list)
    weights: Mapping[str, float] = field(default_factory=dict)
    min_relevance: float = 0.5
    max_similarity: float = 0.8
    writer: str = ""

    @property
    def configured(self) -> tuple[str, ...]:
        """Return the keys of the configuration that the step uses."""
        return ("model", "judge") if self.writer else ()

    def __post_init__(self) -> None:
        check_counts(self, {"count": 1})
        check_names(self, "generators", "topics_included", "topics_excluded")
        check_fractions(self, "min_relevance", "max_similarity")
        check_text(self, "writer")
        if not isinstance(self.weights, Mapping):
            raise ValueError(f"weights = {self.weights!r}: expected an object of topic ids and weights")
        for topic, weight in self.weights.items():
            check_fraction(f"weights.{topic}", weight, most=1e9)

    def run(self, context: StepContext) -> StepResult:
        wanted = Wanted(
            purpose="ordinary",
            count=self.count,
            generators=self.generators,
            topics_included=self.topics_included,
            topics_excluded=self.topics_excluded,
            weights=self.weights,
            min_relevance=self.min_relevance,
            max_similarity=self.max_similarity,
            writer=self.writer,
        )
        made = make(context, wanted, "generated tests")
        made.suite.save(context.folder / SUITE)
        topics, kinds = (sum(map(bool, made.figures[name].values())) for name in ("by_topic", "by_generator"))
        cases = f"{made.figures['cases']} test cases{made.short}"
        summary = (
            f"{cases}, {topics} topic{'s' if topics != 1 else ''}, {kinds} kind{'s' if kinds != 1 else ''} of"
            " question"
        )
        return StepResult(summary=summary, figures=made.figures, notes=tuple(made.notes))
