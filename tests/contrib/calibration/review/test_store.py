"""Labels on disk: whole, of everybody, and with what others wrote beside them."""

from __future__ import annotations

import csv
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pytest_evalstudio.contrib.calibration.review.store import LabelStore, Merged
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.labels import Label, read_labels
from support.children import Children


def label(key: str, value: int = 1, rater: str = "al") -> Label:
    return Label(key=key, model_key="m", label=value, rater=rater, answer_id="a1")


def test_labels_are_set_changed_and_taken_back(tmp_path: Path) -> None:
    store = LabelStore(tmp_path / "labels.csv")
    assert store.ratings() == []
    store.put(label("x"))
    store.put(label("y", 0))
    store.put(label("x", 0))
    store.put(label("x", 1, "bo"))
    assert store.ratings() == [label("x", 0), label("y", 0), label("x", 1, "bo")]
    store.remove("x", "m", "al")
    store.remove("x", "m", "nobody")
    assert store.ratings() == [label("y", 0), label("x", 1, "bo")]
    assert read_labels(store.path) == {("y", "m"): 0, ("x", "m"): 1}


def test_what_others_wrote_stays(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("note,key,model_key,label\nwhy not,x,m,1\nunsure,y,m,\n=1+1,z,m,0\n", encoding="utf-8")
    store = LabelStore(path)
    store.put(label("y", 0, ""))
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["note"], row["key"], row["label"], row["rater"]) for row in rows] == [
        ("why not", "x", "1", ""),
        ("unsure", "y", "0", ""),
        ("'=1+1", "z", "0", ""),
    ]
    store.put(label("z", 1, ""))
    assert [result.key for result in store.ratings()] == ["x", "y", "z"]


def test_many_labels_at_once_are_counted(tmp_path: Path) -> None:
    store = LabelStore(tmp_path / "labels.csv")
    assert store.merge([label("x"), label("y")]) == Merged(new=2)
    assert store.merge([label("x"), label("y", 0), label("z")]) == Merged(new=1, changed=1, same=1)


def test_a_broken_file_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("key,label\nx,1\n", encoding="utf-8")
    with pytest.raises(DataError, match="there is no column 'model_key'"):
        LabelStore(path).put(label("x"))
    assert path.read_text(encoding="utf-8") == "key,label\nx,1\n"


def test_threads_do_not_lose_each_others_labels(tmp_path: Path) -> None:
    stores = [LabelStore(tmp_path / "labels.csv") for _ in range(4)]
    with ThreadPoolExecutor(8) as pool:
        list(
            pool.map(
                lambda number: stores[number % 4].put(label(f"k{number}", rater=f"r{number % 3}")), range(60)
            )
        )
    assert {result.key for result in stores[0].ratings()} == {f"k{number}" for number in range(60)}


WRITER = """
import sys
from pathlib import Path
from pytest_evalstudio.formats.labels import Label
from pytest_evalstudio.contrib.calibration.review.store import LabelStore

for number in range(25):
    LabelStore(Path(sys.argv[1])).put(Label(key=f"k{number}", model_key="m", label=1, rater=sys.argv[2]))
"""


def test_processes_do_not_lose_each_others_labels(tmp_path: Path, children: Children) -> None:
    path = tmp_path / "labels.csv"
    writers = [
        children.start([sys.executable, "-c", WRITER, str(path), rater], tmp_path)
        for rater in ("al", "bo", "cy")
    ]
    results = [writer.finish() for writer in writers]
    assert [each.returncode for each in results] == [0, 0, 0], results
    assert len(LabelStore(path).ratings()) == 75
