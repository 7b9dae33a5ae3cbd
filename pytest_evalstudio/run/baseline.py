"""Comparison of a session's run with a baseline."""

from __future__ import annotations

import functools
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pytest_evalstudio.analysis.comparison.baseline import baseline_key, opened
from pytest_evalstudio.analysis.comparison.changed_tests import changed_parts, digest_bytes
from pytest_evalstudio.analysis.comparison.compare import compare
from pytest_evalstudio.analysis.comparison.files import moved_files, with_paths
from pytest_evalstudio.analysis.comparison.matching import (
    InScope,
    class_of,
    is_compared,
    new_failures,
    score_changes,
)
from pytest_evalstudio.analysis.comparison.metrics import ComparisonLimits
from pytest_evalstudio.analysis.comparison.results import Comparison, FailReason, ItemChange
from pytest_evalstudio.analysis.comparison.sides import (
    Side,
    SideItem,
    attachments_digest,
    case_digest,
    read_side,
)
from pytest_evalstudio.analysis.comparison.text import regression_headline
from pytest_evalstudio.core.errors import (
    ConfigurationError,
    EvalStudioError,
    EvaluationError,
    ThresholdMissed,
)
from pytest_evalstudio.record.reader import RecordReader
from pytest_evalstudio.record.schema import CaseDigest, Item, Run
from pytest_evalstudio.run.planning import CaseOfModel, PlannedItem
from pytest_evalstudio.run.settings import Settings
from pytest_evalstudio.scoring.case_digests import case_digest_of
from pytest_evalstudio.scoring.confirming import is_refuted, is_unconfirmed
from pytest_evalstudio.scoring.identifiers import safe_identifier
from pytest_evalstudio.scoring.masking import masked
from pytest_evalstudio.scoring.messages import explain, has_misses, skip_reason
from pytest_evalstudio.scoring.recording import item_scores, row_entry
from pytest_evalstudio.scoring.run_header import evaluator_entry
from pytest_evalstudio.text.windows import change_windows, word_diff

if TYPE_CHECKING:
    from pytest_evalstudio.scoring.plan import ConfiguredEvaluator
    from pytest_evalstudio.scoring.results import Result
    from pytest_evalstudio.scoring.tasks import ModelInfo

KNOWN_FAILURE = "fails in the baseline too"
KNOWN_ERROR = "is an error in the baseline too"


class KnownFailure(ThresholdMissed):
    """A missed threshold of an item that fails in the baseline too, by the same evaluators."""


@dataclass(frozen=True, slots=True)
class ExpectedFault:
    """Fault that an item is expected to have again.

    Attributes:
        reason: of the expectation.
        kind: class of the fault.
    """

    reason: str
    kind: type[Exception]


class SessionBaseline:
    """The baseline of a session, read once in each process that needs it.

    Args:
        path: record, report folder, report archive or saved baseline.
        settings: of the session.

    Raises:
        ConfigurationError: if the path means the output of this run, or holds no baseline.
    """

    def __init__(self, path: Path, settings: Settings) -> None:
        output = Path(os.path.realpath(settings.output()))
        if Path(os.path.realpath(path)).is_relative_to(output):
            raise ConfigurationError(
                f"{path}: this run would overwrite the baseline, because it is in the output folder; save"
                " it elsewhere with `evalstudio baseline save`"
            )
        try:
            with opened(path) as reader:
                self.side: Side = read_side(
                    reader.run,
                    reader.outlines(),
                    models=settings.renamed_models,
                    answers_of=("passed", "failed"),
                )
        except EvalStudioError as exc:
            raise ConfigurationError(str(exc)) from None
        self._path = path
        self._settings = settings
        self._label = self.side.label
        self._paths: dict[str, str] = {}
        self._changed: dict[str, tuple[str, ...]] = {}

    def answers(self, file: str, model: ModelInfo) -> dict[str, str]:
        """Return the baseline's first answer of a model to each test case of a file, by key; masked.

        It is empty where the baseline has no answers, or none of this model.
        """
        names = {model.label, model.key}
        answers: dict[str, str] = {}
        with opened(self._path) as reader:
            if reader.run.baseline is not None and not reader.run.baseline.has_answers:
                return {}
            renamed = self._settings.renamed_models
            for item in reader.items():
                valid_names = {item.model_key, reader.run.model_name(item.model_key)}
                is_model = names & (valid_names | {renamed[name] for name in valid_names if name in renamed})
                is_file = self._paths.get(item.file, item.file) == file
                if is_file and is_model and item.rows and not item.rows[0].answer.error:
                    answers.setdefault(item.key, item.rows[0].answer.text)
        return answers

    def recorded(self, items: Iterable[PlannedItem]) -> Iterator[tuple[PlannedItem, Item]]:
        """Yield items with what the baseline has of them: the first answer with its chunks and calls.

        Items are left out that are not there, or of which the baseline has no answer.
        """
        items_by_node = {
            earlier.nodeid: item for item in items if (earlier := self._compared(item)) is not None
        }
        if not items_by_node or not self.side.label.has_answers:
            return
        with opened(self._path) as reader:
            for entry in reader.items():
                item = items_by_node.get(entry.nodeid)
                if item is not None and entry.rows and not entry.rows[0].answer.error:
                    yield item, entry

    @property
    def key(self) -> str:
        """Return the identity of the baseline."""
        return baseline_key(self.run)

    @property
    def run(self) -> Run:
        """Return the header of the baseline's record."""
        return self.side.run

    def check(self, items: Sequence[PlannedItem]) -> None:
        """Match files whose paths differ, and refuse a baseline that has none of the collected items.

        Raises:
            ConfigurationError: if there is no item in common, or no history for the error budget.
        """
        if self._settings.session.comparison.budget == "branch" and self._settings.history() is None:
            raise ConfigurationError(
                'comparison.budget = "branch" keeps its looks in the history: set evalstudio_history = DIR in'
                " pytest's ini file, or -o evalstudio_history=DIR"
            )
        lines = moved_files(
            self.side, {item.file.nodeid for item in items}, functools.partial(_digests, items)
        )
        self._paths = {file.base: file.new for file in lines}
        self.side = with_paths(self.side, lines)
        if items and not any(self._earlier(item) for item in items):
            raise ConfigurationError(
                f"the baseline {self._label} has none of the {len(items)} collected items; items are"
                " matched by file, key and model. For a renamed model give -o"
                " evalstudio_baseline_model=OLD=NEW"
            )

    def expected_fault(self, item: PlannedItem) -> ExpectedFault | None:
        """Return the fault of an item that fails, or is an error, in the baseline, and is to do so again."""
        earlier = self._compared(item)
        if earlier is None or item.task.xfail:
            return None
        if earlier.outcome == "failed":
            return ExpectedFault(KNOWN_FAILURE, KnownFailure)
        if earlier.outcome == "error":
            return ExpectedFault(KNOWN_ERROR, EvaluationError)
        return None

    def _explained(self, item: PlannedItem, earlier: SideItem, result: Result, message: str) -> str:
        entries = {selected.id: evaluator_entry(selected) for selected in result.verdicts}
        answer = masked(result.answers[0].actual_output) if result.answers else ""
        change = ItemChange(
            item_class="regressed",
            nodeid=item.nodeid,
            file=item.file.nodeid,
            key=item.task.key,
            model=item.task.model.label,
            scores=tuple(score_changes(earlier.scores, item_scores(result), entries)),
        )
        lines = [regression_headline(change, self._label)]
        row = row_entry(result.answers[0], {}) if result.answers else None
        if not earlier.digest and attachments_digest(row) != earlier.attachments:
            lines.append("the images or files of the case are not those of the baseline")
        if result.confirmation is not None:
            from pytest_evalstudio.scoring.confirmation import confirmation_sentence

            lines.append(confirmation_sentence(result.confirmation))
        if result.not_repeated:
            lines.append(f"not asked again: {result.not_repeated}")
        if result.explained:
            lines.append(f"cause: {masked(result.explained)}")
        if earlier.answer and answer and earlier.answer != answer:
            lines.append(f"change:    {word_diff(change_windows(earlier.answer, answer))}")
        return "\n".join([*lines, message])

    def is_compared(self, item: PlannedItem) -> bool:
        """Return whether an item has a verdict in the baseline, and its test did not change."""
        earlier = self._compared(item)
        return earlier is not None and earlier.outcome in ("passed", "failed")

    def attempts(self, item: PlannedItem, result: Result) -> tuple[int, int] | None:
        """Return how many of the baseline's repeats of an item pass, and their number; None for one answer.

        Counted are the evaluators that the repeats of the confirmation are judged by.
        """
        earlier = self._compared(item)
        if earlier is None or not earlier.repeats:
            return None
        judging = {
            selected.id for selected in result.regressed or result.verdicts if result.decides(selected)
        }
        repeats = [states for id, states in earlier.repeats.items() if id in judging]
        passes = [all(state is not False for state in states) for states in zip(*repeats, strict=False)]
        return (sum(passes), len(passes)) if passes else None

    def has_regressed(self, item: PlannedItem, result: Result) -> bool:
        """Return whether a failing item passed in the baseline, or fails by an evaluator that passed it."""
        earlier = self._compared(item)
        if earlier is None:
            return False
        has_new_failure = bool(self.new_failures(item, result)) and not is_refuted(result)
        return class_of(earlier.outcome, "failed", has_new_failure=has_new_failure) == "regressed"

    def new_failures(self, item: PlannedItem, result: Result) -> frozenset[ConfiguredEvaluator]:
        """Return the evaluators that fail an item and passed it in the baseline, where others failed it."""
        earlier = self._compared(item)
        if earlier is None:
            return frozenset()
        failing = {
            selected.id: selected
            for selected, reached in result.verdicts.items()
            if reached.passed is False and result.decides(selected)
        }
        return frozenset(failing[id] for id in new_failures(earlier, failing))

    def fault(self, item: PlannedItem, result: Result) -> ThresholdMissed:
        """Return the failure of an item; of a regressed one its message begins with what has changed."""
        earlier = self._compared(item)
        message = explain(result)
        if earlier is None and (parts := self.changed_parts(item)):
            message = f"not compared with the baseline, since the test changed: {', '.join(parts)}\n{message}"
        if earlier is not None and self.has_regressed(item, result):
            return ThresholdMissed(self._explained(item, earlier, result, message))
        if result.confirmation is not None:
            from pytest_evalstudio.scoring.confirmation import confirmation_sentence

            message = f"{message}\n{confirmation_sentence(result.confirmation)}"
        return (
            KnownFailure(message)
            if earlier is not None and earlier.outcome == "failed"
            else ThresholdMissed(message)
        )

    def properties(self, item: PlannedItem, result: Result) -> Iterator[tuple[str, str | float]]:
        """Yield names and values that compare an item with the baseline, for its properties.

        They are the class of the item, and the base score and the difference of each metric.
        """
        earlier = self._earlier(item)
        outcome = _outcome(result)
        if earlier is not None and self.changed_parts(item) and is_compared(earlier.outcome, outcome):
            yield "baseline.class", "test_changed"
            return
        kind = class_of(
            earlier.outcome if earlier is not None else "skipped",
            outcome,
            has_new_failure=self.has_regressed(item, result),
        )
        if kind is not None:
            yield "baseline.class", kind
        if result.confirmation is not None:
            yield "confirmation", result.confirmation.code.value
            yield "confirmation.repeats", result.confirmation.passed + result.confirmation.failed
            yield "confirmation.failed", result.confirmation.failed
        for (evaluator, metric), score in item_scores(result).items():
            before = earlier.scores.get((evaluator, metric)) if earlier is not None else None
            if before is not None:
                yield f"{evaluator}.{metric}.baseline", before
                if score is not None:
                    yield f"{evaluator}.{metric}.difference", score - before

    def compare(self, record: Path, collected: Collection[CaseOfModel] = ()) -> Comparison:
        """Return the comparison of a finished run with the baseline.

        Args:
            collected: file, key and model of the collected items; those that did not run are not gone.

        Raises:
            ConfigurationError: if the runs have no item in common.
        """
        reader = RecordReader(record)
        table = self._settings.session.comparison
        limits = ComparisonLimits(allowed_drop=table.allowed_drop, tolerance=table.tolerance)
        new = read_side(reader.run, reader.outlines(), answers_of=("failed",))
        comparison = compare(self.side, new, limits=limits, in_scope=self._scope(collected))
        if table.budget == "branch" and (folder := self._settings.history()) is not None:
            from pytest_evalstudio.analysis.comparison.budget import earlier_looks, with_budget

            looks = earlier_looks(folder, self.run, self._settings.renamed_models)
            comparison = with_budget(comparison, self.side, new, looks, limits)
        return replace(comparison, fail_reasons=tuple(_fail_reasons(comparison, reader.run, self._settings)))

    def _scope(self, collected: Collection[CaseOfModel]) -> InScope:
        """Return which items of the baseline are gone if the run has not got them."""
        if self._settings.selects_cases:
            return lambda identity, item: False
        models = {model for _, _, model in collected} if self._settings.model_names else None
        return lambda identity, item: (
            identity[:3] not in collected and (models is None or identity[2] in models)
        )

    def changed_parts(self, item: PlannedItem) -> tuple[str, ...]:
        """Return what differs between an item's test and that of the baseline; () where it is not there."""
        if item.nodeid not in self._changed:
            earlier = self._earlier(item)
            self._changed[item.nodeid] = (
                changed_parts(earlier.digest, digest_bytes(_digest_of(item)))
                if earlier is not None and earlier.digest
                else ()
            )
        return self._changed[item.nodeid]

    def _compared(self, item: PlannedItem) -> SideItem | None:
        """Return an item of the baseline, None where it is not there or was another test."""
        return None if self.changed_parts(item) else self._earlier(item)

    def _earlier(self, item: PlannedItem) -> SideItem | None:
        model = item.task.model
        key = safe_identifier(item.task.key)
        for name in (model.label, model.key):
            if (earlier := self.side.items.get((item.file.nodeid, key, name, 0))) is not None:
                return earlier
        return None


def _digests(items: Sequence[PlannedItem], files: Collection[str]) -> dict[str, dict[str, int]]:
    """Return the digests of the collected cases of some files."""
    digests: dict[str, dict[str, int]] = {file: {} for file in files}
    for item in items:
        cases = digests.get(item.file.nodeid)
        if cases is not None and (key := safe_identifier(item.task.key)) not in cases:
            cases[key] = case_digest(row_entry(item.task.case, {}))
    return digests


def _digest_of(item: PlannedItem) -> CaseDigest:
    """Return the digest of a collected case with the evaluators that judge it."""
    return case_digest_of(item.task, row_entry(item.task.case, {}), item.evaluators)


def _outcome(result: Result) -> str:
    """Return the outcome of a result as a side of a comparison has it."""
    if result.not_run:
        return "not_run"
    if result.errors:
        return "error"
    if skip_reason(result):
        return "skipped"
    return "failed" if has_misses(result) and not is_unconfirmed(result) else "passed"


def _fail_reasons(comparison: Comparison, run: Run, settings: Settings) -> Iterator[FailReason]:
    """Yield the reasons for which a comparison fails the session, of those that the settings name."""
    reasons = tuple(settings.fail_on or settings.session.comparison.fail_on)
    # All tests of a selection or a shard may be changed ones, and those of the whole run are not.
    is_whole = not run.deselected and run.shards is None
    if comparison.is_uncompared and is_whole and reasons != ("none",):
        yield "uncompared"
    if "case" in reasons and comparison.new_failures:
        yield "case"
    if "mean" in reasons and comparison.verdict == "worse":
        yield "mean"
    if "gone" in reasons and comparison.items["gone"]:
        yield "gone"
    if "unchecked" in reasons and comparison.unchecked:
        yield "unchecked"
    if settings.fail_on_inconclusive and comparison.verdict == "inconclusive":
        yield "inconclusive"
