"""Base of the judges of Agent Evaluation: yes or no with a rationale, for the answer or for each chunk.

Source: Mosaic AI Agent Evaluation, LLM judges reference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import structs

from pytest_evalstudio.core.cases import NOTHING, Case
from pytest_evalstudio.core.json_data import non_empty
from pytest_evalstudio.core.judging import Consistency, Flow, Question
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.replies import NO, YES, choice, record, text
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._common import listed
from pytest_evalstudio.evaluators._judged import fault_outcome, judged
from pytest_evalstudio.evaluators._similarity import has_words
from pytest_evalstudio.metrics.quoting import one_line
from pytest_evalstudio.metrics.ranking import precision

REASON_CHARS = 600
CHUNK_REASON_CHARS = 200
RATIONALE = "The evidence, in one to three sentences. Do not repeat personal data or offensive words."

Texts = Mapping[str, str | Sequence[str]]


def rating_metric(name: str, description: str) -> Metric:
    """Return the metric of a yes-or-no judge: 1.0 for yes."""
    return Metric(
        "rating", f"{name} (yes = 1)", threshold=0.5, primary=True, description=description, boolean=True
    )


def expected_texts(case: Case) -> dict[str, str | list[str]]:
    """Return the expected answer and the expected facts of a case, as far as it has them, for a prompt."""
    facts = [fact for fact in case.expected_facts if fact.strip()]
    answer = {"expected_answer": case.reference} if case.expected_output.strip() else {}
    return {**answer, **non_empty(expected_fact=facts)}


def question(
    prompt: str,
    texts: Texts,
    question_text: str,
    *,
    rationale: str = RATIONALE,
    settings: Mapping[str, Any] = NOTHING,
    evidence: Mapping[str, Mapping[str, Any]] = NOTHING,
    consistency: Consistency | None = None,
) -> Question:
    """Return a question that the judge answers with a rationale and a rating, in this order.

    Args:
        prompt: name of the prompt.
        texts: texts that the judge sees.
        question_text: the question in a sentence.
        rationale: instruction for the rationale.
        settings: settings of the prompt.
        evidence: schemas of what the judge writes before the rationale, by name.
        consistency: check of the evidence against the rating.
    """
    return Question(
        prompt=prompt,
        texts=texts,
        settings=settings,
        reply=record(**evidence, rationale=text(rationale), rating=choice(question_text)),
        consistency=consistency,
    )


def rated(request: Question) -> Flow[Outcome]:
    """Ask one question.

    The outcome's details are rating, rationale and error message, each possibly None, and the evidence.
    """
    [reply] = yield [request]
    if reply.fault is not None:
        error = fault_outcome(reply.fault)
        # The same keys in each case, so that exports have the same columns for errors.
        return structs.replace(error, details={**_details(None, None, str(reply.fault)), **error.details})
    rating, rationale = reply["rating"], reply["rationale"]
    evidence = {key: value for key, value in reply.content.items() if key not in ("rating", "rationale")}
    return Outcome.score(
        {"rating": float(rating == YES)},
        reason=one_line(rationale, REASON_CHARS),
        details={**_details(rating, rationale, None), **evidence},
    )


def rated_chunks(case: Case, metric: str, ask: Callable[[str], Question], failing: str) -> Flow[Outcome]:
    """Rate each retrieved chunk separately and return the share that is rated yes.

    A chunk without words is rated no without asking the judge. If any chunk cannot be judged, the outcome is
    an error; its details have the ratings of the other chunks.

    Args:
        case: the case.
        metric: key of the share.
        ask: returns the question about a chunk.
        failing: description of a chunk that is rated no.
    """
    indices = [index for index, chunk in enumerate(case.context) if has_words(chunk)]
    replies = dict(zip(indices, (yield [ask(case.context[index]) for index in indices]), strict=True))
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
        error = fault_outcome(next(reply.fault for reply in replies.values() if reply.fault is not None))
        return structs.replace(error, reason=reason, details={**details, **error.details})
    return Outcome.score(
        {metric: precision([rating == YES for rating in ratings])},
        reason=_of_chunks(ratings, rationales, failing),
        details=details,
    )


def assessed(
    cases: Sequence[Case],
    tools: Tools,
    metrics: Sequence[Metric],
    consider: Callable[[Case], Flow[Outcome]],
) -> list[Outcome]:
    """Judge a batch as `judged` does and complete the details of every scored outcome.

    The rating of a panel is the majority of its judges, no at a tie; for chunks, that of each chunk. By mean,
    the rating is yes if the score meets the metric's threshold, as a tie of yes and no does.
    """
    outcomes = judged(cases, tools, metrics, consider)
    by_majority = tools.judge is not None and tools.judge.vote == "majority"
    return [
        _completed(outcome, metrics[0], by_majority) if outcome.status == "score" else outcome
        for outcome in outcomes
    ]


def _completed(outcome: Outcome, metric: Metric, by_majority: bool) -> Outcome:
    judgements = [
        judgement for judgement in outcome.details.get("panel", ()) if judgement["status"] == "score"
    ]
    if judgements and "ratings" in judgements[0]:
        return _voted_chunks(outcome, metric, judgements, by_majority)
    # A single judge: its details are complete already.
    if {"rating", "ratings"} & set(outcome.details) and not judgements:
        return outcome
    rating = YES if metric.passes(outcome.scores[metric.key] or 0.0) else NO
    return structs.replace(outcome, details={**outcome.details, **_details(rating, outcome.reason, None)})


def _voted_chunks(
    outcome: Outcome, metric: Metric, judgements: Sequence[Mapping[str, Any]], by_majority: bool
) -> Outcome:
    columns = list(zip(*(judgement["ratings"] for judgement in judgements), strict=True))
    ratings = [_chunk_rating(column.count(YES), len(column), by_majority) for column in columns]
    rationale_rows = zip(*(judgement["rationales"] for judgement in judgements), strict=True)
    rationales = [
        "; ".join(
            f"{judgement['judge']}: {reason}" for judgement, reason in zip(judgements, each, strict=True)
        )
        for each in rationale_rows
    ]
    details = {
        **outcome.details,
        "ratings": ratings,
        "rationales": rationales,
        "error_messages": [None] * len(ratings),
    }
    return structs.replace(
        outcome,
        details=details,
        scores={metric.key: precision([rating == YES for rating in ratings])}
        if by_majority
        else outcome.scores,
    )


def _chunk_rating(yes: int, judges: int, by_majority: bool) -> str:
    return YES if 2 * yes > judges or (2 * yes == judges and not by_majority) else NO


def _details(rating: str | None, rationale: str | None, error: str | None) -> dict[str, Any]:
    return {"rating": rating, "rationale": rationale, "error_message": error}


def _of_chunks(ratings: Sequence[str | None], rationales: Sequence[str | None], failing: str) -> str:
    bad = [
        f"chunk {number} ({one_line(rationale or 'no rationale', CHUNK_REASON_CHARS)})"
        for number, (rating, rationale) in enumerate(zip(ratings, rationales, strict=True), 1)
        if rating == NO
    ]
    return f"{failing}, of {len(ratings)}: {listed(bad)}" if bad else ""
