"""The answers cache: every answer is stored the moment it arrives, and never paid for twice."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from typing import Any

from pytest_evalstudio.core.cases import Answer, Prompt

FILE_NAME = "answers-1.sqlite"
"""The number is the version of what the rows mean; another version is another file."""

BUSY_TIMEOUT_S = 30.0
OPENING_TRIES = 10
PRIMARY_CODE = 0xFF
"""Mask that reduces SQLite's extended error codes to the primary ones."""

_LOOK_UP = "SELECT answer FROM answers WHERE key = ?"
_DROP = "DELETE FROM answers WHERE key = ?"
_STORE = """
    INSERT INTO answers (key, answer, stored_at) VALUES (?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET answer = excluded.answer, stored_at = excluded.stored_at
"""


class AnswerCache:
    """Answers by content: host, model configuration, earlier turns, prompt, corpus and run number.

    One SQLite file in WAL mode, safe under many processes and threads. A cache that cannot be used is worked
    around, never a crash: a corrupt file is moved aside, a read-only one is only read, an unwritable folder
    means no cache, and `warnings` says so.

    Args:
        folder: where the file is; made if it is not there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / FILE_NAME
        self.warnings: list[str] = []
        self._lock = threading.RLock()
        self._digests: dict[tuple[str, int, int], str] = {}
        self._inode = 0
        self._is_read_only = False
        self._connection: sqlite3.Connection | None = None
        self._connection = self._opened()

    def key(self, host_id: str, settings: Mapping[str, Any], prompt: Prompt) -> str:
        """The address of an answer.

        Args:
            settings: the host's parameters, secrets masked: a new key for the same service finds the old
                answers.
        """
        corpus = [self._digest(document) for document in prompt.corpus]
        schema = [] if prompt.reply_schema is None else [prompt.reply_schema]
        turns = [[[turn.role, turn.content] for turn in prompt.conversation]] if prompt.conversation else []
        sample = [f"sample {prompt.sample}"] if prompt.sample else []
        return digest_of([host_id, settings, prompt.text, corpus, prompt.run, *schema, *turns, *sample])

    def get(self, key: str) -> Answer | None:
        """The stored answer, None where there is none."""
        row = self._execute(_LOOK_UP, (key,))
        if row is None:
            return None
        try:
            kept = json.loads(row[0])
            return Answer(
                **{
                    **kept,
                    "context": tuple(kept["context"]),
                    "context_sources": tuple(kept["context_sources"]),
                    "tool_calls": tuple(kept.get("tool_calls", ())),
                }
            )
        except (ValueError, TypeError, KeyError):
            self._warn(f"an answer in {self.path} cannot be read; it is asked for again")
            return None

    def put(self, key: str, answer: Answer) -> None:
        """Store an answer at once; an error is no answer and is not stored."""
        if answer.error:
            return
        if self._is_read_only:
            return
        kept = {item.name: getattr(answer, item.name) for item in fields(answer)} | {
            "usage": dict(answer.usage)
        }
        self._execute(_STORE, (key, json.dumps(kept, sort_keys=True), time.time()))

    def drop(self, key: str) -> None:
        """Forget an answer."""
        if self._is_read_only:
            return
        self._execute(_DROP, (key,))

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def __enter__(self) -> AnswerCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _execute(self, statement: str, values: Iterable[Any]) -> Any:
        with self._lock:
            if self._connection is None:
                return None
            try:
                return self._connection.execute(statement, tuple(values)).fetchone()
            except sqlite3.OperationalError as exc:
                if exc.sqlite_errorcode & PRIMARY_CODE == sqlite3.SQLITE_READONLY:
                    self._note_read_only()
                    return None
                self._warn(f"the answers cache {self.path} could not be used for an answer: {exc}")
            except sqlite3.DatabaseError as exc:
                self._move_aside(exc)
                self._connection = self._opened()
            return None

    def _opened(self) -> sqlite3.Connection | None:
        for attempt in range(OPENING_TRIES):
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                return self._connected()
            except sqlite3.OperationalError as exc:
                if "locked" not in str(exc) or attempt == OPENING_TRIES - 1:
                    return self._opened_read_only(exc)
                time.sleep(
                    0.05 * (attempt + 1)
                )  # another process is switching the new file to WAL, which the busy timeout does not cover
            except sqlite3.DatabaseError as exc:
                self._move_aside(exc)
            except OSError as exc:
                return self._opened_read_only(exc)
        self._give_up("it could not be replaced")
        return None

    def _opened_read_only(self, reason: Exception) -> sqlite3.Connection | None:
        """Open a file that cannot be written to; None if it cannot be read either.

        Args:
            reason: why it cannot be opened for writing.
        """
        address = self.path.absolute().as_uri()
        for options in (
            "mode=ro",
            "mode=ro&immutable=1",
        ):  # the first one reads a write-ahead log, but needs its index file
            try:
                connection = sqlite3.connect(
                    f"{address}?{options}", uri=True, isolation_level=None, check_same_thread=False
                )
            except sqlite3.Error:
                continue
            try:
                connection.execute(_LOOK_UP, ("",)).fetchone()
            except sqlite3.Error:
                connection.close()
                continue
            self._note_read_only()
            return connection
        self._give_up(reason)
        return None

    def _note_read_only(self) -> None:
        self._is_read_only = True
        self._warn(
            f"the answers cache {self.path} is read-only: its answers are used, new ones are not stored"
        )

    def _connected(self) -> sqlite3.Connection:
        self._inode = self.path.stat().st_ino if self.path.exists() else 0
        connection = sqlite3.connect(
            self.path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL, stored_at"
                " REAL NOT NULL) WITHOUT ROWID"
            )
            self._inode = self.path.stat().st_ino
        except BaseException:
            connection.close()
            raise
        return connection

    def _give_up(self, reason: object) -> None:
        self._warn(
            f"there is no answers cache in this run, {self.path} cannot be opened: {reason}; choose another"
            " folder with --evalstudio-cache"
        )

    def _move_aside(self, reason: Exception) -> None:
        """Put a corrupt file out of the way, once, however many processes find it at the same time."""
        self.close()
        aside = self.path.with_name(f"{self.path.name}.corrupt-{os.getpid()}-{time.time_ns()}")
        try:
            with closing(
                sqlite3.connect(self.folder / "repair.lock", timeout=BUSY_TIMEOUT_S, isolation_level=None)
            ) as lock:
                lock.execute("BEGIN EXCLUSIVE")
                if not self.path.exists() or self.path.stat().st_ino != self._inode:
                    return  # another process has moved it already
                for suffix in ("-wal", "-shm"):
                    self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
                os.replace(self.path, aside)
        except (OSError, sqlite3.Error) as exc:
            self._warn(
                f"the answers cache {self.path} is corrupt ({reason}) and could not be moved aside: {exc};"
                " delete it"
            )
            return
        self._warn(
            f"the answers cache {self.path} is corrupt ({reason}); it was moved to {aside.name} and a new one"
            " begun"
        )

    def _warn(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)

    def _digest(self, document: str) -> list[str]:
        """Name and content of a local document; the address of a remote one."""
        try:
            state = os.stat(document)
            place = (document, state.st_size, state.st_mtime_ns)
            if place not in self._digests:
                with open(document, "rb") as file:
                    self._digests[place] = hashlib.file_digest(file, "sha256").hexdigest()
            return [os.path.basename(document), self._digests[place]]
        except OSError:
            return [document, ""]


def digest_of(content: object) -> str:
    """SHA-256 over the canonical JSON of a value; callables in it count by their name.

    >>> digest_of({"b": 1, "a": [2]}) == digest_of({"a": [2], "b": 1})
    True
    """
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_named)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _named(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    name = getattr(value, "__qualname__", None)
    return f"{getattr(value, '__module__', '')}:{name}" if name else str(value)
