"""Collections at services, registered beside the answers cache, so that several runs share them."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec import Struct

from pytest_evalstudio.core.leases import valid_expiry
from pytest_evalstudio.core.progress import report_progress
from pytest_evalstudio.core.store import Store

FILE_NAME = "corpora-1.sqlite"
LEASE_S = 20.0
"""A claim or use that is not renewed for so long is void: its process was killed."""
OTHERS_S = 0.1
"""Interval at which a model looks for the collection that another process makes."""

_SCHEMA = """
    CREATE TABLE IF NOT EXISTS collections (key TEXT PRIMARY KEY, id TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS claims (
        key TEXT PRIMARY KEY, token TEXT NOT NULL, expires_at REAL NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS users (
        key TEXT NOT NULL, token TEXT NOT NULL, expires_at REAL NOT NULL, PRIMARY KEY (key, token)
    ) WITHOUT ROWID;
"""
_USE = "INSERT OR REPLACE INTO users (key, token, expires_at) VALUES (?, ?, ?)"
_CLAIM = """
    INSERT INTO claims (key, token, expires_at) VALUES (?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET token = excluded.token, expires_at = excluded.expires_at
    WHERE claims.expires_at NOT BETWEEN ? AND ?
"""


def report_ingestion(what: str, done: int, total: int) -> None:
    """Report the progress of an ingestion to the display of the run or command.

    Without a display, as in a script, it is written to a terminal, and elsewhere nothing is.
    """
    if report_progress(done, total, what):
        return
    if sys.__stderr__ is not None and sys.__stderr__.isatty():
        sys.__stderr__.write(f"\r{what}: {done}/{total}" + ("\n" if done == total else ""))
        sys.__stderr__.flush()


class _Turn(Struct, frozen=True):
    """Next action: use a collection, make one, or wait for another process that makes it."""

    collection: str = ""
    is_ours: bool = False


class CorpusRegister:
    """The collections that exist at services, by the address of their content and configuration.

    A collection is registered when it is complete, so that nothing half made is used. Each user renews its
    use; the last one that ends removes the collection, unless it is to be kept.

    Args:
        folder: where the file is; None to share with nobody.
    """

    def __init__(self, folder: Path | None) -> None:
        path = None if folder is None else folder / FILE_NAME
        self._store = Store(path, title="register of collections", content="ids", schema=_SCHEMA)
        self._token = uuid.uuid4().hex
        self._used: dict[str, str] = {}
        self._renewing: asyncio.Task[None] | None = None

    async def acquire(
        self,
        key: str,
        make: Callable[[], Awaitable[str]],
        is_usable: Callable[[str], Awaitable[bool]],
    ) -> str:
        """Return the id of the collection of a key; see `Corpora`."""
        while True:
            turn = self._turn(key)
            if turn.collection:
                if await is_usable(turn.collection):
                    return self._use(key, turn.collection)
                self._forget(key, turn.collection)
            elif turn.is_ours:
                async with self._claimed(key):
                    collection = await make()
                    self._register(key, collection)
                return self._use(key, collection)
            else:
                await asyncio.sleep(OTHERS_S)

    async def release(self, key: str, *, keep: bool) -> str:
        """Return the id of a collection that nobody uses any more; see `Corpora`."""
        collection = self._used.pop(key, "")
        if not self._used and self._renewing is not None:
            self._renewing.cancel()
            self._renewing = None

        def work(connection: sqlite3.Connection) -> str:
            connection.execute("DELETE FROM users WHERE key = ? AND token = ?", (key, self._token))
            others = connection.execute(
                "SELECT COUNT(*) FROM users WHERE key = ? AND expires_at BETWEEN ? AND ?",
                (key, *valid_expiry(time.time(), LEASE_S)),
            ).fetchone()[0]
            if keep or others:
                return ""
            connection.execute("DELETE FROM collections WHERE key = ? AND id = ?", (key, collection))
            return collection

        return self._store.transact(work, "" if keep else collection)

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    def _turn(self, key: str) -> _Turn:
        """Use the collection if there is one, else claim to make it."""
        now = time.time()

        def work(connection: sqlite3.Connection) -> _Turn:
            row = connection.execute("SELECT id FROM collections WHERE key = ?", (key,)).fetchone()
            if row is not None:
                connection.execute(_USE, (key, self._token, now + LEASE_S))
                return _Turn(collection=str(row[0]))
            values = (key, self._token, now + LEASE_S, *valid_expiry(now, LEASE_S))
            claimed = connection.execute(_CLAIM, values).rowcount
            return _Turn(is_ours=claimed > 0)

        return self._store.transact(work, _Turn(is_ours=True))

    def _register(self, key: str, collection: str) -> None:
        def work(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT OR REPLACE INTO collections (key, id) VALUES (?, ?)", (key, collection)
            )
            connection.execute(_USE, (key, self._token, time.time() + LEASE_S))

        self._store.transact(work, None)

    def _forget(self, key: str, collection: str) -> None:
        """Remove a collection that its service has no more."""
        self._store.change("DELETE FROM collections WHERE key = ? AND id = ?", (key, collection))

    def _use(self, key: str, collection: str) -> str:
        self._used[key] = collection
        if self._renewing is None:
            self._renewing = asyncio.create_task(self._renew_users())
        return collection

    async def _renew_users(self) -> None:
        while True:
            await asyncio.sleep(LEASE_S / 3)
            expires_at = time.time() + LEASE_S
            self._store.write(_USE, [(key, self._token, expires_at) for key in self._used])

    @asynccontextmanager
    async def _claimed(self, key: str) -> AsyncIterator[None]:
        """Renew a claim while the context lasts, and end it."""

        async def renew() -> None:
            while True:
                await asyncio.sleep(LEASE_S / 3)
                self._store.change(
                    "UPDATE claims SET expires_at = ? WHERE key = ? AND token = ?",
                    (time.time() + LEASE_S, key, self._token),
                )

        renewing = asyncio.create_task(renew())
        try:
            yield
        finally:
            renewing.cancel()
            self._store.change("DELETE FROM claims WHERE key = ? AND token = ?", (key, self._token))
