"""Entries of the record: one JSON-ready object per finished item, personal data and secrets masked."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.outcomes import Finding, Fragment, Outcome
from pytest_evalstudio.engine.scoring.calibration import is_uncertain
from pytest_evalstudio.engine.scoring.plan import Selected
from pytest_evalstudio.engine.scoring.verdicts import Flip, Verdict

Redact = Callable[[str], str]


def row_entry(case: Case, outcomes: Mapping[Selected, Outcome], redact: Redact) -> dict[str, Any]:
    """A repeat: the data set's row and what the evaluators say of it."""
    return {
        "run": case.run,
        "input": redact(case.question),
        "corpus": list(case.corpus),
        "context": [redact(chunk) for chunk in case.context],
        "context_sources": list(case.context_sources),
        "categories": list(case.categories),
        "relationships": [
            {"type": link.type, "target": link.target, "target_type": link.target_type}
            for link in case.relationships
        ],
        "expected_output": redact(case.expected_output),
        "output_condition": redact(case.condition),
        "actual_output": redact(case.actual_output),
        "actual_duration": case.duration_s,
        "cost": case.cost_usd,
        "usage": dict(case.usage),
        "retries": case.retries,
        "error": redact(case.error),
        "is_rag": case.is_rag,
        **_given(case, redact),
        "outcomes": {selected.id: _outcome(outcome, redact) for selected, outcome in outcomes.items()},
    }


def _given(case: Case, redact: Redact) -> dict[str, Any]:
    """What few cases have; a case that has it not says nothing of it."""
    found = {
        "conversation": [{"role": turn.role, "content": redact(turn.content)} for turn in case.conversation],
        "expected_facts": [redact(fact) for fact in case.expected_facts],
        "guidelines": [redact(guideline) for guideline in case.guidelines],
        "expected_documents": list(case.expected_documents),
    }
    return {name: value for name, value in found.items() if value}


def _outcome(outcome: Outcome, redact: Redact) -> dict[str, Any]:
    entry: dict[str, Any] = {"status": outcome.status}
    if outcome.reason:
        entry["reason"] = redact(outcome.reason)
    if outcome.scores:
        entry["scores"] = dict(outcome.scores)
    if outcome.fragments:
        entry["fragments"] = [_fragment(fragment, redact) for fragment in outcome.fragments]
    if outcome.findings:
        entry["findings"] = [_finding(finding, redact) for finding in outcome.findings]
    if outcome.sketch:
        entry["sketch"] = outcome.sketch
    if outcome.details:
        entry["details"] = _masked(outcome.details, redact)
    if outcome.judging is not None:
        entry["judging"] = {
            name: value for name, value in dataclasses.asdict(outcome.judging).items() if value
        }
    return entry


def _masked(value: Any, redact: Redact) -> Any:
    """A JSON-ready value with all its texts masked."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {key: _masked(item, redact) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_masked(item, redact) for item in value]
    return value


def _fragment(fragment: Fragment, redact: Redact) -> dict[str, Any]:
    entry: dict[str, Any] = {"part": fragment.part, "start": fragment.start, "end": fragment.end}
    if fragment.scores:
        entry["scores"] = dict(fragment.scores)
    if fragment.message:
        entry["message"] = redact(fragment.message)
    return entry


def _finding(finding: Finding, redact: Redact) -> dict[str, Any]:
    return {**dataclasses.asdict(finding), "description": redact(finding.description)}


def verdict_entry(selected: Selected, verdict: Verdict, redact: Redact) -> dict[str, Any]:
    """What one evaluator decided."""
    entry: dict[str, Any] = {
        "status": verdict.status,
        "passed": verdict.passed,
        "scores": dict(verdict.scores),
        "missed": list(verdict.missed),
    }
    if verdict.reason:
        entry["reason"] = redact(verdict.reason)
    if verdict.least:
        entry["min"] = dict(verdict.least)
    if verdict.pass_k is not None:
        entry["pass_k"] = verdict.pass_k
    if verdict.conformal_set is not None:
        entry["conformal_set"] = list(verdict.conformal_set)
        entry["uncertain"] = is_uncertain(verdict.conformal_set)
    return entry


def overridden(selected: Selected, run_wide: Selected | None) -> dict[str, float]:
    """Thresholds of a case that are not those of the run."""
    if run_wide is None or run_wide is selected:
        return {}
    return {key: value for key, value in selected.thresholds.items() if run_wide.thresholds[key] != value}


def flip_entries(flips: Sequence[Flip]) -> list[dict[str, Any]]:
    return [{**dataclasses.asdict(flip), "perturbators": list(flip.perturbators)} for flip in flips]


def line(entry: Mapping[str, Any]) -> str:
    """An entry as one line of JSON; infinities as words, never NaN.

    >>> line({"threshold": float("inf")})
    '{"threshold": "Infinity"}'
    """
    try:
        return json.dumps(entry, ensure_ascii=True, allow_nan=False)
    except ValueError:
        return json.dumps(portable(entry), ensure_ascii=True, allow_nan=False)


def portable(value: Any) -> Any:
    """The same value with infinities as words and NaN as null."""
    if isinstance(value, float):
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        return None if math.isnan(value) else value
    if isinstance(value, Mapping):
        return {key: portable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [portable(item) for item in value]
    return value
