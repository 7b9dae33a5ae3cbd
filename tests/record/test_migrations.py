"""Records that version 0.1.0 wrote are read, with the problems that 0.1.0 found in them.

Of its insights those remain that hold: models are ranked only where their intervals do not overlap.
"""

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
RECORD = DATA / "record-0.1.0.jsonl"
EXPECTED = json.loads((DATA / "interpretation-0.1.0.json").read_text(encoding="utf-8"))


def test_every_line_is_read_and_written_in_the_current_version() -> None:
    record = RecordReader(RECORD)
    assert json.loads(encode_line(record.run))["schema_version"] == SCHEMA_VERSION
    items = list(record.items())
    assert len(items) == 16
    assert [decode_line(encode_line(item)) for item in items] == items


def test_codes_follow_from_what_the_old_version_wrote() -> None:
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


def test_problems_and_insights_are_those_that_the_old_version_found() -> None:
    analysis = analyse(RECORD, {})
    assert [problem_entry(problem) for problem in analysis.problems] == EXPECTED["problems"]
    assert [insight_entry(insight) for insight in analysis.insights] == EXPECTED["insights"]
    assert dict(analysis.verdicts) == {**EXPECTED["run"]["verdicts"], "not_run": 0}


def test_calls_of_version_2_are_typed(tmp_path: Path) -> None:
    record = RecordReader(RECORD)
    [item, *_] = [item for item in record.items() if item.rows]
    run = {**json.loads(encode_line(record.run)), "schema_version": 2}
    line = json.loads(encode_line(item))
    call = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"query": "fee"}'}}
    line["rows"][0]["tool_calls"] = [call, {"name": "x"}]
    path = tmp_path / "record.jsonl"
    path.write_text(f"{json.dumps(run)}\n{json.dumps(line)}\n", encoding="utf-8")

    [read] = RecordReader(path).items()

    search, other = read.rows[0].tool_calls
    assert (search.name, search.arguments, search.id) == ("search", {"query": "fee"}, "c1")
    assert (other.name, other.arguments) == ("x", {})
