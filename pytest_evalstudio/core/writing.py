"""Files that are written whole or not at all."""

from __future__ import annotations

import functools
import os
import re
import secrets
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from pytest_evalstudio.core.locking import locked

_NAME_CHARS = 100
"""Characters of the target in the name of its draft: file systems limit names to 255 bytes."""
_YOUNG_S = 60.0
"""Age below which a draft is never removed: its process may not have locked it yet."""
_DRAFT = re.compile(r"\.(?P<target>.+)\.[0-9a-f]{8}\.tmp", re.DOTALL)


def write_whole(path: str | Path, content: bytes) -> None:
    """Write a file so that an interruption leaves the earlier content or the new one.

    The content goes to a temporary file in the same folder, which then replaces the target. A symbolic link
    is replaced, not written through. A device or pipe is written directly.
    """
    target = Path(path)
    if target.exists() and not target.is_file():
        target.write_bytes(content)
        return
    with replacing(target) as file:
        file.write(content)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces the target at the end of the block, unless the block fails."""
    _remove_abandoned_drafts(path)
    draft = path.with_name(f".{path.name[:_NAME_CHARS]}.{secrets.token_hex(4)}.tmp")
    try:
        with open(draft, "xb") as file:
            if sys.platform != "win32":  # which refuses to remove an open file anyway
                _mark_as_used(file)
            yield file
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _mark_as_used(file: BinaryIO) -> None:
    """Lock a draft until it is closed or the process dies."""
    import fcntl

    with suppress(OSError):  # of file systems without locks
        fcntl.flock(file, fcntl.LOCK_SH)


def _remove_abandoned_drafts(path: Path) -> None:
    """Remove the temporary files of a target that killed processes have left: nobody holds their locks."""
    for draft in _drafts_in(path.parent).pop(path.name[:_NAME_CHARS], ()):
        with suppress(OSError), locked(draft, wait=False):  # another process removes it, or still writes it
            draft.unlink()


@functools.lru_cache(maxsize=256)  # a command writes many files into one folder
def _drafts_in(folder: Path) -> dict[str, list[Path]]:
    """Return the temporary files in a folder, by the name of their target."""
    drafts: dict[str, list[Path]] = {}
    with suppress(OSError):  # a folder that cannot be listed is reported when the file is written
        newest = time.time() - _YOUNG_S
        for entry in os.scandir(folder):
            match = _DRAFT.fullmatch(entry.name)
            if match and entry.stat().st_mtime < newest:
                drafts.setdefault(match["target"], []).append(Path(entry.path))
    return drafts
