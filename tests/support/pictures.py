"""Small images and files of every type that a test case may have."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

GIF = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00!\xf9\x04\x01\x00\x00\x00\x00,"
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01"
WEBP = b"RIFF\x1a\x00\x00\x00WEBPVP8L"
PDF = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< /Type /Catalog >>\nendobj\n"


def png(colour: tuple[int, int, int] = (200, 30, 30), *, width: int = 32, height: int = 24) -> bytes:
    """Return an image of one colour."""
    rows = b"".join(b"\0" + bytes(colour) * width for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = (_chunk(b"IHDR", head), _chunk(b"IDAT", zlib.compress(rows)), _chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def archive(*names: str) -> bytes:
    """Return a ZIP archive with members of these names; its bytes do not depend on the clock."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as members:
        for name in names:
            members.writestr(zipfile.ZipInfo(name), "<xml/>")
    return file.getvalue()


DOCX = archive("[Content_Types].xml", "word/document.xml")
