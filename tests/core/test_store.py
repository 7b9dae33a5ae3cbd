"""The file under every cache, when something is wrong with it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pytest_evalstudio.core.store import Store

SCHEMA = "CREATE TABLE IF NOT EXISTS pairs (name TEXT PRIMARY KEY, value TEXT)"
INSERT = "INSERT INTO pairs VALUES (?, ?)"


def store(path: Path | None) -> Store:
    return Store(path, title="test cache", content="pairs", schema=SCHEMA)


def values(pairs: Store) -> list[str]:
    return [value for (value,) in pairs.rows("SELECT value FROM pairs ORDER BY name")]


def test_rows_outlive_the_process_that_wrote_them(tmp_path: Path) -> None:
    first = store(tmp_path / "folder" / "pairs.sqlite")
    first.write(INSERT, [("a", "1"), ("b", "two\0halves")])
    first.close()
    assert values(store(tmp_path / "folder" / "pairs.sqlite")) == ["1", "two\0halves"]


def test_no_file_is_made_before_it_is_needed(tmp_path: Path) -> None:
    store(tmp_path / "folder" / "pairs.sqlite").close()
    assert not (tmp_path / "folder").exists()


def test_a_failed_transaction_leaves_nothing_behind(tmp_path: Path) -> None:
    pairs = store(tmp_path / "pairs.sqlite")
    pairs.write(INSERT, [("a", "1")])

    def work(connection: sqlite3.Connection) -> None:
        connection.execute(INSERT, ("b", "2"))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pairs.transact(work, None)
    assert values(pairs) == ["1"]


def test_a_full_disk_is_a_warning_and_the_store_goes_on(tmp_path: Path) -> None:
    pairs = store(tmp_path / "pairs.sqlite")
    pairs.write(INSERT, [("a", "1")])
    pairs.rows("PRAGMA max_page_count = 1")
    for name in ("b", "c"):
        pairs.write(INSERT, [(name, "x" * 100_000)])
    assert values(pairs) == ["1"]
    assert pairs.warnings == [
        f"the test cache {tmp_path / 'pairs.sqlite'} could not be used: database or disk is full"
    ]


def test_a_corrupt_file_is_moved_aside_and_a_new_one_begun(tmp_path: Path) -> None:
    (tmp_path / "pairs.sqlite").write_bytes(b"no database" * 500)
    pairs = store(tmp_path / "pairs.sqlite")
    pairs.write(INSERT, [("a", "1")])
    assert values(pairs) == ["1"]
    assert "it was moved to pairs.sqlite.corrupt-" in pairs.warnings[0]
    assert len(pairs.warnings) == 1


@pytest.mark.parametrize("name", ["fi\0le", "folder"], ids=["a NUL in its name", "a folder"])
def test_a_path_that_cannot_be_opened_is_one_warning(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    pairs = store(tmp_path / name)
    pairs.write(INSERT, [("a", "1")])
    assert values(pairs) == []
    assert not pairs.is_writable
    assert len(pairs.warnings) == 1
    assert "this run does not use the test cache" in pairs.warnings[0]


def test_half_a_character_is_a_warning(tmp_path: Path) -> None:
    pairs = store(tmp_path / "pairs.sqlite")
    pairs.write(INSERT, [("a", "\ud800")])
    assert values(pairs) == []
    assert "surrogates not allowed" in pairs.warnings[0]


def test_without_a_path_nothing_is_stored() -> None:
    pairs = store(None)
    pairs.write(INSERT, [("a", "1")])
    assert values(pairs) == []
    assert not pairs.warnings


def test_a_transaction_waits_for_that_of_another_process(tmp_path: Path) -> None:
    pairs = store(tmp_path / "pairs.sqlite")
    pairs.write(INSERT, [("a", "1")])
    with closing(sqlite3.connect(tmp_path / "pairs.sqlite", isolation_level=None, timeout=0)) as other:

        def work(connection: sqlite3.Connection) -> str:
            with pytest.raises(sqlite3.OperationalError, match="locked"):
                other.execute("BEGIN IMMEDIATE")
            return "done"

        assert pairs.transact(work, "failed") == "done"
