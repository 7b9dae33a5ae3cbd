"""The plan that an xdist worker sends to the controller before items are handed out."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_evalstudio.engine.scoring.entries import line, portable
from pytest_evalstudio.engine.scoring.run import masked
from pytest_evalstudio.plugin.chunked import INDEX
from pytest_evalstudio.plugin.reports import item_meta, new_meta

if TYPE_CHECKING:
    from pytest_evalstudio.plugin.items import EvalItem

CRASHED = "worker crashed"
LONGEST_QUESTION = 300
Meta = Mapping[str, Mapping[str, Mapping[str, Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedItem:
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
        meta: entries of the record's header that these items need.
    """

    chunks: Mapping[str, str] = field(default_factory=dict)
    usage_error: str = ""
    items: Mapping[str, PlannedItem] = field(default_factory=dict)
    meta: Meta = field(default_factory=dict)

    def encoded(self) -> bytes:
        """Return the plan as compressed JSON."""
        return zlib.compress(json.dumps(portable(asdict(self))).encode())

    @classmethod
    def decoded(cls, data: bytes) -> WorkerPlan:
        """Read what `encoded` returned."""
        content = json.loads(zlib.decompress(data))
        items = {
            nodeid: PlannedItem(**{**item, "evaluators": tuple(item["evaluators"]), "categories": tuple(item["categories"])})
            for nodeid, item in content.pop("items").items()
        }
        return cls(**content, items=items)


def plan_of(chunks: Mapping[str, str], items: Iterable[EvalItem]) -> WorkerPlan:
    """Return the plan of a worker's chunks and items."""
    planned: dict[str, PlannedItem] = {}
    meta: dict[str, dict[str, Any]] = {}
    for item in items:
        subject = item.subject
        selected = item.chunk.engine.selected_for(subject) if hasattr(item, "chunk") else ()
        planned[item.nodeid] = PlannedItem(
            index=item.stash[INDEX],
            file=item.file.nodeid,
            key=subject.key,
            test_key=subject.case.test_key,
            model_key=subject.model.key,
            evaluators=tuple(one.id for one in selected),
            question=masked(subject.case.question[:LONGEST_QUESTION]),
            categories=subject.case.categories,
        )
        for name, table in item_meta(item, selected).items():
            meta.setdefault(name, {}).update(table)
    return WorkerPlan(chunks=chunks, items=planned, meta=new_meta(set(), meta))


def crash_payload(nodeid: str, item: PlannedItem, meta: Meta) -> dict[str, Any]:
    """Return the record entry of an item whose worker died: an error of each of its evaluators."""
    outcome = {"status": "error", "reason": CRASHED}
    row = {
        "run": 1,
        "input": item.question,
        "corpus": [],
        "context": [],
        "context_sources": [],
        "categories": list(item.categories),
        "relationships": [],
        "expected_output": "",
        "output_condition": "",
        "actual_output": "",
        "actual_duration": 0.0,
        "cost": None,
        "usage": {},
        "retries": 0,
        "error": CRASHED,
        "is_rag": False,
        "outcomes": dict.fromkeys(item.evaluators, outcome),
    }
    verdict: dict[str, Any] = {"status": "error", "passed": None, "scores": {}, "missed": [], "reason": CRASHED}
    entry = {
        "kind": "item",
        "index": item.index,
        "nodeid": nodeid,
        "verdict": "error",
        "duration_s": 0.0,
        "file": item.file,
        "key": item.key,
        "test_key": item.test_key,
        "model_key": item.model_key,
        "reason": CRASHED,
        "rows": [row],
        "verdicts": dict.fromkeys(item.evaluators, verdict),
        "flips": [],
    }
    return {"nodeid": nodeid, "entries": [(nodeid, item.index, line(entry))], "meta": meta}
