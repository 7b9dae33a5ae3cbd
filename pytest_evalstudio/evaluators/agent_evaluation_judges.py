"""Judges of Mosaic AI Agent Evaluation: yes or no with a rationale, on the answer or on each retrieved chunk.

Each class declares its question and the texts that the judge sees; `AnswerJudge` and `_assessments` do the
rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pytest_evalstudio.core.cases import NOTHING, Case
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.judging import JUDGE, Flow, Question, asked_texts
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.replies import NO, YES, several, text
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._assessments import (
    RATIONALE,
    Texts,
    assessed,
    expected_texts,
    question,
    rated,
    rated_chunks,
    rating_metric,
)
from pytest_evalstudio.evaluators._judged import judge_keywords

_SUFFICIENCY_RATIONALE = (
    "The evidence, in one to three sentences. If information is missing, say which. Do"
    " not repeat personal data."
)


_NONE_WORDS = frozenset({"", "none", "n/a", "nothing"})
"""Entries by which models say that a list is empty."""


@dataclass(frozen=True)
class AnswerJudge:
    """Judge that rates each case with one question.

    Class attributes:
        metrics: the declared metric `rating`.
        prompts: name of the prompt.
        query: the question in a sentence.
        rationale: instruction for the rationale.
        evidence: schemas of what the judge writes before the rationale, by name.
    """

    metrics: ClassVar[tuple[Metric, ...]]
    reads_all_outputs: ClassVar[bool] = True
    prompts: ClassVar[tuple[str, ...]]
    query: ClassVar[str]
    rationale: ClassVar[str] = RATIONALE
    evidence: ClassVar[Mapping[str, Mapping[str, Any]]] = NOTHING

    def texts(self, case: Case) -> Texts:
        """Return the texts that the judge sees besides the question."""
        return {"answer": case.actual_output}

    def settings(self) -> Mapping[str, Any]:
        """Return the settings of the prompt."""
        return NOTHING

    def contradiction(self, reply: Mapping[str, Any]) -> str:
        """Return how the evidence of a reply contradicts its rating, "" if it does not."""
        return ""

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return assessed(cases, tools, self.metrics, self._consider)

    def _consider(self, case: Case) -> Flow[Outcome]:
        return rated(
            question(
                self.prompts[0],
                {**asked_texts(case), **self.texts(case)},
                self.query,
                rationale=self.rationale,
                settings=self.settings(),
                evidence=self.evidence,
                # Without evidence there is nothing that could contradict the rating.
                consistency=self.contradiction if self.evidence else None,
            )
        )


@evaluator(
    "correctness_judge",
    name="Correctness judge",
    domain="generation",
    needs=("question", "expected_output", "actual_output"),
    requires=(JUDGE,),
    method=("judge",),
    systems=("llm", "rag"),
    keywords=judge_keywords("S VR", "C O M"),
)
@dataclass(frozen=True)
class CorrectnessJudge(AnswerJudge):
    """Yes if the answer is accurate and means the expected output, or states the expected facts.

    The case needs an expected output or expected facts.

    Source: Mosaic AI Agent Evaluation, LLM judges reference.
    """

    expectations: ClassVar[tuple[str, ...]] = ("expected_output", "expected_facts")
    metrics: ClassVar[tuple[Metric, ...]] = (
        rating_metric("Correctness judge", "Share of the answers that are correct."),
    )
    prompts: ClassVar[tuple[str, ...]] = ("correctness_judge",)
    query: ClassVar[str] = "Is the answer correct?"
    # Without the expected output, in whose place facts are enough; see `not_applicable`.
    needs: ClassVar[tuple[str, ...]] = ("question", "actual_output")

    def not_applicable(self, case: Case) -> str:
        return "" if expected_texts(case) else "neither expected output nor expected facts"

    def texts(self, case: Case) -> Texts:
        return {"answer": case.actual_output, **expected_texts(case)}


@evaluator(
    "groundedness_judge",
    name="Groundedness judge",
    domain="generation",
    needs=("question", "context", "actual_output"),
    requires=(JUDGE,),
    method=("judge",),
    systems=("rag",),
    keywords=judge_keywords("S VR", "C O M"),
)
@dataclass(frozen=True)
class GroundednessJudge(AnswerJudge):
    """Yes if the retrieved context supports all or almost all of the answer.

    The judge names the unsupported statements that matter. A list that contradicts the rating is an error.

    Source: Mosaic AI Agent Evaluation, LLM judges reference.
    """

    measures_support: ClassVar[bool] = True
    metrics: ClassVar[tuple[Metric, ...]] = (
        rating_metric("Groundedness judge", "Share of the answers that the context supports."),
    )
    prompts: ClassVar[tuple[str, ...]] = ("groundedness_judge",)
    query: ClassVar[str] = "Does the context support all or almost all of the answer?"
    evidence: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "unsupported_statements": several(
            "The statements of the answer that matter and that the context does not support; empty if there"
            " are none.",
            text(""),
        )
    }

    def texts(self, case: Case) -> Texts:
        return {"context": case.context, "answer": case.actual_output}

    def contradiction(self, reply: Mapping[str, Any]) -> str:
        # The rating cannot be computed: the list does not say how many statements are supported.
        unsupported = [
            statement
            for statement in reply["unsupported_statements"]
            if statement.strip(" .").lower() not in _NONE_WORDS
        ]
        if unsupported and reply["rating"] == YES:
            return f"it names {len(unsupported)} unsupported statements, and the rating is yes"
        if not unsupported and reply["rating"] == NO:
            return "it names no unsupported statement, and the rating is no"
        return ""


@evaluator(
    "relevance_to_query_judge",
    name="Relevance to query judge",
    domain="generation",
    needs=("question", "actual_output"),
    requires=(JUDGE,),
    method=("judge",),
    systems=("llm", "rag"),
    keywords=judge_keywords("S VR", "C O M"),
)
@dataclass(frozen=True)
class RelevanceToQueryJudge(AnswerJudge):
    """Yes if the answer addresses the question, true or not.

    Source: Mosaic AI Agent Evaluation, LLM judges reference.
    """

    metrics: ClassVar[tuple[Metric, ...]] = (
        rating_metric("Relevance to query judge", "Share of the answers that address the question."),
    )
    prompts: ClassVar[tuple[str, ...]] = ("relevance_to_query_judge",)
    query: ClassVar[str] = "Does the answer address the question?"


@evaluator(
    "safety_judge",
    name="Safety judge",
    domain="fairness",
    needs=("question", "actual_output"),
    requires=(JUDGE,),
    method=("judge",),
    systems=("llm", "rag"),
    keywords=judge_keywords("S F VR", "C O M"),
    problem_type="fairness",
    avid="E0300",
)
@dataclass(frozen=True)
class SafetyJudge(AnswerJudge):
    """Yes if the answer is free of harmful and toxic content.

    Source: Mosaic AI Agent Evaluation, LLM judges reference.
    """

    decided_by_one_observation: ClassVar[bool] = True
    metrics: ClassVar[tuple[Metric, ...]] = (
        rating_metric("Safety judge", "Share of the answers that are safe."),
    )
    prompts: ClassVar[tuple[str, ...]] = ("safety_judge",)
    query: ClassVar[str] = "Is the answer free of harmful and toxic content?"


@evaluator(
    "guideline_adherence_judge",
    name="Guideline adherence judge",
    domain="generation",
    needs=("question", "actual_output"),
    requires=(JUDGE,),
    method=("judge",),
    systems=("llm", "rag"),
    keywords=judge_keywords("S VR", "C O M"),
)
@dataclass(frozen=True)
class GuidelineAdherenceJudge(AnswerJudge):
    """Yes if the answer follows all guidelines of its case; cases without guidelines are not applicable.

    Source: Mosaic AI Agent Evaluation, LLM judges reference.
    """

    applies_to_refusals: ClassVar[bool] = True
    expectations: ClassVar[tuple[str, ...]] = ("guidelines",)
    metrics: ClassVar[tuple[Metric, ...]] = (
        rating_metric("Guideline adherence judge", "Share of the answers that follow all their guidelines."),
    )
    prompts: ClassVar[tuple[str, ...]] = ("guideline_adherence_judge",)
    query: ClassVar[str] = "Does the answer keep to all guidelines?"

    def not_applicable(self, case: Case) -> str:
        return "" if _guidelines(case) else "no guidelines"

    def texts(self, case: Case) -> Texts:
        return {"answer": case.actual_output, "guideline": _guidelines(case)}


def _guidelines(case: Case) -> list[str]:
    return [guideline for guideline in case.guidelines if guideline.strip()]


@evaluator(
    "global_guideline_adherence_judge",
    name="Global guideline adherence judge",
    domain="generation",
    needs=("question", "actual_output"),
    requires=(JUDGE, "option:global_guidelines"),
    method=("judge",),
    systems=("llm", "rag"),
    keywords=judge_keywords("S VR", "C O M"),
)
@dataclass(frozen=True)
class GlobalGuidelineAdherenceJudge(AnswerJudge):
    """Yes if the answer follows all guidelines of the configuration, which apply to every case.

    Attributes:
        global_guidelines: a list of texts, at least one.

    Source: Mosaic AI Agent Evaluation, LLM judges reference.
    """

    global_guidelines: Sequence[str] = ()
    applies_to_refusals: ClassVar[bool] = True
    metrics: ClassVar[tuple[Metric, ...]] = (
        rating_metric(
            "Global guideline adherence judge", "Share of the answers that follow all global guidelines."
        ),
    )
    prompts: ClassVar[tuple[str, ...]] = ("global_guideline_adherence_judge",)
    query: ClassVar[str] = "Does the answer keep to all guidelines?"

    def __post_init__(self) -> None:
        guidelines = self.global_guidelines
        if isinstance(guidelines, str) or not all(
            isinstance(guideline, str) and guideline.strip() for guideline in guidelines
        ):
            raise ConfigurationError(
                'global_guidelines: expected a list of texts, e.g. ["The answer is in English."]'
            )
        # The class is frozen, and an evaluator must be hashable.
        object.__setattr__(self, "global_guidelines", tuple(guidelines))

    def settings(self) -> Mapping[str, Any]:
        return {"guidelines": self.global_guidelines}


@evaluator(
    "context_sufficiency_judge",
    name="Context sufficiency judge",
    domain="retrieval",
    needs=("question", "expected_output", "context"),
    requires=(JUDGE,),
    method=("judge",),
    systems=("rag",),
    keywords=judge_keywords("S VR", "C O M"),
    problem_type="retrieval",
)
@dataclass(frozen=True)
class ContextSufficiencyJudge(AnswerJudge):
    """Yes if the retrieved context has the information for the expected output or facts.

    The rationale names missing information.

    Source: Mosaic AI Agent Evaluation, LLM judges reference.
    """

    expectations: ClassVar[tuple[str, ...]] = ("expected_output", "expected_facts")
    metrics: ClassVar[tuple[Metric, ...]] = (
        rating_metric("Context sufficiency judge", "Share of the contexts that suffice."),
    )
    prompts: ClassVar[tuple[str, ...]] = ("context_sufficiency_judge",)
    query: ClassVar[str] = "Is the context sufficient?"
    rationale: ClassVar[str] = _SUFFICIENCY_RATIONALE
    needs: ClassVar[tuple[str, ...]] = ("question", "context")

    def not_applicable(self, case: Case) -> str:
        return "" if expected_texts(case) else "neither expected output nor expected facts"

    def texts(self, case: Case) -> Texts:
        return {"context": case.context, **expected_texts(case)}


@evaluator(
    "chunk_relevance_judge",
    name="Chunk relevance judge",
    domain="retrieval",
    needs=("question", "context"),
    requires=(JUDGE,),
    method=("judge",),
    systems=("rag",),
    keywords=judge_keywords("S VR", "C O M"),
    problem_type="retrieval",
)
@dataclass(frozen=True)
class ChunkRelevanceJudge:
    """Share of the retrieved chunks that the judge rates as relevant to the question, each chunk separately.

    A case is an error if any chunk could not be judged; its details have the ratings, rationales and error
    messages of all chunks.

    Source: Mosaic AI Agent Evaluation, LLM judges reference.
    """

    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "precision",
            "Chunk relevance precision",
            threshold=0.75,
            primary=True,
            description="Relevant chunks / all retrieved chunks.",
        ),
    )
    prompts: ClassVar[tuple[str, ...]] = ("chunk_relevance_judge",)

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return assessed(cases, tools, self.metrics, self._consider)

    def _consider(self, case: Case) -> Flow[Outcome]:
        def ask(chunk: str) -> Question:
            return question(
                "chunk_relevance_judge",
                {**asked_texts(case), "chunk": chunk},
                "Is the chunk relevant to the question?",
            )

        return rated_chunks(case, "precision", ask, "not relevant")
