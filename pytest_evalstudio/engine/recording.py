"""Build the entries of a run's record for pytest items, checks in Python tests and the API.

Personal data and secrets are masked here, whichever evaluators run.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
import hashlib
import os
import platform
import stat
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.outcomes import Fragment, Outcome
from pytest_evalstudio.core.plugins.parameters import parameter_specs
from pytest_evalstudio.engine.origins import Origin
from pytest_evalstudio.engine.revision import revision
from pytest_evalstudio.engine.scoring.calibration import is_uncertain
from pytest_evalstudio.engine.scoring.identifiers import safe_description, safe_identifier
from pytest_evalstudio.engine.scoring.masking import masked
from pytest_evalstudio.engine.scoring.messages import headline
from pytest_evalstudio.engine.scoring.plan import ConfiguredEvaluator
from pytest_evalstudio.engine.scoring.results import Result
from pytest_evalstudio.engine.scoring.tasks import ModelInfo
from pytest_evalstudio.engine.scoring.verdicts import Flip, Verdict
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.record import schema
from pytest_evalstudio.record.schema import VerdictWord

TOOL = "pytest-evalstudio"
BROKEN = ("failed", "error")
"""Verdicts of attempts after which an item that passes is flaky."""
_MODEL_KEYS = frozenset(entry.name for entry in msgspec.structs.fields(schema.ModelEntry)) - {
    "extra",
    "stopping",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemHead:
    """Properties of an item that do not come from its evaluation.

    Attributes:
        index: place in the run, from 0.
        part: number of the check within a Python test, 0 for others.
        duration_s: seconds.
        file: path as in the node id.
        code: what ended an item without an outcome; see `core.codes.ItemCode`.
        reason: used where the evaluation gives no headline.
        attempts: earlier attempts at the item.
    """

    index: int
    nodeid: str
    verdict: VerdictWord
    duration_s: float
    file: str
    key: str
    test_key: str = ""
    model_key: str
    part: int = 0
    code: str = ""
    reason: str = ""
    xfail: str = ""
    attempts: tuple[schema.Attempt, ...] = ()


def item_entry(
    head: ItemHead, result: Result | None, run_wide: Mapping[str, ConfiguredEvaluator]
) -> schema.Item:
    """Return the entry of a finished item.

    Args:
        result: its evaluation, None where it was not evaluated.
        run_wide: the evaluators as the header describes them; thresholds that differ are written with the
            item.
    """
    reason = headline(result) if result is not None else ""
    return schema.Item(
        index=head.index,
        nodeid=head.nodeid,
        verdict=head.verdict,
        duration_s=round(head.duration_s, 6),
        part=head.part,
        file=head.file,
        key=safe_identifier(head.key),
        test_key=safe_identifier(head.test_key),
        model_key=head.model_key,
        code=str(head.code),
        reason=reason or masked(head.reason),
        rows=_rows(result) if result is not None else (),
        verdicts=_verdicts(result, run_wide) if result is not None else {},
        flips=tuple(map(_flip, result.flips)) if result is not None else (),
        perturbed=_perturbation(result.origin, result.compared_beside)
        if result is not None and result.origin is not None
        else None,
        xfail=masked(head.xfail),
        attempts=head.attempts,
        flaky=head.verdict == "passed" and any(tried.verdict in BROKEN for tried in head.attempts),
        max_runs=result.max_runs if result is not None else 0,
    )


def attempt_of(item: schema.Item) -> schema.Attempt:
    """Return an item as an attempt of the item that is run in its place."""
    return schema.Attempt(
        verdict=item.verdict,
        duration_s=item.duration_s,
        reason=item.reason,
        answers=tuple(row.actual_output for row in item.rows),
        verdicts=item.verdicts,
    )


def item_scores(result: Result) -> dict[tuple[str, str], float | None]:
    """Return the scores of an evaluated item by evaluator and metric."""
    return {
        (selected.id, metric): value
        for selected, verdict in result.verdicts.items()
        for metric, value in verdict.scores.items()
    }


def evaluator_entry(selected: ConfiguredEvaluator) -> schema.EvaluatorEntry:
    """Return the header's entry of an evaluator."""
    spec = selected.spec
    return schema.EvaluatorEntry(
        id=selected.id,
        type=spec.id,
        name=spec.name if selected.id == spec.id else f"{spec.name} ({selected.id})",
        description=spec.description,
        domain=spec.domain,
        method=spec.method,
        needs=spec.needs,
        scope=spec.scope,
        boolean=spec.boolean,
        model_types=spec.systems,
        parameters=dict(selected.parameters),
        parameters_meta=tuple(
            schema.ParameterEntry(
                name=parameter.name,
                type=parameter.type,
                default=parameter.default,
                choices=parameter.choices,
                description=parameter.description,
            )
            for parameter in parameter_specs(type(selected.evaluator))
        ),
        embedder=selected.embedder,
        judge=dict(selected.judge),
        calibration=selected.attached.describe() if selected.attached is not None else {},
        metrics=tuple(
            schema.MetricEntry(
                key=metric.key,
                name=metric.name or metric.key,
                better=metric.better,
                range=metric.range,
                threshold=selected.thresholds[metric.key],
                primary=metric.primary,
                asserted=metric.key in selected.asserted,
                description=metric.description,
            )
            for metric in spec.metrics
        ),
        keywords=spec.keywords,
        problem_type=spec.problem_type,
        avid=spec.avid,
        difference=spec.difference,
    )


def model_entry(info: ModelInfo) -> schema.ModelEntry:
    """Return the header's entry of a model, secrets and personal data masked."""
    described: dict[str, Any] = {**safe_description(info.description), "key": info.key, "name": info.label}
    known = {name: value for name, value in described.items() if name in _MODEL_KEYS}
    extra = {name: value for name, value in described.items() if name not in _MODEL_KEYS}
    entry = msgspec.convert({**known, "extra": extra}, schema.ModelEntry, strict=False)
    if info.stopping is None:
        return entry
    stopping = schema.Stopping(**dataclasses.asdict(info.stopping))
    return msgspec.structs.replace(entry, stopping=stopping)


def file_entry(path: str, kind: str, name: str = "", description: str = "") -> schema.FileEntry:
    """Return the header's entry of a file."""
    return schema.FileEntry(path=path, kind=kind, name=masked(name), description=masked(description))


def document_digests(case: Case) -> dict[str, str]:
    """Return the SHA-256 of each local document of a case by its name in the record.

    Documents that cannot be read, and those at a URL, are left out.
    """
    digests = {}
    for path, name in zip(case.corpus, _documents(case.corpus, case.folder), strict=True):
        try:
            status = os.stat(path) if os.path.isabs(path) else None
            if status is not None and stat.S_ISREG(status.st_mode):
                digests[name] = _digest(path, status.st_size, status.st_mtime_ns)
        except (OSError, ValueError):
            continue
    return digests


@functools.lru_cache(maxsize=4096)
def _digest(path: str, size: int, modified_ns: int) -> str:
    """Return the SHA-256 of a file; size and time of change make the cache notice another content."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def new_run(
    config: Configuration, *, gates: Sequence[str], pytest: str = "", folder: Path | None = None
) -> schema.Run:
    """Return the header of a run that begins now; a run that never ends stays an interrupted one.

    Args:
        config: what applies to the run as a whole.
        gates: of configuration and command line.
        pytest: version of pytest, "" without it.
        folder: of the tested project, whose commit the record names; None for none.
    """
    commit, branch = revision(folder) if folder is not None else ("", "")
    return schema.Run(
        schema_version=schema.SCHEMA_VERSION,
        run_id=str(uuid.uuid4()),
        created=now(),
        finished=None,
        interrupted=True,
        exit_status=None,
        tool=schema.Tool(name=TOOL, version=version(TOOL)),
        python=platform.python_version(),
        pytest=pytest,
        gates=tuple(gates),
        settings=schema.RunSettings(
            flips=config.flips,
            min_test_cases=config.min_test_cases,
            max_latency_s=config.latency.max_s,
            max_cost=config.max_cost,
            max_storage_mb=config.storage.max_mb,
        ),
        evaluators={},
        models={},
        files=(),
        steps={},
        name=masked(config.run.name),
        description=masked(config.run.description),
        commit=commit,
        branch=masked(branch),
        documents={},
        spans={},
    )


def finished_run(
    run: schema.Run, *, interrupted: bool, exit_status: int, judging: schema.JudgeSpend | None = None
) -> schema.Run:
    """Return the header of a run that ends now."""
    return msgspec.structs.replace(
        run, finished=now(), interrupted=interrupted, exit_status=exit_status, judging=judging
    )


def now() -> str:
    """Return the time as records write it: ISO 8601, UTC, seconds."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def _rows(result: Result) -> tuple[schema.Row, ...]:
    # Answers of an item that was not run to its end were paid for, and are no basis of a verdict.
    scored = [{} for _ in result.answers] if result.not_run else result.outcomes
    return tuple(_row(case, outcomes) for case, outcomes in zip(result.answers, scored, strict=True))


def _row(case: Case, outcomes: Mapping[ConfiguredEvaluator, Outcome]) -> schema.Row:
    return schema.Row(
        run=case.run,
        input=masked(case.question),
        corpus=_documents(case.corpus, case.folder),
        context=tuple(map(masked, case.context)),
        context_sources=_documents(case.context_sources, case.folder),
        context_scores=case.context_scores,
        categories=case.categories,
        relationships=tuple(
            schema.Link(type=link.type, target=link.target, target_type=link.target_type)
            for link in case.relationships
        ),
        expected_output=masked(case.expected_output),
        output_condition=masked(case.condition),
        actual_output=masked(case.actual_output),
        actual_duration=case.duration_s,
        first_token_s=case.first_token_s,
        served_model=safe_identifier(case.served_model),
        request_id=safe_identifier(case.request_id),
        cost=case.cost_usd,
        usage=dict(case.usage),
        retries=case.retries,
        error=masked(case.error),
        is_rag=case.is_rag,
        tool_calls=tuple(map(_masked_texts, case.tool_calls)),
        conversation=tuple(
            schema.Message(role=turn.role, content=masked(turn.content)) for turn in case.conversation
        ),
        expected_facts=tuple(map(masked, case.expected_facts)),
        guidelines=tuple(map(masked, case.guidelines)),
        expected_documents=_documents(case.expected_documents, case.folder),
        outcomes={selected.id: _outcome(outcome) for selected, outcome in outcomes.items()},
    )


def _documents(names: Iterable[str], folder: str) -> tuple[str, ...]:
    """Return names of documents, relative to the folder of the case where they are below it.

    The record is therefore the same on every machine.
    """
    prefix = folder.rstrip(os.sep) + os.sep
    return tuple(safe_identifier(name.removeprefix(prefix)) for name in names)


def _outcome(outcome: Outcome) -> schema.RowOutcome:
    return schema.RowOutcome(
        status=outcome.status,
        code=outcome.code.value,
        reason=masked(outcome.reason),
        scores=dict(outcome.scores),
        fragments=tuple(map(_mark, outcome.fragments)),
        findings=tuple(
            schema.CaseFinding(
                description=masked(finding.description),
                severity=finding.severity,
                problem_type=finding.problem_type,
                avid=finding.avid,
                actions=finding.actions,
            )
            for finding in outcome.findings
        ),
        sketch=outcome.sketch,
        details=_masked_texts(outcome.details) if outcome.details else {},
        judging=schema.JudgeUsage(**dataclasses.asdict(outcome.judging))
        if outcome.judging is not None
        else None,
    )


def _mark(fragment: Fragment) -> schema.Mark:
    return schema.Mark(
        part=fragment.part,
        start=fragment.start,
        end=fragment.end,
        scores=dict(fragment.scores),
        message=masked(fragment.message),
    )


def _masked_texts(value: object) -> Any:
    """Return a JSON-ready value with all its texts masked."""
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, Mapping):
        return {key: _masked_texts(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_masked_texts(item) for item in value]
    return value


def _verdicts(result: Result, run_wide: Mapping[str, ConfiguredEvaluator]) -> dict[str, schema.ItemVerdict]:
    return {
        selected.id: _verdict(selected, verdict, run_wide.get(selected.id))
        for selected, verdict in result.verdicts.items()
    }


def _verdict(
    selected: ConfiguredEvaluator, verdict: Verdict, run_wide: ConfiguredEvaluator | None
) -> schema.ItemVerdict:
    has_own = run_wide is not None and run_wide is not selected
    return schema.ItemVerdict(
        status=verdict.status,
        passed=verdict.passed,
        scores=dict(verdict.scores),
        missed=verdict.missed,
        code=verdict.code.value,
        reason=masked(verdict.reason),
        min=dict(verdict.least),
        pass_k=verdict.pass_k,
        repeats=verdict.repeats,
        policy=verdict.policy,
        stopped=verdict.stopped,
        conformal_set=verdict.conformal_set,
        uncertain=is_uncertain(verdict.conformal_set) if verdict.conformal_set is not None else None,
        thresholds=_different(selected.thresholds, run_wide.thresholds)
        if has_own and run_wide is not None
        else {},
    )


def _different(thresholds: Mapping[str, float], run_wide: Mapping[str, float]) -> dict[str, float]:
    """Return the thresholds of a case that are not those of the run."""
    return {key: value for key, value in thresholds.items() if run_wide[key] != value}


def _flip(flip: Flip) -> schema.ItemFlip:
    return schema.ItemFlip(**dataclasses.asdict(flip))


def _perturbation(origin: Origin, compared_beside: frozenset[str]) -> schema.Perturbation:
    return schema.Perturbation(
        by=tuple(origin.by), meaning_kept=origin.meaning_kept, compared=tuple(sorted(compared_beside))
    )
