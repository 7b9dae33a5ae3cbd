"""Standard input in place of a file."""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_evalstudio.cli.common import local

STANDARD_INPUT = "-"
STANDARD_INPUT_NAME = "standard input"
"""Name in messages."""
_SIGNATURES = {b"PAR1": ".parquet", b"PK\x03\x04": ".eval"}  # the logs of Inspect are ZIP archives


@contextlib.contextmanager
def local_files(names: Sequence[str], text_suffix: str) -> Iterator[list[Path]]:
    """Provide files by name, URL, or "-" for standard input, whose content is a temporary file meanwhile.

    Args:
        text_suffix: suffix of standard input that is neither JSON nor JSON Lines nor binary.
    """
    with tempfile.TemporaryDirectory(prefix="evalstudio-") as folder:
        content = Path(folder) / "content"
        if STANDARD_INPUT in names:
            with content.open("wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file)
            # Readers choose the format by the suffix, which standard input does not have.
            content = content.rename(content.with_suffix(_suffix(content, text_suffix)))
        yield [content if name == STANDARD_INPUT else local(name) for name in names]


def shown_name(name: str) -> str:
    """Return the name of a file in messages."""
    return STANDARD_INPUT_NAME if name == STANDARD_INPUT else name


def _suffix(path: Path, text_suffix: str) -> str:
    """Return the suffix that the content of a file should have."""
    with path.open("rb") as file:
        signature = file.read(4)
        if signature in _SIGNATURES:
            return _SIGNATURES[signature]
        file.seek(0)
        first = b""
        while line := file.readline():
            # Some programs write this mark of UTF-8 first.
            if first := line.removeprefix(b"\xef\xbb\xbf").strip():
                break
        rest = next((line for line in file if line.strip()), b"")
    if first[:1] not in (b"{", b"["):
        return text_suffix
    # A first line that is JSON by itself, with more behind it, is a record and not the begin of one value.
    return ".jsonl" if rest and _is_json(first) else ".json"


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True
