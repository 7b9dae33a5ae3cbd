"""Converter of the records that tests have as plain data: rows are flat, and codes follow from texts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct, structs

from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.tool_calls import read_tool_calls
from pytest_evalstudio.record.codec import convert, decode_plain
from pytest_evalstudio.record.schema import SCHEMA_VERSION, Line, ModelEntry

Plain = dict[str, Any]
"""A line of an old record as plain JSON data."""

_OF_ANSWER = frozenset(field.encode_name for field in structs.fields(Answer)) | {"stored", "state_before"}
"""Names of a flat row that belong to its answer; the last two are of old records."""
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
    """Reads the lines of one record.

    Args:
        evaluators: the header's evaluators; lines of an unfinished record add to them.
    """

    evaluators: dict[str, Plain]

    def line(self, raw: bytes) -> Line:
        """Return a line as this version has it.

        Raises:
            ValueError: if it is damaged.
        """
        plain = decode_plain(raw)
        if not isinstance(plain, dict):
            raise ValueError(f"expected an object, found {type(plain).__name__}")
        try:
            return convert(_converted(plain, self.evaluators))
        except (TypeError, AttributeError, KeyError) as exc:
            raise ValueError(f"is damaged ({type(exc).__name__}: {exc})") from None


def old_record(head: Plain) -> OldRecord:
    """Return the converter of a record.

    Args:
        head: the first line as plain data.
    """
    evaluators = head.get("evaluators")
    return OldRecord(dict(evaluators) if isinstance(evaluators, dict) else {})


def _converted(plain: Plain, evaluators: dict[str, Plain]) -> Plain:
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
    of_case = {name: value for name, value in row.items() if name not in _OF_ANSWER}
    return {
        "is_rag": bool(row.get("context")),
        **of_case,
        "answer": _answer(row),
        "outcomes": outcomes,
    }


def _answer(row: Plain) -> Plain:
    answer = {name: value for name, value in row.items() if name in _OF_ANSWER}
    if "tool_calls" in answer:
        answer["tool_calls"] = [call.to_dict() for call in read_tool_calls(answer["tool_calls"])]
    if "turns" in answer:
        answer["turns"] = [{**turn, "answer": _answer(turn["answer"])} for turn in answer["turns"]]
    if "state" in answer:
        after = answer.pop("state")
        before = answer.pop("state_before", None)
        answer["state"] = None if after is None else {"after": after, "before": before}
    if stored := answer.pop("stored", ""):
        answer["stored_at"] = datetime.fromisoformat(stored).timestamp()
    return answer


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
