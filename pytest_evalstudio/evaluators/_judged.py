"""Base of the evaluators that ask a judge: judgements of a batch, votes of a panel, failures."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from msgspec import structs

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.judging import Flow, Judge, JudgeFault, Judgement, Judging, Vote, with_attachments
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.tools import Tools, provided
from pytest_evalstudio.evaluators._common import keywords
from pytest_evalstudio.evaluators._embedding_ahead import GROUP, EmbeddingAhead, Texts

T = TypeVar("T")
PARSE_FAILURES = "model_parse_failures"


def judge_keywords(nist: str, sr: str) -> tuple[str, ...]:
    """Return the tags of an evaluator that asks a judge; see `_common.keywords`."""
    tags = keywords(nist, sr, "evaluation-method-judge")
    return tuple(tag.replace("-type-deterministic", "-type-non-deterministic") for tag in tags)


def judged(
    cases: Sequence[Case],
    tools: Tools,
    metrics: Sequence[Metric],
    consider: Callable[[Case], Flow[T]],
    finish: Callable[[Sequence[tuple[Case, T]]], Sequence[Outcome]] | None = None,
    *,
    embeds: Texts[T] | None = None,
) -> list[Outcome]:
    """Let a judge, or each judge of a panel, judge a batch of cases.

    Args:
        cases: the batch.
        tools: tools with a judge.
        metrics: metrics of the evaluator.
        consider: judgement of one case; without `finish` it returns an outcome.
        finish: turns the results of all judgements into outcomes, e.g. to embed all texts at once.
        embeds: texts of a case and its judgement that `finish` embeds; they are embedded ahead.
    """
    judge = provided(tools.judge, "judge")

    def consider_with_attachments(case: Case) -> Flow[T]:
        return with_attachments(consider(case), case.media)

    judgements = _followed(cases, tools, judge, consider_with_attachments, embeds)
    return [_decided(of_case, metrics, judge) for of_case in _outcomes(cases, judgements, metrics, finish)]


def _followed(
    cases: Sequence[Case],
    tools: Tools,
    judge: Judge,
    consider: Callable[[Case], Flow[T]],
    embeds: Texts[T] | None,
) -> list[list[Judgement]]:
    # A single group has nothing to embed while the judge answers the next one.
    if embeds is None or tools.embedder is None or len(cases) <= GROUP:
        return judge.follow([functools.partial(consider, case) for case in cases])
    with EmbeddingAhead(tools.embedder, cases, embeds, judges=judge.members) as ahead:
        return judge.follow(
            [functools.partial(ahead.watched, index, consider) for index in range(len(cases))]
        )


def _outcomes(
    cases: Sequence[Case],
    judgements: Sequence[Sequence[Judgement]],
    metrics: Sequence[Metric],
    finish: Callable[[Sequence[tuple[Case, Any]]], Sequence[Outcome]] | None,
) -> list[list[tuple[Judgement, Outcome]]]:
    """Return the outcome of each judge's opinion per case."""
    good = [
        (case, judgement)
        for case, of_case in zip(cases, judgements, strict=True)
        for judgement in of_case
        if judgement.fault is None
    ]
    judged_outcomes = iter(
        finish([(case, judgement.value) for case, judgement in good])
        if finish
        else [judgement.value for _, judgement in good]
    )
    return [
        [
            (judgement, fault_outcome(judgement.fault, metrics) if judgement.fault else next(judged_outcomes))
            for judgement in of_case
        ]
        for of_case in judgements
    ]


def fault_outcome(fault: JudgeFault, metrics: Sequence[Metric] = ()) -> Outcome:
    """Return an error; an unreadable reply counts as a parse failure if the metrics have one."""
    error = Outcome.error(str(fault), fault.code)
    if fault.code == OutcomeCode.JUDGE_FAILED:  # there is no reply to keep, and none to parse
        return error
    failures = [metric.key for metric in metrics if metric.key == PARSE_FAILURES and fault.unparsable]
    return structs.replace(error, scores=dict.fromkeys(failures, 1.0), details={"raw_reply": fault.raw})


def _decided(
    of_case: Sequence[tuple[Judgement, Outcome]], metrics: Sequence[Metric], judge: Judge
) -> Outcome:
    spent = sum((judgement.spent for judgement, _ in of_case), Judging())
    if len(of_case) == 1:
        outcome = of_case[0][1]
    else:
        outcome = vote(
            [outcome for _, outcome in of_case],
            [judgement.judge for judgement, _ in of_case],
            metrics,
            judge.vote,
        )
    # The budget explains the error better than the fault of the judge that was not asked.
    if outcome.status == "error" and spent.over_budget:
        outcome = structs.replace(outcome, code=OutcomeCode.BUDGET_EXHAUSTED)
    return structs.replace(outcome, judging=spent)


def vote(outcomes: Sequence[Outcome], judges: Sequence[str], metrics: Sequence[Metric], how: Vote) -> Outcome:
    """Combine the outcomes of a panel.

    More than half of the judges must have an outcome, else the first error is returned; judges without an
    outcome do not vote. By majority, a boolean metric gets the value of the majority, the worse one at a tie;
    other metrics are averaged.
    """
    valid = [outcome for outcome in outcomes if outcome.status != "error"]
    reason = "; ".join(
        f"{name}: {_word(outcome, metrics)}" for name, outcome in zip(judges, outcomes, strict=True)
    )
    # Half of the judges is no majority: the others could have decided otherwise.
    if 2 * len(valid) <= len(outcomes):
        return structs.replace(
            next(outcome for outcome in outcomes if outcome.status == "error"), reason=reason
        )
    scored = [outcome for outcome in valid if outcome.status == "score"]
    if 2 * len(scored) <= len(valid):
        return next(outcome for outcome in valid if outcome.status == "not_applicable")
    scores = {
        metric.key: _voted(metric, [outcome.scores.get(metric.key) for outcome in scored], how)
        for metric in metrics
    }
    # Marks of one judge alone: those of several overlap, with scores of their own.
    fragments = scored[0].fragments
    judgements = [
        {
            "judge": name,
            "status": outcome.status,
            "scores": dict(outcome.scores),
            "reason": outcome.reason,
            **outcome.details,
        }
        for name, outcome in zip(judges, outcomes, strict=True)
    ]
    findings = next((outcome.findings for outcome in scored if outcome.findings), ())
    return Outcome.score(
        scores,
        reason=reason,
        fragments=fragments,
        findings=findings,
        details={**_shared(scored), "panel": judgements},
    )


def _voted(metric: Metric, values: Sequence[float | None], how: Vote) -> float | None:
    numbers = [value for value in values if value is not None]
    if not numbers:
        return None
    mean = sum(numbers) / len(numbers)
    if how == "mean" or not metric.boolean or not set(numbers) <= {0.0, 1.0}:
        return mean  # a boolean metric of chunks is a share of them
    return metric.worst if mean == 0.5 else float(mean > 0.5)


def _word(outcome: Outcome, metrics: Sequence[Metric]) -> str:
    if outcome.status != "score":
        return outcome.reason
    primary = next((metric for metric in metrics if metric.primary), metrics[0])
    value = outcome.scores.get(primary.key)
    return f"{'none' if value is None else format(value, 'g')}" + (
        f" ({outcome.reason})" if outcome.reason else ""
    )


def _shared(scored: Sequence[Outcome]) -> Mapping[str, Any]:
    """Return the details on which the judges agree."""
    first = scored[0].details
    return {
        key: value
        for key, value in first.items()
        if all(outcome.details.get(key) == value for outcome in scored)
    }
