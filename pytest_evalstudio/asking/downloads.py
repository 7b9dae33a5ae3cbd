"""Suites at URLs, stored once so that they run like files."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from pytest_evalstudio.core.addresses import host_of
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.plugins.host import HostFault
from pytest_evalstudio.core.writing import write_whole
from pytest_evalstudio.formats.source import SUFFIXES
from pytest_evalstudio.hosts._documents import download

MAX_SUITE_BYTES = 50_000_000
MAX_NAME_CHARS = 100
_named_hosts: set[str] = set()


def named_hosts() -> frozenset[str]:
    """Return "host:port" of the URLs that the user of this process named.

    Documents may be there, whatever the address.
    """
    return frozenset(_named_hosts)


def name_host(url: str) -> None:
    """Remember that the user named a URL, on the command line or in a call."""
    if host := host_of(url):
        _named_hosts.add(host)


def fetch_suite(url: str, folder: Path, *, refresh: bool = False, allow_private_hosts: bool = False) -> Path:
    """Store the file at a URL that the user named, under a name that reads well in node ids.

    Args:
        folder: where it is stored; an earlier download is taken as it is.
        refresh: fetch it again.
        allow_private_hosts: whether the URL may redirect to an address that is not public.

    Raises:
        DataError: if it cannot be fetched, or is larger than MAX_SUITE_BYTES.
    """
    host = host_of(url)
    if not host:
        raise DataError("is not a URL: it has no host; write http://HOST/PATH", source=url)
    name_host(url)
    digest = hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    name = Path(urlsplit(url).path.replace("\0", "_"))
    suffix = name.suffix.lower() if name.suffix.lower() in SUFFIXES else ".json"
    stem = re.sub(r"[^A-Za-z0-9_.-]", "_", name.stem)[:MAX_NAME_CHARS] or "suite"
    target = folder / f"{stem}-{digest}{suffix}"
    # A file without its note was left by a killed download: it must not count as a local one.
    if target.is_file() and _note(target).is_file() and not refresh:
        return target
    folder.mkdir(parents=True, exist_ok=True)
    try:
        fetched = download(
            url,
            folder / digest,
            max_bytes=MAX_SUITE_BYTES,
            allow_private_hosts=allow_private_hosts,
            trusted_hosts=(host,),
        )
    except HostFault as exc:
        raise DataError(f"cannot be fetched: {exc}", source=url) from None
    write_whole(_note(target), url.encode("utf-8", "surrogatepass"))
    os.replace(fetched, target)
    (folder / digest).rmdir()
    return target


def base_of(path: Path) -> str:
    """Return the start of a file's relative paths: its folder, or the URL that it was fetched from."""
    note = _note(path)
    if note.is_file():
        return note.read_text(encoding="utf-8").rpartition("/")[0]
    return str(path.parent)


def _note(path: Path) -> Path:
    return path.with_name(path.name + ".url")
