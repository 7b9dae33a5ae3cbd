"""What travels with a test report: the finished item's entry for the record, and its share of the chunk's time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from pytest_evalstudio.engine.scoring.entries import line
from pytest_evalstudio.engine.scoring.identifiers import safe_description, safe_identifier
from pytest_evalstudio.engine.scoring.messages import headline
from pytest_evalstudio.engine.scoring.plan import Selected
from pytest_evalstudio.engine.scoring.run import Result, masked, result_entry
from pytest_evalstudio.plugin import PAYLOAD
from pytest_evalstudio.plugin.chunked import INDEX
from pytest_evalstudio.plugin.display import clean_report
from pytest_evalstudio.plugin.items import EvalItem
from pytest_evalstudio.plugin.workflows import WorkflowStep

Checks = list[tuple[Result, Selected]]
CHECKS = pytest.StashKey[Checks]()
"""Checks that a test written in Python has made so far."""


def amend_report(item: pytest.Item, call: pytest.CallInfo[Any], report: pytest.TestReport) -> None:
    """Attach the entry of an item that is decided by this report, correct its duration and what it shows."""
    if isinstance(item, EvalItem | WorkflowStep):
        clean_report(report)
    if isinstance(item, EvalItem):
        _share_time(item, call, report)
        if report.when == "call" or (report.when == "setup" and not report.passed):
            setattr(report, PAYLOAD, _payload(item, report))
        if report.when == "teardown" and hasattr(item, "chunk"):
            item.chunk.release(item)
    elif isinstance(item, WorkflowStep):
        if report.when == "call" or (report.when == "setup" and not report.passed):
            setattr(report, PAYLOAD, item.payload(report))
    elif CHECKS in item.stash and (report.when == "call" or (report.when == "setup" and not report.passed)):
        setattr(report, PAYLOAD, _payload_of_checks(item, report))


def begin_attempt(item: pytest.Item) -> None:
    """Drop the checks of an earlier attempt at a test that a plugin runs again."""
    if CHECKS in item.stash:
        item.stash[CHECKS] = []


def _share_time(item: EvalItem, call: pytest.CallInfo[Any], report: pytest.TestReport) -> None:
    if report.when != "setup" or not hasattr(item, "chunk"):
        return
    own = max(0.0, call.duration - item.chunk.spent_s)
    item.chunk.spent_s = 0.0
    result = _result(item)
    report.duration = own + (result.seconds if result is not None else 0.0)


def _result(item: EvalItem) -> Result | None:
    return item.chunk.finished(item) if hasattr(item, "chunk") else None


def _verdict(report: pytest.TestReport) -> str:
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    if report.when == "setup" and report.failed:
        return "error"
    return str(report.outcome)


def _payload(item: EvalItem, report: pytest.TestReport) -> dict[str, Any]:
    result = _result(item)
    subject = item.subject
    run_wide = item.file.evals.run_wide
    entry = {
        **_head(item, report),
        "file": item.file.nodeid,
        "key": subject.key,
        "test_key": subject.case.test_key,
        "model_key": subject.model.key,
        "reason": _reason(report, result),
        **(result_entry(result, run_wide) if result is not None else {"rows": [], "verdicts": {}, "flips": []}),
    }
    meta = item_meta(item, result.verdicts if result is not None else ())
    return {"nodeid": item.nodeid, "entries": [(item.nodeid, item.stash[INDEX], line(entry))], "meta": new_meta(item.file.evals.announced, meta)}


def item_meta(item: EvalItem, evaluators: Iterable[Selected]) -> dict[str, dict[str, Any]]:
    """Return the entries of the header's tables that an item refers to."""
    file, model, run_wide = item.file, item.subject.model, item.file.evals.run_wide
    return {
        "models": {model.key: (model.label, model.description)},
        "files": {file.nodeid: {"path": file.nodeid, "kind": file.kind, "name": masked(file.title), "description": masked(file.description)}},
        "evaluators": {selected.id: run_wide.get(selected.id, selected) for selected in evaluators},
    }


def _payload_of_checks(item: pytest.Item, report: pytest.TestReport) -> dict[str, Any]:
    from pytest_evalstudio.plugin.session import EvalSession

    evals = item.config.pluginmanager.get_plugin("evalstudio-session")
    assert isinstance(evals, EvalSession)
    file = item.nodeid.split("::")[0]
    meta: dict[str, Any] = {"models": {}, "files": {file: {"path": file, "kind": "python", "name": "", "description": ""}}, "evaluators": {}}
    entries = []
    checks = item.stash[CHECKS]
    for part, (result, selected) in enumerate(checks):
        model = result.subject.model
        own = result.verdicts[selected]
        entry = {
            **_head(item, report),
            "part": part,
            "file": file,
            "key": safe_identifier(result.subject.key),
            "test_key": "",
            "model_key": model.key,
            "reason": headline(result),
            **result_entry(result, evals.run_wide),
        }
        entry["verdict"] = (
            "error"
            if own.status == "error"
            else "skipped"
            if own.status == "not_applicable"
            else "passed"
            if not own.missed
            else "xfailed"
            if report.passed
            else "failed"
        )
        entries.append((f"{item.nodeid}#{part}", item.stash[INDEX], line(entry)))
        meta["models"][model.key] = (model.label, model.description)
        meta["evaluators"][selected.id] = evals.run_wide.get(selected.id, selected)
    return {"nodeid": item.nodeid, "entries": entries, "meta": new_meta(evals.announced, meta)}


def _head(item: pytest.Item, report: pytest.TestReport) -> dict[str, Any]:
    return {"kind": "item", "index": item.stash[INDEX], "nodeid": item.nodeid, "verdict": _verdict(report), "duration_s": round(report.duration, 6)}


def _reason(report: pytest.TestReport, result: Result | None) -> str:
    if result is not None and (reason := headline(result)):
        return reason
    if report.passed:
        return ""
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr or "")
    return masked(text.removeprefix("Skipped: ").strip())[:2000]


def new_meta(told: set[str], meta: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Entries of the header's tables that this process has not told yet, in the record's form."""
    new: dict[str, dict[str, Any]] = {}
    for name, table in meta.items():
        for key, value in table.items():
            if (mark := f"{name}:{key}") not in told:
                told.add(mark)
                new.setdefault(name, {})[key] = _described(key, value)
    return new


def _described(key: str, value: Any) -> dict[str, Any]:
    if isinstance(value, Selected):
        return value.describe()
    if isinstance(value, tuple):
        label, description = value
        return {**safe_description(description), "key": key, "name": label}
    return dict(value)
