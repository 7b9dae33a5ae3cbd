"""Suites at URLs, stored once so that they run like files."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from pytest_evalstudio.core.contracts import HostFault
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.source import SUFFIXES
from pytest_evalstudio.hosts._documents import download

MAX_SUITE_BYTES = 50_000_000


def fetch_suite(url: str, folder: Path, *, refresh: bool = False) -> Path:
    """Store what stands at a URL, under a name that reads well in node ids.

    Args:
        folder: where it is stored; an earlier download is taken as it is.
        refresh: fetch it again.

    Raises:
        DataError: if it cannot be had, or is larger than MAX_SUITE_BYTES.
    """
    digest = hashlib.sha256(url.encode()).hexdigest()[:8]
    name = Path(urlsplit(url).path)
    suffix = name.suffix.lower() if name.suffix.lower() in SUFFIXES else ".json"
    target = folder / f"{re.sub(r'[^A-Za-z0-9_.-]', '_', name.stem) or 'suite'}-{digest}{suffix}"
    if target.is_file() and not refresh:
        return target
    folder.mkdir(parents=True, exist_ok=True)
    try:
        fetched = download(url, folder / digest, max_bytes=MAX_SUITE_BYTES)
    except HostFault as exc:
        raise DataError(f"cannot be fetched: {exc}", source=url) from None
    os.replace(fetched, target)
    (folder / digest).rmdir()
    _note(target).write_text(url, encoding="utf-8")
    return target


def base_of(path: Path) -> str:
    """Where relative paths of a file start: its folder, or the URL's where it was fetched from one."""
    note = _note(path)
    if note.is_file():
        return note.read_text(encoding="utf-8").rpartition("/")[0]
    return str(path.parent)


def _note(path: Path) -> Path:
    return path.with_name(path.name + ".url")
