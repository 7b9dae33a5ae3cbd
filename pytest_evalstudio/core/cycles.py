"""Reading of large files without passes of the garbage collector."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_cycle_collection() -> Iterator[None]:
    """Search for no reference cycles meanwhile; it is a decorator, too.

    Parsed data have none, and all of them stay: the collector would visit them again and again, which
    doubles the time. It is a setting of the process; the earlier one is restored.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
