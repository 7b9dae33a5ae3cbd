"""Judgements of RAGAS.

Source: Es et al., 2023 (RAGAS).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.judging import Flow, Question, Reply
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.replies import NO, YES, choice, number, record, several, text
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._common import listed
from pytest_evalstudio.evaluators._judged import asked_texts
from pytest_evalstudio.evaluators._similarity import Vectors, has_words
from pytest_evalstudio.metrics.quoting import one_line
from pytest_evalstudio.metrics.ranking import average_precision, precision

CLAIMS, CLAIM_SUPPORT, ANSWER_QUESTIONS, CHUNK_USEFULNESS, ATTRIBUTION = (
    "claims",
    "claim_support",
    "answer_questions",
    "chunk_usefulness",
    "attribution",
)
"""Names of prompts."""

FAITHFULNESS = Metric(
    "faithfulness",
    "Faithfulness",
    primary=True,
    description="Share of the answer's claims that the context supports.",
)
ANSWER_RELEVANCY = Metric(
    "answer_relevancy",
    "Answer relevancy",
    primary=True,
    description="Similarity of the question and the questions that the answer would answer.",
)
CONTEXT_PRECISION = Metric(
    "context_precision",
    "Context precision",
    primary=True,
    description="Average precision of the useful chunks in the order of retrieval.",
)
CONTEXT_RECALL = Metric(
    "context_recall",
    "Context recall",
    primary=True,
    description="Share of the expected answer's sentences that the context supports.",
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Score of one metric for one case.

    Attributes:
        value: the score; None if there is nothing to judge.
        reason: reason of a low score, or of a missing one.
        details: for the exports.
    """

    value: float | None
    reason: str = ""
    details: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def outcome(self, metric: Metric) -> Outcome:
        """Return the outcome of an evaluator with this metric only."""
        if self.value is None:
            return Outcome.not_applicable(self.reason)
        return Outcome.score({metric.key: self.value}, reason=self.reason, details=self.details)


def faithfulness(case: Case) -> Flow[Part]:
    """Split the answer into claims and check each against the context: two questions."""
    [reply] = yield [
        Question(
            prompt=CLAIMS,
            texts={**asked_texts(case), "answer": case.actual_output},
            reply=record(
                claims=several("The claims, each a sentence that is understood by itself.", text(""))
            ),
        )
    ]
    claims = [claim for claim in reply["claims"] if has_words(claim)]
    if not claims:
        return Part(value=None, reason="the answer makes no claims")
    [reply] = yield [
        Question(
            prompt=CLAIM_SUPPORT,
            texts={"context": case.context, "claim": claims},
            reply=_verdicts(len(claims), "claim", "Does the claim follow from the context alone?"),
        )
    ]
    verdicts = _in_order(reply["verdicts"], "claim")
    supported = [verdict["verdict"] == YES for verdict in verdicts]
    unsupported = [one_line(claim) for claim, good in zip(claims, supported, strict=True) if not good]
    details = {
        "claims": [
            {"claim": claim, **_details(verdict)} for claim, verdict in zip(claims, verdicts, strict=True)
        ]
    }
    return Part(
        value=precision(supported),
        reason=f"not supported by the context: {listed(unsupported)}" if unsupported else "",
        details=details,
    )


def answer_questions(case: Case, strictness: int) -> Flow[list[str]]:
    """Let the judge write the questions that the answer would answer: one question."""
    [reply] = yield [
        Question(
            prompt=ANSWER_QUESTIONS,
            texts={"answer": case.actual_output},
            settings={"count": strictness},
            reply=record(
                questions={
                    **several("The questions.", text("")),
                    "minItems": strictness,
                    "maxItems": strictness,
                }
            ),
        )
    ]
    return list(reply["questions"])


def answer_relevancies(considered: Sequence[tuple[Case, Sequence[str]]], tools: Tools) -> list[Part]:
    """Return the mean cosine of each question with the questions that the judge wrote for its answer; all
    texts are embedded at once.
    """
    vectors = (
        Vectors(
            (entry for case, questions in considered for entry in (case.question, *questions)), tools.embedder
        )
        if considered
        else None
    )
    parts = []
    for case, questions in considered:
        assert vectors is not None
        cosines = vectors.cosines([case.question], questions)[0].tolist()
        details = {
            "questions": [
                {"question": question, "cosine": cosine}
                for question, cosine in zip(questions, cosines, strict=True)
            ]
        }
        worst = one_line(questions[cosines.index(min(cosines))])
        parts.append(
            Part(
                value=max(0.0, sum(cosines) / len(cosines)),
                reason=f"it would answer: {worst}",
                details=details,
            )
        )
    return parts


def context_precision(case: Case) -> Flow[Part]:
    """Judge the usefulness of each chunk for the expected answer: one question per chunk with words."""
    asked = [index for index, chunk in enumerate(case.context) if has_words(chunk)]
    replies = yield [
        Question(
            prompt=CHUNK_USEFULNESS,
            texts={
                **asked_texts(case),
                "expected_answer": case.expected_output,
                "chunk": case.context[index],
            },
            reply=record(
                reason=text("Why, in one sentence."),
                verdict=choice("Does the chunk help to arrive at the expected answer?"),
            ),
        )
        for index in asked
    ]
    verdicts = {
        index: {"verdict": reply["verdict"], "reason": reply["reason"]}
        for index, reply in zip(asked, replies, strict=True)
    }
    empty = {"verdict": NO, "reason": "it is empty"}
    chunks = [verdicts.get(index, empty) for index in range(len(case.context))]
    useful = [verdict["verdict"] == YES for verdict in chunks]
    useless = [str(index) for index, good in enumerate(useful, 1) if not good]
    reason = (
        ""
        if not useless
        else "no chunk is useful"
        if not any(useful)
        else f"not useful: chunk {listed(useless)} of {len(useful)}"
    )
    return Part(value=average_precision(useful), reason=reason, details={"chunks": chunks})


def context_recall(case: Case, tools: Tools) -> Flow[Part]:
    """Check each sentence of the expected answer against the context: one question."""
    spans = tools.split_sentences(case.expected_output)
    sentences = [
        case.expected_output[start:end] for start, end in spans if has_words(case.expected_output[start:end])
    ]
    if not sentences:
        return Part(value=None, reason="the expected output has no sentences")
    [reply] = yield [
        Question(
            prompt=ATTRIBUTION,
            texts={**asked_texts(case), "context": case.context, "sentence": sentences},
            reply=_verdicts(len(sentences), "sentence", "Can the sentence be attributed to the context?"),
        )
    ]
    verdicts = _in_order(reply["verdicts"], "sentence")
    attributed = [verdict["verdict"] == YES for verdict in verdicts]
    missing = [one_line(sentence) for sentence, good in zip(sentences, attributed, strict=True) if not good]
    details = {
        "sentences": [
            {"sentence": sentence, **_details(verdict)}
            for sentence, verdict in zip(sentences, verdicts, strict=True)
        ]
    }
    return Part(
        value=precision(attributed),
        reason=f"not in the context: {listed(missing)}" if missing else "",
        details=details,
    )


def together(flows: Sequence[Flow[Any]]) -> Flow[list[Any]]:
    """Run several flows as one, so that their simultaneous questions are asked concurrently.

    Args:
        flows: flows of one case.

    Returns:
        Result of each flow, in order.
    """
    results: dict[int, Any] = {}
    waiting: dict[int, Sequence[Question]] = {}

    def advance(index: int, step: Callable[[], Sequence[Question]]) -> None:
        try:
            waiting[index] = step()
        except StopIteration as end:
            waiting.pop(index, None)
            results[index] = end.value

    for index, flow in enumerate(flows):
        advance(index, lambda flow=flow: next(flow))  # type: ignore[misc]
    while waiting:
        order = list(waiting)
        replies = iter((yield [question for index in order for question in waiting[index]]))
        for index in order:
            answers: list[Reply] = [next(replies) for _ in waiting[index]]
            advance(index, lambda flow=flows[index], answers=answers: flow.send(answers))  # type: ignore[misc]
    return [results[index] for index in range(len(flows))]


def _verdicts(count: int, what: str, question: str) -> dict[str, Any]:
    """Return the reply schema of one verdict per numbered text."""
    verdict = record(
        **{what: number(f"Number of the {what}.", least=1, most=count, whole=True)},
        reason=text("Why, in one sentence."),
        verdict=choice(question),
    )
    return record(
        verdicts={**several(f"One for each {what}, in order.", verdict), "minItems": count, "maxItems": count}
    )


def _in_order(verdicts: Sequence[Mapping[str, Any]], what: str) -> list[Mapping[str, Any]]:
    """Return the verdicts in the order of their numbers, or as given if a number occurs twice."""
    by_number = {verdict[what]: verdict for verdict in verdicts}
    return (
        [by_number[position] for position in range(1, len(verdicts) + 1)]
        if len(by_number) == len(verdicts)
        else list(verdicts)
    )


def _details(verdict: Mapping[str, Any]) -> dict[str, Any]:
    return {"verdict": verdict["verdict"], "reason": verdict["reason"]}
