"""The purse of several processes: spending on a model or on judges, counted in the answers cache."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from typing import TypeVar

import msgspec

from pytest_evalstudio.core.store import Store
from pytest_evalstudio.judges.budget import Spending

KEPT_S = 7 * 24 * 3600.0
"""Purses of earlier runs are deleted after this time."""

T = TypeVar("T")


class SharedPurse:
    """A purse from which all workers of a run spend.

    A worker that is killed leaves its reservations behind; they count as spent, since its calls may have
    been charged.

    Args:
        store: of the answers cache.
        name: of the run and the configuration.
    """

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self._name = name
        self._last = Spending()
        store.write("DELETE FROM purses WHERE changed_at < ?", [(time.time() - KEPT_S,)])

    def update(self, change: Callable[[Spending], T]) -> T:
        """Change the spending in one transaction; where the file fails, that which was read last."""
        results: list[T] = []

        def work(connection: sqlite3.Connection) -> None:
            row = connection.execute("SELECT spending FROM purses WHERE name = ?", (self._name,)).fetchone()
            spending = msgspec.json.decode(row[0], type=Spending) if row else Spending()
            results.append(change(spending))
            connection.execute(
                "INSERT OR REPLACE INTO purses (name, spending, changed_at) VALUES (?, ?, ?)",
                (self._name, msgspec.json.encode(spending).decode(), time.time()),
            )
            self._last = spending

        self._store.transact(work, None)
        return results[0] if results else change(self._last)
