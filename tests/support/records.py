"""Hand-made records: a header and items as the plugin writes them, with as little ceremony as a test can
bear.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from pytest_evalstudio.record.codec import encode_line
from pytest_evalstudio.record.schema import Item, Run
from support.stored_records import OldRecord, old_record

CREATED = "2026-11-20T22:00:00+00:00"


def metric(key: str = "score", **more: Any) -> dict[str, Any]:
    """A metric of a header, 0 to 1, higher better, threshold 0.5, primary and asserted unless told
    otherwise.
    """
    base = {
        "key": key,
        "name": key.title(),
        "better": "higher",
        "range": [0.0, 1.0],
        "threshold": 0.5,
        "primary": True,
        "asserted": True,
    }
    return {**base, "description": f"what {key} says", **more}


def evaluator(id: str, *metrics: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An evaluator of a header."""
    base = {
        "id": id,
        "type": id,
        "name": id.replace("_", " ").title(),
        "description": f"Tells {id}.",
        "domain": "generation",
        "method": ["rules"],
        "needs": ["actual_output"],
        "scope": "row",
        "boolean": False,
        "model_types": ["llm", "rag"],
        "parameters": {},
        "keywords": ["nist-ai-rmf-valid-and-reliable", "sr-11-7-outcomes-analysis"],
        "problem_type": "accuracy",
        "avid": "P0200",
    }
    return {**base, "metrics": list(metrics) or [metric()], **more}


def boolean_evaluator(id: str = "text_matching", **more: Any) -> dict[str, Any]:
    """An evaluator that counts passes and failures."""
    failures = (
        "model_failures",
        "model_retrieval_failures",
        "model_generation_failures",
        "model_parse_failures",
    )
    metrics = [
        metric("model_passes"),
        *(metric(key, better="lower", primary=False, asserted=False) for key in failures),
    ]
    return evaluator(id, *metrics, **{"boolean": True, **more})


def model(name: str, **more: Any) -> dict[str, Any]:
    """A model of a header; its key is `m-` and its name."""
    base = {
        "key": f"m-{name}",
        "name": name,
        "host": "python",
        "model_type": "python",
        "llm_model_name": name,
        "documents": [],
        "model_cfg": {},
    }
    return {**base, **more}


def score(value: float | None, key: str = "score", **more: Any) -> dict[str, Any]:
    """A scored outcome."""
    return {"status": "score", "scores": {key: value}, **more}


def leak(description: str, **more: Any) -> dict[str, Any]:
    """A finding."""
    return {
        "description": description,
        "severity": "medium",
        "problem_type": "privacy",
        "avid": "P0300",
        "actions": "Mask it.",
        **more,
    }


class RecordBuilder:
    """Collects a header and items; `write` makes the file.

    Args:
        evaluators: of the header; one named `quality` unless given.
        models: names of the models.
    """

    def __init__(
        self, *evaluators: dict[str, Any], models: tuple[str, ...] = ("one",), **header: Any
    ) -> None:
        entries = evaluators or (evaluator("quality"),)
        self.header: dict[str, Any] = {
            "kind": "run",
            "schema_version": 1,
            "run_id": "00000000-0000-4000-8000-000000000001",
            "created": CREATED,
            "finished": CREATED,
            "tool": {"name": "pytest-evalstudio", "version": "0.1.0"},
            "python": "3.11.7",
            "interrupted": False,
            "exit_status": 0,
            "files": [
                {"path": "suite.json", "kind": "suite", "name": "Suite", "description": "made by hand"}
            ],
            "models": {f"m-{name}": model(name) for name in models},
            "evaluators": {entry["id"]: entry for entry in entries},
            "gates": [],
            "settings": {},
            **header,
        }
        self.items: list[dict[str, Any]] = []

    def add(self, key: str, model: str = "one", *rows: dict[str, Any], **item: Any) -> dict[str, Any]:
        """One item; each row is what differs from an unremarkable answer (`outcomes` above all).

        Verdicts are made from the first row's outcomes, against threshold 0.5, unless given.
        """
        row_records = [self._row(key, run, row) for run, row in enumerate(rows or ({},), 1)]
        verdicts = item.pop("verdicts", None)
        if verdicts is None:
            verdicts = {id: self._verdict(id, outcome) for id, outcome in row_records[0]["outcomes"].items()}
        failed = any(verdict["passed"] is False for verdict in verdicts.values())
        broken = any(verdict["status"] == "error" for verdict in verdicts.values())
        entry = {
            "kind": "item",
            "index": len(self.items),
            "nodeid": f"suite.json::{key}[{model}]",
            "file": "suite.json",
            "key": key,
            "test_key": "t1",
            "model_key": f"m-{model}",
            "verdict": "error" if broken else "failed" if failed else "passed",
            "reason": "",
            "duration_s": 0.01,
            "rows": row_records,
            "verdicts": verdicts,
            "digest": {"parts": {"question": "0"}},
            **item,
        }
        self.items.append(entry)
        return entry

    @property
    def run(self) -> Run:
        """The header as a reader gives it."""
        line = self._reader().line(json.dumps(self.header).encode())
        assert isinstance(line, Run)
        return line

    @property
    def undigested_items(self) -> list[Item]:
        """The items without digests of their test cases, as the report of a scored table has them."""
        return [replace(item, digest=None) for item in self.typed_items]

    @property
    def typed_items(self) -> list[Item]:
        """The items as a reader gives them."""
        reader = self._reader()
        return [reader.line(json.dumps(item).encode()) for item in self.items]

    def _reader(self) -> OldRecord:
        return old_record(self.header)

    def write(self, folder: Path) -> Path:
        path = folder / "record.jsonl"
        path.write_bytes(b"".join(encode_line(line) + b"\n" for line in (self.run, *self.typed_items)))
        return path

    def _row(self, key: str, run: int, row: dict[str, Any]) -> dict[str, Any]:
        base = {
            "run": run,
            "input": f"What about {key}?",
            "corpus": [],
            "context": [],
            "context_sources": [],
            "categories": [],
            "relationships": [],
            "expected_output": "the expected",
            "output_condition": "",
            "actual_output": "the actual",
            "actual_duration": 0.0,
            "cost": None,
            "usage": {},
            "retries": 0,
            "error": "",
            "outcomes": {},
        }
        return {**base, **row}

    def _verdict(self, id: str, outcome: dict[str, Any]) -> dict[str, Any]:
        metrics = self.header["evaluators"][id]["metrics"]
        primary = next(entry for entry in metrics if entry["primary"])
        value = outcome.get("scores", {}).get(primary["key"])
        passed = None
        if outcome["status"] == "score" and value is not None:
            limit, value = float(primary["threshold"]), float(value)
            passed = value >= limit if primary["better"] == "higher" else value <= limit
        return {
            "status": outcome["status"],
            "passed": passed,
            "scores": outcome.get("scores", {}),
            "missed": [] if passed else [primary["key"]],
        }


def perturbed(source: str, *changes: str) -> dict[str, Any]:
    """Return the fields of a row that is a perturbation, e.g. `perturbed("k", "comma:HIGH")`."""
    names = [change.replace(":", ":PerturbationIntensity.") for change in changes]
    return {
        "relationships": [{"type": "perturbation_source", "target": source, "target_type": "test_case"}],
        "categories": ["perturbed", *(f"perturbed_by:{name}" for name in names)],
    }


def flip(source: str, evaluator: str = "quality", **more: Any) -> dict[str, Any]:
    """A flip from pass to fail."""
    base = {
        "evaluator": evaluator,
        "metric": "score",
        "direction": "pass_to_fail",
        "source": source,
        "source_score": 1.0,
        "score": 0.0,
    }
    return {
        **base,
        "threshold": 0.5,
        "perturbators": ["comma:HIGH"],
        "meaning_kept": True,
        "fails": True,
        **more,
    }
