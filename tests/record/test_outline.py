"""Outlines of items: the fields of the items, whatever the lines hold."""

from __future__ import annotations

import json
import math
from pathlib import Path

import msgspec
import pytest

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.record import reader
from pytest_evalstudio.record.codec import encode_line
from pytest_evalstudio.record.outline import ItemOutline
from pytest_evalstudio.record.reader import RecordReader
from support.records import RecordBuilder, score

RUN = Path(__file__).parent / "data" / "record.jsonl"


def record_file(folder: Path, *answers: str) -> Path:
    builder = RecordBuilder()
    for number, answer in enumerate(answers):
        builder.add(f"k{number}", "one", {"actual_output": answer, "outcomes": {"quality": score(0.5)}})
    path = folder / "record.jsonl"
    path.write_bytes(b"".join(encode_line(line) + b"\n" for line in (builder.run, *builder.typed_items)))
    return path


def same_fields(path: Path) -> bool:
    record = RecordReader(path)
    outlines, items = list(record.outlines()), list(record.items())
    names = ("nodeid", "verdict", "part", "file", "key", "model_key", "reason", "flaky")
    return len(outlines) == len(items) and all(
        all(getattr(outline, name) == getattr(item, name) for name in names)
        and [row.answer.text for row in outline.rows] == [row.answer.text for row in item.rows]
        and {id: entry.scores for id, entry in outline.verdicts.items()}
        == {id: entry.scores for id, entry in item.verdicts.items()}
        for outline, item in zip(outlines, items, strict=True)
    )


@pytest.mark.parametrize("block", [1, 100, 1 << 20])
def test_an_outline_has_the_fields_of_its_item(
    tmp_path: Path, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "_BLOCK_BYTES", block)
    path = record_file(tmp_path, "plain", "line\nbreak", "\ud800 half a pair", "last")
    assert same_fields(path)


def test_infinities_are_numbers(tmp_path: Path) -> None:
    path = record_file(tmp_path, "a")
    path.write_bytes(path.read_bytes().replace(b'{"score":0.5}', b'{"score":"Infinity"}'))
    [outline] = RecordReader(path).outlines()
    assert isinstance(outline, ItemOutline)
    assert outline.verdicts["quality"].scores["score"] == math.inf


def test_a_stored_run_has_outlines() -> None:
    assert same_fields(RUN)


def test_a_damaged_line_is_reported_with_its_number(tmp_path: Path) -> None:
    path = record_file(tmp_path, *"abcdef")
    lines = path.read_bytes().splitlines(keepends=True)
    lines[4] = b'{"kind": "item", "index": 3}\n'
    path.write_bytes(b"".join(lines))
    with pytest.raises(DataError, match=r"record\.jsonl:5:1"):
        list(RecordReader(path).outlines())


def test_an_unfinished_record_has_outlines(tmp_path: Path) -> None:
    path = record_file(tmp_path, "a", "b")
    header, *items = path.read_bytes().splitlines(keepends=True)
    open_header = json.dumps({**json.loads(header), "finished": None}).encode() + b"\n"
    path.write_bytes(b"".join([open_header, *items, b'{"half']))
    assert [item.key for item in RecordReader(path).outlines()] == ["k0", "k1"]
    assert msgspec.json.decode(items[0])["key"] == "k0"


@pytest.mark.parametrize("digest", ["5", '"text"', '{"parts": {"question": null}}', '{"thresholds": []}'])
def test_a_damaged_digest_of_a_case_is_reported_with_its_line(tmp_path: Path, digest: str) -> None:
    path = record_file(tmp_path, "a", "b")
    lines = path.read_bytes().splitlines(keepends=True)
    item = msgspec.json.decode(lines[2]) | {"digest": msgspec.Raw(digest.encode())}
    path.write_bytes(b"".join([*lines[:2], msgspec.json.encode(item) + b"\n", *lines[3:]]))
    with pytest.raises(DataError, match=r"record\.jsonl:3:1"):
        list(RecordReader(path).outlines())
