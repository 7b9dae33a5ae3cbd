"""Work without Python's cyclic garbage collector."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Disable the cyclic garbage collector; it is a decorator, too.

    Objects that are read from a file or record have no cycles, and those of imported modules stay; each
    collection would traverse all of them.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
