"""The embedding cache: a vector is computed once, whichever run or process needs it."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.core.reading import file_sha256
from pytest_evalstudio.core.store import Store

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

FILE_NAME = "embeddings-1.sqlite"
"""The number is the version of what the rows mean; another version is another file."""

REMEMBERED = 20_000
"""Vectors that a process keeps in memory, so that one evaluator finds what another has had embedded."""

_TABLES = """
    CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS digests (path TEXT PRIMARY KEY, size INTEGER NOT NULL, changed INTEGER NOT NULL, digest TEXT NOT NULL);
"""  # noqa: E501
_KEYS_AT_ONCE = 500  # SQLite before 3.32 takes at most 999 variables in a statement


class VectorCache:
    """Vectors by model and text, and digests of large files by path, size and time of change.

    Where the file cannot be used, vectors are kept in memory only, and `warnings` says so.

    Args:
        folder: where the file is, made when it is first needed; None to keep vectors in memory only.
    """

    def __init__(self, folder: Path | None) -> None:
        self._store = Store(
            folder / FILE_NAME if folder is not None else None,
            title="embedding cache",
            content="vectors",
            schema=_TABLES,
        )
        self._lock = threading.RLock()
        self._remembered: OrderedDict[bytes, NDArray[float32]] = OrderedDict()

    @property
    def warnings(self) -> list[str]:
        """Return what is wrong with the file."""
        return self._store.warnings

    def get(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[float32]]:
        """Return the vectors that are stored, by key."""
        import numpy as np

        with self._lock:
            vectors = {key: self._remembered[key] for key in keys if key in self._remembered}
            waiting = [key for key in dict.fromkeys(keys) if key not in vectors]
            for start in range(0, len(waiting), _KEYS_AT_ONCE):
                part = waiting[start : start + _KEYS_AT_ONCE]
                marks = ",".join("?" * len(part))
                for key, blob in self._store.rows(
                    f"SELECT key, vector FROM vectors WHERE key IN ({marks})", part
                ):
                    vectors[key] = np.frombuffer(blob, dtype="<f4").astype(np.float32, copy=False)
                    self._remember(key, vectors[key])
        return vectors

    def put(self, vectors: Mapping[bytes, NDArray[float32]]) -> None:
        """Store vectors, in one transaction."""
        with self._lock:
            for key, vector in vectors.items():
                self._remember(key, vector)
            rows = [(key, vector.astype("<f4", copy=False).tobytes()) for key, vector in vectors.items()]
            self._store.write("INSERT OR IGNORE INTO vectors (key, vector) VALUES (?, ?)", rows)

    def digest(self, path: Path) -> str:
        """Return the SHA-256 of a file; that of an unchanged file is not computed again."""
        state = path.stat()
        identity = (str(path), state.st_size, state.st_mtime_ns)
        stored = self._store.rows(
            "SELECT digest FROM digests WHERE path = ? AND size = ? AND changed = ?", identity
        )
        if stored:
            return str(stored[0][0])
        digest = file_sha256(path)
        self._store.write("INSERT OR REPLACE INTO digests VALUES (?, ?, ?, ?)", [(*identity, digest)])
        return digest

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    def _remember(self, key: bytes, vector: NDArray[float32]) -> None:
        self._remembered[key] = vector
        self._remembered.move_to_end(key)
        if len(self._remembered) > REMEMBERED:
            self._remembered.popitem(last=False)


def key_of(identity: str, text: str) -> bytes:
    """The address of a text's vector.

    >>> key_of("model", "text") == key_of("model", "text"), key_of("model", "text") == key_of("other", "text")
    (True, False)
    """
    return hashlib.sha256(f"{identity}\0{text}".encode("utf-8", "surrogatepass")).digest()[:16]
