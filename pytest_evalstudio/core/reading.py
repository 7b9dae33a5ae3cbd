"""Reading of files by name, where a stranger may have put a pipe or a device in place of the file."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from io import BufferedReader

NOT_A_FILE = "it is a pipe, a device or a socket; give a file"
FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""To open a file for reading without waiting."""


def open_file(path: str | os.PathLike[str]) -> BufferedReader:
    """Open a regular file for reading, without waiting for a writer of a pipe.

    Raises:
        OSError: if it cannot be opened, or is a folder, pipe, device or socket.
    """
    # The type is checked before and after opening: to open a device can have effects, and a name can change.
    check_file(path)
    file = open(os.open(path, FLAGS), "rb")  # noqa: SIM115  # the caller closes it
    try:
        _check(os.fstat(file.fileno()).st_mode, path)
    except OSError:
        file.close()
        raise
    return file


def check_file(path: str | os.PathLike[str]) -> None:
    """Check that a path is a regular file, for libraries that open paths themselves.

    Raises:
        OSError: if it does not exist, or is a folder, pipe, device or socket.
    """
    _check(os.stat(path).st_mode, path)


def _check(mode: int, path: str | os.PathLike[str]) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, NOT_A_FILE, os.fspath(path))


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a regular file.

    Raises:
        OSError: as `open_file`.
    """
    with open_file(path) as file:
        return file.read()


def read_utf8(path: str | os.PathLike[str]) -> str:
    """Return the text of a regular file in UTF-8 without its mark, with lines as in `Path.read_text`.

    Raises:
        OSError: as `open_file`.
        UnicodeDecodeError: if it is not UTF-8.
    """
    return read_bytes(path).decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


def file_sha256(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a regular file.

    Raises:
        OSError: as `open_file`.
    """
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
