"""Images and files of a question: the content decides on the type, and the digest on the identity."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from pytest_evalstudio.core import attachments
from pytest_evalstudio.core.attachments import (
    MAX_ATTACHMENT_BYTES,
    Attachment,
    content_of,
    facts_of,
    media_type_of,
    path_of,
)
from pytest_evalstudio.core.errors import EvaluationError
from support import pictures

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def attachment(path: Path) -> Attachment:
    facts = facts_of(path)
    return Attachment(
        name=path.name,
        media_type=facts.media_type,
        size=facts.size,
        sha256=facts.sha256,
        location=str(path),
    )


@pytest.mark.parametrize(
    ("content", "name", "media_type"),
    [
        (pictures.png(), "terms.pdf", "image/png"),
        (pictures.JPEG, "chart.png", "image/jpeg"),
        (pictures.GIF, "chart.jpg", "image/gif"),
        (pictures.WEBP, "chart", "image/webp"),
        (pictures.PDF, "chart.png", "application/pdf"),
        (pictures.DOCX, "terms.zip", DOCX),
        (b"The fee is 5.", "chart.png", "text/plain"),
        ("Gebühr\n".encode(), "terms.md", "text/markdown"),
        (b"fee,5\n", "TERMS.CSV", "text/csv"),
        (b'{"fee": 5}', "terms.json", "application/json"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "chart.svg", "text/plain"),
        (pictures.archive("word/document.xml"), "terms.docx", ""),
        (pictures.DOCX[:40], "terms.docx", ""),
        (b"PK\x03\x04" + b"\xff" * 500, "terms.docx", ""),
        (b"RIFF\x1a\x00\x00\x00WAVEfmt ", "chart.webp", ""),
        (b"MZ\x90\x00\x03\x00", "chart.png", ""),
        (b"\xfft\x00e\x00x\x00t\x00", "terms.txt", ""),
        (b"caf\xe9", "terms.txt", ""),
    ],
)
def test_the_content_decides_on_the_type_and_not_the_name(content: bytes, name: str, media_type: str) -> None:
    assert media_type_of(content, name) == media_type


def test_size_and_digest_are_those_of_the_content(tmp_path: Path) -> None:
    path = tmp_path / "chart.png"
    path.write_bytes(pictures.png())
    facts = facts_of(path)
    assert (facts.size, facts.sha256) == (len(pictures.png()), hashlib.sha256(pictures.png()).hexdigest())


def test_a_changed_file_has_another_digest(tmp_path: Path) -> None:
    path = tmp_path / "chart.png"
    path.write_bytes(pictures.png((200, 30, 30)))
    first = facts_of(path)
    path.write_bytes(pictures.png((30, 30, 200)))
    os.utime(path, ns=(1, 1))
    assert facts_of(path).sha256 != first.sha256


@pytest.mark.parametrize(
    ("content", "fact"),
    [(b"", "is empty"), (b"MZ\x90\x00", "is not a PNG"), (b"a" * (MAX_ATTACHMENT_BYTES + 1), "20,000,000")],
    ids=["empty", "program", "huge"],
)
def test_a_file_that_cannot_be_sent_is_refused(tmp_path: Path, content: bytes, fact: str) -> None:
    path = tmp_path / "file.txt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=fact):
        facts_of(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "chart.png")
    with pytest.raises(OSError, match="pipe"):
        facts_of(tmp_path / "chart.png")


def test_the_bytes_are_read_once_and_forgotten_beyond_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attachments, "_CONTENTS", {})
    monkeypatch.setattr(attachments, "MAX_CACHED_BYTES", 250)
    reads: list[str] = []
    read = attachments._read
    monkeypatch.setattr(attachments, "_read", lambda path: reads.append(str(path)) or read(path))
    files = []
    for number in range(3):
        path = tmp_path / f"{number}.txt"
        path.write_bytes(bytes([97 + number]) * 100)
        files.append(attachment(path))
    reads.clear()
    assert [files[0].read(), files[0].read()] == [b"a" * 100] * 2
    assert len(reads) == 1
    for file in files:
        file.read()
    assert len(reads) == 3
    assert sum(map(len, attachments._CONTENTS.values())) <= 250
    assert files[0].read() == b"a" * 100
    assert len(reads) == 4


def test_a_file_that_changes_after_it_was_collected_is_not_sent(tmp_path: Path) -> None:
    path = tmp_path / "chart.png"
    path.write_bytes(pictures.png((1, 2, 3)))
    chart = attachment(path)
    path.write_bytes(pictures.png((4, 5, 6)))
    with pytest.raises(EvaluationError, match=r"chart\.png: the file has another content"):
        chart.read()
    path.unlink()
    with pytest.raises(EvaluationError, match=r"chart\.png: cannot be read: No such file"):
        chart.read()


@pytest.mark.parametrize("change", ["written", "same size and time", "emptied", "deleted"])
def test_code_gets_the_path_of_the_collected_content_only(tmp_path: Path, change: str) -> None:
    path = tmp_path / "terms.txt"
    path.write_bytes(b"The fee is 12 EUR.")
    terms, times = attachment(path), path.stat()
    terms.read()  # the content stays in memory
    assert path_of(terms) == str(path)
    if change == "deleted":
        path.unlink()
    else:
        path.write_bytes({"written": b"The fee rises.", "emptied": b""}.get(change, b"The fee is 13 EUR."))
    if change == "same size and time":
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    fact = "cannot be read: No such file" if change == "deleted" else "the file has another content"
    with pytest.raises(EvaluationError, match=rf"terms\.txt: {fact}"):
        path_of(terms)


def test_the_content_of_another_file_does_not_replace_a_missing_one(tmp_path: Path) -> None:
    path = tmp_path / "chart.png"
    path.write_bytes(pictures.png())
    chart = attachment(path)
    chart.read()
    for of in (content_of, path_of):
        with pytest.raises(EvaluationError, match="the file is missing or has changed"):
            of(replace(chart, location=""))
