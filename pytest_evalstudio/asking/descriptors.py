"""Concurrency that the process's limit of open files permits."""

from __future__ import annotations

import os
from pathlib import Path

RESERVED = 16
"""Files that the stores, the record, the report and the logs may open beside the connections."""
SHARE = 4
"""A model takes at most this part of the free descriptors, so that several models have room."""


def affordable(concurrency: int) -> int:
    """Return the number of requests at the same time for which descriptors are free, 1 or more.

    Without a limit, or where it cannot be determined, it is `concurrency`.
    """
    limit = _limit()
    if limit is None:
        return concurrency
    free = limit - _open_files() - RESERVED
    return min(concurrency, max(1, free // SHARE))


def describe_limit() -> str:
    """Return the limit for people, e.g. "the process may open 256 files"."""
    return f"the process may open {_limit()} files"


def _limit() -> int | None:
    try:
        import resource
    except ModuleNotFoundError:  # Windows has no such limit
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


def _open_files() -> int:
    for folder in (Path("/proc/self/fd"), Path("/dev/fd")):
        try:
            return len(os.listdir(folder))
        except OSError:
            continue
    return 0
