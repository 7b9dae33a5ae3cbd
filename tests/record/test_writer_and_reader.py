"""A record on disk: written as items finish, put in order at the end, read back as it was."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import msgspec
import pytest

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.outcomes import Verdict
from pytest_evalstudio.record.codec import encode_line
from pytest_evalstudio.record.reader import RecordReader, record_path
from pytest_evalstudio.record.schema import (
    SCHEMA_VERSION,
    FileEntry,
    Item,
    ModelEntry,
    Run,
    RunSettings,
    Tables,
    Tool,
)
from pytest_evalstudio.record.writer import FILE, RecordWriter


def new_run() -> Run:
    return Run(
        schema_version=SCHEMA_VERSION,
        run_id="r",
        created="then",
        finished=None,
        interrupted=True,
        exit_status=None,
        tool=Tool(name="pytest-evalstudio", version="0"),
        python="3.11",
        gates=(),
        settings=RunSettings(max_cost=1.5),
        evaluators={},
        models={},
        files=(),
        steps={},
    )


def item(
    index: int, *, score: float | None = None, part: int = 0, verdict: str = "passed", reason: str = ""
) -> Item:
    verdicts = {"rouge": Verdict(status="score", passed=True, scores={"rouge_l": score}, missed=())}
    return Item(
        index=index,
        nodeid=f"n{index}",
        verdict=verdict,
        duration_s=0.5,
        part=part,
        file="a.json",
        key=f"k{index}",
        test_key="",
        model_key="m",
        reason=reason,
        rows=(),
        verdicts=verdicts if score is not None else {},
        flips=(),
    )


def file(path: str) -> FileEntry:
    return FileEntry(path=path, kind="suite", name="", description="")


TABLES = (
    Tables(models={"m2": ModelEntry(key="m2")}, files={"b.json": file("b.json")}),
    Tables(models={"m1": ModelEntry(key="m1", name="one")}, files={"a.json": file("a.json")}),
    Tables(),
)


def interrupted_run(run: Run) -> Run:
    return msgspec.structs.replace(run, finished="now", interrupted=False, exit_status=0)


def record_file(folder: Path, order: list[int], tables: tuple[Tables, ...] = TABLES) -> Path:
    writer = RecordWriter(folder, new_run())
    for place, index in enumerate(order):
        if place < len(tables):
            writer.extend(tables[place])
        writer.append_item(item(index))
    return writer.finish(interrupted_run(writer.run))


def killed(folder: Path, order: list[int], tables: tuple[Tables, ...] = TABLES) -> Path:
    """Write a record as a process leaves it that is killed while it runs."""
    writer = RecordWriter(folder, new_run())
    for place, index in enumerate(order):
        if place < len(tables):
            writer.extend(tables[place])
        writer.append_item(item(index))
    writer.close()
    return writer.path


def items_of(path: Path) -> list[Item]:
    return list(RecordReader(path).items())


def test_the_same_content_gives_the_same_bytes_whatever_the_order(tmp_path: Path) -> None:
    orders = [list(range(20)), list(range(19, -1, -1)), random.Random(1).sample(range(20), 20)]
    records = [
        record_file(tmp_path / str(number), order, TABLES if number else TABLES[::-1]).read_bytes()
        for number, order in enumerate(orders)
    ]
    assert records[0] == records[1] == records[2]


def test_a_finished_record_is_a_header_and_the_items_in_order(tmp_path: Path) -> None:
    path = record_file(tmp_path, [2, 0, 1])
    header, *items = (json.loads(text) for text in path.read_text(encoding="utf-8").splitlines())
    assert (header["kind"], header["schema_version"], header["finished"]) == ("run", SCHEMA_VERSION, "now")
    assert header["settings"] == {
        "flips": "fail",
        "min_test_cases": 0,
        "latency.max_s": None,
        "max_cost": 1.5,
        "storage.max_mb": None,
    }
    assert list(header["models"]) == ["m1", "m2"]
    assert [entry["path"] for entry in header["files"]] == ["a.json", "b.json"]
    assert [entry["index"] for entry in items] == [0, 1, 2]
    assert items_of(path) == [item(0), item(1), item(2)]
    assert [result.name for result in tmp_path.iterdir()] == [FILE]


@pytest.mark.parametrize("finish", [True, False])
def test_a_later_line_of_an_item_replaces_the_earlier_one(tmp_path: Path, finish: bool) -> None:
    writer = RecordWriter(tmp_path, new_run())
    writer.append_item(item(1, verdict="error"))
    writer.append_item(item(0))
    writer.append_item(item(1))
    path = writer.finish(interrupted_run(writer.run)) if finish else writer.path
    writer.close()
    assert items_of(path) == [item(0), item(1)]


@pytest.mark.parametrize("finish", [True, False])
def test_parts_of_one_item_are_lines_of_their_own(tmp_path: Path, finish: bool) -> None:
    writer = RecordWriter(tmp_path, new_run())
    for part in (0, 1, 1):
        writer.append_item(item(5, part=part))
    writer.append_item(item(2))
    path = writer.finish(interrupted_run(writer.run)) if finish else writer.path
    writer.close()
    assert items_of(path) == [item(2), item(5, part=0), item(5, part=1)]


def test_entries_of_the_header_stay_as_they_were_first(tmp_path: Path) -> None:
    writer = RecordWriter(tmp_path, new_run())
    writer.extend(Tables(models={"m": ModelEntry(key="m", name="first")}))
    writer.extend(Tables(models={"m": ModelEntry(key="m", name="second")}))
    assert RecordReader(writer.finish(interrupted_run(writer.run))).run.model_name("m") == "first"


def test_an_unfinished_record_is_read_without_its_half_line(tmp_path: Path) -> None:
    path = killed(tmp_path, [2, 0, 1])
    with path.open("ab") as content:
        content.write(encode_line(item(3))[:-5])
    record = RecordReader(path)
    assert (record.run.finished, list(record.run.models)) == (None, ["m1", "m2"])
    assert [entry.path for entry in record.run.files] == ["a.json", "b.json"]
    assert list(record.items()) == [item(0), item(1), item(2)]


def test_a_record_that_just_began_has_no_items(tmp_path: Path) -> None:
    assert items_of(killed(tmp_path, [])) == []


def test_an_empty_run_is_a_record(tmp_path: Path) -> None:
    assert items_of(record_file(tmp_path, [])) == []


def test_infinities_survive_as_words(tmp_path: Path) -> None:
    writer = RecordWriter(tmp_path, new_run())
    writer.append_item(item(0, score=math.inf))
    writer.append_item(item(1, score=-math.inf))
    path = writer.finish(interrupted_run(writer.run))
    raw = [
        json.loads(line)["verdicts"]["rouge"]["scores"]["rouge_l"]
        for line in path.read_text(encoding="utf-8").splitlines()[1:]
    ]
    assert raw == ["Infinity", "-Infinity"]
    assert [entry.verdicts["rouge"].scores["rouge_l"] for entry in items_of(path)] == [math.inf, -math.inf]


def test_half_a_surrogate_pair_is_read_as_a_replacement_character(tmp_path: Path) -> None:
    writer = RecordWriter(tmp_path, new_run())
    writer.append_item(item(0, reason="a\ud800ü"))
    assert [entry.reason for entry in items_of(writer.finish(interrupted_run(writer.run)))] == ["a\ufffdü"]


def test_a_path_means_a_record_or_its_folder(tmp_path: Path) -> None:
    path = record_file(tmp_path, [])
    assert record_path(tmp_path) == record_path(str(path)) == path


def test_a_missing_record_is_reported_with_its_place(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "gone"):
        with pytest.raises(DataError) as raised:
            record_path(place)
        assert (
            str(raised.value)
            == f"{place}: there is no record here; give a record.jsonl or the folder of a report"
        )


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "is not the record of a run"),
        ("<html>", "is not the record of a run"),
        ("\xff", "is not the record of a run"),
        ("[" * 100_000, "is not the record of a run"),
        ("[1]", "is not the record of a run"),
        ('{"kind": "item"}', "is not the record of a run"),
        (
            '{"kind": "run", "schema_version": 3}',
            "is a record of version 3; this version reads 4. Run the tests again",
        ),
        ('{"kind": "run"}', "is a record of version None; this version reads 4"),
        (
            '{"kind": "run", "schema_version": 4, "models": {}}',
            "is not a line of a record: Object missing required field `run_id`",
        ),
    ],
)
def test_a_file_that_is_not_a_record_is_reported(tmp_path: Path, text: str, fault: str) -> None:
    (tmp_path / FILE).write_bytes(text.encode("latin-1"))
    with pytest.raises(DataError) as raised:
        RecordReader(tmp_path / FILE)
    assert str(raised.value).startswith(f"{tmp_path / FILE}:1:1: {fault}")


@pytest.mark.parametrize(
    "broken",
    [
        b"oops\n",
        b"null\n",
        b"17\n",
        b"\n",
        b'{"kind":"item"}\n',
        b'{"kind":"run"}\n',
        encode_line(new_run()) + b"\n",
    ],
    ids=["text", "null", "number", "empty", "no fields", "no header", "second header"],
)
def test_a_damaged_line_is_reported_with_its_number(tmp_path: Path, broken: bytes) -> None:
    path = record_file(tmp_path, [0])
    with path.open("ab") as content:
        content.write(broken)
    with pytest.raises(DataError) as raised:
        items_of(path)
    assert str(raised.value).startswith(f"{path}:3:1: is not ")


def test_a_header_with_an_evaluator_without_metrics_is_damaged(tmp_path: Path) -> None:
    path = record_file(tmp_path, [0])
    header, *items = path.read_bytes().splitlines(keepends=True)
    content = json.loads(header)
    entry = {"id": "rouge", "type": "rouge", "name": "ROUGE", "parameters": {}, "metrics": []}
    content["evaluators"] = {"rouge": entry}
    path.write_bytes(b"".join([json.dumps(content).encode() + b"\n", *items]))
    with pytest.raises(DataError, match=r"record\.jsonl:1:1: .*metrics"):
        RecordReader(path)
