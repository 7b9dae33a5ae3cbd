"""Reads the documents of a corpus: pdf, html, md and txt, from disk or by http."""

from __future__ import annotations

import codecs
import hashlib
import io
import os
import re
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from urllib.parse import unquote, urlsplit

from pytest_evalstudio.core.contracts import HostFault
from pytest_evalstudio.core.errors import DataError

MAX_DOCUMENT_BYTES = 50_000_000
DOWNLOAD_TIMEOUT_S = 60.0

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTENT_TYPES = MappingProxyType(
    {"application/pdf": ".pdf", "text/html": ".html", "application/xhtml+xml": ".html", "text/markdown": ".md", "text/plain": ".txt"}
)


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a document: a page, or all of it where it has none.

    Attributes:
        page: 1-based, 0 where the document has no pages.
    """

    text: str
    page: int = 0


def is_url(location: str) -> bool:
    return location.lower().startswith(("http://", "https://"))


def read_document(location: str, *, downloads: Path, max_bytes: int = MAX_DOCUMENT_BYTES) -> list[Part]:
    """Text of a document, page by page; parts without text are left out.

    Args:
        location: a path, or an http(s) URL, which is downloaded once.
        downloads: where downloaded documents are kept.

    Raises:
        DataError: if it is not there, too large, or of no kind that can be read; the message says what to do.
        HostFault: if a download fails; it says whether another try can help.
    """
    path = download(location, downloads, max_bytes=max_bytes) if is_url(location) else Path(location)
    content = _content(path, location, max_bytes)
    suffix = ".pdf" if content.startswith(b"%PDF-") else path.suffix.lower()
    reader = READERS.get(suffix)
    if reader is None:
        kinds = ", ".join(sorted(READERS))
        raise DataError(f"no reader for {suffix or 'files without an ending'!r}; convert it to one of {kinds}", source=location)
    parts = [part for part in reader(content, location) if part.text.strip()]
    if not parts:
        remedy = "; a scanned document needs text recognition (OCR) first" if suffix == ".pdf" else ""
        raise DataError(f"the document has no text{remedy}", source=location)
    return parts


def decode(content: bytes, location: str) -> str:
    """Text of bytes: by their byte order mark, else UTF-8, else Latin-1.

    Raises:
        DataError: if it is no text at all.
    """
    for mark, encoding in _BOMS:
        if content.startswith(mark):
            return content.decode(encoding, errors="replace").removeprefix("\ufeff")
    if b"\0" in content:
        raise DataError("this is a binary file, not text", source=location)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def download(url: str, folder: Path, *, max_bytes: int = MAX_DOCUMENT_BYTES, timeout_s: float = DOWNLOAD_TIMEOUT_S) -> Path:
    """A URL's content as a file; an earlier download is taken as it is.

    Raises:
        HostFault: if it cannot be had, or is larger than allowed.
    """
    stem = hashlib.sha256(url.encode()).hexdigest()[:20]
    for known in sorted(folder.glob(f"{stem}.*")):
        if known.suffix != ".part":
            return known
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPRedirectHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(),
    ):
        opener.add_handler(handler)  # no file: or ftp:, wherever a redirect may point
    deadline = time.monotonic() + timeout_s
    try:
        with opener.open(urllib.request.Request(url, headers={"User-Agent": "pytest-evalstudio"}), timeout=timeout_s) as reply:
            content = bytearray()
            while block := reply.read(65536):
                content += block
                if len(content) > max_bytes:
                    raise HostFault(f"{url}: larger than {max_bytes:,} bytes; give a smaller document")
                if time.monotonic() > deadline:
                    raise HostFault(f"{url}: not downloaded within {timeout_s:g} s", retry=True)
            kind = _CONTENT_TYPES.get(reply.headers.get_content_type(), "")
    except urllib.error.HTTPError as exc:
        with exc:
            raise HostFault(f"{url}: HTTP {exc.code} {exc.reason}", retry=exc.code in (408, 429) or exc.code >= 500) from None
    except (OSError, ValueError) as exc:
        raise HostFault(f"{url}: {getattr(exc, 'reason', None) or exc}", retry=isinstance(exc, OSError)) from exc
    named = PurePosixPath(unquote(urlsplit(url).path)).suffix.lower()
    return _keep(bytes(content), folder / (stem + (named if named in READERS else kind or ".txt")))


def _keep(content: bytes, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.part")
    unfinished.write_bytes(content)
    os.replace(unfinished, path)
    return path


def _content(path: Path, location: str, max_bytes: int) -> bytes:
    try:
        size = path.stat().st_size
        if size > max_bytes:
            raise DataError(
                f"{size:,} bytes are more than the {max_bytes:,} allowed; give a smaller document, or raise max_document_bytes", source=location
            )
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError("there is no such document; paths of a corpus are relative to the suite's folder", source=location) from None
    except OSError as exc:
        raise DataError(f"the document cannot be read: {exc.strerror}", source=location) from exc


def _pdf(content: bytes, location: str) -> list[Part]:
    import pypdf
    from pypdf.errors import PyPdfError

    try:
        reader = pypdf.PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise DataError("the PDF is encrypted; save it without a password", source=location)
        return [Part(unwrap(page.extract_text()), number) for number, page in enumerate(reader.pages, 1)]
    except (PyPdfError, ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError, NotImplementedError) as exc:
        raise DataError(f"the PDF is damaged or of a kind that cannot be read ({type(exc).__name__}: {exc}); save it anew", source=location) from exc


def _html(content: bytes, location: str) -> list[Part]:
    parser = _TextOfHTML()
    parser.feed(decode(content, location))
    parser.close()
    return [Part(parser.text())]


def _markdown(content: bytes, location: str) -> list[Part]:
    text = re.sub(r"\A---\n.*?\n---\n", "", _lines(decode(content, location)), flags=re.DOTALL)
    text = re.sub(r"!?\[([^\]\n]*)\]\([^)\n]*\)", r"\1", text)
    text = re.sub(r"^ {0,3}#{1,6}[ \t]+(.*?)[ \t#]*$", r"\n\1\n", text, flags=re.MULTILINE)
    text = re.sub(r"^[ \t]*(?:[-*+]|\d+[.)])[ \t]+", "\n", text, flags=re.MULTILINE)
    text = re.sub(r"^[ \t]*(?:```.*|~~~.*|[-*_]{3,}[ \t]*)$", "", text, flags=re.MULTILINE)
    return [Part(unwrap(re.sub(r"\*\*|__|`", "", text)))]


def _plain(content: bytes, location: str) -> list[Part]:
    return [Part(unwrap(_lines(decode(content, location))))]


READERS: Mapping[str, Callable[[bytes, str], list[Part]]] = MappingProxyType(
    {".pdf": _pdf, ".html": _html, ".htm": _html, ".md": _markdown, ".markdown": _markdown, ".txt": _plain}
)


def unwrap(text: str) -> str:
    """Paragraphs on a line each, a blank line between; words broken over two lines are joined.

    >>> unwrap("a hyphen-\\nated word,\\nand more\\n\\n\\nnext")
    'a hyphenated word, and more\\n\\nnext'
    """
    joined = re.sub(r"(?<=[a-z])-\n(?=[a-z])", "", _lines(text))
    paragraphs = (" ".join(paragraph.split()) for paragraph in re.split(r"\n[ \t]*\n", joined))
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


class _TextOfHTML(HTMLParser):
    """What a reader of the page sees."""

    SILENT = frozenset({"script", "style", "noscript", "template", "svg", "head"})
    INLINE = frozenset(
        {
            "a",
            "abbr",
            "b",
            "cite",
            "code",
            "em",
            "i",
            "kbd",
            "mark",
            "q",
            "s",
            "small",
            "span",
            "strong",
            "sub",
            "sup",
            "time",
            "u",
            "var",
            "font",
            "img",
        }
    )
    CELLS = frozenset({"td", "th"})

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._pieces: list[str] = []
        self._silent: list[str] = []

    def text(self) -> str:
        return unwrap("".join(self._pieces))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "body":
            self._silent.clear()  # a head that nobody closed
        if tag in self.SILENT:
            self._silent.append(tag)
        self._separate(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._silent:
            del self._silent[self._silent.index(tag) :]
        self._separate(tag)

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._pieces.append(" ".join(data.split("\n")))

    def _separate(self, tag: str) -> None:
        if tag in self.CELLS or tag == "br":
            self._pieces.append(" ")
        elif tag not in self.INLINE:
            self._pieces.append("\n\n")
