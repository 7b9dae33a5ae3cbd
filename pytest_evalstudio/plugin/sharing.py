"""Messages between xdist workers and their controller: the plan of the run, and the run that asks."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest

from pytest_evalstudio.asking.runs import AskingRun, RunInputs
from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.core.codes import ItemCode, OutcomeCode
from pytest_evalstudio.core.outcomes import Outcome, Verdict
from pytest_evalstudio.plugin.items import EvalItem
from pytest_evalstudio.plugin.keys import PLAN_CHANNEL
from pytest_evalstudio.plugin.reports import Announced, item_tables
from pytest_evalstudio.record.codec import encode_line
from pytest_evalstudio.record.schema import Item, RecordRow, Tables
from pytest_evalstudio.run.payload import Payload, PayloadLine
from pytest_evalstudio.run.planning import CaseOfModel, RunPlan
from pytest_evalstudio.scoring.masking import masked
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator

CRASHED = "worker crashed"
LONGEST_QUESTION = 300
RUN_TIMEOUT_S = 30.0
"""Limit of the wait for the reply of the controller, which precedes the first item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedItem:
    """The part of an item's record entry that is known before it runs.

    Attributes:
        index: position in the run.
        evaluators: ids of the evaluators that will assess it.
        question: its question, shortened.
    """

    index: int
    file: str
    key: str
    test_key: str
    model_key: str
    evaluators: tuple[str, ...]
    question: str
    categories: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerPlan:
    """The plan of a run, the same from each worker.

    Attributes:
        chunks: node id to chunk name.
        usage_error: why the run must not start; "" if it may.
        items: node id to what is known of the item.
        header: encoded entries of the record's header that these items need.
        inputs: of the run; None where it asks no model.
        questions: number of questions that the run asks at least.
        collected: file, key and model of all collected items, deselected ones included; for a comparison.
        deselected: whether test cases were left out.
    """

    chunks: Mapping[str, str] = field(default_factory=dict)
    usage_error: str = ""
    items: Mapping[str, SharedItem] = field(default_factory=dict)
    header: str = ""
    inputs: RunInputs | None = None
    questions: int = 0
    collected: tuple[CaseOfModel, ...] = ()
    deselected: bool = False

    def encoded(self) -> bytes:
        """Return the plan as compressed JSON."""
        return zlib.compress(msgspec.json.encode(self))

    @classmethod
    def decoded(cls, data: bytes) -> WorkerPlan:
        """Read what `encoded` returned."""
        return msgspec.json.decode(zlib.decompress(data), type=WorkerPlan)


def worker_plan(
    plan: RunPlan,
    items: Sequence[EvalItem],
    evaluators: Mapping[str, ConfiguredEvaluator],
    collected: Iterable[CaseOfModel] = (),
    *,
    deselected: bool = False,
) -> WorkerPlan:
    """Return what the controller has to know of a worker's plan and items.

    Args:
        plan: of the worker.
        items: of the run; their chunks are known.
        evaluators: of the record's header, by id.
        collected: file, key and model of all collected items.
        deselected: whether test cases were left out.
    """
    shared: dict[str, SharedItem] = {}
    tables = Tables(evaluators={}, models={}, files={}, steps={})
    announced = Announced()
    for item in items:
        task, file = item.planned.task, item.planned.file
        selected = item.chunk.pipeline.selected_for(task) if hasattr(item, "chunk") else ()
        shared[item.nodeid] = SharedItem(
            index=item.run_index,
            file=file.nodeid,
            key=task.key,
            test_key=task.case.test_key,
            model_key=task.model.key,
            evaluators=tuple(each.id for each in selected),
            question=masked(task.case.question)[:LONGEST_QUESTION],
            categories=task.case.categories,
        )
        new = item_tables(item.planned, selected, announced, evaluators)
        tables.evaluators.update(new.evaluators)
        tables.models.update(new.models)
        tables.files.update(new.files)
    return WorkerPlan(
        chunks=plan.chunks,
        items=shared,
        header=encode_line(tables).decode() if tables else "",
        inputs=plan.inputs,
        questions=plan.questions,
        collected=tuple(sorted(collected)),
        deselected=deselected,
    )


def crash_payload(nodeid: str, item: SharedItem, header: str) -> Payload:
    """Return the record entry of an item whose worker died: an error of each of its evaluators."""
    code = OutcomeCode.NO_ANSWER
    row = RecordRow(
        question=item.question,
        categories=item.categories,
        answer=Answer(error=CRASHED),
        outcomes=dict.fromkeys(item.evaluators, Outcome(status="error", code=code, reason=CRASHED)),
    )
    verdict = Verdict(status="error", passed=None, scores={}, missed=(), code=code, reason=CRASHED)
    entry = Item(
        index=item.index,
        nodeid=nodeid,
        verdict="error",
        duration_s=0.0,
        file=item.file,
        key=item.key,
        test_key=item.test_key,
        model_key=item.model_key,
        code=ItemCode.WORKER_CRASHED.value,
        reason=CRASHED,
        rows=(row,),
        verdicts=dict.fromkeys(item.evaluators, verdict),
        flips=(),
    )
    line = PayloadLine(identity=entry.identity, index=item.index, text=encode_line(entry).decode())
    return Payload(nodeid=nodeid, header=header, lines=(line,))


def send_plan(config: pytest.Config, plan: WorkerPlan) -> None:
    """Send a worker's plan to the controller, before the controller learns what the worker has collected."""
    channel = config.workerinput.get(PLAN_CHANNEL)  # type: ignore[attr-defined]
    if channel is not None:
        channel.send(plan.encoded())


def receive_run(config: pytest.Config) -> AskingRun | None:
    """Wait for the run that the controller begins for the plan of this worker; None if none arrives."""
    channel = config.workerinput.get(PLAN_CHANNEL)  # type: ignore[attr-defined]
    if channel is None:
        return None
    try:
        return msgspec.json.decode(channel.receive(timeout=RUN_TIMEOUT_S), type=AskingRun)
    except (channel.TimeoutError, EOFError):
        return None


def send_run(node: Any, run: AskingRun) -> None:
    """Tell a worker the run that its questions belong to, before it gets items."""
    channel = node.workerinput.get(PLAN_CHANNEL)
    if channel is not None:
        channel.send(msgspec.json.encode(run))
