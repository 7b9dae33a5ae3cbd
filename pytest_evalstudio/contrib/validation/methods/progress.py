"""Progress of long calculations."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int, str], None]
"""Called with the number done, the total, and the name of the objects."""
