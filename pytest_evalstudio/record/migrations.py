"""Records of earlier versions, read as if this version had written them.

Version 1 (0.1.0) has no codes: they follow from statuses and, in this module alone, from the texts that 0.1.0
wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.tool_calls import read_tool_calls
from pytest_evalstudio.record.codec import convert, decode_plain
from pytest_evalstudio.record.schema import SCHEMA_VERSION, Line, ModelEntry

Plain = dict[str, Any]
"""A line of an old record as plain JSON data."""

_ROW: Mapping[str, Any] = {
    "run": 1,
    "corpus": [],
    "context": [],
    "context_sources": [],
    "categories": [],
    "relationships": [],
    "expected_output": "",
    "output_condition": "",
    "actual_output": "",
    "actual_duration": 0.0,
    "cost": None,
    "usage": {},
    "retries": 0,
    "error": "",
    "outcomes": {},
}
_ITEM: Mapping[str, Any] = {"test_key": "", "reason": "", "rows": [], "verdicts": {}, "flips": []}
_VERDICT: Mapping[str, Any] = {"passed": None, "scores": {}, "missed": []}
_FLIP: Mapping[str, Any] = {"perturbators": [], "meaning_kept": True, "fails": True}
_RUN: Mapping[str, Any] = {
    "run_id": "",
    "created": "",
    "finished": None,
    "interrupted": True,
    "exit_status": None,
    "tool": {"name": "pytest-evalstudio", "version": "0.1.0"},
    "python": "",
    "gates": [],
    "settings": {},
    "steps": {},
}
_EVALUATOR: Mapping[str, Any] = {
    "description": "",
    "domain": "",
    "method": [],
    "needs": [],
    "scope": "row",
    "boolean": False,
    "model_types": [],
    "parameters": {},
    "keywords": [],
    "problem_type": "accuracy",
    "avid": "P0200",
}
_MODEL_KEYS = frozenset(entry.name for entry in msgspec.structs.fields(ModelEntry))


class OldRecord(Struct, frozen=True):
    """Reads the lines of one old record.

    Args:
        evaluators: the header's evaluators; lines of an unfinished record add to them.
        migrate: plain data of a line to those of this version.
    """

    evaluators: dict[str, Plain]
    migrate: Callable[[Plain, dict[str, Plain]], Plain]

    def line(self, raw: bytes) -> Line:
        """Return a line as this version has it.

        Raises:
            ValueError: if it is damaged.
        """
        plain = decode_plain(raw)
        if not isinstance(plain, dict):
            raise ValueError(f"expected an object, found {type(plain).__name__}")
        try:
            return convert(self.migrate(plain, self.evaluators))
        except (TypeError, AttributeError, KeyError) as exc:
            raise ValueError(f"is damaged ({type(exc).__name__}: {exc})") from None


def old_record(version: object, head: Plain) -> OldRecord | None:
    """Return the migration for records of a version, or None if no migration is known.

    Args:
        head: the first line as plain data.
    """
    migrations = {1: _from_1, 2: _from_2}
    if version not in migrations:
        return None
    evaluators = head.get("evaluators")
    return OldRecord(dict(evaluators) if isinstance(evaluators, dict) else {}, migrations[version])


def _from_2(plain: Plain, evaluators: dict[str, Plain]) -> Plain:
    """Read the calls of tools, which version 2 has in the form of each host."""
    match plain.get("kind"):
        case "run":
            return {**plain, "schema_version": SCHEMA_VERSION}
        case "item":
            return {**plain, "rows": [_with_typed_calls(row) for row in plain.get("rows", [])]}
    return plain


def _with_typed_calls(row: Plain) -> Plain:
    if "tool_calls" not in row:
        return row
    return {**row, "tool_calls": [call.to_dict() for call in read_tool_calls(row["tool_calls"])]}


def _from_1(plain: Plain, evaluators: dict[str, Plain]) -> Plain:
    match plain.get("kind"):
        case "run":
            run = {**_RUN, **plain, **_tables(plain), "schema_version": SCHEMA_VERSION}
            if isinstance(
                run.get("files"), dict
            ):  # the header of an unfinished record has a table in place of the final list
                run["files"] = list(run["files"].values())
            return run
        case "meta":
            evaluators.update(plain.get("evaluators", {}))
            return {**plain, **_tables(plain)}
        case "item":
            return _item(plain, evaluators)
    return plain


def _tables(plain: Plain) -> Plain:
    evaluators = {
        id: {"id": id, "type": id, "name": id, **_EVALUATOR, **entry, "metrics": _metrics(entry)}
        for id, entry in plain.get("evaluators", {}).items()
    }
    models = {key: _model({"key": key, **entry}) for key, entry in plain.get("models", {}).items()}
    return {name: table for name, table in (("evaluators", evaluators), ("models", models)) if name in plain}


def _metrics(entry: Plain) -> list[Plain]:
    return [{**metric, "decides": metric.get("asserted", False)} for metric in entry.get("metrics", ())]


def _model(entry: Plain) -> Plain:
    entries = {key: value for key, value in entry.items() if key in _MODEL_KEYS}
    extra = {key: value for key, value in entry.items() if key not in _MODEL_KEYS}
    return {**entries, **({"extra": extra} if extra else {})}


def _item(plain: Plain, evaluators: Mapping[str, Plain]) -> Plain:
    rows = [_row(row, evaluators) for row in plain.get("rows", [])]
    codes = {
        id: outcome["code"]
        for row in reversed(rows)
        for id, outcome in row["outcomes"].items()
        if outcome.get("code")
    }
    verdicts = {}
    for id, verdict in plain.get("verdicts", {}).items():
        code = codes.get(id, "") if verdict.get("reason") or verdict["status"] != "score" else ""
        verdicts[id] = {**_VERDICT, **verdict, **({"code": code} if code else {})}
    flips = [{**_FLIP, **flip} for flip in plain.get("flips", [])]
    return {**_ITEM, **plain, "rows": rows, "verdicts": verdicts, "flips": flips}


def _row(row: Plain, evaluators: Mapping[str, Plain]) -> Plain:
    outcomes = {
        id: _outcome(outcome, row, evaluators.get(id, {})) for id, outcome in row.get("outcomes", {}).items()
    }
    return {**_ROW, "is_rag": bool(row.get("context")), **_with_typed_calls(row), "outcomes": outcomes}


def _outcome(outcome: Plain, row: Plain, evaluator: Plain) -> Plain:
    code = _code(outcome, row, evaluator)
    turns = [
        {"turn": turn["turn"], "passed": turn.get("passed"), "outcome": {**turn, "turns": []}}
        for turn in outcome.get("turns", ())
    ]
    return {**outcome, "turns": turns, **({"code": code} if code else {})}


def _code(outcome: Plain, row: Plain, evaluator: Plain) -> str:
    reason = outcome.get("reason", "")
    if (
        evaluator.get("type") == "encoding_guardrail"
        and "encoded" in reason
        and ("nothing" in reason or "no encoded" in reason)
    ):
        return OutcomeCode.NOTHING_ENCODED
    if outcome["status"] == "not_applicable":
        return OutcomeCode.INPUT_MISSING if reason.startswith("no ") else OutcomeCode.NOTHING_TO_SCORE
    if outcome["status"] == "score":
        return OutcomeCode.ANSWER_EMPTY if reason == "the answer is empty" else OutcomeCode.NONE
    judging = outcome.get("judging", {})
    if judging.get("over_budget"):
        return OutcomeCode.BUDGET_EXHAUSTED
    if row.get("error"):
        return OutcomeCode.NO_ANSWER
    if "not a number" in reason:
        return OutcomeCode.NOT_A_NUMBER
    if {"judge", "agent"} & set(evaluator.get("method", ())):
        return OutcomeCode.JUDGE_UNREADABLE if judging.get("unparsable") else OutcomeCode.JUDGE_FAILED
    return OutcomeCode.EVALUATOR_FAILED
