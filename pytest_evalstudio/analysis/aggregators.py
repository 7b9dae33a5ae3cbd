"""Aggregation of a run's items in one pass; only numbers and short excerpts of texts are kept."""

from __future__ import annotations

import math
import sys
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import msgspec

from pytest_evalstudio.analysis.causes import CauseCounter, CauseKey
from pytest_evalstudio.analysis.confirmations import ConfirmationCounter
from pytest_evalstudio.analysis.coverage import CoverageCounter, IncompleteCounter
from pytest_evalstudio.analysis.ranking import OutcomeBook
from pytest_evalstudio.analysis.repeats import RepeatAggregator
from pytest_evalstudio.analysis.samples import (
    FIRST_KEYS,
    CaseBook,
    CaseFlip,
    CaseMarks,
    FaultKind,
    FoundProblem,
    JudgedItems,
    Lowest,
    ModelAggregator,
    Perturbed,
    Sample,
    ScoreAggregator,
    visible_categories,
)
from pytest_evalstudio.analysis.shrunk import ShrunkFlipCounter
from pytest_evalstudio.analysis.spools import Spool
from pytest_evalstudio.core.codes import ItemCode, OutcomeCode
from pytest_evalstudio.core.errors import DataError, EvaluationError
from pytest_evalstudio.core.origins import SOURCE, Origin, origin
from pytest_evalstudio.core.outcomes import Finding, Outcome, Verdict
from pytest_evalstudio.core.text import EXCERPT_CHARS
from pytest_evalstudio.core.tracing import SpanStatus
from pytest_evalstudio.formats.condition import parse_condition
from pytest_evalstudio.record.codec import iso_time
from pytest_evalstudio.record.schema import EvaluatorEntry, Item, RecordRow, Run
from pytest_evalstudio.text.comparable import differs_in_form

if TYPE_CHECKING:
    from pytest_evalstudio.metrics.rag_stages import RagStage

__all__ = [
    "FIRST_KEYS",
    "LISTED",
    "MAX_RERUNS",
    "Aggregator",
    "CaseBook",
    "CaseFlip",
    "CaseMarks",
    "FaultKind",
    "FoundProblem",
    "JudgedItems",
    "Lowest",
    "ModelAggregator",
    "Perturbed",
    "Sample",
    "ScoreAggregator",
    "visible_categories",
]

MAX_RERUNS = 100
"""Items with earlier attempts that an analysis lists."""
LISTED = 1_000
"""Maximum number of flips, and of findings, that are reported as separate problems."""

_FAULT_KINDS: Mapping[str, FaultKind] = {
    OutcomeCode.NOT_A_NUMBER: "nan",
    OutcomeCode.JUDGE_FAILED: "judge",
    OutcomeCode.JUDGE_UNREADABLE: "judge",
    OutcomeCode.JUDGE_CONTRADICTORY: "judge",
}
"""Outcome codes to groups of problems; all other errors are "other"."""


class Aggregator:
    """The numbers of a run, item by item.

    Args:
        run: the record's header.
        aggregated: ids of the evaluators whose model-wide figures need the labels again; close() frees them.
    """

    def __init__(self, run: Run, aggregated: Iterable[str] = ()) -> None:
        self.run = run
        self.evaluators: dict[str, EvaluatorEntry] = run.evaluators
        self.verdicts: Counter[str] = Counter()
        self.items = 0
        self.tests = 0
        self.flaky = 0
        self.reruns: list[Item] = []
        self.cases = CaseBook()
        self.models: dict[str, ModelAggregator] = {}
        self.scores: dict[str, dict[str, ScoreAggregator]] = {id: {} for id in self.evaluators}
        self.marks: dict[str, CaseMarks] = {id: CaseMarks() for id in self.evaluators}
        self.scored_bits: dict[tuple[int, str], int] = {}
        self.perturbed: list[Perturbed] = []
        self.flips: list[CaseFlip] = []
        self.more_flips: dict[tuple[str, str], Sample] = {}
        self.findings: list[FoundProblem] = []
        self.more_findings: dict[tuple[str, str, str, str], Sample] = {}
        self.lowest: dict[str, Lowest] = {}
        self.categories: Counter[str] = Counter()
        self.files: Counter[str] = Counter()
        self.lengths: dict[str, array[int]] = {
            part: array("L") for part in ("question", "expected answer", "actual answer", "context chunk")
        }
        self.stored_times: tuple[str, str] = ("", "")
        self.spans: Counter[SpanStatus] = Counter()
        self.confirmations = ConfirmationCounter()
        self.shrunk_flips = ShrunkFlipCounter()
        self.coverage = CoverageCounter()
        self.incomplete = IncompleteCounter()
        self.causes = CauseCounter(run)
        self.outcomes = OutcomeBook()
        self.judged: dict[str, JudgedItems] = {id: JudgedItems() for id in self.evaluators}
        self.repeats = RepeatAggregator(run, self.evaluators)
        self.spool = Spool(id for id in aggregated if id in self.evaluators)
        self._bits = _flip_bits(self.evaluators.values())
        self._primary = {id: info.primary.key for id, info in self.evaluators.items()}
        self._grounded = {
            id: info.sentence_metric.key
            for id, info in self.evaluators.items()
            if "context" in info.needs and info.sentence_metric.better == "higher"
        }

    def close(self) -> None:
        self.spool.close()

    def add(self, item: Item) -> CauseKey | None:
        """Take one finished item of the record; return the cause where it did not end as expected."""
        self.items += 1
        self.tests += item.part == 0
        if item.attempts and item.part == 0:
            self._rerun(item)
        self.verdicts[item.verdict] += 1
        model = self.models.setdefault(item.model_key, ModelAggregator())
        model.verdicts[item.verdict] += 1
        if item.verdict == "not_run":
            model.not_run.note(item.key, item.reason.removeprefix("not run: "))
            model.access_refused += item.code == ItemCode.ACCESS_REFUSED
        case = self._case(item)
        self.confirmations.add(item, self.cases.excerpts[case])
        self.shrunk_flips.add(item)
        self.coverage.add(item)
        for row in item.rows:
            self._row(item, row, case, model)
            self.incomplete.add(item.nodeid, row)
        stage = _rag_stage(item.rows[0]) if item.verdict == "failed" and item.rows else None
        if stage:
            model.rag_stages.setdefault(stage, Sample()).note(item.key)
        cause = self.causes.add(item, stage or "")
        model.unchecked += item.unchecked
        # A pass that nothing checked does not show that a model is better.
        if not item.unchecked or item.verdict in ("failed", "error"):
            self.outcomes.add(case, item.model_key, item.verdict)
        bits = 0
        for id, verdict in item.verdicts.items():
            bits |= self._verdict(id, verdict, case, item.model_key)
            if id in self.judged:
                self.judged[id].add(id, verdict, item.flips)
        self.scored_bits[case, item.model_key] = bits
        self._flips(item, case)
        self.repeats.add(item, case)
        return cause

    def _rerun(self, item: Item) -> None:
        self.flaky += item.flaky
        if len(self.reruns) < MAX_RERUNS:
            plain_item = msgspec.structs.replace(item, rows=(), verdicts={}, flips=())
            self.reruns.append(plain_item)

    def model_scores(self, evaluator: str, model: str) -> ScoreAggregator:
        by_model = self.scores[evaluator]
        if model not in by_model:
            by_model[model] = ScoreAggregator()
        return by_model[model]

    def flip_bit(self, evaluator: str, metric: str) -> int:
        """Return the metric's bit in `scored_bits`, or 0 for a metric that cannot flip."""
        return self._bits.get((evaluator, metric), 0)

    def _case(self, item: Item) -> int:
        identity = (sys.intern(item.file), item.key)
        case = self.cases.ids.get(identity)
        if case is None:
            case = len(self.cases.keys)
            self.cases.ids[identity] = case
            self.cases.keys.append(identity)
            self.cases.excerpts.append("")
            self.files[item.file] += 1
        if item.rows and not self.cases.excerpts[case]:
            first = item.rows[0]
            self.cases.excerpts[case] = first.question[:EXCERPT_CHARS]
            self.lengths["question"].append(len(first.question))
            if first.expected_output:
                self.lengths["expected answer"].append(len(first.expected_output))
            self.categories.update(visible_categories(first.categories))
            for link in first.relationships:
                if link.type == SOURCE:
                    self.cases.sources[case] = (item.file, link.target)
        return case

    def _row(self, item: Item, row: RecordRow, case: int, model: ModelAggregator) -> None:
        model.rows += 1
        if row.answer.retries:
            model.retries += row.answer.retries
            model.retried.note(item.key)
        if row.answer.error:
            model.host_errors.note(item.key, row.answer.error)
        else:
            self._answer(item.key, row, model)
        if any(map(differs_in_form, (row.answer.text, row.expected_output, row.condition))):
            model.other_form.note(item.key)
        if any(map(_is_empty_answer, row.outcomes.values())):
            model.empty.note(item.key)
        for id, outcome in row.outcomes.items():
            if id in self.evaluators:
                self._outcome(self.evaluators[id], outcome, item, row, case)

    def _answer(self, key: str, row: RecordRow, model: ModelAggregator) -> None:
        model.answered += 1
        if row.answer.stored_at is not None:
            model.stored += 1
            first, last = self.stored_times
            stored = iso_time(row.answer.stored_at)
            self.stored_times = (min(first or stored, stored), max(last, stored))
        if row.answer.spans:
            self.spans[row.answer.spans] += 1
        if row.answer.duration_s:  # labs without times have 0
            model.durations.append(row.answer.duration_s)
        if row.answer.first_token_s is not None:
            model.first_tokens.append(row.answer.first_token_s)
        self.lengths["actual answer"].append(len(row.answer.text))
        if row.answer.cost_usd is None:
            model.unpriced += 1
        elif row.answer.cost_usd < 0:
            model.negative_costs.note(key)
        else:
            model.priced += 1
            model.cost += row.answer.cost_usd
        for kind, count in row.answer.usage.items():
            model.usage[kind] += count
        for chunk in row.answer.context:
            self.lengths["context chunk"].append(len(chunk))
        if row.is_rag:
            model.rag_rows += 1
            if row.expects != "refusal" and not any(chunk.strip() for chunk in row.answer.context):
                model.no_context.note(key)

    def _outcome(self, info: EvaluatorEntry, outcome: Outcome, item: Item, row: RecordRow, case: int) -> None:
        aggregator = self.model_scores(info.id, item.model_key)
        if outcome.code == OutcomeCode.NOTHING_ENCODED:
            aggregator.nothing_encoded.note(item.key, outcome.reason)
        if outcome.status == "score":
            self._scored(info, aggregator, outcome, item, row, case)
        elif outcome.status == "error":
            aggregator.errors += 1
            if outcome.scores:
                _take_values(info, aggregator, outcome.scores, case)
            if outcome.code == OutcomeCode.BUDGET_EXHAUSTED:
                aggregator.not_asked.note(item.key, outcome.reason)
            elif not row.answer.error:
                aggregator.faults.setdefault(_FAULT_KINDS.get(outcome.code, "other"), Sample()).note(
                    item.key, outcome.reason
                )
        else:
            aggregator.not_applicable += 1
        for finding in outcome.findings:
            self._finding(info, finding, item)
        if outcome.judging is not None:
            aggregator.judging += outcome.judging

    def _scored(
        self,
        info: EvaluatorEntry,
        aggregator: ScoreAggregator,
        outcome: Outcome,
        item: Item,
        row: RecordRow,
        case: int,
    ) -> None:
        scores = outcome.scores
        aggregator.scored += 1
        _take_values(info, aggregator, scores, case)
        if (
            info.boolean
            and scores.get("model_retrieval_failures") == 1
            and scores.get("model_generation_failures") == 0
        ):
            aggregator.retrieval_alone.note(item.key)
        self.spool.add(info.id, item.model_key, item.key, row, outcome)
        metric_key = self._grounded.get(info.id)
        for fragment in outcome.fragments if metric_key else ():
            score = fragment.scores.get(metric_key or "")
            if score is not None and fragment.part == "answer":
                lowest = self.lowest.get(info.id)
                if lowest is None or score < lowest.score:
                    text = row.answer.text[fragment.start : fragment.end]
                    self.lowest[info.id] = Lowest(score, text[:EXCERPT_CHARS], item.key, item.model_key)

    def _finding(self, info: EvaluatorEntry, finding: Finding, item: Item) -> None:
        entry = FoundProblem(
            evaluator=info.id,
            model=item.model_key,
            key=item.key,
            file=item.file,
            nodeid=item.nodeid,
            finding=finding,
        )
        # Repeats of an item give equal findings shortly after each other; to search all would be quadratic.
        if entry in self.findings[-20:]:
            return
        if len(self.findings) < LISTED:
            self.findings.append(entry)
            return
        group = (info.id, item.model_key, finding.problem_type or info.problem_type, finding.severity)
        self.more_findings.setdefault(group, Sample()).note(item.key, finding.description)

    def _verdict(self, id: str, verdict: Verdict, case: int, model: str) -> int:
        if id not in self.evaluators or verdict.status != "score":
            return 0
        aggregator = self.model_scores(id, model)
        aggregator.verdicts += 1
        aggregator.uncertain += bool(verdict.uncertain)
        for key, limit in verdict.thresholds.items():
            aggregator.limits.setdefault(key, []).append(limit)
        if verdict.passed is not None:
            aggregator.judged += 1
            aggregator.passed += verdict.passed
            if self.evaluators[id].judge_check is not None:
                aggregator.verdict_cases.append(case)
                aggregator.verdict_passes.append(verdict.passed)
                aggregator.has_repeats = aggregator.has_repeats or len(verdict.repeats) > 1
            self.marks[id].add(case, not verdict.passed, verdict.scores.get(self._primary[id]) or 0.0)
        return sum(self._bits.get((id, key), 0) for key, value in verdict.scores.items() if value is not None)

    def _flips(self, item: Item, case: int) -> None:
        if case not in self.cases.sources and not item.flips:
            return
        categories = item.rows[0].categories if item.rows else ()
        changes = tuple((flip.evaluator, flip.metric, str(flip.direction)) for flip in item.flips)
        companions = item.perturbed.compared if item.perturbed is not None else ()
        bits = sum(bit for (id, _), bit in self._bits.items() if id in companions)
        visible = tuple(visible_categories(categories))
        self.perturbed.append(
            Perturbed(case, item.model_key, _origin(item, categories), visible, changes, bits)
        )
        for flip in item.flips:
            if len(self.flips) < LISTED:
                entry = CaseFlip(
                    model=item.model_key, key=item.key, file=item.file, nodeid=item.nodeid, flip=flip
                )
                self.flips.append(entry)
            else:
                self.more_flips.setdefault((flip.evaluator, item.model_key), Sample()).note(item.key)


def _rag_stage(row: RecordRow) -> RagStage | None:
    """Return the stage at which a failing answer went wrong; None for a model that does not retrieve."""
    if row.answer.error or row.expects == "refusal" or not (row.is_rag or row.answer.context):
        return None
    from pytest_evalstudio.metrics.rag_stages import failed_stage  # most runs have no failing RAG answer

    is_on_context = row.condition.strip() and row.condition_on != "answer"
    references = [row.expected_output, *row.accepted_outputs]
    if not row.expected_output:
        references = ["\n".join(row.expected_facts)]
    try:
        stages = [
            failed_stage(
                row.answer.text,
                reference,
                row.answer.context,
                question=row.question,
                expected_documents=row.expected_documents,
                sources=row.answer.context_sources,
                condition=parse_condition(row.condition) if is_on_context else None,
            )
            for reference in references
        ]
    except (DataError, EvaluationError):  # text matching has said it, as an error of the case
        return None
    # An accepted answer that the context has was retrieved, whatever the others are.
    return next((stage for stage in stages if stage != "not_retrieved"), "not_retrieved")


def _is_empty_answer(outcome: Outcome) -> bool:
    """Return True if an evaluator does not apply because the answer is empty."""
    return outcome.status == "not_applicable" and outcome.code == OutcomeCode.ANSWER_EMPTY


def _take_values(
    info: EvaluatorEntry, aggregator: ScoreAggregator, scores: Mapping[str, float | None], case: int
) -> None:
    """Keep the values of a row.

    Rows in error have values only where errors of their kind are counted, e.g. parse failures.
    """
    aggregator.cases.append(case)
    for metric in info.metrics:
        value = scores.get(metric.key)
        aggregator.values.setdefault(metric.key, array("d")).append(math.nan if value is None else value)


def _origin(item: Item, categories: Iterable[str]) -> Origin:
    """Return how a perturbed case was made: as its record says, else by its flips or categories."""
    if item.perturbed is not None:
        return Origin(item.perturbed.by, item.perturbed.meaning_kept)
    if item.flips:
        return Origin(item.flips[0].perturbators, item.flips[0].meaning_kept)
    return origin(categories)


def _flip_bits(evaluators: Iterable[EvaluatorEntry]) -> dict[tuple[str, str], int]:
    pairs = [(info.id, metric.key) for info in evaluators for metric in info.flip_metrics]
    return {pair: 1 << i for i, pair in enumerate(pairs)}
