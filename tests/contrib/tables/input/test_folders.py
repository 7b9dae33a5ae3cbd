"""Folders of tables: partitions give columns, and of a Delta table only the active files count."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pytest_evalstudio.cli import main

Action = Mapping[str, Any]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: str, *answers: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist([{"input": "q", "actual_output": each} for each in answers]), path)


def add(path: str, **fields: Any) -> Action:
    return {"add": {"path": path, "partitionValues": {}, "dataChange": True, **fields}}


def remove(path: str) -> Action:
    return {"remove": {"path": path, "dataChange": True}}


def commit(table: str, version: int, *actions: Action) -> None:
    path = Path(table, "_delta_log", f"{version:020d}.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(action) + "\n" for action in actions), encoding="utf-8")


def checkpoint(table: str, version: int, *actions: Action, part: str = "") -> None:
    values = pa.map_(pa.string(), pa.string())
    file = pa.struct([("path", pa.string()), ("partitionValues", values)])
    schema = pa.schema([("add", file), ("remove", pa.struct([("path", pa.string())]))])
    rows = [{"add": None, "remove": None, **action} for action in actions]
    for row in rows:
        if row["add"]:
            row["add"] = {
                "path": row["add"]["path"],
                "partitionValues": list(row["add"]["partitionValues"].items()),
            }
    path = Path(table, "_delta_log", f"{version:020d}.checkpoint{part}.parquet")
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema), path)


def scored_rows(*arguments: str) -> list[tuple[str, str]]:
    """Return the scored answers with their kept topic."""
    command = ["score", *arguments, "-o", "out.parquet", "-e", "looping_detection", "--workers", "1"]
    assert main(command) == 0
    rows = [row for path in Path("out.parquet/answers").iterdir() for row in pq.read_table(path).to_pylist()]
    return sorted((row["actual_output"], row.get("topic", "")) for row in rows)


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["score", *arguments, "-o", "out.parquet", "-e", "looping_detection"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    return error


def test_columns_of_partitioned_folders_are_kept() -> None:
    write("logs/topic=fees/day=1/a.parquet", "a")
    write("logs/topic=credit%20cards/day=1/b.parquet", "b")
    write("logs/topic=__HIVE_DEFAULT_PARTITION__/day=1/c.parquet", "c")
    assert scored_rows("logs", "--keep", "topic") == [("a", "fees"), ("b", "credit cards"), ("c", "")]


def test_a_column_of_partitions_can_be_a_field() -> None:
    write("logs/model=m1/a.parquet", "a")
    write("logs/model=m2/a.parquet", "b")
    assert scored_rows("logs") == [("a", ""), ("b", "")]
    rows = [row for path in Path("out.parquet/answers").iterdir() for row in pq.read_table(path).to_pylist()]
    assert {(row["actual_output"], row["model"]) for row in rows} == {("a", "m1"), ("b", "m2")}


def test_partitions_are_kept_of_a_sample_and_of_single_files() -> None:
    write("logs/topic=fees/a.parquet", *map(str, range(50)))
    write("logs/topic=cards/a.parquet", *map(str, range(50, 100)))
    rows = scored_rows("logs", "--keep", "topic", "--sample", "20", "--by", "topic")
    assert {topic for _, topic in rows} == {"fees", "cards"}
    assert all((int(answer) < 50) == (topic == "fees") for answer, topic in rows)
    files = ("logs/topic=fees/a.parquet", "logs/topic=cards/a.parquet", "--keep", "topic", "--overwrite")
    assert len(scored_rows(*files)) == 100


def test_removed_rows_of_a_delta_table_are_not_scored() -> None:
    for name in ("a", "b", "c d"):
        write(f"table/{name}.parquet", name)
    commit("table", 0, {"protocol": {"minReaderVersion": 1}}, add("a.parquet"), add("b.parquet"))
    commit("table", 1, remove("a.parquet"), add("c%20d.parquet"))
    assert scored_rows("table") == [("b", ""), ("c d", "")]


def test_a_delta_table_with_partitions_and_a_checkpoint() -> None:
    for topic, name in (("fees", "a"), ("fees", "b"), ("cards", "c")):
        write(f"table/topic={topic}/{name}.parquet", name)
    checkpoint(
        "table",
        3,
        add("topic=fees/a.parquet", partitionValues={"topic": "fees"}),
        add("topic=fees/b.parquet", partitionValues={"topic": "fees"}),
    )
    commit("table", 2, add("gone.parquet"))
    commit("table", 3, add("gone.parquet"))
    commit(
        "table",
        4,
        remove("topic=fees/a.parquet"),
        add("topic=cards/c.parquet", partitionValues={"topic": "cards"}),
    )
    assert scored_rows("table", "--keep", "topic") == [("b", "fees"), ("c", "cards")]


def test_a_checkpoint_in_parts_counts_where_it_is_whole(capsys: pytest.CaptureFixture[str]) -> None:
    write("table/a.parquet", "a")
    write("table/b.parquet", "b")
    checkpoint("table", 1, add("a.parquet"), part=".0000000001.0000000002")
    assert "neither the first commit nor a checkpoint" in refusal(capsys, "table")
    checkpoint("table", 1, add("b.parquet"), part=".0000000002.0000000002")
    assert scored_rows("table") == [("a", ""), ("b", "")]


VECTOR = {"storageType": "u", "pathOrInlineDv": "x", "sizeInBytes": 1, "cardinality": 1}
MAPPED = {"metaData": {"configuration": {"delta.columnMapping.mode": "name"}}}
REFUSED = [
    (
        [add("a.parquet", deletionVector=VECTOR)],
        "deletion vectors, whose removed rows are not recognised here",
    ),
    ([MAPPED, add("a.parquet")], "the feature columnMapping, which is not read here"),
    ([{"protocol": {"readerFeatures": ["v2Checkpoint"]}}, add("a.parquet")], "the feature v2Checkpoint"),
    ([add("/etc/a.parquet")], "a file of another folder"),
    ([add("../a.parquet")], "a file of another folder"),
    ([add("s3://bucket/a.parquet")], "a file of another folder"),
    ([add("a.parquet"), remove("a.parquet")], "without rows"),
    ([add("gone.parquet")], "there is no such file"),
]


@pytest.mark.parametrize(("actions", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_is_not_read_of_a_delta_table_is_refused(
    actions: list[Action], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write("table/a.parquet", "a")
    commit("table", 0, *actions)
    assert message in refusal(capsys, "table")


def test_a_damaged_log_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    write("table/a.parquet", "a")
    commit("table", 0, add("a.parquet"))
    commit("table", 2, remove("a.parquet"))
    assert "has no commit 1" in refusal(capsys, "table")
    Path("table/_delta_log/00000000000000000001.json").write_text("{")
    assert "00000000000000000001.json:1: is not an action of a Delta table" in refusal(capsys, "table")


@pytest.mark.parametrize("path", ["table/topic=fees/a.parquet", "table/topic=fees"])
def test_a_part_of_a_delta_table_is_refused(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    write("table/topic=fees/a.parquet", "a")
    commit("table", 0, add("topic=fees/a.parquet"))
    assert "is a part of a Delta table, which keeps removed rows; give its folder table" in refusal(
        capsys, path
    )
    assert scored_rows("table") == [("a", "")]


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl", "log.parquet"])
def test_two_columns_of_one_name_are_refused(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    if name == "log.csv":
        Path(name).write_text("input,actual_output,actual_output\nq,a,b\n")
    elif name == "log.jsonl":
        Path(name).write_text('{"input": "q", "actual_output": "a", "actual_output": "b"}\n')
    else:
        columns = [pa.array([text]) for text in "qab"]
        pq.write_table(pa.table(columns, names=["input", "actual_output", "actual_output"]), name)
    assert "the column 'actual_output' is there twice; rename or remove one" in refusal(capsys, name)
    if name != "log.jsonl":
        assert main(["import", "table", name, "-o", "out.json"]) == 2
        assert "the column 'actual_output' is there twice" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["actual\\u005foutput", "\\u0061ctual_output"])
def test_a_column_with_escapes_in_its_name_is_a_second_one(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("log.jsonl").write_text(f'{{"input": "q", "actual_output": "a", "{name}" : "b"}}\n')
    assert "the column 'actual_output' is there twice" in refusal(capsys, "log.jsonl")


def test_a_name_in_texts_and_inner_objects_is_no_second_column() -> None:
    row = {
        "input": 'Say "actual_output" twice',
        "actual_output": '"actual_output"',
        "x": {"actual_output": 1},
    }
    Path("log.jsonl").write_text(json.dumps(row) + "\n")
    assert scored_rows("log.jsonl") == [('"actual_output"', "")]
