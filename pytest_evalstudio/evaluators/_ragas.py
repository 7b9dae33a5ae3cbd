"""Judgements of RAGAS.

Source: Es et al., 2023 (RAGAS).
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.judging import Consistency, Flow, Question, Reply, asked_texts, independent
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.replies import NO, YES, choice, number, record, several, text
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._common import listed
from pytest_evalstudio.evaluators._similarity import TextEmbeddings, has_words
from pytest_evalstudio.metrics.quoting import one_line
from pytest_evalstudio.metrics.ranking import average_precision, precision

DIFFERENCE = (
    "Method of RAGAS with prompts of this project: scores differ from those of the ragas package even with"
    " the same judge."
)
"""Difference of the evaluators from the metrics of the same name."""
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
class MetricScore:
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


def claims_question(case: Case, answer: str) -> Question:
    """Return the question for the claims of an answer, or of an expected answer."""
    return Question(
        prompt=CLAIMS,
        texts={**asked_texts(case), "answer": answer},
        reply=record(
            claims=several("The claims, each a full sentence that is understood by itself.", text(""))
        ),
    )


def claims_in(reply: Reply) -> list[str]:
    """Return the claims of a reply."""
    return [claim for claim in reply["claims"] if has_words(claim)]


def faithfulness(case: Case) -> Flow[MetricScore]:
    """Split the answer into claims and check each against the context: two questions."""
    [reply] = yield [claims_question(case, case.actual_output)]
    claims = claims_in(reply)
    if not claims:
        return MetricScore(value=None, reason="the answer makes no claims")
    [reply] = yield [
        Question(
            prompt=CLAIM_SUPPORT,
            texts={"context": case.context, "claim": claims},
            reply=record(
                verdicts=verdict_list(
                    len(claims), "claim", "Does the whole claim follow from the context alone?"
                )
            ),
            consistency=numbered(verdicts="claim"),
        )
    ]
    verdicts = in_order(reply["verdicts"], "claim")
    supported = [verdict["verdict"] == YES for verdict in verdicts]
    unsupported = [one_line(claim) for claim, good in zip(claims, supported, strict=True) if not good]
    details = {
        "claims": [
            {"claim": claim, **_details(verdict)} for claim, verdict in zip(claims, verdicts, strict=True)
        ]
    }
    return MetricScore(
        value=precision(supported),
        reason=f"not supported by the context: {listed(unsupported)}" if unsupported else "",
        details=details,
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AnswerQuestions:
    """Verdict of the judge on an answer.

    Attributes:
        questions: questions that the answer would answer.
        noncommittal: the answer evades, or says that it does not know.
    """

    questions: Sequence[str]
    noncommittal: bool


def answer_questions(case: Case, strictness: int) -> Flow[AnswerQuestions]:
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
                },
                noncommittal=choice("Is the text noncommittal?"),
            ),
            consistency=independent,  # of a noncommittal text they are the questions that it evades
        )
    ]
    return AnswerQuestions(questions=list(reply["questions"]), noncommittal=reply["noncommittal"] == YES)


def embedded_texts(case: Case, written: AnswerQuestions) -> tuple[str, ...]:
    """Return the texts that answer relevancy embeds."""
    return (case.question, *written.questions)


def answer_relevancies(considered: Sequence[tuple[Case, AnswerQuestions]], tools: Tools) -> list[MetricScore]:
    """Return the mean cosine of each question with the questions that the judge wrote for its answer.

    It is 0 for a noncommittal answer. All texts are embedded at once.
    """
    if not considered:  # no judgement of the batch has a result
        return []
    texts = (text for case, written in considered for text in embedded_texts(case, written))
    vectors = TextEmbeddings(texts, tools.embedder)
    return [_answer_relevancy(case, written, vectors) for case, written in considered]


def _answer_relevancy(case: Case, written: AnswerQuestions, vectors: TextEmbeddings) -> MetricScore:
    cosines = vectors.cosines([case.question], written.questions)[0].tolist()
    details = {
        "questions": [
            {"question": question, "cosine": cosine}
            for question, cosine in zip(written.questions, cosines, strict=True)
        ],
        "noncommittal": written.noncommittal,
    }
    if written.noncommittal:
        return MetricScore(value=0.0, reason="the answer is noncommittal", details=details)
    worst = one_line(written.questions[cosines.index(min(cosines))])
    # Opposed embeddings count as no similarity: the metric has the range 0 to 1.
    return MetricScore(
        value=max(0.0, sum(cosines) / len(cosines)), reason=f"it would answer: {worst}", details=details
    )


def context_precision(case: Case) -> Flow[MetricScore]:
    """Judge the usefulness of each chunk for the expected answer: one question per chunk with words."""
    # Empty chunks are not asked about; they keep their rank as useless ones.
    indices = [index for index, chunk in enumerate(case.context) if has_words(chunk)]
    replies = yield [
        Question(
            prompt=CHUNK_USEFULNESS,
            texts={
                **asked_texts(case),
                "expected_answer": case.reference,
                "chunk": case.context[index],
            },
            reply=record(
                reason=text(
                    "The fact that the piece contributes, or that it contributes none; one sentence."
                ),
                verdict=choice("Is the piece useful to arrive at the expected answer?"),
            ),
        )
        for index in indices
    ]
    verdicts = {
        index: {"verdict": reply["verdict"], "reason": reply["reason"]}
        for index, reply in zip(indices, replies, strict=True)
    }
    empty = {"verdict": NO, "reason": "it is empty"}
    chunks = [verdicts.get(index, empty) for index in range(len(case.context))]
    useful = [verdict["verdict"] == YES for verdict in chunks]
    useless = [str(index) for index, good in enumerate(useful, 1) if not good]
    reason = ""
    if useless and not any(useful):
        reason = "no chunk is useful"
    elif useless:
        reason = f"not useful: chunk {listed(useless)} of {len(useful)}"
    return MetricScore(value=average_precision(useful), reason=reason, details={"chunks": chunks})


def context_recall(case: Case, tools: Tools) -> Flow[MetricScore]:
    """Check each sentence of the expected answer against the context: one question."""
    spans = tools.split_sentences(case.expected_output)
    sentences = [
        case.expected_output[start:end] for start, end in spans if has_words(case.expected_output[start:end])
    ]
    if not sentences:
        return MetricScore(value=None, reason="the expected output has no sentences")
    [reply] = yield [
        Question(
            prompt=ATTRIBUTION,
            texts={**asked_texts(case), "context": case.context, "sentence": sentences},
            reply=record(
                verdicts=verdict_list(
                    len(sentences), "sentence", "Can the whole sentence be attributed to the context?"
                )
            ),
            consistency=numbered(verdicts="sentence"),
        )
    ]
    verdicts = in_order(reply["verdicts"], "sentence")
    attributed = [verdict["verdict"] == YES for verdict in verdicts]
    missing = [one_line(sentence) for sentence, good in zip(sentences, attributed, strict=True) if not good]
    details = {
        "sentences": [
            {"sentence": sentence, **_details(verdict)}
            for sentence, verdict in zip(sentences, verdicts, strict=True)
        ]
    }
    return MetricScore(
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
        # Bound as a default: the loop would have changed `flow` before a later call.
        advance(index, lambda flow=flow: next(flow))  # type: ignore[misc]
    while waiting:
        # Fixed before the flows go on, since finished ones leave `waiting`.
        order = list(waiting)
        replies = iter((yield [question for index in order for question in waiting[index]]))
        for index in order:
            answers: list[Reply] = [next(replies) for _ in waiting[index]]
            advance(index, lambda flow=flows[index], answers=answers: flow.send(answers))  # type: ignore[misc]
    return [results[index] for index in range(len(flows))]


def verdict_list(count: int, what: str, question: str) -> dict[str, Any]:
    """Return the schema of a list with one verdict per numbered text."""
    verdict = record(
        **{what: number(f"Number of the {what}.", least=1, most=count, whole=True)},
        reason=text("The evidence, in one sentence."),
        verdict=choice(question),
    )
    return {**several(f"One for each {what}, in order.", verdict), "minItems": count, "maxItems": count}


def numbered(**lists: str) -> Consistency:
    """Return the check of lists of verdicts: each number occurs once, unless all verdicts are the same.

    With a number that occurs twice and one that is missing, nobody can tell which text the verdicts are
    about; where all of them are the same, it does not matter.

    Args:
        lists: name of a list to the key of its entries' numbers; see `verdict_list`.
    """

    def check(reply: Mapping[str, Any]) -> str:
        for name, what in lists.items():
            verdicts = reply[name]
            if len({verdict["verdict"] for verdict in verdicts}) < 2:
                continue
            counts = Counter(verdict[what] for verdict in verdicts)
            number, count = counts.most_common(1)[0]
            if count > 1:
                return f"{name} has {count} verdicts on {what} {number}, and none on another one"
        return ""

    return check


def in_order(verdicts: Sequence[Mapping[str, Any]], what: str) -> list[Mapping[str, Any]]:
    """Return the verdicts in the order of their numbers; as they are where all of them are the same."""
    # Fewer numbers than verdicts are accepted by `numbered` only where all verdicts are the same.
    by_number = {verdict[what]: verdict for verdict in verdicts}
    return (
        [by_number[position] for position in range(1, len(verdicts) + 1)]
        if len(by_number) == len(verdicts)
        else list(verdicts)
    )


def _details(verdict: Mapping[str, Any]) -> dict[str, Any]:
    return {"verdict": verdict["verdict"], "reason": verdict["reason"]}
