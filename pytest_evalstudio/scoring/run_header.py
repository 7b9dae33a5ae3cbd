"""Build the header of a run's record: evaluators, models, files, documents, and the run itself."""

from __future__ import annotations

import dataclasses
import functools
import os
import platform
import stat
import time
import uuid
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.plugins.parameters import parameter_specs
from pytest_evalstudio.core.problems import own_problem_type
from pytest_evalstudio.core.reading import file_sha256
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.record import schema
from pytest_evalstudio.record.codec import iso_time
from pytest_evalstudio.record.revision import revision
from pytest_evalstudio.scoring.identifiers import document_names, safe_description, safe_identifier
from pytest_evalstudio.scoring.masking import masked
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator
from pytest_evalstudio.scoring.tasks import ModelInfo

TOOL = "pytest-evalstudio"
_MODEL_KEYS = frozenset(entry.name for entry in msgspec.structs.fields(schema.ModelEntry)) - {
    "extra",
    "stopping",
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
        parameters_meta=parameter_specs(type(selected.evaluator)),
        embedder=selected.embedder,
        judge=dict(selected.judge),
        judge_check=_judge_check_entry(selected) if selected.check is not None else None,
        calibration=selected.attached.describe() if selected.attached is not None else {},
        metrics=tuple(
            replace(
                metric,
                name=metric.name or metric.key,
                threshold=selected.thresholds[metric.key],
                decides=metric.key in selected.asserted,
            )
            for metric in spec.metrics
        ),
        keywords=spec.keywords,
        problem_type=own_problem_type(spec.problem_type),
        avid=spec.avid,
        difference=spec.difference,
        min_test_cases=selected.reporting.min_test_cases,
        save_llm_result=selected.reporting.save_llm_result,
        sentence_level_metrics=selected.reporting.sentence_level_metrics,
    )


def _judge_check_entry(selected: ConfiguredEvaluator) -> schema.JudgeCheckEntry | None:
    from pytest_evalstudio.scoring.judge_identity import judge_check_entry

    return judge_check_entry(selected)


def model_entry(info: ModelInfo) -> schema.ModelEntry:
    """Return the header's entry of a model, secrets and personal data masked."""
    described: dict[str, Any] = {**safe_description(info.description), "key": info.key, "name": info.label}
    entries = {name: value for name, value in described.items() if name in _MODEL_KEYS}
    extra = {name: value for name, value in described.items() if name not in _MODEL_KEYS}
    entry = msgspec.convert({**entries, "extra": extra}, schema.ModelEntry, strict=False)
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
    for path, name in zip(case.corpus, document_names(case.corpus, case.folder), strict=True):
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
    return file_sha256(path)


def new_run(
    config: Configuration,
    *,
    gates: Sequence[str],
    pytest: str = "",
    folder: Path | None = None,
    shards: schema.Shards | None = None,
) -> schema.Run:
    """Return the header of a run that begins now; a run that never ends stays an interrupted one.

    Args:
        config: what applies to the run as a whole.
        gates: of configuration and command line.
        pytest: version of pytest, "" without it.
        folder: of the tested project, whose commit the record names; None for none.
        shards: the part of the run that this one is, None for all of it.
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
        shards=shards,
    )


def finished_run(
    run: schema.Run,
    *,
    interrupted: bool,
    exit_status: int,
    judging: schema.JudgeSpend | None = None,
    uncollected: Iterable[str] = (),
    session: schema.SessionEnd | None = None,
    deselected: bool = False,
) -> schema.Run:
    """Return the header of a run that ends now.

    Args:
        uncollected: node ids that could not be collected.
        session: tests of the pytest session, None where the run was none.
        deselected: whether test cases were left out.
    """
    return msgspec.structs.replace(
        run,
        finished=now(),
        interrupted=interrupted,
        exit_status=exit_status,
        judging=judging,
        uncollected=tuple(map(safe_identifier, uncollected)),
        session=session,
        deselected=deselected,
    )


def now() -> str:
    """Return the time as records write it: ISO 8601, UTC, seconds."""
    return iso_time(time.time())
