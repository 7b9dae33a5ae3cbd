"""A stored run is read, and has the problems and insights that were found in it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from pytest_evalstudio.analysis.analyse import analyse
from pytest_evalstudio.record.codec import decode_line, encode_line
from pytest_evalstudio.record.reader import RecordReader
from pytest_evalstudio.record.schema import SCHEMA_VERSION
from pytest_evalstudio.report.exports import insight_entry, problem_entry

DATA = Path(__file__).parent / "data"
RECORD = DATA / "record.jsonl"
EXPECTED = json.loads((DATA / "interpretation.json").read_text(encoding="utf-8"))


def test_every_line_is_read_and_written() -> None:
    record = RecordReader(RECORD)
    assert json.loads(encode_line(record.run))["schema_version"] == SCHEMA_VERSION
    items = list(record.items())
    assert len(items) == 16
    assert [decode_line(encode_line(item)) for item in items] == items


def test_codes_are_those_of_the_run() -> None:
    codes = Counter(
        outcome.code
        for item in RecordReader(RECORD).items()
        for row in item.rows
        for outcome in row.outcomes.values()
        if outcome.code
    )
    assert codes == {
        "answer_empty": 46,
        "no_answer": 16,
        "input_missing": 12,
        "nothing_to_score": 6,
        "nothing_encoded": 4,
        "not_a_number": 4,
        "judge_unreadable": 4,
        "budget_exhausted": 2,
    }


def test_problems_and_insights_are_those_that_were_found() -> None:
    analysis = analyse(RECORD, {})
    assert [problem_entry(problem) for problem in analysis.problems] == EXPECTED["problems"]
    assert [insight_entry(insight) for insight in analysis.insights] == EXPECTED["insights"]
    assert dict(analysis.verdicts) == {**EXPECTED["run"]["verdicts"], "not_run": 0}
