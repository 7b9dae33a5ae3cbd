"""Digests of files."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from pathlib import Path


def file_digest(path: str | Path) -> str:
    """Return the SHA-256 of a regular file.

    Raises:
        OSError: if it cannot be read, or is a device, a pipe or a folder: some of them have no end.
    """
    # Without O_NONBLOCK, opening a pipe waits until somebody writes into it.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        return hashlib.file_digest(file, "sha256").hexdigest()
