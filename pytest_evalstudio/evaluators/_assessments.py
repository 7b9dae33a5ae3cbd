"""What the judges of Agent Evaluation share: yes or no with a written rationale, on the answer or on each
retrieved chunk.

Source: Mosaic AI Agent Evaluation, LLM judges reference.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytest_evalstudio.core.cases import NOTHING, Case
from pytest_evalstudio.core.contracts import Tools
from pytest_evalstudio.core.judging import Flow, JudgeFault, Question
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.replies import NO, YES, choice, record, text
from pytest_evalstudio.evaluators._common import listed, one_line
from pytest_evalstudio.evaluators._judged import judged
from pytest_evalstudio.evaluators._similarity import has_words

REASON_CHARS = 600
CHUNK_REASON_CHARS = 200
_RATIONALE = "Why, in one to three sentences. Do not repeat personal data or offensive words."

Texts = Mapping[str, str | Sequence[str]]


def rating_metric(name: str, description: str) -> Metric:
    """The metric of a judge that says yes or no: 1.0 for yes."""
    return Metric("rating", f"{name} (yes = 1)", threshold=0.5, primary=True, description=description)


def expected_texts(case: Case) -> dict[str, str | list[str]]:
    """What is expected, for the texts of a question: an answer, facts, or both; nothing where the case has
    neither.
    """
    facts = [fact for fact in case.expected_facts if fact.strip()]
    answer = {"expected_answer": case.expected_output} if case.expected_output.strip() else {}
    return {**answer, **({"expected_fact": facts} if facts else {})}


def question(
    prompt: str,
    texts: Texts,
    asked: str,
    *,
    rationale: str = _RATIONALE,
    settings: Mapping[str, Any] = NOTHING,
) -> Question:
    """One question that is answered by a rationale and a rating, in this order.

    Args:
        asked: the question in a sentence.
        rationale: what the rationale must say.
    """
    return Question(
        prompt=prompt,
        texts=texts,
        settings=settings,
        reply=record(rationale=text(rationale), rating=choice(asked)),
    )


def rated(asked: Question) -> Flow[Outcome]:
    """The outcome of one question; its details are rating, rationale and error message, of which null stands
    where there is none.
    """
    [reply] = yield [asked]
    if reply.fault is not None:
        return Outcome(
            status="error",
            reason=str(reply.fault),
            details={**_details(None, None, str(reply.fault)), **_raw([reply.fault])},
        )
    rating, rationale = reply["rating"], reply["rationale"]
    return Outcome.score(
        {"rating": float(rating == YES)},
        reason=one_line(rationale, REASON_CHARS),
        details=_details(rating, rationale, None),
    )


def rated_chunks(case: Case, metric: str, ask: Callable[[str], Question], failing: str) -> Flow[Outcome]:
    """The share of the retrieved chunks that are rated yes, each judged by itself; one without words is a no
    that nobody is asked for.

    Where a chunk could not be judged there is no share, and the outcome is an error; the ratings of the
    others stand in the details.

    Args:
        metric: key of the share.
        ask: the question about a chunk.
        failing: what a chunk is that is rated no.
    """
    asked = [index for index, chunk in enumerate(case.context) if has_words(chunk)]
    replies = dict(zip(asked, (yield [ask(case.context[index]) for index in asked]), strict=True))
    ratings: list[str | None] = [NO] * len(case.context)
    rationales: list[str | None] = ["the chunk has no words"] * len(case.context)
    errors: list[str | None] = [None] * len(case.context)
    for index, reply in replies.items():
        if reply.fault is not None:
            ratings[index], rationales[index], errors[index] = None, None, str(reply.fault)
        else:
            ratings[index], rationales[index] = reply["rating"], reply["rationale"]
    details = {"ratings": ratings, "rationales": rationales, "error_messages": errors}
    wrong = [f"chunk {number}: {error}" for number, error in enumerate(errors, 1) if error is not None]
    if wrong:
        reason = f"{len(wrong)} of {len(errors)} chunks could not be judged: {listed(wrong)}"
        return Outcome(
            status="error",
            reason=reason,
            details={**details, **_raw([reply.fault for reply in replies.values()])},
        )
    return Outcome.score(
        {metric: precision(ratings)}, reason=_of_chunks(ratings, rationales, failing), details=details
    )


def precision(ratings: Sequence[str | None]) -> float:
    """Chunks rated yes among all retrieved chunks.

    Args:
        ratings: at least one.

    Returns:
        A fraction, 0.0 to 1.0; higher is better.

    >>> precision(["yes", "no", "yes", "yes"])
    0.75
    """
    return sum(rating == YES for rating in ratings) / len(ratings)


def assessed(
    cases: Sequence[Case],
    tools: Tools,
    metrics: Sequence[Metric],
    consider: Callable[[Case], Flow[Outcome]],
    *,
    reads_answer: bool = True,
) -> list[Outcome]:
    """As `judged`; every scored outcome has its details, that of an empty answer and that of a panel too.

    A panel's rating is what more than half of its judges say, no at a tie; of chunks, each one's rating.
    """
    outcomes = judged(cases, tools, metrics, consider, reads_answer=reads_answer)
    by_majority = tools.judge is not None and tools.judge.vote == "majority"
    return [
        _completed(outcome, metrics[0], by_majority) if outcome.status == "score" else outcome
        for outcome in outcomes
    ]


def _completed(outcome: Outcome, metric: Metric, by_majority: bool) -> Outcome:
    opinions = [opinion for opinion in outcome.details.get("panel", ()) if opinion["status"] == "score"]
    if opinions and "ratings" in opinions[0]:
        return _voted_chunks(outcome, metric, opinions, by_majority)
    if {"rating", "ratings"} & set(outcome.details) and not opinions:
        return outcome
    rating = YES if (outcome.scores[metric.key] or 0.0) > 0.5 else NO
    return dataclasses.replace(outcome, details={**outcome.details, **_details(rating, outcome.reason, None)})


def _voted_chunks(
    outcome: Outcome, metric: Metric, opinions: Sequence[Mapping[str, Any]], by_majority: bool
) -> Outcome:
    columns = list(zip(*(opinion["ratings"] for opinion in opinions), strict=True))
    ratings = [YES if 2 * column.count(YES) > len(column) else NO for column in columns]
    said = zip(*(opinion["rationales"] for opinion in opinions), strict=True)
    rationales = [
        "; ".join(f"{own['judge']}: {one}" for own, one in zip(opinions, each, strict=True)) for each in said
    ]
    details = {
        **outcome.details,
        "ratings": ratings,
        "rationales": rationales,
        "error_messages": [None] * len(ratings),
    }
    return dataclasses.replace(
        outcome, details=details, scores={metric.key: precision(ratings)} if by_majority else outcome.scores
    )


def _details(rating: str | None, rationale: str | None, error: str | None) -> dict[str, Any]:
    return {"rating": rating, "rationale": rationale, "error_message": error}


def _raw(faults: Sequence[JudgeFault | None]) -> dict[str, str]:
    """The first reply that could not be read, to look at."""
    return next(({"raw_reply": fault.raw} for fault in faults if fault is not None and fault.unparsable), {})


def _of_chunks(ratings: Sequence[str | None], rationales: Sequence[str | None], failing: str) -> str:
    bad = [
        f"chunk {number} ({one_line(rationale or 'no rationale', CHUNK_REASON_CHARS)})"
        for number, (rating, rationale) in enumerate(zip(ratings, rationales, strict=True), 1)
        if rating == NO
    ]
    return f"{failing}, of {len(ratings)}: {listed(bad)}" if bad else ""
