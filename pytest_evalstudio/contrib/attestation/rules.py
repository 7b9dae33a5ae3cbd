"""Rules that a run was scored by, compared with those of the protected revision."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_evalstudio.analysis.gates import parse_gate
from pytest_evalstudio.contrib.attestation.exchange import BaseCase, BaseRun, StoredAnswers
from pytest_evalstudio.contrib.attestation.findings import Finding, FindingCode, FindingKind
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.record.schema import EvaluatorEntry, ModelEntry, Run

_IDENTITY_KEYS = frozenset({
    "target", "retrieve", "generate", "factory", "fixture", "command", "url", "base_url", "endpoint",
    "api_base", "host", "address", "script", "default", "answers",
})  # fmt: skip
"""Settings of a host that say which application answers; others say how."""


def evaluator_findings(case: BaseCase, stored: StoredAnswers, base: BaseRun, run: Run) -> Iterator[Finding]:
    """Yield evaluators that a case lacks in a record, and thresholds that differ."""
    for id, thresholds in case.evaluators.items():
        if id not in stored.evaluators:
            yield Finding(
                kind="weakness",
                code=FindingCode.EVALUATOR_DROPPED,
                place=case.nodeid,
                text=f"evaluator {id} is dropped",
            )
            continue
        entry = run.evaluators.get(id)
        if entry is None:
            continue
        verdict = stored.verdicts.get(id)
        overrides: Mapping[str, float] = verdict.thresholds if verdict is not None else {}
        metrics = {metric.key: metric for metric in base.evaluators[id].metrics}
        for key, before in thresholds.items():
            yield from _threshold_finding(case.nodeid, id, metrics[key], before, entry, overrides)


def _threshold_finding(
    place: str, id: str, metric: Metric, before: float, entry: EvaluatorEntry, overrides: Mapping[str, float]
) -> Iterator[Finding]:
    stored = next((each for each in entry.metrics if each.key == metric.key), None)
    name = f"{id}.{metric.key}"
    if stored is None or not (stored.decides or metric.key in overrides):
        yield Finding(
            kind="weakness", code=FindingCode.THRESHOLD, place=place, text=f"threshold of {name} is dropped"
        )
        return
    after = overrides.get(metric.key, stored.threshold)
    if after == before:
        return
    is_weaker = after < before if metric.better == "higher" else after > before
    word = "relaxed" if is_weaker else "tightened"
    yield Finding(
        kind="weakness" if is_weaker else "change",
        code=FindingCode.THRESHOLD,
        place=place,
        text=f"threshold of {name} is {word}: {before:g} → {after:g}",
    )


def entry_findings(base: BaseRun, run: Run) -> Iterator[Finding]:
    """Yield differences of evaluators as such: kind, options, judge and embedding model."""
    failing = {id for case in base.cases if case.status in ("failed", "error") for id in case.evaluators}
    trusted = {id for case in base.cases for id in case.trusted}
    for id, entry in base.evaluators.items():
        stored = run.evaluators.get(id)
        if stored is None:
            continue
        place = f"evaluator {id}"
        if entry.type != stored.type:
            yield Finding(
                kind="weakness",
                code=FindingCode.EVALUATOR_REPLACED,
                place=place,
                text=f"is of another type: {entry.type} → {stored.type}",
            )
        # The direction of an option is not known: the verdict of the protected rules decides.
        unknown: FindingKind = "weakness" if id in failing or id in trusted else "change"
        names = _different(entry.parameters, stored.parameters)
        if names:
            yield Finding(
                kind=unknown,
                code=FindingCode.EVALUATOR_OPTION,
                place=place,
                text=f"other options: {', '.join(names)}",
            )
        if entry.judge != stored.judge:
            yield Finding(
                kind=unknown,
                code=FindingCode.JUDGE,
                place=place,
                text=f"another judge: {', '.join(_different(entry.judge, stored.judge))}",
            )
        if entry.embedder != stored.embedder:
            yield Finding(
                kind="change",
                code=FindingCode.EVALUATOR_OPTION,
                place=place,
                text=f"another embedding model: {entry.embedder} → {stored.embedder}",
            )
    for id in run.evaluators.keys() - base.evaluators.keys():
        yield Finding(kind="change", code=FindingCode.EVALUATOR_ADDED, place=f"evaluator {id}", text="is new")


def _different(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    """Return the names of values that differ, as JSON has them."""
    return [name for name in sorted({*first, *second}) if _json(first.get(name)) != _json(second.get(name))]


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def model_findings(base: BaseRun, run: Run) -> Iterator[Finding]:
    """Yield differences of the models that answered."""
    stored = {run.model_name(key): model for key, model in run.models.items()}
    gone = [name for name in base.models if name not in stored]
    new = [name for name in stored if name not in base.models]
    renamed = dict(zip(gone, new, strict=True)) if len(gone) == len(new) == 1 else {}
    for name, model in base.models.items():
        other = stored.get(renamed.get(name, name))
        if other is None:
            continue
        if name in renamed:
            yield Finding(
                kind="change",
                code=FindingCode.APPLICATION_SETTING,
                place=f"model {name}",
                text=f"is called {renamed[name]}",
            )
        yield from _setting_findings(name, model, other)


def _setting_findings(name: str, model: ModelEntry, other: ModelEntry) -> Iterator[Finding]:
    if model.host != other.host:
        yield Finding(
            kind="weakness",
            code=FindingCode.APPLICATION_REPLACED,
            place=f"model {name}",
            text=f"another host answered: {model.host} → {other.host}",
        )
        return
    # A model that could not be described here, e.g. without its key, is known by its name alone.
    if not model.host:
        return
    for key in _different(model.model_cfg, other.model_cfg):
        is_identity = key in _IDENTITY_KEYS
        before, after = model.model_cfg.get(key), other.model_cfg.get(key)
        yield Finding(
            kind="weakness" if is_identity else "change",
            code=FindingCode.APPLICATION_REPLACED if is_identity else FindingCode.APPLICATION_SETTING,
            place=f"model {name}",
            text=f"another application answered: {key} {before} → {after}"
            if is_identity
            else f"another {key}",
        )


def gate_findings(base: BaseRun, run: Run) -> Iterator[Finding]:
    """Yield gates that a run lacks or relaxes."""
    stored = {_term(text): text for text in run.gates}
    for text in base.gates:
        other = stored.get(_term(text))
        if other is None:
            yield Finding(kind="weakness", code=FindingCode.GATE, place=f"gate {text}", text="is removed")
        elif other != text:
            before, after = parse_gate(text), parse_gate(other)
            is_weaker = (
                after.limit < before.limit if before.sign.startswith(">") else after.limit > before.limit
            )
            yield Finding(
                kind="weakness" if is_weaker else "change",
                code=FindingCode.GATE,
                place=f"gate {text}",
                text=f"is {'relaxed' if is_weaker else 'edited'}: {other}",
            )
    terms = {_term(text) for text in base.gates}
    for term, text in stored.items():
        if term not in terms:
            yield Finding(kind="change", code=FindingCode.GATE, place=f"gate {text}", text="is new")


def _term(text: str) -> object:
    """Return what a gate limits, and to which side."""
    try:
        gate = parse_gate(text)
    except ConfigurationError:
        return text
    return gate.function, gate.evaluator, gate.metric, gate.percent, gate.sign[0], gate.names
