"""The judgements and formulas of RAGAS that its evaluators share. Source: Es et al., 2023 (RAGAS)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools
from pytest_evalstudio.core.judging import Flow, Question, Reply
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.replies import NO, YES, choice, number, record, several, text
from pytest_evalstudio.evaluators._common import listed, one_line
from pytest_evalstudio.evaluators._judged import asked_texts
from pytest_evalstudio.evaluators._similarity import Vectors, has_words

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
    description="Share of the answer's claims that the context bears out.",
)
ANSWER_RELEVANCY = Metric(
    "answer_relevancy",
    "Answer relevancy",
    primary=True,
    description="Likeness of the question and the questions that the answer would answer.",
)
CONTEXT_PRECISION = Metric(
    "context_precision",
    "Context precision",
    primary=True,
    description="How far up the useful chunks stand among the retrieved ones.",
)
CONTEXT_RECALL = Metric(
    "context_recall",
    "Context recall",
    primary=True,
    description="Share of the expected answer's sentences that the context bears out.",
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One metric's word on one case.

    Attributes:
        value: None where there is nothing to judge.
        reason: what lowered it, or why there is none.
        details: for the exports.
    """

    value: float | None
    reason: str = ""
    details: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def outcome(self, metric: Metric) -> Outcome:
        """The outcome of an evaluator that has this metric alone."""
        if self.value is None:
            return Outcome.not_applicable(self.reason)
        return Outcome.score({metric.key: self.value}, reason=self.reason, details=self.details)


def faithfulness(case: Case) -> Flow[Part]:
    """Split the answer into claims, then hold each against the context: two questions."""
    [found] = yield [
        Question(
            prompt=CLAIMS,
            texts={**asked_texts(case), "answer": case.actual_output},
            reply=record(
                claims=several("The claims, each a sentence that is understood by itself.", text(""))
            ),
        )
    ]
    claims = [claim for claim in found["claims"] if has_words(claim)]
    if not claims:
        return Part(value=None, reason="the answer makes no claims")
    [found] = yield [
        Question(
            prompt=CLAIM_SUPPORT,
            texts={"context": case.context, "claim": claims},
            reply=_verdicts(len(claims), "claim", "Does the claim follow from the context alone?"),
        )
    ]
    verdicts = _in_order(found["verdicts"], "claim")
    supported = [one["verdict"] == YES for one in verdicts]
    unsupported = [one_line(claim) for claim, good in zip(claims, supported, strict=True) if not good]
    details = {
        "claims": [{"claim": claim, **_told(one)} for claim, one in zip(claims, verdicts, strict=True)]
    }
    return Part(
        value=share(supported),
        reason=f"not borne out by the context: {listed(unsupported)}" if unsupported else "",
        details=details,
    )


def answer_questions(case: Case, strictness: int) -> Flow[list[str]]:
    """Have the judge write the questions that the answer would answer: one question."""
    [found] = yield [
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
    return list(found["questions"])


def answer_relevancies(considered: Sequence[tuple[Case, Sequence[str]]], tools: Tools) -> list[Part]:
    """Mean cosine of each case's question with the questions that the judge wrote for its answer; all are
    embedded at once.
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
    """Ask of each chunk by itself whether it helps to arrive at the expected answer: one question for each
    that has words.
    """
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
    useful = [one["verdict"] == YES for one in chunks]
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
    """Ask of each sentence of the expected answer whether the context bears it out: one question."""
    spans = tools.split_sentences(case.expected_output)
    sentences = [
        case.expected_output[start:end] for start, end in spans if has_words(case.expected_output[start:end])
    ]
    if not sentences:
        return Part(value=None, reason="the expected output has no sentences")
    [found] = yield [
        Question(
            prompt=ATTRIBUTION,
            texts={**asked_texts(case), "context": case.context, "sentence": sentences},
            reply=_verdicts(len(sentences), "sentence", "Can the sentence be attributed to the context?"),
        )
    ]
    verdicts = _in_order(found["verdicts"], "sentence")
    attributed = [one["verdict"] == YES for one in verdicts]
    missing = [one_line(sentence) for sentence, good in zip(sentences, attributed, strict=True) if not good]
    details = {
        "sentences": [
            {"sentence": sentence, **_told(one)} for sentence, one in zip(sentences, verdicts, strict=True)
        ]
    }
    return Part(
        value=share(attributed),
        reason=f"not in the context: {listed(missing)}" if missing else "",
        details=details,
    )


def together(flows: Sequence[Flow[Any]]) -> Flow[list[Any]]:
    """Follow several flows as one: what they ask at the same time is asked at the same time.

    Returns:
        What each of them returned, in order.
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
            own: list[Reply] = [next(replies) for _ in waiting[index]]
            advance(index, lambda flow=flows[index], own=own: flow.send(own))  # type: ignore[misc]
    return [results[index] for index in range(len(flows))]


def share(good: Sequence[bool]) -> float:
    """How many of several are good, as a fraction.

    >>> share([True, False, True, True])
    0.75
    """
    return sum(good) / len(good)


def average_precision(useful: Sequence[bool]) -> float:
    """How far up the useful ones stand.

    Args:
        useful: in the order of retrieval; at least one.

    Returns:
        Sum over depth of precision at that depth times usefulness there, divided by the number of useful
        ones: 0.0 (none is useful) to 1.0 (all useful ones stand above all others); higher is better.

    >>> average_precision([True, False, True])
    0.8333333333333333
    """
    hits, total = 0, 0.0
    for depth, is_useful in enumerate(useful, 1):
        if is_useful:
            hits += 1
            total += hits / depth
    return total / hits if hits else 0.0


def harmonic_mean(values: Sequence[float]) -> float:
    """The harmonic mean of fractions, 0.0 as soon as one of them is.

    >>> harmonic_mean([1.0, 0.5])
    0.6666666666666666
    """
    return 0.0 if not all(values) else len(values) / sum(1.0 / value for value in values)


def _verdicts(count: int, what: str, question: str) -> dict[str, Any]:
    """The form of one verdict on each of several numbered texts."""
    one = record(
        **{what: number(f"Number of the {what}.", least=1, most=count, whole=True)},
        reason=text("Why, in one sentence."),
        verdict=choice(question),
    )
    return record(
        verdicts={**several(f"One for each {what}, in order.", one), "minItems": count, "maxItems": count}
    )


def _in_order(verdicts: Sequence[Mapping[str, Any]], what: str) -> list[Mapping[str, Any]]:
    """The verdicts by their numbers; where a number stands twice, numbers say nothing and their order
    counts.
    """
    by_number = {one[what]: one for one in verdicts}
    return (
        [by_number[position] for position in range(1, len(verdicts) + 1)]
        if len(by_number) == len(verdicts)
        else list(verdicts)
    )


def _told(one: Mapping[str, Any]) -> dict[str, Any]:
    return {"verdict": one["verdict"], "reason": one["reason"]}
