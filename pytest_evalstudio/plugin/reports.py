"""Attach to each test report the record entry of its finished item, and its share of the chunk's time."""

from __future__ import annotations

import functools
import hashlib
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from pytest_evalstudio.core.codes import ItemCode
from pytest_evalstudio.core.errors import EvaluationError, ThresholdMissed
from pytest_evalstudio.core.text import excerpt
from pytest_evalstudio.plugin.display import Mask, clean_report
from pytest_evalstudio.plugin.figures import show_figures
from pytest_evalstudio.plugin.items import ATTEMPTS, EvalItem, RecordedItem, run_index_of
from pytest_evalstudio.plugin.keys import (
    BRIEF,
    CAUSE,
    COUNTS,
    FAILING,
    ITEM,
    LIKENESS,
    PAYLOAD,
    SCORED,
)
from pytest_evalstudio.record.items import ItemHead
from pytest_evalstudio.record.schema import Attempt, Tables, VerdictWord
from pytest_evalstudio.run.payload import Payload
from pytest_evalstudio.run.planning import PlannedItem, RunPlan, run_wide
from pytest_evalstudio.run.project import Project
from pytest_evalstudio.run.services import Services
from pytest_evalstudio.scoring.confirming import is_unconfirmed
from pytest_evalstudio.scoring.masking import masked, shown_line
from pytest_evalstudio.scoring.messages import (
    brief_headline,
    error_cause,
    failure_signature,
    has_misses,
)
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator
from pytest_evalstudio.scoring.recording import BROKEN, attempt_of, item_entry
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.scoring.run_header import document_digests, evaluator_entry, file_entry, model_entry

LONGEST_REASON = 2000
BRIEF_CHARS = 300
QUESTION_CHARS = 60
Checks = list[tuple[Result, ConfiguredEvaluator]]
CHECKS = pytest.StashKey[Checks]()
"""Checks that a test written in Python has made so far."""


class Announced:
    """The entries of the header's tables that this process has sent already."""

    def __init__(self) -> None:
        self._keys: set[tuple[str, str]] = set()

    def first(self, table: str, key: str) -> bool:
        """Return whether an entry has not been sent yet, and remember it as sent."""
        if (table, key) in self._keys:
            return False
        self._keys.add((table, key))
        return True


@dataclass(frozen=True, kw_only=True, eq=False)
class ReportContext:
    """Environment that all reports of a process share.

    Attributes:
        announced: entries of the record's header that this process has sent.
        plan: of the run; None where pytest runs items before it is made.
    """

    project: Project
    services: Services
    announced: Announced
    plan: RunPlan | None

    @functools.cached_property
    def run_wide(self) -> dict[str, ConfiguredEvaluator]:
        """Return the evaluators of the record's header by id."""
        return run_wide(self.project, self.plan)

    @functools.cached_property
    def segments(self) -> tuple[str, ...]:
        """Return the names of the metadata by which a comparison groups items."""
        return tuple(self.project.settings.session.comparison.segments)


def amend_report(
    item: pytest.Item, call: pytest.CallInfo[Any], report: pytest.TestReport, context: ReportContext
) -> None:
    """Attach the entry of an item that is decided by this report, correct its duration and what it shows."""
    mask = context.services.mask
    if isinstance(item, EvalItem | RecordedItem):
        if hasattr(item.config, "workerinput"):
            setattr(report, ITEM, True)
        clean_report(report, mask)
    else:
        _shorten(call, report)
    result = None
    if isinstance(item, EvalItem):
        _share_values(item, report)
        _share_time(item, call, report)
        result = item.finished_result()
        if report.when == "call":
            show_figures(report, item.config, result)
        if result is not None and (report.failed or hasattr(report, "wasxfail")):
            _attach_summary(item, report, result, mask)
    # Before its call, the chunk of an item may have a result although the set-up was skipped.
    result_of_call = result if report.when == "call" else None
    fails = result_of_call is not None and (bool(result_of_call.errors) or has_misses(result_of_call))
    if (fails or call.excinfo is not None) and (scored := scored_verdict(item, call, report, result_of_call)):
        setattr(report, SCORED, scored)
    if report.when == "call" or (report.when == "setup" and not report.passed):
        _attach_payload(item, report, context)


def _attach_summary(item: EvalItem, report: pytest.TestReport, result: Result, mask: Mask) -> None:
    """Attach the reason on one line, what fails the item, and the cause of an error."""
    question = shown_line(excerpt(masked(mask(item.task.case.question)), QUESTION_CHARS))
    # Most failures share their reasons; pytest keeps all reports to the end.
    setattr(report, BRIEF, [sys.intern(mask(brief_headline(result))[:BRIEF_CHARS]), question])
    setattr(report, LIKENESS, [_original_nodeid(item), sys.intern(failure_signature(result))])
    if result.errors:
        cause, lines = error_cause(result)
        setattr(report, CAUSE, [hashlib.sha256(cause.encode()).hexdigest(), mask(lines)])


def _attach_payload(item: pytest.Item, report: pytest.TestReport, context: ReportContext) -> None:
    """Attach the entries of an item that this report decides, and mark a failure that they hold."""
    if isinstance(item, EvalItem):
        payload, fails = _payload(item, report, context), True
    elif isinstance(item, RecordedItem):
        payload, fails = item.payload(report), True
    elif CHECKS in item.stash:
        payload, fails = _payload_of_checks(item, report, context)
    else:
        return
    setattr(report, PAYLOAD, payload.plain())
    if fails and report.failed:  # pytest's other failures are counted besides
        setattr(report, FAILING, True)


def _original_nodeid(item: EvalItem) -> str:
    """Return the node id of the original of a perturbed copy, "" for an original."""
    original = item.task.source
    while original is not None and original.source is not None:
        original = original.source
    return "" if original is None else f"{item.planned.file.nodeid}::{original.name}"


def finish_item(item: pytest.Item) -> None:
    """Release the result and the attempts of an item that is not run again."""
    if ATTEMPTS in item.stash:
        del item.stash[ATTEMPTS]
    if isinstance(item, EvalItem):
        item.finish()


def _shorten(call: pytest.CallInfo[Any], report: pytest.TestReport) -> None:
    """Name the missed threshold first where pytest shows a failure on one line."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if (
        crash is not None
        and call.excinfo is not None
        and isinstance(call.excinfo.value, ThresholdMissed | EvaluationError)
    ):
        crash.message = shown_line(str(call.excinfo.value).partition("\n")[0])


def begin_attempt(item: pytest.Item) -> None:
    """Drop the checks of an earlier attempt at a test that a plugin runs again."""
    if CHECKS in item.stash:
        item.stash[CHECKS] = []


def _share_values(item: EvalItem, report: pytest.TestReport) -> None:
    """Let the reports of an item share equal values; pytest keeps all of them to the end."""
    earlier, item.reported = item.reported, report
    if earlier is None:
        return
    if report.keywords == earlier.keywords:
        report.keywords = earlier.keywords
    if report.user_properties == earlier.user_properties:
        report.user_properties = earlier.user_properties


def _share_time(item: EvalItem, call: pytest.CallInfo[Any], report: pytest.TestReport) -> None:
    if report.when != "setup" or not hasattr(item, "chunk"):
        return
    # The item whose set-up evaluates the chunk is not charged the time of the others.
    setup_s = max(0.0, call.duration - item.chunk.spent_s)
    item.chunk.spent_s = 0.0
    result = item.finished_result()
    report.duration = setup_s + (result.seconds if result is not None else 0.0)


def scored_verdict(
    item: pytest.Item, call: pytest.CallInfo[Any], report: pytest.TestReport, result: Result | None
) -> Literal["failed", "error", ""]:
    """Return "failed" or "error" for a test that fails when scored, whatever other plugins report of it.

    An expected failure, by a mark or by `pytest.xfail()`, is none.

    Args:
        result: of a test case in its call; None for others, and in other phases.
    """
    if call.excinfo is not None and isinstance(
        call.excinfo.value, pytest.skip.Exception | pytest.xfail.Exception
    ):
        return ""
    if not (isinstance(item, EvalItem | RecordedItem) or CHECKS in item.stash):
        return ""
    if hasattr(report, "wasxfail") and item.get_closest_marker("xfail") is not None:
        return ""
    if result is not None:
        if result.errors:
            return "error"
        return "failed" if has_misses(result) and not is_unconfirmed(result) else ""
    return "error" if report.when == "setup" else "failed"


def _verdict(report: pytest.TestReport) -> VerdictWord:
    if SCORED in report.__dict__:
        return "error" if report.__dict__[SCORED] == "error" else "failed"
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    if report.when == "setup" and report.failed:
        return "error"
    return report.outcome


def _payload(item: EvalItem, report: pytest.TestReport, context: ReportContext) -> Payload:
    result = item.finished_result()
    task = item.task
    is_not_run = result is not None and bool(result.not_run) and report.skipped
    head = ItemHead(
        index=item.run_index,
        nodeid=item.nodeid,
        verdict="not_run" if is_not_run else _verdict(report),
        duration_s=report.duration,
        file=item.planned.file.nodeid,
        key=task.key,
        test_key=task.case.test_key,
        model_key=task.model.key,
        code=_code(result, report, is_not_run=is_not_run),
        reason=_reason(report) if result is None or not (result.errors or has_misses(result)) else "",
        xfail=task.xfail,
        attempts=_attempts(item),
    )
    verdicts = result.verdicts if result is not None else ()
    tables = item_tables(item.planned, verdicts, context.announced, context.run_wide)
    tables.spans.update(context.services.spans.take())
    entries = context.services.entries
    if entries and (more := entries.pop(item.nodeid, None)) is not None:
        tables.causes.update(more.causes)
    entry = item_entry(head, result, context.run_wide, context.segments)
    item.stash.setdefault(ATTEMPTS, []).append(attempt_of(entry))
    return Payload.of(item.nodeid, tables, [entry])


def _code(result: Result | None, report: pytest.TestReport, *, is_not_run: bool) -> ItemCode:
    if is_not_run:
        is_refused = result is not None and result.access_refused
        return ItemCode.ACCESS_REFUSED if is_refused else ItemCode.NOT_RUN
    if result is not None and result.errors and report.skipped and hasattr(report, "wasxfail"):
        return ItemCode.EXPECTED_ERROR
    return ItemCode.NOT_FINISHED if result is None and report.failed else ItemCode.NONE


def item_tables(
    item: PlannedItem,
    evaluators: Iterable[ConfiguredEvaluator],
    announced: Announced,
    evaluators_of_run: Mapping[str, ConfiguredEvaluator],
) -> Tables:
    """Return the entries of the header's tables that an item refers to and that have not been sent yet."""
    file, model = item.file, item.task.model
    name = file.nodeid
    return Tables(
        models={model.key: model_entry(model)} if announced.first("models", model.key) else {},
        files=(
            {name: file_entry(name, file.kind, file.title, file.description)}
            if announced.first("files", name)
            else {}
        ),
        evaluators={
            selected.id: evaluator_entry(evaluators_of_run.get(selected.id, selected))
            for selected in evaluators
            if announced.first("evaluators", selected.id)
        },
        documents={
            name: digest
            for name, digest in document_digests(item.task.case).items()
            if announced.first("documents", name)
        },
    )


def _payload_of_checks(
    item: pytest.Item, report: pytest.TestReport, context: ReportContext
) -> tuple[Payload, bool]:
    """Return the entries of a Python test's checks, and whether one of them fails."""
    announced, evaluators = context.announced, context.run_wide
    file = item.nodeid.split("::")[0]
    tables = Tables(
        models={},
        files={file: file_entry(file, "python")} if announced.first("files", file) else {},
        evaluators={},
        spans=context.services.spans.take(),
    )
    items = []
    checks = item.stash[CHECKS]
    attempts = _attempts(item)
    # pytest reports a test as passed before it counts the failures of its subtests.
    has_passed = not (
        report.failed or hasattr(report, SCORED) or item.nodeid in item.config.stash[COUNTS].failed
    )
    for part, (result, selected) in enumerate(checks):
        model = result.task.model
        head = ItemHead(
            index=run_index_of(item),
            nodeid=item.nodeid,
            verdict=_verdict_of_check(result, selected, passed=has_passed),
            duration_s=report.duration,
            part=part,
            file=file,
            key=result.task.key,
            model_key=model.key,
            attempts=attempts,
            test_key="",
            reason="",
        )
        items.append(item_entry(head, result, evaluators, context.segments))
        if announced.first("models", model.key):
            tables.models[model.key] = model_entry(model)
        if announced.first("evaluators", selected.id):
            tables.evaluators[selected.id] = evaluator_entry(evaluators.get(selected.id, selected))
    attempt = Attempt(
        verdict=_verdict(report),
        duration_s=round(report.duration, 6),
        reason=_headline(report, context.services.mask),
    )
    item.stash.setdefault(ATTEMPTS, []).append(attempt)
    return Payload.of(item.nodeid, tables, items), any(each.verdict in BROKEN for each in items)


def _verdict_of_check(result: Result, selected: ConfiguredEvaluator, *, passed: bool) -> VerdictWord:
    """Return the verdict of one check.

    A missed threshold was expected in a test that passes, or is marked as xfail.
    """
    verdict = result.verdicts[selected]
    if verdict.status == "error":
        return "error"
    if verdict.missed or result.response.fails:
        return "xfailed" if passed else "failed"
    return "passed" if verdict.status == "score" else "skipped"


def _attempts(item: pytest.Item) -> tuple[Attempt, ...]:
    attempts = item.stash.setdefault(ATTEMPTS, [])
    return tuple(attempts)


def _headline(report: pytest.TestReport, mask: Mask) -> str:
    """Return the first line of a failure."""
    crash = getattr(report.longrepr, "reprcrash", None)
    message = crash.message if crash is not None else _reason(report)
    return masked(mask(message.partition("\n")[0]))[:LONGEST_REASON] if report.failed else ""


def _reason(report: pytest.TestReport) -> str:
    """Return the reason of a skip, or type and message of the exception that ended the item."""
    if report.passed:
        return ""
    crash = getattr(report.longrepr, "reprcrash", None)
    if isinstance(report.longrepr, tuple):
        text = report.longrepr[2]
    else:
        text = str(report.longrepr or "") if crash is None else crash.message
    return masked(text.removeprefix("Skipped: ").strip())[:LONGEST_REASON]
