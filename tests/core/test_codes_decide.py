"""Verdicts, problems and insights rest on codes: a run whose every message says something else finds the
same.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from pytest_evalstudio.analysis.analyse import Analysis, analyse
from pytest_evalstudio.api.evaluate import evaluate
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.formats.lab import TestLab
from pytest_evalstudio.record.reader import RecordReader
from pytest_evalstudio.record.schema import Item, RecordRow
from pytest_evalstudio.record.writer import RecordWriter

RECORD = Path(__file__).parents[1] / "record" / "data" / "record.jsonl"
OTHER = "Something else entirely."


def without_words(analysis: Analysis) -> list[object]:
    """Return what an analysis found, without the sentences that people read."""
    problems = [
        (problem.severity, problem.problem_type, problem.avid, dict(problem.attributes))
        for problem in analysis.problems
    ]
    insights = [(insight.insight_type, dict(insight.attributes)) for insight in analysis.insights]
    gates = [(gate.met, dict(gate.values)) for gate in analysis.gates]
    return [dict(analysis.verdicts), problems, insights, gates]


def reworded(item: Item) -> Item:
    return msgspec.structs.replace(
        item,
        reason=OTHER if item.reason else "",
        rows=tuple(map(_row, item.rows)),
        verdicts={
            id: msgspec.structs.replace(verdict, reason=OTHER if verdict.reason else "")
            for id, verdict in item.verdicts.items()
        },
    )


def _row(row: RecordRow) -> RecordRow:
    outcomes = {id: _outcome(outcome) for id, outcome in row.outcomes.items()}
    answer = msgspec.structs.replace(row.answer, error=OTHER if row.answer.error else "")
    return msgspec.structs.replace(row, answer=answer, outcomes=outcomes)


def _outcome(outcome: Outcome) -> Outcome:
    return msgspec.structs.replace(outcome, reason=OTHER if outcome.reason else "")


def test_an_analysis_of_reworded_messages_finds_the_same(tmp_path: Path) -> None:
    record = RecordReader(RECORD)
    writer = RecordWriter(tmp_path, msgspec.structs.replace(record.run, finished=None))
    for item in record.items():
        writer.append_item(reworded(item))
    path = writer.finish(record.run)
    assert OTHER in path.read_text(encoding="utf-8")
    assert without_words(analyse(path, {})) == without_words(analyse(RECORD, {}))


@pytest.fixture
def mumbling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Evaluators whose every reason is another one."""

    def error(cls: type[Outcome], reason: str, code: OutcomeCode = OutcomeCode.EVALUATOR_FAILED) -> Outcome:
        return cls(status="error", reason=OTHER, code=code)

    def not_applicable(
        cls: type[Outcome], reason: str, code: OutcomeCode = OutcomeCode.NOTHING_TO_SCORE
    ) -> Outcome:
        return cls(status="not_applicable", reason=OTHER, code=code)

    monkeypatch.setattr(Outcome, "error", classmethod(error))
    monkeypatch.setattr(Outcome, "not_applicable", classmethod(not_applicable))


EVALUATORS = [
    "text_matching",
    "rouge",
    "lexical_groundedness",
    "encoding_guardrail",
    "pii_leakage",
    "classification",
]


def lab() -> TestLab:
    rows = [
        {
            "key": "good",
            "input": "Capital?",
            "actual_output": "Paris",
            "expected_output": "Paris",
            "context": ["Paris"],
        },
        {"key": "bad", "input": "Capital?", "actual_output": "Rome", "expected_output": "Paris"},
        {"key": "empty", "input": "Capital?", "actual_output": "", "expected_output": "Paris"},
        {"key": "silent", "input": "Capital?", "actual_output": "", "error": "no connection"},
        {"key": "leak", "input": "SSN?", "actual_output": "219-09-9999"},
    ]
    return TestLab.model_validate(
        {
            "dataset": {"inputs": [{**row, "model_key": "m"} for row in rows]},
            "models": [{"key": "m", "name": "M"}],
        }
    )


def found_in(folder: Path) -> list[object]:
    path = evaluate(lab(), EVALUATORS).write_record(folder)
    return without_words(analyse(path, {}))


def test_a_run_with_other_reasons_finds_the_same(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    before = found_in(tmp_path / "before")
    request.getfixturevalue("mumbling")
    assert found_in(tmp_path / "after") == before
