"""Operational problems: hosts, empty answers, context, cost, time, storage, too little data."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_evalstudio.analysis.aggregators import Aggregator, ModelAggregator, Sample
from pytest_evalstudio.analysis.wording import cases, row_attributes
from pytest_evalstudio.core.outcomes import Severity
from pytest_evalstudio.core.problems import Problem
from pytest_evalstudio.record.schema import RunSettings
from pytest_evalstudio.stats.ranking import percentile
from pytest_evalstudio.text.figures import counted, figure


def operations(aggregator: Aggregator, storage_mb: float) -> Iterator[Problem]:
    """Yield problems of the models' hosts and of the data, model by model."""
    settings = aggregator.run.settings
    for model, counts in sorted(aggregator.models.items()):
        name = aggregator.run.model_name(model)
        yield from _hosts(model, name, counts)
        yield from _no_answers(model, name, counts)
        yield from _context(model, name, counts)
        yield from _forms(model, name, counts)
        yield from _costs(model, name, counts, settings)
        yield from _durations(model, name, counts, settings)
    yield from _too_few(aggregator, settings)
    limit = settings.max_storage_mb
    if limit is not None and storage_mb > limit:
        yield Problem(
            description=(
                f"The run's files take {figure(storage_mb)} MB, more than storage.max_mb = {figure(limit)}."
            ),
            severity="medium",
            problem_type="storage",
            avid="P0200",
            attributes={"storage_mb": storage_mb, "limit": limit},
            actions="Delete old reports and answers that are no longer needed, or raise the limit.",
        )


def _hosts(model: str, name: str, counts: ModelAggregator) -> Iterator[Problem]:
    if counts.host_errors.count:
        sample = counts.host_errors
        yield _grouped(
            f"Model {name!r} did not answer {cases(sample, 'question')}: {'; '.join(sample.texts)}",
            "high" if 2 * sample.count >= counts.rows else "medium",
            "runtime",
            "P0200",
            (model, name),
            sample,
            "Check the service, its key and its limits, then run again.",
        )
    if counts.retries:
        times = counted(counts.retries, "retry", "retries")
        yield _grouped(
            f"Model {name!r} needed {times} for {cases(counts.retried, 'question')}.",
            "low",
            "runtime",
            "P0200",
            (model, name),
            counts.retried,
            "Lower the concurrency or ask for a higher rate limit; durations of these rows count only the"
            " last attempt.",
        )


def _no_answers(model: str, name: str, counts: ModelAggregator) -> Iterator[Problem]:
    if counts.empty.count:
        yield _grouped(
            f"No answer: model {name!r} returned an empty text for {cases(counts.empty, 'question')}.",
            "high",
            "accuracy",
            "P0200",
            (model, name),
            counts.empty,
            "Look at the application's log for these questions: a filter, a limit of output tokens or a"
            " failed step often leaves the answer empty.",
        )


def _context(model: str, name: str, counts: ModelAggregator) -> Iterator[Problem]:
    if counts.no_context.count:
        yield _grouped(
            f"Model {name!r} retrieved nothing for {cases(counts.no_context, 'question')}.",
            "high" if 2 * counts.no_context.count >= counts.rag_rows else "medium",
            "retrieval",
            "P0100",
            (model, name),
            counts.no_context,
            "Check that the documents were ingested, and that chunk size and number of retrieved chunks suit"
            " the questions.",
        )


def _forms(model: str, name: str, counts: ModelAggregator) -> Iterator[Problem]:
    if counts.other_form.count:
        yield _grouped(
            f"{cases(counts.other_form, 'question')} of model {name!r} have an answer or an expectation with"
            " decomposed or invisible characters; they are compared in Unicode's composed form (NFC), without"
            " invisible characters.",
            "low",
            "data_quality",
            "P0100",
            (model, name),
            counts.other_form,
            "Nothing has to be done. Compose the texts where other programs compare them byte by byte.",
        )


def _costs(model: str, name: str, counts: ModelAggregator, settings: RunSettings) -> Iterator[Problem]:
    if counts.negative_costs.count:
        yield _grouped(
            f"Model {name!r} reported a negative cost for {cases(counts.negative_costs, 'answer')}; they are"
            " left out of its cost.",
            "low",
            "cost",
            "P0100",
            (model, name),
            counts.negative_costs,
            "Check the prices that the host reports.",
        )
    limit = settings.max_cost
    if counts.unpriced and (counts.priced or limit is not None):
        yield Problem(
            description=(
                f"The cost of {counts.unpriced} of {counted(counts.answered, 'answer')} of model {name!r} is"
                " not known, so its cost is too low."
            ),
            severity="low",
            problem_type="cost",
            avid="P0100",
            attributes={"model": model, "model_name": name, "count": counts.unpriced},
            actions="Configure the host's prices, or be careful with cost comparisons of this model.",
        )
    if limit is not None and counts.cost > limit:
        yield Problem(
            description=(
                f"The answers of model {name!r} cost {figure(counts.cost)}, more than max_cost ="
                f" {figure(limit)}."
            ),
            severity="medium",
            problem_type="cost",
            avid="P0200",
            attributes={"model": model, "model_name": name, "cost": counts.cost, "limit": limit},
            actions="Shorten prompts and contexts, choose a cheaper model, or raise the limit.",
        )


def _durations(model: str, name: str, counts: ModelAggregator, settings: RunSettings) -> Iterator[Problem]:
    limit = settings.max_latency_s
    if limit is None or not counts.durations:
        return
    slow = percentile(counts.durations, 95)
    if slow > limit:
        yield Problem(
            description=(
                f"The 95th percentile of the answer time of model {name!r} is {figure(slow)} s, more than"
                f" latency.max_s = {figure(limit)}."
            ),
            severity="high" if slow > 2 * limit else "medium",
            problem_type="efficiency",
            avid="P0200",
            attributes={"model": model, "model_name": name, "p95_s": slow, "limit": limit},
            actions="Look at the slowest answers: long contexts, long outputs, or a service that queues.",
        )


def _too_few(aggregator: Aggregator, settings: RunSettings) -> Iterator[Problem]:
    for id, by_model in aggregator.scores.items():
        min_cases = aggregator.evaluators[id].min_test_cases
        minimum = settings.min_test_cases if min_cases is None else min_cases
        for model, scores in sorted(by_model.items()):
            distinct = len(set(scores.cases))
            if 0 < distinct < minimum:
                name = aggregator.run.model_name(model)
                yield Problem(
                    description=(
                        f"{aggregator.evaluators[id].name} scored {counted(distinct, 'test case')} of model"
                        f" {name!r}, fewer than min_test_cases = {minimum}: its mean is not reliable."
                    ),
                    severity="medium",
                    problem_type="data_quality",
                    avid="P0100",
                    attributes={
                        "model": model,
                        "model_name": name,
                        "evaluator": id,
                        "count": distinct,
                        "limit": minimum,
                    },
                    actions=(
                        "Add test cases before you decide by this figure; its interval shows the uncertainty."
                    ),
                )


def _grouped(
    description: str,
    severity: Severity,
    problem_type: str,
    avid: str,
    model: tuple[str, str],
    sample: Sample,
    actions: str,
) -> Problem:
    return Problem(
        description=description,
        severity=severity,
        problem_type=problem_type,
        avid=avid,
        attributes={"count": sample.count, **row_attributes(*model, sample.keys)},
        actions=actions,
    )
