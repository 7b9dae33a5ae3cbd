from __future__ import annotations

import io
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pypdf
import pytest

from pytest_evalstudio.core.contracts import HostFault
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.hosts._documents import Part, download, read_document


def pdf(*pages: str) -> bytes:
    """A minimal PDF with a line of text on each page."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for text in pages:
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET"
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        page = f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {len(objects)} 0 R /Resources << /Font << /F1 3 0 R >> >> >>"
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
    return out + f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF".encode()


@pytest.fixture
def read(tmp_path):
    """Writes a document and reads it."""

    def write_and_read(name, content, **settings):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_document(str(path), downloads=tmp_path / "downloads", **settings)

    return write_and_read


def text_of(parts: list[Part]) -> str:
    return "\n".join(part.text for part in parts)


def test_a_pdf_is_read_page_by_page(read):
    assert read("fees.pdf", pdf("Transfers cost 2 EUR.", "", "Cards are free.")) == [Part("Transfers cost 2 EUR.", 1), Part("Cards are free.", 3)]


def test_a_pdf_is_known_by_its_first_bytes(read):
    assert read("fees.dat", pdf("Cards are free."))[0].text == "Cards are free."


def test_html_is_read_as_people_see_it(read):
    page = """<html><head><title>T</title><style>p {}</style></head><body><h1>Fees</h1><script>var no = "1 < 2"</script>
    <p>Transfers <b>cost</b>
    2&nbsp;EUR &amp; more.</p><table><tr><td>Cards</td><td>free</td></tr></table><p>End</body></html>"""
    assert text_of(read("fees.html", page)) == "Fees\n\nTransfers cost 2 EUR & more.\n\nCards free\n\nEnd"


def test_a_head_that_nobody_closed_hides_nothing(read):
    assert text_of(read("fees.html", "<head><title>T</title><body><p>Fees")) == "Fees"


def test_markdown_is_read_without_its_marks(read):
    page = "---\ntitle: x\n---\n# Fees #\nSee [the list](http://x/y).\nIt is **long**.\n\n- one\n- two\n\n```python\ncode\n```\n"
    assert text_of(read("fees.md", page)) == "Fees\n\nSee the list. It is long.\n\none\n\ntwo\n\ncode"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1"])
def test_text_is_read_in_its_encoding(read, encoding):
    assert text_of(read("fees.txt", "Gebühr für Überweisung\r\nzwei".encode(encoding))) == "Gebühr für Überweisung zwei"


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
        pytest.param("a", b"text", "no reader for 'files without an ending'", id="no ending"),
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
    with pytest.raises(DataError) as told:
        read(name, content, max_bytes=100 if len(content) == 101 else 10_000)
    assert fault in str(told.value)
    assert str(told.value).startswith(str(tmp_path / name))


def test_a_missing_document_is_named(tmp_path):
    with pytest.raises(DataError, match=r"gone\.pdf: there is no such document"):
        read_document(str(tmp_path / "gone.pdf"), downloads=tmp_path)


@pytest.fixture
def site():
    """A web site on loopback: `pages` by path, `hits` in the order of arrival."""

    running = SimpleNamespace(pages={}, hits=[], url="")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            running.hits.append(self.path)
            status, headers, body = running.pages.get(self.path, (404, {}, b""))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    running.url = f"http://127.0.0.1:{server.server_port}"
    yield running
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_url_is_downloaded_once(site, tmp_path):
    site.pages = {
        "/old": (302, {"Location": "/fees"}, b""),
        "/fees": (200, {"Content-Type": "text/html; charset=utf-8"}, b"<p>Cards are free."),
    }
    for _ in range(2):
        assert text_of(read_document(site.url + "/old", downloads=tmp_path / "new")) == "Cards are free."
    assert site.hits == ["/old", "/fees"]


@pytest.mark.parametrize(
    ("page", "fault", "retry"),
    [
        pytest.param((404, {}, b""), "HTTP 404", False, id="not there"),
        pytest.param((503, {}, b""), "HTTP 503", True, id="not there now"),
        pytest.param((200, {}, b"x" * 101), "larger than 100 bytes", False, id="too large"),
        pytest.param((302, {"Location": "file:///etc/hostname"}, b""), "HTTP 302", False, id="a redirect to a local file"),
        pytest.param((302, {"Location": "ftp://127.0.0.1/x"}, b""), "unknown url type: ftp", True, id="a redirect to another protocol"),
    ],
)
def test_what_cannot_be_downloaded_is_told(site, tmp_path, page, fault, retry):
    site.pages = {"/x": page}
    with pytest.raises(HostFault) as told:
        download(site.url + "/x", tmp_path, max_bytes=100)
    assert f"{site.url}/x: {fault}" in str(told.value)
    assert told.value.retry is retry
    assert list(tmp_path.iterdir()) == []
