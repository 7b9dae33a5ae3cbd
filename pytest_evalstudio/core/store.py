"""One SQLite file that many processes and threads use at the same time, and that may break without harm."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar

BUSY_TIMEOUT_S = 30.0  # other workers write for milliseconds; slow network disks for seconds
OPENING_TRIES = 10
PRIMARY_CODE = 0xFF
"""Mask that reduces SQLite's extended error codes to the primary ones."""

T = TypeVar("T")


class Store:
    """A cache in a SQLite file in WAL mode, opened when it is first needed.

    A file that cannot be used is worked around, never a crash: a corrupt file is moved aside and a new one
    begun, a read-only one is only read, and without a writable folder or space on the disk nothing is stored.
    `warnings` says so once.

    Args:
        path: the file; its folder is made if it is not there. None to store nothing.
        title: what messages call the store, e.g. "answers cache".
        content: what messages call its content, e.g. "answers".
        schema: statements that create the tables where they do not exist, separated by semicolons.
        read_only: read what is stored, and write neither file nor folder.
    """

    def __init__(
        self, path: Path | None, *, title: str, content: str, schema: str, read_only: bool = False
    ) -> None:
        self.path = path
        self.warnings: list[str] = []
        self._title = title
        self._content = content
        self._schema = schema
        # Reentrant: `change` and `transact` hold it while `_run` takes it.
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._is_opened = False
        self._is_read_only = read_only
        self._inode = 0

    def open(self) -> None:
        """Open the file now; what is wrong with it is found before the first value is needed."""
        with self._lock:
            self._opened()

    @property
    def is_writable(self) -> bool:
        """Return whether values can be stored; opens the file."""
        with self._lock:
            return self._opened() is not None and not self._is_read_only

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return the rows of a query; none where the store cannot be used."""
        return self._run(lambda connection: connection.execute(statement, tuple(values)).fetchall(), [])

    def change(self, statement: str, values: Sequence[Any], default: int = 0) -> int:
        """Run one statement; return how many rows it changed.

        Args:
            statement: is a transaction by itself.
            values: of its placeholders.
            default: the result where the store cannot be written.
        """
        with self._lock:
            if self._is_read_only:
                return default
            return self._run(
                lambda connection: connection.execute(statement, tuple(values)).rowcount, default
            )

    def write(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run one statement for each row, in one transaction."""
        if rows:
            self.transact(lambda connection: connection.executemany(statement, rows), None)

    def transact(self, work: Callable[[sqlite3.Connection], T], default: T) -> T:
        """Run several statements in one transaction that no other process interrupts.

        Args:
            work: gets the connection.
            default: the result where the store cannot be written.
        """

        def within(connection: sqlite3.Connection) -> T:
            # IMMEDIATE takes the write lock at once; a read
            # that becomes a write later can fail with "locked".
            connection.execute("BEGIN IMMEDIATE")
            try:
                result = work(connection)
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    # SQLite may have rolled back already; the first error is the one to report
                    connection.execute("ROLLBACK")
                raise
            return result

        with self._lock:
            return default if self._is_read_only else self._run(within, default)

    def close(self) -> None:
        """Close the file; the store is empty from now on."""
        with self._lock:
            self._disconnect()
            # Not to be opened again by a late call.
            self._is_opened = True

    def warn(self, text: str) -> None:
        """Add a warning, once."""
        if text not in self.warnings:
            self.warnings.append(text)

    def _run(self, work: Callable[[sqlite3.Connection], T], default: T) -> T:
        with self._lock:
            connection = self._opened()
            if connection is None:
                return default
            try:
                return work(connection)
            except sqlite3.OperationalError as exc:
                if exc.sqlite_errorcode & PRIMARY_CODE == sqlite3.SQLITE_READONLY:
                    self._note_read_only()
                else:
                    self.warn(f"the {self._title} {self.path} could not be used: {exc}")
            except sqlite3.DatabaseError as exc:
                self._move_aside(exc)
                # The next call begins a new file.
                self._is_opened = False
            except ValueError as exc:  # half a character in a text, which SQLite does not take
                self.warn(f"the {self._title} {self.path} could not be used: {exc}")
            return default

    def _opened(self) -> sqlite3.Connection | None:
        if not self._is_opened and self.path is not None:
            self._is_opened = True
            self._connection = self._open(self.path)
        return self._connection

    def _open(self, path: Path) -> sqlite3.Connection | None:
        if self._is_read_only:
            return _opened_for_reading(path)
        for attempt in range(OPENING_TRIES):
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                return self._connect(path)
            except sqlite3.OperationalError as exc:
                if "locked" not in str(exc) or attempt == OPENING_TRIES - 1:
                    return self._open_read_only(path, exc)
                # Another process is switching the new file to WAL, which the busy timeout does not cover.
                time.sleep(0.05 * (attempt + 1))
            except sqlite3.DatabaseError as exc:
                self._move_aside(exc)
            except (OSError, ValueError) as exc:
                return self._open_read_only(path, exc)
        self._give_up("it could not be replaced")
        return None

    def _connect(self, path: Path) -> sqlite3.Connection:
        self._inode = path.stat().st_ino if path.exists() else 0
        connection = sqlite3.connect(
            path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            # In WAL mode a power failure may lose the last answers, and never damages the file.
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.executescript(self._schema)
            self._inode = path.stat().st_ino
        except BaseException:
            connection.close()
            raise
        return connection

    def _open_read_only(self, path: Path, reason: Exception) -> sqlite3.Connection | None:
        """Open a file that cannot be written; None if it cannot be read either.

        Args:
            reason: why it cannot be opened for writing.
        """
        with suppress(ValueError):  # a NUL in the path
            address = path.absolute().as_uri()
            for options in ("mode=ro", "mode=ro&immutable=1"):  # the first reads a log, but needs its index
                try:
                    connection = sqlite3.connect(
                        f"{address}?{options}", uri=True, isolation_level=None, check_same_thread=False
                    )
                except sqlite3.Error:  # the loop tries to read it without its log
                    continue
                try:
                    # SQLite opens any file; only a query finds out whether it can be read.
                    tables = connection.execute("SELECT name FROM sqlite_master LIMIT 1").fetchall()
                except sqlite3.Error:
                    tables = []
                if tables:
                    self._note_read_only()
                    return connection
                connection.close()
        self._give_up(reason)
        return None

    def _move_aside(self, reason: Exception) -> None:
        """Put a corrupt file out of the way, once, however many processes find it at the same time."""
        self._disconnect()
        if self.path is None:
            return
        aside = self.path.with_name(f"{self.path.name}.corrupt-{os.getpid()}-{time.time_ns()}")
        fact = f"the {self._title} {self.path} is corrupt ({reason})"
        try:
            with closing(
                sqlite3.connect(
                    self.path.parent / "repair.lock", timeout=BUSY_TIMEOUT_S, isolation_level=None
                )
            ) as lock:
                lock.execute("BEGIN EXCLUSIVE")
                if not self.path.exists() or self.path.stat().st_ino != self._inode:
                    return  # another process has moved it already
                # A log of the corrupt file would be replayed into the new one.
                for suffix in ("-wal", "-shm"):
                    self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
                os.replace(self.path, aside)
        except (OSError, sqlite3.Error) as exc:
            self.warn(f"{fact} and could not be moved aside: {exc}; delete it")
            return
        self.warn(f"{fact}; it was moved to {aside.name} and a new one begun")

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _note_read_only(self) -> None:
        self._is_read_only = True
        self.warn(
            f"the {self._title} {self.path} is read-only: its {self._content} are used, new ones are not"
            " stored"
        )

    def _give_up(self, reason: object) -> None:
        self.warn(
            f"this run does not use the {self._title}: {self.path} cannot be opened: {reason}; choose"
            " another folder with -o evalstudio_cache=DIR"
        )


def _opened_for_reading(path: Path) -> sqlite3.Connection | None:
    """Open a file without writing anything beside it; None where that is not possible.

    A file with a log belongs to a run that goes on, and its log's index may be used.
    """
    has_log = path.with_name(path.name + "-wal").exists()
    mode = "mode=ro" if has_log else "mode=ro&immutable=1"
    with suppress(sqlite3.Error, ValueError):
        if path.is_file():
            return sqlite3.connect(
                f"{path.absolute().as_uri()}?{mode}", uri=True, isolation_level=None, check_same_thread=False
            )
    return None
