from __future__ import annotations

import fnmatch
import json
import random

import pytest

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.engine.record import FILE, RecordWriter, read_header, read_items, record_path
from pytest_evalstudio.engine.scoring.entries import line

HEAD = {"run_id": "r", "created": "then", "finished": None, "settings": {"a": 1}}
META = [
    {"models": {"m2": {"key": "m2"}}, "files": {"b.json": {"path": "b.json"}}},
    {
        "models": {"m1": {"key": "m1"}},
        "evaluators": {"rouge": {"id": "rouge", "metrics": [{"key": "rouge_l", "threshold": "Infinity"}]}},
        "files": {"a.json": {"path": "a.json"}},
    },
    {},
]


def entry(index, **more):
    place = {"file": "a.json", "key": f"k{index}", "model_key": "m1"}
    return {"kind": "item", "nodeid": f"n{index}", "index": index, "verdict": "passed", **place, **more}


def put(writer, index, **more):
    item = entry(index, **more)
    writer.append(line(item), identity=f"n{index}#{item.get('part', 0)}", index=index)


def written(folder, order, meta=META, *, finish=True):
    writer = RecordWriter(folder, HEAD)
    for place, index in enumerate(order):
        if place < len(meta):
            writer.extend(meta[place])
        put(writer, index)
    return writer.finish({"finished": "now"}) if finish else killed(writer)


def killed(writer):
    """The record as a process leaves it that is killed now."""
    content = writer.path.read_bytes()
    writer.finish({})
    writer.path.write_bytes(content)
    return writer.path


def test_the_same_content_gives_the_same_bytes_whatever_the_order(tmp_path):
    orders = [list(range(20)), list(range(19, -1, -1)), random.Random(1).sample(range(20), 20)]
    records = [written(tmp_path / str(number), order, META if number else META[::-1]).read_bytes() for number, order in enumerate(orders)]
    assert records[0] == records[1] == records[2]


def test_a_finished_record_is_a_header_and_the_items_in_order(tmp_path):
    path = written(tmp_path, [2, 0, 1])
    header, *items = (json.loads(text) for text in path.read_text(encoding="ascii").splitlines())
    assert (header["kind"], header["schema_version"], header["finished"], header["settings"]) == ("run", 1, "now", {"a": 1})
    assert (list(header["models"]), list(header["evaluators"])) == (["m1", "m2"], ["rouge"])
    assert header["files"] == [{"path": "a.json"}, {"path": "b.json"}]
    assert items == [entry(0), entry(1), entry(2)]
    assert list(read_items(path)) == items
    assert read_header(path) == header
    assert [found.name for found in tmp_path.iterdir()] == [FILE]


def test_a_later_line_of_one_item_counts(tmp_path):
    writer = RecordWriter(tmp_path, HEAD)
    put(writer, 1, verdict="error")
    put(writer, 0)
    put(writer, 1)
    assert list(read_items(writer.path)) == [entry(0), entry(1)]
    assert list(read_items(writer.finish({"finished": "now"}))) == [entry(0), entry(1)]


def test_parts_of_one_item_are_lines_of_their_own(tmp_path):
    writer = RecordWriter(tmp_path, HEAD)
    for part in (0, 1, 1):
        put(writer, 5, part=part)
    put(writer, 2)
    expected = [entry(2), entry(5, part=0), entry(5, part=1)]
    assert list(read_items(writer.path)) == expected
    assert list(read_items(writer.finish({"finished": "now"}))) == expected


def test_what_the_header_knows_is_not_overwritten(tmp_path):
    writer = RecordWriter(tmp_path, HEAD)
    writer.extend({"models": {"m": {"runs": 1}}})
    writer.extend({"models": {"m": {"runs": 2}}, "something": {"x": {}}})
    assert read_header(writer.finish({"finished": "now"}))["models"] == {"m": {"runs": 1}}


def test_an_unfinished_record_is_read_and_half_a_line_left_out(tmp_path):
    path = written(tmp_path, [2, 0, 1], finish=False)
    with path.open("ab") as file:
        file.write(line(entry(3)).encode()[:-5])
    header = read_header(path)
    assert (header["finished"], list(header["models"]), header["files"]) == (None, ["m1", "m2"], [{"path": "a.json"}, {"path": "b.json"}])
    assert list(read_items(path)) == [entry(0), entry(1), entry(2)]


def test_a_record_that_just_began_has_no_items(tmp_path):
    path = killed(RecordWriter(tmp_path, HEAD))
    assert list(read_items(path)) == []
    assert read_header(path)["files"] == []


def test_an_empty_run_is_a_record(tmp_path):
    assert list(read_items(written(tmp_path, []))) == []


def test_an_earlier_record_is_replaced(tmp_path):
    written(tmp_path, range(5))
    assert list(read_items(written(tmp_path, [0]))) == [entry(0)]


def test_lone_surrogates_and_infinities_are_written_as_ascii(tmp_path):
    writer = RecordWriter(tmp_path, HEAD)
    put(writer, 0, answer="a\ud800ü", score=float("-inf"), odd=float("nan"))
    [item] = read_items(writer.finish({"finished": "now"}))
    assert (item["answer"], item["score"], item["odd"]) == ("a\ud800ü", "-Infinity", None)


def test_a_path_means_a_record_or_the_folder_it_is_in(tmp_path):
    path = written(tmp_path, [])
    assert record_path(tmp_path) == record_path(str(path)) == path


def test_a_place_without_a_record_is_told(tmp_path):
    for place in (tmp_path, tmp_path / "gone"):
        with pytest.raises(DataError) as told:
            record_path(place)
        assert str(told.value) == f"{place}: there is no record here; give a record.jsonl or the folder of a report"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "is not a line of a record: Expecting value"),
        ("<html>", "is not a line of a record: Expecting value"),
        ("\xff", "is not a line of a record: 'utf-8' codec can't decode byte 0xff"),
        ("[" * 100_000, "is not a line of a record: maximum recursion depth exceeded"),
        ("[1]", "is no record of a run: its first line is not a header"),
        ('{"kind": "item"}', "is no record of a run: its first line is not a header"),
        ('{"kind": "run", "schema_version": 2}', "is a record of version 2; this version reads 1"),
        ('{"kind": "run"}', "is a record of version None; this version reads 1"),
        ('{"kind": "run", "schema_version": 1, "models": {}}', "is no record of a run: its header has no 'evaluators'"),
    ],
)
def test_what_is_no_record_is_told(tmp_path, text, fault):
    (tmp_path / FILE).write_bytes(text.encode("latin-1"))
    with pytest.raises(DataError) as told:
        read_header(tmp_path / FILE)
    assert str(told.value).startswith(f"{tmp_path / FILE}:1:1: {fault}")


@pytest.mark.parametrize(("finish", "broken"), [(True, b"oops\n"), (False, b'{"kind": "item", oops}\n'), (False, b'{"kind": "meta", oops}\n')])
def test_a_broken_line_is_told_with_its_number(tmp_path, finish, broken):
    path = written(tmp_path, [0], [], finish=finish)
    with path.open("ab") as file:
        file.write(broken)
    with pytest.raises(DataError) as told:
        list(read_items(path))
    assert str(told.value).startswith(f"{path}:3:1: is not a line of a record: ")


def edited(folder, number, change):
    """A finished record of which one line was edited."""
    path = written(folder, [0, 1])
    lines = path.read_text(encoding="ascii").splitlines()
    value = json.loads(lines[number - 1])
    lines[number - 1] = json.dumps(change(value) or value)
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
    return path


@pytest.mark.parametrize(
    ("number", "change", "fault"),
    [
        pytest.param(1, lambda header: header.update(evaluators=[]), "evaluators: expected an object, found a list", id="a table as a list"),
        pytest.param(1, lambda header: header.update(models=None), "models: expected an object, found null", id="no table"),
        pytest.param(1, lambda header: header["evaluators"]["rouge"].update(metrics=[]), "evaluators/rouge/metrics: *", id="no metric"),
        pytest.param(1, lambda header: header.update(files=5), "files*", id="a number for a list"),
        pytest.param(2, lambda item: item.pop("verdict") and None, "verdict: 'verdict' is missing; add it", id="a key taken out"),
        pytest.param(2, lambda item: item.update(verdict="maybe"), "verdict: *", id="an unknown verdict"),
        pytest.param(2, lambda item: item.update(rows=[5]), "rows/0: *", id="a number for a row"),
        pytest.param(2, lambda item: item.update(rows=[{"input": None}]), "rows/0/input: expected a string, found null", id="null for a text"),
        pytest.param(2, lambda item: {"kind": "run"}, "kind: *", id="a second header"),
        pytest.param(2, lambda item: [1], "the line: *", id="a list"),
        pytest.param(3, lambda item: 7, "the line: *", id="a number"),
    ],
)
def test_an_edited_line_is_told_with_its_place(tmp_path, number, change, fault):
    path = edited(tmp_path, number, change)
    with pytest.raises(DataError) as told:
        list(read_items(path))
    assert told.value.line == number
    message = f"is not a line of a record: {fault}; take the record as the run wrote it"
    assert fnmatch.fnmatchcase(told.value.message, message)


def test_empty_lines_of_an_edited_record_are_passed_over(tmp_path):
    path = written(tmp_path, [0, 1])
    path.write_bytes(path.read_bytes().replace(b"\n", b"\n\n"))
    assert [item["nodeid"] for item in read_items(path)] == ["n0", "n1"]
