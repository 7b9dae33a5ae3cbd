"""RAGAS: faithfulness, relevancy, precision and recall by questions to a judge.

Source: Es et al., 2023 (RAGAS).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from msgspec import structs

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.judging import JUDGE, Flow, Question, asked_texts, independent
from pytest_evalstudio.core.outcomes import Fragment, Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.replies import number, record, several, text
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._common import MAX_FRAGMENTS
from pytest_evalstudio.evaluators._judged import judge_keywords, judged
from pytest_evalstudio.evaluators._ragas import (
    ANSWER_QUESTIONS,
    ANSWER_RELEVANCY,
    ATTRIBUTION,
    CHUNK_USEFULNESS,
    CLAIM_SUPPORT,
    CLAIMS,
    CONTEXT_PRECISION,
    CONTEXT_RECALL,
    DIFFERENCE,
    FAITHFULNESS,
    AnswerQuestions,
    MetricScore,
    answer_questions,
    answer_relevancies,
    context_precision,
    context_recall,
    embedded_texts,
    faithfulness,
    together,
)
from pytest_evalstudio.evaluators._similarity import has_words
from pytest_evalstudio.metrics.classification import harmonic_mean
from pytest_evalstudio.metrics.quoting import one_line
from pytest_evalstudio.text.figures import figure

_PARTS = (FAITHFULNESS, ANSWER_RELEVANCY, CONTEXT_PRECISION, CONTEXT_RECALL)


@evaluator(
    "faithfulness",
    name="Faithfulness",
    difference=DIFFERENCE,
    domain="generation",
    needs=("question", "context", "actual_output"),
    requires=(JUDGE,),
    method=("judge",),
    systems=("rag",),
    keywords=judge_keywords("S VR", "C O M"),
)
@dataclass(frozen=True)
class Faithfulness:
    """Share of the claims in the answer that can be inferred from the context.

    An answer without claims is not applicable.

    Source: Es et al., 2023 (RAGAS).
    """

    measures_support: ClassVar[bool] = True
    metrics: ClassVar[tuple[Metric, ...]] = (FAITHFULNESS,)
    prompts: ClassVar[tuple[str, ...]] = (CLAIMS, CLAIM_SUPPORT)

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return judged(cases, tools, self.metrics, self._consider)

    def _consider(self, case: Case) -> Flow[Outcome]:
        part = yield from faithfulness(case)
        return part.outcome(FAITHFULNESS)


@evaluator(
    "answer_relevancy",
    name="Answer relevancy",
    difference=DIFFERENCE,
    domain="generation",
    needs=("question", "actual_output"),
    requires=(JUDGE, "embedder"),
    method=("judge", "embeddings"),
    systems=("llm", "rag"),
    extra="models",
    keywords=judge_keywords("S VR", "C O M"),
)
@dataclass(frozen=True)
class AnswerRelevancy:
    """Mean cosine of the question with the questions that the judge writes for the answer.

    It is 0 for a noncommittal answer.

    Attributes:
        strictness: number of questions that the judge writes.

    Source: Es et al., 2023 (RAGAS).
    """

    strictness: int = 3
    metrics: ClassVar[tuple[Metric, ...]] = (ANSWER_RELEVANCY,)
    prompts: ClassVar[tuple[str, ...]] = (ANSWER_QUESTIONS,)

    def __post_init__(self) -> None:
        if self.strictness < 1:
            raise ConfigurationError(f"strictness = {self.strictness}: must be 1 or more")

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        def finish(considered: Sequence[tuple[Case, AnswerQuestions]]) -> list[Outcome]:
            return [part.outcome(ANSWER_RELEVANCY) for part in answer_relevancies(considered, tools)]

        return judged(cases, tools, self.metrics, self._consider, finish, embeds=embedded_texts)

    def _consider(self, case: Case) -> Flow[AnswerQuestions]:
        return answer_questions(case, self.strictness)


@evaluator(
    "context_precision",
    name="Context precision",
    difference=DIFFERENCE,
    domain="retrieval",
    needs=("question", "expected_output", "context"),
    requires=(JUDGE,),
    method=("judge",),
    systems=("rag",),
    keywords=judge_keywords("S VR", "C O M"),
    problem_type="retrieval",
)
@dataclass(frozen=True)
class ContextPrecision:
    """Average precision of the retrieved chunks that help to arrive at the expected answer.

    Source: Es et al., 2023 (RAGAS).
    """

    metrics: ClassVar[tuple[Metric, ...]] = (CONTEXT_PRECISION,)
    depends_on_chunk_order: ClassVar[bool] = True
    reads_all_outputs: ClassVar[bool] = True
    prompts: ClassVar[tuple[str, ...]] = (CHUNK_USEFULNESS,)

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return judged(cases, tools, self.metrics, self._consider)

    def _consider(self, case: Case) -> Flow[Outcome]:
        part = yield from context_precision(case)
        return part.outcome(CONTEXT_PRECISION)


@evaluator(
    "context_recall",
    name="Context recall",
    difference=DIFFERENCE,
    domain="retrieval",
    needs=("question", "expected_output", "context"),
    requires=(JUDGE,),
    method=("judge",),
    systems=("rag",),
    keywords=judge_keywords("S VR", "C O M"),
    problem_type="retrieval",
)
@dataclass(frozen=True)
class ContextRecall:
    """Share of the sentences of the expected answer that can be attributed to the context.

    Source: Es et al., 2023 (RAGAS).
    """

    metrics: ClassVar[tuple[Metric, ...]] = (CONTEXT_RECALL,)
    prompts: ClassVar[tuple[str, ...]] = (ATTRIBUTION,)

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        def consider(case: Case) -> Flow[Outcome]:
            part = yield from context_recall(case, tools)
            return part.outcome(CONTEXT_RECALL)

        return judged(cases, tools, self.metrics, consider)


@evaluator(
    "context_relevancy",
    name="Context relevancy",
    domain="retrieval",
    needs=("question", "context"),
    requires=(JUDGE,),
    method=("judge",),
    systems=("rag",),
    keywords=judge_keywords("S VR", "C O M"),
    problem_type="retrieval",
)
@dataclass(frozen=True)
class ContextRelevancy:
    """Share of the sentences of the context that the judge finds relevant to the question.

    Source: Es et al., 2023 (RAGAS).
    """

    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "context_relevancy",
            "Context relevancy",
            primary=True,
            description="Share of the context's sentences that are relevant.",
        ),
    )
    prompts: ClassVar[tuple[str, ...]] = ("relevant_sentences",)

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        def consider(case: Case) -> Flow[Outcome]:
            return self._consider(case, tools)

        return judged(cases, tools, self.metrics, consider)

    def _consider(self, case: Case, tools: Tools) -> Flow[Outcome]:
        spans = [
            (index, start, end)
            for index, chunk in enumerate(case.context)
            for start, end in tools.split_sentences(chunk)
        ]
        spans = [
            (index, start, end) for index, start, end in spans if has_words(case.context[index][start:end])
        ]
        if not spans:
            return Outcome.not_applicable("the context has no sentences")
        [reply] = yield [
            Question(
                prompt="relevant_sentences",
                texts={
                    **asked_texts(case),
                    "sentence": [case.context[index][start:end] for index, start, end in spans],
                },
                reply=record(
                    relevant=several(
                        "The relevant sentences.",
                        record(
                            sentence=number("Number of the sentence.", least=1, most=len(spans), whole=True),
                            reason=text("The information that it contributes to the answer, in a few words."),
                        ),
                    )
                ),
                consistency=independent,  # a sentence that is named twice is relevant
            )
        ]
        relevant = {entry["sentence"]: entry["reason"] for entry in reply["relevant"]}
        fragments = [
            Fragment(
                part=f"context:{index}",
                start=start,
                end=end,
                scores={"context_relevancy": float(position in relevant)},
                message=one_line(relevant.get(position, "")),
            )
            for position, (index, start, end) in enumerate(spans, 1)
        ]
        return Outcome.score(
            {"context_relevancy": len(relevant) / len(spans)},
            reason=f"{len(spans) - len(relevant)} of {len(spans)} sentences are not relevant"
            if len(relevant) < len(spans)
            else "",
            fragments=tuple(fragments[:MAX_FRAGMENTS]),
        )


@evaluator(
    "ragas",
    name="RAGAS",
    domain="generation",
    needs=("question", "expected_output", "context", "actual_output"),
    requires=(JUDGE, "embedder"),
    method=("judge", "embeddings"),
    systems=("rag",),
    extra="models",
    keywords=judge_keywords("S VR", "C O M"),
)
@dataclass(frozen=True)
class Ragas:
    """Harmonic mean of faithfulness, answer relevancy, context precision and context recall.

    They share one set of questions to the judge.

    A part that is not applicable (an answer without claims) is excluded from the mean and named.

    Attributes:
        strictness: number of questions that the judge writes for answer relevancy.

    Source: Es et al., 2023 (RAGAS).
    """

    strictness: int = 3
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric("ragas", "RAGAS", primary=True, description="Harmonic mean of the four parts."),
        *(structs.replace(metric, primary=False) for metric in _PARTS),
    )
    depends_on_chunk_order: ClassVar[bool] = True
    prompts: ClassVar[tuple[str, ...]] = (
        CLAIMS,
        CLAIM_SUPPORT,
        ANSWER_QUESTIONS,
        CHUNK_USEFULNESS,
        ATTRIBUTION,
    )

    def __post_init__(self) -> None:
        if self.strictness < 1:
            raise ConfigurationError(f"strictness = {self.strictness}: must be 1 or more")

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        def consider(case: Case) -> Flow[list[Any]]:
            return together(
                [
                    faithfulness(case),
                    answer_questions(case, self.strictness),
                    context_precision(case),
                    context_recall(case, tools),
                ]
            )

        def finish(considered: Sequence[tuple[Case, list[Any]]]) -> list[Outcome]:
            relevancies = answer_relevancies([(case, parts[1]) for case, parts in considered], tools)
            return [
                self._outcome([parts[0], relevancy, *parts[2:]])
                for (_, parts), relevancy in zip(considered, relevancies, strict=True)
            ]

        def embeds(case: Case, parts: list[Any]) -> Iterable[str]:
            return embedded_texts(case, parts[1])

        return judged(cases, tools, self.metrics, consider, finish, embeds=embeds)

    def _outcome(self, parts: Sequence[MetricScore]) -> Outcome:
        by_key = {metric.key: part for metric, part in zip(_PARTS, parts, strict=True)}
        values = {key: part.value for key, part in by_key.items()}
        lowest = sorted((value, key) for key, value in values.items() if value is not None)
        left_out = [f"{key} left out: {by_key[key].reason}" for key, value in values.items() if value is None]
        reasons = [
            f"{key} {figure(value)}" + (f" ({by_key[key].reason})" if by_key[key].reason else "")
            for value, key in lowest[:1]
            if value < 1.0
        ]
        return Outcome.score(
            {"ragas": harmonic_mean([value for value, _ in lowest]), **values},
            reason="; ".join([*reasons, *left_out]),
            details={key: part.details for key, part in by_key.items() if part.details},
        )
