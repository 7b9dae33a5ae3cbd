from __future__ import annotations

import io
import os
import socket
import time
import zlib

import pypdf
import pytest

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.hosts import _documents
from pytest_evalstudio.hosts._documents import DocumentPart, read_document
from support.processor_time import assert_within


def pdf(*pages: str) -> bytes:
    """A minimal PDF with a line of text on each page."""
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    kids = []
    for text in pages:
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET"
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        page = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {len(objects)} 0 R /Resources <<"
            " /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(page)
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    start = len(out)
    size = len(objects) + 1
    return (
        out
        + f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R"
        f" >>\nstartxref\n{start}\n%%EOF".encode()
    )


@pytest.fixture
def read(tmp_path):
    """Writes a document and reads it."""

    def write_and_read(name, content, **settings):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_document(str(path), downloads=tmp_path / "downloads", **settings)

    return write_and_read


def text_of(parts: list[DocumentPart]) -> str:
    return "\n".join(part.text for part in parts)


def test_a_pdf_is_read_page_by_page(read):
    assert read("fees.pdf", pdf("Transfers cost 2 EUR.", "", "Cards are free.")) == [
        DocumentPart("Transfers cost 2 EUR.", 1),
        DocumentPart("Cards are free.", 3),
    ]


def test_a_pdf_is_known_by_its_first_bytes(read):
    assert read("fees.dat", pdf("Cards are free."))[0].text == "Cards are free."


def test_html_is_read_as_people_see_it(read):
    page = """<html><head><title>T</title><style>p {}</style></head><body><h1>Fees</h1><script>var no = "1 < 2"</script>
    <p>Transfers <b>cost</b>
    2&nbsp;EUR &amp; more.</p><table><tr><td>Cards</td><td>free</td></tr></table><p>End</body></html>"""  # noqa: E501
    assert text_of(read("fees.html", page)) == "Fees\n\nTransfers cost 2 EUR & more.\n\nCards free\n\nEnd"


def test_a_head_that_nobody_closed_hides_nothing(read):
    assert text_of(read("fees.html", "<head><title>T</title><body><p>Fees")) == "Fees"


def test_markdown_is_read_without_its_marks(read):
    page = (
        "---\ntitle: x\n---\n# Fees #\nSee [the list](http://x/y).\nIt is **long**.\n\n- one\n-"
        " two\n\n```python\ncode\n```\n"
    )
    assert text_of(read("fees.md", page)) == "Fees\n\nSee the list. It is long.\n\none\n\ntwo\n\ncode"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1"])
def test_text_is_read_in_its_encoding(read, encoding):
    assert (
        text_of(read("fees.txt", "Gebühr für Überweisung\r\nzwei".encode(encoding)))
        == "Gebühr für Überweisung zwei"
    )


def test_paragraphs_stay_apart_and_broken_words_are_joined(read):
    assert text_of(read("fees.txt", "a trans-\nfer\ncosts\n\n\n2 EUR")) == "a transfer costs\n\n2 EUR"


def encrypted() -> bytes:
    writer = pypdf.PdfWriter()
    writer.add_blank_page(72, 72)
    writer.encrypt("secret", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        pytest.param("a.docx", b"PK", "no reader for '.docx'; convert it to one of", id="an unknown kind"),
        pytest.param("a", b"text", "no reader for 'files without a suffix'", id="no ending"),
        pytest.param("a.txt", b"\x00\x01", "a binary file, not text", id="binary"),
        pytest.param("a.txt", b" \n ", "has no text", id="blank"),
        pytest.param("a.pdf", pdf(""), "needs text recognition (OCR) first", id="a scan"),
        pytest.param("a.pdf", b"%PDF-1.4 broken", "damaged or of a kind", id="a damaged PDF"),
        pytest.param("a.pdf", pdf("x")[:200], "damaged or of a kind", id="half a PDF"),
        pytest.param("a.pdf", encrypted(), "is encrypted; save it without a password", id="an encrypted PDF"),
        pytest.param("a.txt", b"x" * 101, "101 bytes are more than the 100 allowed", id="too large"),
    ],
)
def test_what_cannot_be_read_is_told_with_a_remedy(read, name, content, fault, tmp_path):
    with pytest.raises(DataError) as raised:
        read(name, content, max_bytes=100 if len(content) == 101 else 10_000)
    assert fault in str(raised.value)
    assert str(raised.value).startswith(str(tmp_path / name))


def test_a_missing_document_is_named(tmp_path):
    with pytest.raises(DataError, match=r"gone\.pdf: there is no such document"):
        read_document(str(tmp_path / "gone.pdf"), downloads=tmp_path)


@pytest.mark.parametrize("kind", ["folder", "pipe", "socket", "device"])
def test_what_is_not_a_file_is_refused_and_not_waited_for(tmp_path, kind):
    place = {"folder": tmp_path, "device": "/dev/zero"}.get(kind, tmp_path / "document.md")
    listener = socket.socket(socket.AF_UNIX)
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "socket":
        listener.bind(str(place))
    try:
        with pytest.raises(DataError, match="not a file but a folder, device, pipe or socket"):
            read_document(str(place), downloads=tmp_path)
    finally:
        listener.close()


def test_a_path_that_no_system_has_is_told(tmp_path):
    for name in ("a\0b.md", "x" * 5000 + ".md"):
        with pytest.raises(DataError):
            read_document(str(tmp_path / name), downloads=tmp_path)


def test_a_file_that_grows_while_it_is_read_is_cut_off(tmp_path, monkeypatch):
    path = tmp_path / "log.txt"
    path.write_bytes(b"x" * 300_000)
    real = os.fstat
    monkeypatch.setattr(
        _documents.os, "fstat", lambda number: os.stat_result([*real(number)[:6], 10, *real(number)[7:]])
    )
    with pytest.raises(DataError, match="more than the 100,000 allowed"):
        read_document(str(path), downloads=tmp_path, max_bytes=100_000)


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.md", "# x\n" * 100_000), ("a.html", "<p>x" * 100_000), ("a.pdf", pdf(*["x"] * 300))],
)
def test_a_conversion_ends_when_time_is_up(read, name, content):
    start = time.monotonic()
    with pytest.raises(
        DataError, match=r"is not read within 0\.01 s; give a smaller one, or raise timeout_s"
    ):
        read(name, content, timeout_s=0.01)
    assert time.monotonic() - start < 60


def expanding_pdf(size: int) -> bytes:
    """A PDF whose one page is drawn by that many compressed bytes."""
    packed = zlib.compress(b"(a) Tj " * (size // 7), 9)
    bodies = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << >> >>",
        b"<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (len(packed), packed),
    ]
    out = b"%PDF-1.4\n"
    offsets = []
    for number, body in enumerate(bodies, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return (
        out
        + b"xref\n0 5\n0000000000 65535 f \n%strailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF"
        % (table, len(out))
    )


def test_a_page_that_expands_beyond_the_limit_is_refused(read):
    start = time.monotonic()
    with pytest.raises(DataError, match="page 1 has more than 20,000,000 bytes when decompressed"):
        read("bomb.pdf", expanding_pdf(30_000_000))
    assert time.monotonic() - start < 60


@pytest.mark.parametrize(
    "text", ["![" * 16_000, "# " + " " * 100_000, "[a](" * 20_000, "](" * 50_000 + ")", "[" * 50_000 + "](x)"]
)
def test_hostile_markdown_takes_no_time(read, text):
    assert_within(10, lambda turn: read("a.md", "x\n\n" + text[turn:]))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Safety\nSmoke alarms are tested once a year.", ["Safety", "Smoke alarms are tested once a year."]),
        ("The office moved to\nLondon in the spring of last year.", None),
        ("Our partners in the City of London\nInsurance Group agree.", None),
        ("Fees:\nClosing an account costs nothing.", None),
        ("Ada Jones\nHarbour Road 7", None),
    ],
)
def test_a_heading_above_its_text_is_a_paragraph(read, text, parts):
    (part,) = read("a.txt", text)
    assert part.text.split("\n\n") == (parts or [text.replace("\n", " ")])
