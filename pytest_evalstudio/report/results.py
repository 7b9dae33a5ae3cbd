"""Results files: every row of an evaluator as JSON and CSV, written while items go by."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from pytest_evalstudio.engine.analysis.run_info import EvaluatorInfo
from pytest_evalstudio.engine.scoring.entries import portable
from pytest_evalstudio.report.highlight import segments

ROW = ("input", "corpus", "context", "context_sources", "categories", "relationships", "expected_output", "output_condition", "actual_output")
ROW_FIGURES = ("actual_duration", "cost", "usage", "retries")
KEYS = ("key", "test_key", "test_case_key", "model_key")
PLACE = ("file", "nodeid", "verdict", "run")
OURS = ("outcomes", "result_error_message", "actual_output_meta")
FORMULA = frozenset("=+-@\t\r")

_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode


def open_text(path: Path) -> IO[str]:
    """A UTF-8 file to write; what has no UTF-8 form (half a surrogate pair) is written as its escape."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return open(path, "w", encoding="utf-8", errors="backslashreplace", newline="\n")


def write_json(path: Path, content: Any) -> None:
    """JSON for machines that people may look at: two spaces, infinities as strings."""
    with open_text(path) as file:
        file.write(json.dumps(portable(content), ensure_ascii=False, allow_nan=False, indent=2) + "\n")


def cell(value: Any) -> str:
    """A value as a cell of a CSV file (RFC 4180); a text that a spreadsheet would run as a formula gets an apostrophe before it.

    >>> print(cell("=1+1"), cell(-1.5), cell(["a"]), cell(None), sep=",")
    "'=1+1",-1.5,"[""a""]",
    """
    if value is None:
        return ""
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, (list, dict)):
        value = _encode(value) if value else "[]" if isinstance(value, list) else "{}"
    text = str(value)
    guard = "'" if text[:1] in FORMULA else ""
    return '"' + guard + text.replace('"', '""') + '"'


class ResultsWriter:
    """Writes the results of all evaluators of a run in one pass; use it as a context manager.

    Args:
        folders: evaluator id to the folder of its results.
        models: as the header describes them.
        descriptions: evaluator id to what the JSON says of it.
    """

    def __init__(
        self, folders: Mapping[str, Path], evaluators: Mapping[str, EvaluatorInfo], models: Mapping[str, Any], descriptions: Mapping[str, Any]
    ) -> None:
        self.rows = dict.fromkeys(folders, 0)
        self._files = ExitStack()
        self._models = models
        self._descriptions = descriptions
        self._evaluators = evaluators
        self._columns = {id: _metric_names(evaluators[id]) for id in folders}
        self._json = {id: self._files.enter_context(open_text(folder / "application_json" / "explanation.json")) for id, folder in folders.items()}
        self._csv = {id: self._table(id, folder / "text_csv" / "explanation.csv") for id, folder in folders.items()}

    def __enter__(self) -> ResultsWriter:
        for file in self._json.values():
            file.write('{"results": [')
        return self

    def __exit__(self, *exc: object) -> None:
        for id, file in self._json.items():
            models = json.dumps(portable(list(self._models.values())), ensure_ascii=False)
            file.write(f'\n],\n"models": {models},\n"evaluator": {json.dumps(portable(self._descriptions[id]), ensure_ascii=False)}\n}}\n')
        self._files.close()

    def add(self, item: Mapping[str, Any]) -> None:
        """Write the rows of one item into the files of the evaluators that had a word on them."""
        for row in item.get("rows", ()):
            outcomes = row.get("outcomes", {})
            if not outcomes:
                continue
            base = _base(item, row)
            head = _encode(base)[:-1]
            cells = ",".join(map(cell, base.values()))
            for id, outcome in outcomes.items():
                if id in self._json:
                    self._write(id, item, row, outcome, head, cells)

    def _write(self, id: str, item: Mapping[str, Any], row: Mapping[str, Any], outcome: Mapping[str, Any], head: str, cells: str) -> None:
        info = self._evaluators[id]
        scores = outcome.get("scores", {})
        reason = outcome.get("reason", "")
        values = {name: scores.get(key) for key, name in self._columns[id].items()}
        fault = row.get("error") or (reason if outcome["status"] == "error" else "")
        tail = {
            **values,
            "outcomes": {id: {"status": outcome["status"], "reason": reason}},
            "result_error_message": fault,
            "actual_output_meta": _sentences(info, row, outcome),
        }
        self._json[id].write(("\n" if not self.rows[id] else ",\n") + head + ", " + _encode(tail)[1:])
        ends = (*values.values(), outcome["status"], reason, fault)
        self._csv[id].write(cells + "," + ",".join(map(cell, ends)) + "\n")
        self.rows[id] += 1

    def _table(self, id: str, path: Path) -> IO[str]:
        file = self._files.enter_context(open_text(path))
        file.write(
            ",".join([*KEYS, *PLACE, *ROW, *ROW_FIGURES, *map(cell, self._columns[id].values()), "status", "reason", "result_error_message"]) + "\n"
        )
        return file


def describe_evaluator(info: EvaluatorInfo, explanations: Sequence[str]) -> dict[str, Any]:
    """What an export says of an evaluator."""
    return {
        "id": info.id,
        "name": info.name,
        "display_name": info.name,
        "type": info.type,
        "description": info.description,
        "model_types": list(info.model_types),
        "parameters": dict(info.parameters),
        **({"embedder": info.embedder} if info.embedder else {}),
        "metrics_meta": [
            {
                "key": metric.key,
                "display_name": metric.name,
                "description": metric.description,
                "value_range": list(metric.range),
                "higher_is_better": metric.better == "higher",
                "threshold": metric.threshold,
                "is_primary_metric": metric.primary,
                "asserted": metric.key in info.asserted,
            }
            for metric in info.metrics
        ],
        "keywords": list(info.keywords),
        "explanation_scopes": ["global"],
        "explanations": list(explanations),
    }


def _base(item: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    key, model = item["key"], item["model_key"]
    base: dict[str, Any] = {
        "key": key if key.endswith(f"_{model}") else f"{key}_{model}",
        "test_key": item.get("test_key", ""),
        "test_case_key": key,
        "model_key": model,
        "file": item["file"],
        "nodeid": item["nodeid"],
        "verdict": item["verdict"],
        "run": row.get("run", 1),
    }
    for name in (*ROW, *ROW_FIGURES):
        base[name] = row.get(name)
    return base


def _metric_names(info: EvaluatorInfo) -> dict[str, str]:
    """Metric key to its name in an export, where one that is taken gets the evaluator's before it."""
    taken = {*KEYS, *PLACE, *ROW, *ROW_FIGURES, *OURS, "status", "reason"}
    return {metric.key: f"{info.id}.{metric.key}" if metric.key in taken else metric.key for metric in info.metrics}


def _sentences(info: EvaluatorInfo, row: Mapping[str, Any], outcome: Mapping[str, Any]) -> list[dict[str, Any]]:
    fragments = outcome.get("fragments")
    if not fragments:
        return []
    made = segments(row.get("actual_output", ""), fragments, info.primary)
    data = [{"text": part.text, "metrics": dict(part.scores or {}), "meta": {"error_message": part.message} if part.message else {}} for part in made]
    scored = any(part.scores for part in made)
    return [{"tokenization": "sentence_level" if scored else "fragment_level", "data": data}]
