"""The embedding cache: a vector is computed once, whichever run or process needs it."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_evalstudio.models.weights import file_digest

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

FILE_NAME = "embeddings-1.sqlite"
"""The number is the version of what the rows mean; another version is another file."""

BUSY_TIMEOUT_S = 30.0
OPENING_TRIES = 10
REMEMBERED = 20_000
"""Vectors that a process keeps in memory, so that one evaluator finds what another has had embedded."""

_TABLES = """
    CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS digests (path TEXT PRIMARY KEY, size INTEGER NOT NULL, changed INTEGER NOT NULL, digest TEXT NOT NULL);
"""  # noqa: E501
_KEYS_AT_ONCE = 500


class VectorCache:
    """Vectors by model and text, and digests of large files by path, size and time of change.

    One SQLite file in WAL mode, safe under many processes. Where it cannot be used, vectors are kept in
    memory only, and `warnings` says so.

    Args:
        folder: where the file is, made when it is first needed; None to keep vectors in memory only.
    """

    def __init__(self, folder: Path | None) -> None:
        self.path = folder / FILE_NAME if folder is not None else None
        self.warnings: list[str] = []
        self._lock = threading.RLock()
        self._remembered: OrderedDict[bytes, NDArray[float32]] = OrderedDict()
        self._connection: sqlite3.Connection | None = None
        self._opened = False

    def get(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[float32]]:
        """The vectors that are there."""
        import numpy as np

        with self._lock:
            found = {key: self._remembered[key] for key in keys if key in self._remembered}
            waiting = [key for key in dict.fromkeys(keys) if key not in found]
            for start in range(0, len(waiting), _KEYS_AT_ONCE):
                part = waiting[start : start + _KEYS_AT_ONCE]
                marks = ",".join("?" * len(part))
                for key, blob in self._execute(
                    f"SELECT key, vector FROM vectors WHERE key IN ({marks})", part
                ):
                    found[key] = np.frombuffer(blob, dtype="<f4").astype(np.float32, copy=False)
                    self._remember(key, found[key])
        return found

    def put(self, vectors: Mapping[bytes, NDArray[float32]]) -> None:
        """Keep vectors, in one transaction."""
        with self._lock:
            for key, vector in vectors.items():
                self._remember(key, vector)
            rows = [(key, vector.astype("<f4", copy=False).tobytes()) for key, vector in vectors.items()]
            self._execute_many("INSERT OR IGNORE INTO vectors (key, vector) VALUES (?, ?)", rows)

    def digest(self, path: Path) -> str:
        """SHA-256 of a file; that of one that has not changed is not computed again."""
        state = path.stat()
        row = self._execute(
            "SELECT digest FROM digests WHERE path = ? AND size = ? AND changed = ?",
            (str(path), state.st_size, state.st_mtime_ns),
        )
        if row:
            return str(row[0][0])
        found = file_digest(path)
        self._execute_many(
            "INSERT OR REPLACE INTO digests VALUES (?, ?, ?, ?)",
            [(str(path), state.st_size, state.st_mtime_ns, found)],
        )
        return found

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection, self._opened = None, True

    def _remember(self, key: bytes, vector: NDArray[float32]) -> None:
        self._remembered[key] = vector
        self._remembered.move_to_end(key)
        if len(self._remembered) > REMEMBERED:
            self._remembered.popitem(last=False)

    def _execute(self, statement: str, values: Sequence[Any]) -> list[Any]:
        with self._lock:
            connection = self._open()
            if connection is None:
                return []
            try:
                return connection.execute(statement, tuple(values)).fetchall()
            except sqlite3.DatabaseError as exc:
                self._fail(exc)
                return []

    def _execute_many(self, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
        with self._lock:
            connection = self._open()
            if connection is None or not rows:
                return
            try:
                connection.execute("BEGIN IMMEDIATE")
                connection.executemany(statement, rows)
                connection.execute("COMMIT")
            except sqlite3.DatabaseError as exc:
                with suppress(sqlite3.DatabaseError):
                    connection.execute("ROLLBACK")
                self._fail(exc)

    def _open(self) -> sqlite3.Connection | None:
        if self._opened or self.path is None:
            return self._connection
        self._opened = True
        for attempt in range(OPENING_TRIES):
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._connection = _connected(self.path)
                break
            except sqlite3.OperationalError as exc:
                if "locked" not in str(exc) or attempt == OPENING_TRIES - 1:
                    self._fail(exc)
                    break
                time.sleep(
                    0.05 * (attempt + 1)
                )  # another process is switching the new file to WAL, which the busy timeout does not cover
            except (sqlite3.DatabaseError, OSError) as exc:
                self._fail(exc)
                break
        return self._connection

    def _fail(self, reason: Exception) -> None:
        """Go on without the file; one that is no database is put out of the way for the next run."""
        remedy = "vectors are computed again in this run"
        corrupt = isinstance(reason, sqlite3.DatabaseError) and not isinstance(
            reason, sqlite3.OperationalError
        )
        if corrupt and self.path is not None:
            if self._connection is not None:
                self._connection.close()
            self._connection = None
            aside = self.path.with_name(f"{self.path.name}.corrupt-{os.getpid()}-{time.time_ns()}")
            with suppress(OSError):
                os.replace(self.path, aside)
                remedy += f", and the file was moved to {aside.name}"
        text = f"the embedding cache {self.path} could not be used ({reason}); {remedy}"
        if text not in self.warnings:
            self.warnings.append(text)


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.executescript(_TABLES)
    except BaseException:
        connection.close()
        raise
    return connection


def key_of(identity: str, text: str) -> bytes:
    """The address of a text's vector.

    >>> key_of("model", "text") == key_of("model", "text"), key_of("model", "text") == key_of("other", "text")
    (True, False)
    """
    return hashlib.sha256(f"{identity}\0{text}".encode("utf-8", "surrogatepass")).digest()[:16]
