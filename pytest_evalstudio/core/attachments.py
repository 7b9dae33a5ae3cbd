"""Images and files that a question comes with: their types by content, their digests, and their bytes."""

from __future__ import annotations

import codecs
import hashlib
import io
import os
from dataclasses import dataclass
from pathlib import PurePosixPath
from threading import Lock
from typing import Annotated, Literal

from msgspec import Struct

from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.kept import Kept
from pytest_evalstudio.core.reading import open_file

Detail = Literal["", "low", "high", "auto"]
"""Resolution at which a service looks at an image; "" for its own default."""

PNG, JPEG, GIF, WEBP = "image/png", "image/jpeg", "image/gif", "image/webp"
PDF, PLAIN_TEXT, MARKDOWN, CSV = "application/pdf", "text/plain", "text/markdown", "text/csv"
JSON = "application/json"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
IMAGE_TYPES = (PNG, JPEG, GIF, WEBP)
TEXT_TYPES = (PLAIN_TEXT, MARKDOWN, CSV, JSON)
FILE_TYPES = (PDF, *TEXT_TYPES, DOCX)
MEDIA_TYPES = (*IMAGE_TYPES, *FILE_TYPES)
"""Types of images and files that a test case may have."""

MAX_ATTACHMENT_BYTES = 20_000_000
MAX_ATTACHMENTS = 100
"""Images and files of one message together."""
MAX_CACHED_BYTES = 64_000_000
"""Bytes of the latest attachments that are kept in memory: a run sends the same ones to several models."""

OPAQUE_CHARS = 6_000
"""Assumed length of an image, PDF or DOCX in a prompt: about 1,500 tokens, the usual price of an image."""

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", PNG),
    (b"\xff\xd8\xff", JPEG),
    (b"GIF87a", GIF),
    (b"GIF89a", GIF),
    (b"%PDF-", PDF),
)
_TEXT_SUFFIXES = {".md": MARKDOWN, ".markdown": MARKDOWN, ".csv": CSV, ".json": JSON}


class Attachment(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Image or file that a question comes with; its bytes stay in its file.

    Attributes:
        name: path relative to the folder of the test case.
        media_type: one of `MEDIA_TYPES`, by content.
        size: bytes.
        sha256: of the content, hexadecimal.
        location: absolute path of the file; "" where it is not available, e.g. in a lab without its files.
        detail: resolution at which a service looks at an image.
    """

    name: Annotated[str, Kept.ID]
    media_type: Annotated[str, Kept.PLAIN]
    size: int
    sha256: Annotated[str, Kept.PLAIN]
    location: Annotated[str, Kept.NOT] = ""
    detail: Annotated[Detail, Kept.NOT] = ""

    def read(self) -> bytes:
        """Return the content.

        Raises:
            EvaluationError: if the file is missing or has changed.
        """
        return content_of(self)

    @property
    def is_image(self) -> bool:
        """Return True for an image, False for a file."""
        return self.media_type in IMAGE_TYPES

    @property
    def estimated_chars(self) -> int:
        """Return a rough length of the content in characters of a prompt, to estimate its tokens before."""
        return self.size if self.media_type in TEXT_TYPES else OPAQUE_CHARS

    @property
    def file_name(self) -> str:
        """Return the name without its folders."""
        return PurePosixPath(self.name).name


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFacts:
    """Properties of a file's content; see `Attachment`."""

    media_type: str
    size: int
    sha256: str


def facts_of(path: str | os.PathLike[str]) -> FileFacts:
    """Return type, size and digest of a file; the content is read once for each state of the file.

    Raises:
        OSError: if it cannot be read, or is a folder, pipe, device or socket.
        ValueError: if it is empty or too large, or no attachment has its type; the message continues a
            sentence.
    """
    state = os.stat(path)
    # The time of modification can be set back; the time of change cannot.
    identity = (os.path.realpath(path), state.st_size, state.st_mtime_ns, state.st_ctime_ns)
    facts = _FACTS.get(identity)
    if facts is None:
        content = _read(path)
        media_type = media_type_of(content, os.fspath(path))
        if not media_type:
            raise ValueError(
                "is not a PNG, JPEG, GIF, WebP, PDF or DOCX file or UTF-8 text; convert it to one of them"
            )
        facts = FileFacts(
            media_type=media_type, size=len(content), sha256=hashlib.sha256(content).hexdigest()
        )
        _FACTS[identity] = facts
    return facts


def media_type_of(content: bytes, name: str) -> str:
    """Return the type of a content, "" for one that no attachment has.

    Args:
        content: of the file; its first bytes decide.
        name: of the file; its suffix only tells kinds of text apart.

    >>> media_type_of(b"GIF89a...", "chart.png"), media_type_of(b"a,b", "t.csv"), media_type_of(b"a", "t.png")
    ('image/gif', 'text/csv', 'text/plain')
    """
    for signature, media_type in _SIGNATURES:
        if content.startswith(signature):
            return media_type
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return WEBP
    # A zip; other archives are no attachments.
    if content.startswith(b"PK\x03\x04"):
        return DOCX if _is_docx(content) else ""
    if b"\0" in content:
        return ""
    try:
        codecs.utf_8_decode(content, "strict", True)
    except UnicodeDecodeError:  # no text, and none of the media types that are recognised by their beginning
        return ""
    return _TEXT_SUFFIXES.get(PurePosixPath(name).suffix.lower(), PLAIN_TEXT)


def _is_docx(content: bytes) -> bool:
    """Return True if the directory of an archive names the parts of a DOCX; nothing is unpacked."""
    import zipfile  # most runs read no archive

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError):
        return False
    return {"[Content_Types].xml", "word/document.xml"} <= names


def content_of(attachment: Attachment) -> bytes:
    """Return the bytes of an attachment.

    Raises:
        EvaluationError: if the file is not available, or its content is not the one of the digest.
    """
    _check_location(attachment)
    with _LOCK:
        content = _CONTENTS.pop(attachment.sha256, None)
        if content is not None:
            _CONTENTS[attachment.sha256] = content  # the latest one comes last
            return content
    try:
        content = _read(attachment.location)
    except (OSError, ValueError) as exc:
        raise _unreadable(attachment, exc) from None
    if hashlib.sha256(content).hexdigest() != attachment.sha256:
        raise _changed(attachment)
    with _LOCK:
        _CONTENTS[attachment.sha256] = content
        # The latest one stays, whatever its size: it is sent again at once to the next model.
        while len(_CONTENTS) > 1 and sum(map(len, _CONTENTS.values())) > MAX_CACHED_BYTES:
            del _CONTENTS[next(iter(_CONTENTS))]
    return content


def path_of(attachment: Attachment) -> str:
    """Return the absolute path of an attachment, for code that reads the file itself.

    Raises:
        EvaluationError: if the file is not available, or its content on the disk is not the one of the
            digest, although it may be in memory.
    """
    _check_location(attachment)
    try:
        facts = facts_of(attachment.location)
    except OSError as exc:
        raise _unreadable(attachment, exc) from None
    except ValueError:  # empty, too large or of another type: none of these is the content of the digest
        raise _changed(attachment) from None
    if facts.sha256 != attachment.sha256:
        raise _changed(attachment)
    return attachment.location


def _check_location(attachment: Attachment) -> None:
    if not attachment.location:
        raise EvaluationError(
            f"{attachment.name}: the file is missing or has changed; put it back below the folder of the test"
            " case"
        )


def _unreadable(attachment: Attachment, exc: OSError | ValueError) -> EvaluationError:
    reason = getattr(exc, "strerror", None) or exc
    return EvaluationError(f"{attachment.name}: cannot be read: {reason}; put the file back and run again")


def _changed(attachment: Attachment) -> EvaluationError:
    return EvaluationError(
        f"{attachment.name}: the file has another content than the test case was read with; run again"
    )


def _read(path: str | os.PathLike[str]) -> bytes:
    with open_file(path) as file:
        content = file.read(MAX_ATTACHMENT_BYTES + 1)
    if not content:
        raise ValueError("is empty; an image or file has content")
    if len(content) > MAX_ATTACHMENT_BYTES:
        raise ValueError(f"has more than {MAX_ATTACHMENT_BYTES:,} bytes, the limit; make it smaller")
    return content


_FACTS: dict[tuple[str, int, int, int], FileFacts] = {}
_CONTENTS: dict[str, bytes] = {}
_LOCK = Lock()
