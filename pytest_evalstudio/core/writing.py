"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


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
    draft = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}.tmp")
    try:
        with open(draft, "xb") as file:
            yield file
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
