"""Analysis of a run's record in one pass: leaderboards, problems, insights, flips, gates, data."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pytest_evalstudio.analysis.aggregators import Aggregator, ModelAggregator
from pytest_evalstudio.analysis.causes import Cause, CauseKey
from pytest_evalstudio.analysis.confirmations import NO_CONFIRMATIONS, Confirmations
from pytest_evalstudio.analysis.coverage import COMPLETE, NO_INCOMPLETE_ANSWERS, Coverage, IncompleteAnswers
from pytest_evalstudio.analysis.flip_rates import FlipRate, Sensitivity, flip_rates, sensitivities
from pytest_evalstudio.analysis.gates import GateResult, TermValue, evaluate_gates, parse_gate
from pytest_evalstudio.analysis.insights import find_insights, hardest_cases
from pytest_evalstudio.analysis.judging import JudgingFigures, judging_figures
from pytest_evalstudio.analysis.leaderboards import Leaderboard, build_leaderboards
from pytest_evalstudio.analysis.population import Population
from pytest_evalstudio.analysis.problems import find_problems, leaks
from pytest_evalstudio.analysis.ranking import PairedModels
from pytest_evalstudio.analysis.repeats import NO_REPEATS, RepeatAnalysis
from pytest_evalstudio.analysis.run_info import (
    NO_STORED_ANSWERS,
    NO_TRACED_ANSWERS,
    StoredAnswers,
    TracedAnswers,
)
from pytest_evalstudio.analysis.samples import JudgedItems
from pytest_evalstudio.analysis.shrunk import NO_SHRUNK_FLIPS, ShrunkFlips
from pytest_evalstudio.core.cases import NOTHING
from pytest_evalstudio.core.outcomes import SEVERITIES
from pytest_evalstudio.core.plugins.evaluator import Aggregates
from pytest_evalstudio.core.problems import Insight, Problem
from pytest_evalstudio.record.reader import RecordReader
from pytest_evalstudio.record.schema import VERDICTS, EvaluatorEntry, Item, Run
from pytest_evalstudio.stats.ranking import percentile
from pytest_evalstudio.text.figures import counted

HARDEST = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Distribution of some numbers, in seconds or characters."""

    n: int
    least: float
    mean: float
    median: float
    p95: float
    p99: float
    greatest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFigures:
    """Operation of one model.

    Attributes:
        rows: number of questions asked, including repeats.
        answered: number of questions with an answer, also an empty one.
        empty: number of questions with an empty answer.
        duration_s: durations of the answers, None without any.
        first_token_s: times to the first part of streamed answers, None without any.
        cost: sum of the known, not negative costs; None where none is known.
        unpriced: answers whose cost is not known.
        stored: answers that an earlier run stored.
        not_run_reason: of the first item whose model was not asked, "" where all were asked.
        access_refused: items that were not run since the service refused access.
        unchecked: items for which nothing checked that the answer is right.
        retrieving: answers that were to come with chunks: those of a model that retrieves.
        without_chunks: those of them that came without any, other than to questions that are to be refused.
    """

    key: str
    name: str
    verdicts: Mapping[str, int]
    rows: int
    answered: int
    failed: int
    retries: int
    duration_s: Spread | None
    first_token_s: Spread | None
    cost: float | None
    unpriced: int
    usage: Mapping[str, int]
    is_rag: bool
    stored: int = 0
    empty: int = 0
    not_run_reason: str = ""
    access_refused: int = 0
    unchecked: int = 0
    retrieving: int = 0
    without_chunks: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetFigures:
    """Size and composition of the run's data.

    Attributes:
        items: test cases times models, and checks of tests in Python.
        tests: tests that pytest counts; a test in Python may have several checks.
        cases: distinct test cases.
        rows: number of requested answers, including repeats.
        perturbed: distinct cases that are perturbations of others.
        lengths: characters, by kind of text.
        categories: distinct cases per category that people gave.
        files: distinct cases per file.
    """

    items: int
    tests: int
    cases: int
    rows: int
    perturbed: int
    lengths: Mapping[str, Spread]
    categories: Mapping[str, int]
    files: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class HardCase:
    """A prompt that models fail."""

    key: str
    file: str
    question: str
    failed: int
    judged: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """A run as people want to see it.

    Attributes:
        hardest: evaluator id to the prompts that the most models fail, the hardest first.
        verdicts: items by verdict, all verdicts present.
        flaky: items that passed after an attempt that did not.
        reruns: items that were run again, the first of the run; without rows and verdicts.
        judging: what judging took, by evaluator; none where no judge was asked.
        repeats: reliability over repeats, flaky cases and sequential tests.
        stored: answers that an earlier run stored.
        traced: answers for which spans of the application were awaited.
        confirmations: regressions that were asked again.
        shrunk_flips: flips whose smallest edit was searched.
        coverage: test cases that nothing checked, and expectations that nothing read.
        incomplete: answers that were cut or filtered.
        causes: of the failures; each failure has one.
        pairs: models on the questions that both were asked; none where the record is an excerpt.
        judged: evaluator id to the numbers of its failing, broken and flipped items.
        note: sentences that say which rows the figures and the lists are of; none where they are of all.
        listed_failures: evaluator id to the failed cases of the record, where the record is an excerpt of the
            rows that the figures are of; None where it has all of them.
    """

    run: Run
    evaluators: Mapping[str, EvaluatorEntry]
    leaderboards: Mapping[str, Leaderboard]
    problems: tuple[Problem, ...]
    insights: tuple[Insight, ...]
    flip_rates: tuple[FlipRate, ...]
    sensitivities: tuple[Sensitivity, ...]
    gates: tuple[GateResult, ...]
    verdicts: Mapping[str, int]
    models: tuple[ModelFigures, ...]
    dataset: DatasetFigures
    hardest: Mapping[str, tuple[HardCase, ...]]
    judging: tuple[JudgingFigures, ...] = ()
    flaky: int = 0
    reruns: tuple[Item, ...] = ()
    repeats: RepeatAnalysis = NO_REPEATS
    stored: StoredAnswers = NO_STORED_ANSWERS
    traced: TracedAnswers = NO_TRACED_ANSWERS
    confirmations: Confirmations = NO_CONFIRMATIONS
    shrunk_flips: ShrunkFlips = NO_SHRUNK_FLIPS
    coverage: Coverage = COMPLETE
    incomplete: IncompleteAnswers = NO_INCOMPLETE_ANSWERS
    causes: tuple[Cause, ...] = ()
    pairs: tuple[PairedModels, ...] = ()
    judged: Mapping[str, JudgedItems] = field(default_factory=dict)
    note: tuple[str, ...] = ()
    listed_failures: Mapping[str, int] | None = None

    @property
    def retrieval_gap(self) -> str:
        """Return how many answers of models that retrieve came without a chunk, "" where none did."""
        without = sum(model.without_chunks for model in self.models)
        total = sum(model.retrieving for model in self.models)
        return f"{without:,} of {counted(total, 'answer')} came without any chunk" if without else ""


def analyse(
    record_path: Path,
    aggregates: Mapping[str, Aggregates],
    *,
    storage_mb: float | None = None,
    also: Iterable[Callable[[Item], None]] = (),
    on_failure: Callable[[Item, CauseKey], None] | None = None,
    terms: Mapping[str, TermValue] = NOTHING,
    population: Population | None = None,
) -> Analysis:
    """Read a record once and return its analysis.

    Args:
        aggregates: evaluator id to the object whose `aggregate` gives its model-wide figures.
        storage_mb: megabytes that cache and output take; the record's own where not given.
        also: called with each item of the same pass, in order.
        on_failure: called with each item that did not end as expected, and its cause.
        terms: values of the terms of gates that name models, by term.
        population: figures of all rows, where the record is an excerpt of them.

    Raises:
        DataError: if the file is not a record.
    """
    record = RecordReader(record_path)
    aggregator = Aggregator(record.run, aggregates)
    others = tuple(also)
    try:
        for item in record.items():
            cause = aggregator.add(item)
            if cause is not None and on_failure is not None:
                on_failure(item, cause)
            for consume in others:
                consume(item)
        megabytes = record_path.stat().st_size / 1e6 if storage_mb is None else storage_mb
        if population is None:
            return _analysis(aggregator, build_leaderboards(aggregator, aggregates), megabytes, terms)
        for model, counts in aggregator.models.items():
            counts.empty.count = population.empty.get(model, 0)
        analysis = _analysis(aggregator, population.boards, megabytes, terms)
        return replace(_of_population(analysis, population), listed_failures=_failures(aggregator))
    finally:
        aggregator.close()


def _analysis(
    aggregator: Aggregator,
    boards: Mapping[str, Leaderboard],
    storage_mb: float,
    terms: Mapping[str, TermValue],
) -> Analysis:
    run = aggregator.run
    names = {key: run.model_name(key) for key in sorted(aggregator.models)}
    rates = flip_rates(aggregator)
    return Analysis(
        run=run,
        evaluators=aggregator.evaluators,
        leaderboards=boards,
        problems=tuple(find_problems(aggregator, boards, storage_mb=storage_mb)),
        insights=tuple(find_insights(aggregator, boards, rates)),
        flip_rates=rates,
        sensitivities=sensitivities(aggregator),
        gates=tuple(evaluate_gates([parse_gate(text) for text in run.gates], boards, names, terms)),
        verdicts={verdict: aggregator.verdicts[verdict] for verdict in VERDICTS},
        models=tuple(
            _model(aggregator, key, aggregator.models[key])
            for key in sorted(aggregator.models, key=lambda key: (names[key], key))
        ),
        dataset=_dataset(aggregator),
        hardest={id: _hardest(aggregator, info) for id, info in aggregator.evaluators.items()},
        judging=judging_figures(aggregator),
        flaky=aggregator.flaky,
        reruns=tuple(aggregator.reruns),
        repeats=aggregator.repeats.analysis(aggregator.cases.originals),
        stored=_stored(aggregator),
        traced=TracedAnswers(
            total=aggregator.spans.total(),
            missing=aggregator.spans["missing"],
            incomplete=aggregator.spans["incomplete"],
        ),
        confirmations=aggregator.confirmations.result(),
        shrunk_flips=aggregator.shrunk_flips.result(),
        coverage=aggregator.coverage.result(),
        incomplete=aggregator.incomplete.result(),
        causes=aggregator.causes.result(),
        pairs=aggregator.outcomes.pairs(aggregator.cases.originals()),
        judged=aggregator.judged,
    )


def _stored(aggregator: Aggregator) -> StoredAnswers:
    first, last = aggregator.stored_times
    return StoredAnswers(
        count=sum(model.stored for model in aggregator.models.values()),
        total=sum(model.answered for model in aggregator.models.values()),
        first=first,
        last=last,
        continues=aggregator.run.continues,
    )


def _failures(aggregator: Aggregator) -> dict[str, int]:
    """Return the number of failed cases by evaluator."""
    return {
        id: sum(scores.judged - scores.passed for scores in by_model.values())
        for id, by_model in aggregator.scores.items()
    }


def _of_population(analysis: Analysis, population: Population) -> Analysis:
    """Return the analysis of an excerpt with the numbers of all rows."""
    of_models = population.verdicts.values()
    counts: Mapping[str, int] = {verdict: sum(by.get(verdict, 0) for by in of_models) for verdict in VERDICTS}
    models = tuple(
        replace(
            model,
            verdicts={verdict: by.get(verdict, 0) for verdict in VERDICTS},
            rows=sum(by.values()),
            answered=sum(by.values()),
        )
        for model in analysis.models
        for by in [population.verdicts.get(model.key, {})]
    )
    total = sum(counts.values())
    problems = (*leaks(population.boards), *analysis.problems)
    return replace(
        analysis,
        verdicts=counts,
        models=models,
        dataset=replace(analysis.dataset, items=total, tests=total, rows=total),
        problems=tuple(sorted(problems, key=lambda problem: SEVERITIES.index(problem.severity))),
        # The rows of an excerpt are not a sample: those that fail come first.
        pairs=(),
        note=population.note,
    )


def _model(aggregator: Aggregator, key: str, counts: ModelAggregator) -> ModelFigures:
    return ModelFigures(
        key=key,
        name=aggregator.run.model_name(key),
        verdicts={verdict: counts.verdicts[verdict] for verdict in VERDICTS},
        rows=counts.rows,
        answered=counts.answered,
        failed=counts.rows - counts.answered,
        retries=counts.retries,
        duration_s=_spread(counts.durations),
        first_token_s=_spread(counts.first_tokens),
        cost=counts.cost if counts.priced else None,
        unpriced=counts.unpriced,
        usage=dict(sorted(counts.usage.items())),
        is_rag=counts.rag_rows > 0,
        stored=counts.stored,
        empty=counts.empty.count,
        not_run_reason=next(iter(counts.not_run.texts), ""),
        access_refused=counts.access_refused,
        unchecked=counts.unchecked,
        retrieving=counts.rag_rows,
        without_chunks=counts.no_context.count,
    )


def _dataset(aggregator: Aggregator) -> DatasetFigures:
    spreads = {part: _spread(lengths) for part, lengths in aggregator.lengths.items()}
    return DatasetFigures(
        items=aggregator.items,
        tests=aggregator.tests,
        cases=len(aggregator.cases.keys),
        rows=sum(counts.rows for counts in aggregator.models.values()),
        perturbed=len(aggregator.cases.sources),
        lengths={part: spread for part, spread in spreads.items() if spread is not None},
        categories=dict(sorted(aggregator.categories.items(), key=lambda entry: (-entry[1], entry[0]))),
        files=dict(sorted(aggregator.files.items())),
    )


def _hardest(aggregator: Aggregator, info: EvaluatorEntry) -> tuple[HardCase, ...]:
    marks = aggregator.marks[info.id]
    return tuple(
        HardCase(
            key=aggregator.cases.keys[case][1],
            file=aggregator.cases.keys[case][0],
            question=aggregator.cases.excerpt(case),
            failed=marks.failed[case],
            judged=marks.judged[case],
        )
        for case in hardest_cases(info, marks, HARDEST, models=min(2, len(aggregator.models)))
    )


def _spread(numbers: array[float] | array[int]) -> Spread | None:
    if not numbers:
        return None
    return Spread(
        n=len(numbers),
        least=float(min(numbers)),
        mean=sum(numbers) / len(numbers),
        median=percentile(numbers, 50),
        p95=percentile(numbers, 95),
        p99=percentile(numbers, 99),
        greatest=float(max(numbers)),
    )
