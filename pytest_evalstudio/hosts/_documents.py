"""Reads the documents of a corpus: pdf, html, md and txt, from disk or by http."""

from __future__ import annotations

import codecs
import hashlib
import io
import os
import stat
import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote, urlsplit

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.plugins.host import HostFault
from pytest_evalstudio.hosts._pdf_tables import MIN_ROWS, with_tables
from pytest_evalstudio.hosts._plain_text import lines, plain_html, plain_markdown, unwrap
from pytest_evalstudio.hosts._text_tables import with_text_tables

MAX_DOCUMENT_BYTES = 50_000_000
MAX_TEXT_CHARS = 50_000_000
"""Maximum size of a converted document; a compressed one can hold a thousand times its size."""
MAX_PAGE_BYTES = 20_000_000
"""Maximum size of the decompressed content of a PDF page."""
MAX_LAYOUT_BYTES = 500_000
"""Maximum size of the decompressed content of a PDF page whose tables are read."""
DOWNLOAD_TIMEOUT_S = 60.0
CONVERSION_TIMEOUT_S = 120.0
_BLOCK_BYTES = 65_536

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTENT_TYPES = MappingProxyType(
    {
        "application/pdf": ".pdf",
        "text/html": ".html",
        "application/xhtml+xml": ".html",
        "text/markdown": ".md",
        "text/plain": ".txt",
    }
)


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """A stretch of a document: a page, or all of it where it has none.

    Attributes:
        page: 1-based, 0 where the document has no pages.
    """

    text: str
    page: int = 0


class Deadline:
    """The end of the time that a document may take.

    Args:
        location: the document that messages name.
    """

    def __init__(self, location: str, timeout_s: float) -> None:
        self._location = location
        self._timeout_s = timeout_s
        self._end = time.monotonic() + timeout_s

    def check(self) -> None:
        """Raise DataError when time is up."""
        if time.monotonic() > self._end:
            raise DataError(
                f"the document is not read within {self._timeout_s:g} s; give a smaller one, or raise"
                " timeout_s",
                source=self._location,
            )


def is_url(location: str) -> bool:
    return location.lower().startswith(("http://", "https://"))


def read_document(
    location: str,
    *,
    downloads: Path,
    max_bytes: int = MAX_DOCUMENT_BYTES,
    timeout_s: float = CONVERSION_TIMEOUT_S,
    allow_private_hosts: bool = False,
    trusted_hosts: Collection[str] = (),
) -> list[DocumentPart]:
    """Return the text of a document, page by page; parts without text are left out.

    Args:
        location: a path, or an http(s) URL, which is downloaded once.
        downloads: folder where downloaded documents are kept.
        max_bytes: larger documents are refused.
        timeout_s: seconds that reading and conversion may take.
        allow_private_hosts: whether a URL may lead to an address that is not public.
        trusted_hosts: "host:port" of those that may have such an address all the same.

    Raises:
        DataError: if it is missing, too large, too slow, or of an unknown kind; the message says what to do.
        HostFault: if a download fails; it says whether another try can help.
    """
    path = Path(location)
    if is_url(location):
        path = download(
            location,
            downloads,
            max_bytes=max_bytes,
            timeout_s=min(timeout_s, DOWNLOAD_TIMEOUT_S),
            allow_private_hosts=allow_private_hosts,
            trusted_hosts=trusted_hosts,
        )
    deadline = Deadline(location, timeout_s)
    content = _content(path, location, max_bytes, deadline)
    # The content decides: the name of a URL need not say the kind.
    suffix = ".pdf" if content.startswith(b"%PDF-") else path.suffix.lower()
    return converted(content, suffix, location, deadline)


def converted(
    content: bytes, suffix: str, location: str, deadline: Deadline | None = None
) -> list[DocumentPart]:
    """Return the text of a document's bytes, page by page.

    Args:
        suffix: kind of the document, e.g. ".md".

    Raises:
        DataError: if it has no text, or of no kind that can be read.
    """
    reader = READERS.get(suffix)
    if reader is None:
        kinds = ", ".join(sorted(READERS))
        raise DataError(
            f"no reader for {suffix or 'files without a suffix'!r}; convert it to one of {kinds}",
            source=location,
        )
    deadline = deadline or Deadline(location, CONVERSION_TIMEOUT_S)
    parts = [part for part in reader(content, location, deadline) if part.text.strip()]
    if not parts:
        remedy = "; a scanned document needs text recognition (OCR) first" if suffix == ".pdf" else ""
        raise DataError(f"the document has no text{remedy}", source=location)
    return parts


def decode(content: bytes, location: str) -> str:
    """Decode bytes by their byte-order mark, else as UTF-8, else as Latin-1.

    Raises:
        DataError: if it is not text.
    """
    for mark, encoding in _BOMS:
        if content.startswith(mark):
            return content.decode(encoding, errors="replace").removeprefix("\ufeff")
    # Latin-1 would read any bytes as text.
    if b"\0" in content:
        raise DataError("this is a binary file, not text", source=location)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:  # latin-1 reads any bytes, and is what old text files are most often in
        return content.decode("latin-1")


def download(
    url: str,
    folder: Path,
    *,
    max_bytes: int = MAX_DOCUMENT_BYTES,
    timeout_s: float = DOWNLOAD_TIMEOUT_S,
    allow_private_hosts: bool = False,
    trusted_hosts: Collection[str] = (),
) -> Path:
    """Return the content of a URL as a file; an earlier download is taken as it is.

    Args:
        allow_private_hosts: whether the address, or one that it redirects to, may be other than public.
        trusted_hosts: "host:port" of those that may have such an address all the same.

    Raises:
        HostFault: if it cannot be downloaded, is larger than allowed, or leads to a private address.
    """
    import http.client
    import urllib.error
    import urllib.request

    from pytest_evalstudio.hosts._addresses import PrivateAddress, opener

    stem = hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()[:20]
    # The suffix is known only after a download.
    for path in sorted(folder.glob(f"{stem}.*")):
        # Another process may be writing it.
        if path.suffix != ".part":
            return path
    director = opener(allow_private_hosts=allow_private_hosts, trusted_hosts=trusted_hosts)
    deadline = time.monotonic() + timeout_s
    try:
        request = urllib.request.Request(url, headers={"User-Agent": "pytest-evalstudio"})
        with director.open(request, timeout=timeout_s) as reply:
            content = bytearray()
            # read1 returns what has arrived, so that the deadline
            # holds for a server that sends a byte at a time.
            while block := reply.read1(_BLOCK_BYTES):
                content += block
                if len(content) > max_bytes:
                    raise HostFault(f"{url}: larger than {max_bytes:,} bytes; give a smaller document")
                if time.monotonic() > deadline:
                    raise HostFault(f"{url}: not downloaded within {timeout_s:g} s", retry=True)
            kind = _CONTENT_TYPES.get(reply.headers.get_content_type(), "")
        named = PurePosixPath(unquote(urlsplit(url).path)).suffix.lower()
    except urllib.error.HTTPError as exc:
        with exc:
            raise HostFault(
                f"{url}: HTTP {exc.code} {exc.reason}", retry=exc.code in (408, 429) or exc.code >= 500
            ) from None
    except urllib.error.URLError as exc:
        raise HostFault(f"{url}: {exc.reason}", retry=not isinstance(exc.reason, PrivateAddress)) from exc
    except (OSError, ValueError, http.client.HTTPException) as exc:
        raise HostFault(f"{url}: {exc}", retry=not isinstance(exc, ValueError)) from exc
    return _keep(bytes(content), folder / (stem + (named if named in READERS else kind or ".txt")))


def _keep(content: bytes, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.part")
    unfinished.write_bytes(content)
    os.replace(unfinished, path)
    return path


def _content(path: Path, location: str, max_bytes: int, deadline: Deadline) -> bytes:
    """Return the bytes of a regular file, read in blocks up to the limit; pipes and devices are refused."""
    try:
        # Before it is opened, which can wait or have effects for a pipe or device.
        if not stat.S_ISREG(path.stat().st_mode):
            raise DataError(
                "this is not a file but a folder, device, pipe or socket; give a file", source=location
            )
        with open(
            os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb"
        ) as file:
            # Once more for the open file: the path may lead to another one by now.
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise DataError(
                    "this is not a file but a folder, device, pipe or socket; give a file", source=location
                )
            _check_size(status.st_size, location, max_bytes)
            content = bytearray()
            while block := file.read(_BLOCK_BYTES):
                content += block
                # A file may grow while it is read.
                _check_size(len(content), location, max_bytes)
                deadline.check()
            return bytes(content)
    except FileNotFoundError:
        raise DataError(
            "there is no such document; paths of a corpus are relative to the suite's folder", source=location
        ) from None
    except OSError as exc:
        raise DataError(f"the document cannot be read: {exc.strerror}", source=location) from exc
    except ValueError as exc:
        raise DataError(f"this is not a path of a document: {exc}; correct it", source=location) from None


def _check_size(size: int, location: str, max_bytes: int) -> None:
    if size > max_bytes:
        raise DataError(
            f"{size:,} bytes are more than the {max_bytes:,} allowed; give a smaller document, or raise"
            " max_document_bytes",
            source=location,
        )


def _pdf(content: bytes, location: str, deadline: Deadline) -> list[DocumentPart]:
    import pypdf
    from pypdf.errors import PyPdfError

    def each_operation(*_: Any) -> None:
        deadline.check()

    parts = []
    chars = 0
    try:
        reader = pypdf.PdfReader(io.BytesIO(content))
        # Many PDFs are encrypted with an empty password, only to forbid printing.
        if reader.is_encrypted and not reader.decrypt(""):
            raise DataError("the PDF is encrypted; save it without a password", source=location)
        for number, page in enumerate(reader.pages, 1):
            deadline.check()
            drawing = page.get_contents()
            size = _drawing_bytes(page, deadline) + (len(drawing.get_data()) if drawing is not None else 0)
            if size > MAX_PAGE_BYTES:
                fact = f"page {number} has more than {MAX_PAGE_BYTES:,} bytes when decompressed"
                raise DataError(f"{fact}; leave it out, or save the PDF again", source=location)
            text = page.extract_text(visitor_operand_before=each_operation)
            # The layout is not interrupted when time is up.
            if size <= MAX_LAYOUT_BYTES and text.count("\n") >= MIN_ROWS:
                text = with_tables(text, page.extract_text(extraction_mode="layout"))
            text = unwrap(text)
            chars += len(text)
            if chars > MAX_TEXT_CHARS:
                raise DataError(
                    f"the document has more than {MAX_TEXT_CHARS:,} characters; split it", source=location
                )
            parts.append(DocumentPart(text, number))
    except (DataError, MemoryError):
        raise
    except (
        PyPdfError,
        ArithmeticError,
        LookupError,
        ValueError,
        TypeError,
        AttributeError,
        RuntimeError,
        OSError,
        AssertionError,
    ) as exc:
        raise DataError(
            f"the PDF is damaged or of a kind that cannot be read ({type(exc).__name__}: {exc}); save it"
            " again",
            source=location,
        ) from exc
    return parts


def _drawing_bytes(page: Any, deadline: Deadline) -> int:
    """Return the decompressed size of the forms that a page draws, each counted once.

    Counting stops at the limit.
    """
    total = 0
    visited: set[int] = set()
    waiting = [page]
    while waiting and total <= MAX_PAGE_BYTES:
        deadline.check()
        resources = waiting.pop().get("/Resources")
        forms = resources.get_object().get("/XObject") if resources is not None else None
        for form in forms.get_object().values() if forms is not None else ():
            drawn = form.get_object()
            if id(drawn) in visited or drawn.get("/Subtype") != "/Form":
                continue
            visited.add(id(drawn))
            total += len(drawn.get_data())
            waiting.append(drawn)
    return total


def _html(content: bytes, location: str, deadline: Deadline) -> list[DocumentPart]:
    return [DocumentPart(plain_html(decode(content, location), deadline.check))]


def _markdown(content: bytes, location: str, deadline: Deadline) -> list[DocumentPart]:
    return [DocumentPart(plain_markdown(decode(content, location), deadline.check))]


def _plain(content: bytes, location: str, deadline: Deadline) -> list[DocumentPart]:
    return [DocumentPart(unwrap(with_text_tables(lines(decode(content, location)))))]


READERS: Mapping[str, Callable[[bytes, str, Deadline], list[DocumentPart]]] = MappingProxyType(
    {".pdf": _pdf, ".html": _html, ".htm": _html, ".md": _markdown, ".markdown": _markdown, ".txt": _plain}
)
