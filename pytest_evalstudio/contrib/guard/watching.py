"""A file that is looked at for changes."""

from __future__ import annotations

import hashlib
from pathlib import Path

from pytest_evalstudio.core.reading import read_bytes


class Watched:
    """A file and the digest of its content when it was last looked at.

    Args:
        path: of the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._digest = self._now()

    def has_changed(self) -> bool:
        """Return whether the content differs from the last look; a missing file has not changed."""
        digest = self._now()
        if digest in ("", self._digest):
            return False
        self._digest = digest
        return True

    def _now(self) -> str:
        try:
            return hashlib.sha256(read_bytes(self.path)).hexdigest()
        except OSError:
            return ""
