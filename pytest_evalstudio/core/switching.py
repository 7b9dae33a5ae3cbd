"""Fair shares of the interpreter for threads that answer quickly beside one that computes."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SWITCH_INTERVAL_S = 0.0005
"""A tenth of Python's default."""

_lock = threading.Lock()
_users = 0
_before = 0.0


@contextmanager
def frequent_switches() -> Iterator[None]:
    """Have the threads of this process take turns ten times as often as by default.

    A thread that has a reply to read waits up to `sys.getswitchinterval()` for one that computes. It is a
    setting of the process: the earlier one is restored when the last of the contexts ends, which may be
    nested and entered by several threads.
    """
    global _users, _before
    with _lock:
        if not _users:
            _before = sys.getswitchinterval()
            sys.setswitchinterval(min(_before, SWITCH_INTERVAL_S))
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users:
                sys.setswitchinterval(_before)
