"""Documents that are downloaded: from which addresses, and when not."""

from __future__ import annotations

import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from pytest_evalstudio.core.plugins.host import HostFault
from pytest_evalstudio.hosts._documents import download, read_document
from tests.hosts.test_documents import text_of


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
        assert (
            text_of(read_document(site.url + "/old", downloads=tmp_path / "new", allow_private_hosts=True))
            == "Cards are free."
        )
    assert site.hits == ["/old", "/fees"]


@pytest.mark.parametrize(
    ("page", "fault", "retry"),
    [
        pytest.param((404, {}, b""), "HTTP 404", False, id="not there"),
        pytest.param((503, {}, b""), "HTTP 503", True, id="not there now"),
        pytest.param((200, {}, b"x" * 101), "larger than 100 bytes", False, id="too large"),
        pytest.param(
            (302, {"Location": "file:///etc/hostname"}, b""),
            "HTTP 302",
            False,
            id="a redirect to a local file",
        ),
        pytest.param(
            (302, {"Location": "ftp://127.0.0.1/x"}, b""),
            "unknown url type: ftp",
            True,
            id="a redirect to another protocol",
        ),
    ],
)
def test_what_cannot_be_downloaded_is_told(site, tmp_path, page, fault, retry):
    site.pages = {"/x": page}
    with pytest.raises(HostFault) as raised:
        download(site.url + "/x", tmp_path, max_bytes=100, allow_private_hosts=True)
    assert f"{site.url}/x: {fault}" in str(raised.value)
    assert raised.value.retry is retry
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def names(monkeypatch):
    """Addresses by host name, in place of those of the system; `lookups` has the names in order."""
    table = {"public.example": "93.184.216.34", "2130706433": "127.0.0.1"}
    table |= dict.fromkeys(("inside.example", "localhost"), "127.0.0.1")
    lookups: list[str] = []

    def resolve(host, port, *args, **settings):
        lookups.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (table.get(host, host), port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return SimpleNamespace(table=table, lookups=lookups)


def told_of(action) -> HostFault:
    with pytest.raises(HostFault) as raised:
        action()
    return raised.value


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "inside.example",
        "[::1]",
        "10.1.2.3",
        "169.254.169.254",
        "0.0.0.0",
        "2130706433",
    ],
)
def test_private_addresses_are_not_asked_for_documents(site, tmp_path, names, host):
    port = site.url.rpartition(":")[2]
    fault = told_of(lambda: download(f"http://{host}:{port}/x", tmp_path))
    assert "is the private address" in str(fault)
    assert "allow_private_hosts = true" in str(fault)
    assert not fault.retry
    assert site.hits == []


def test_a_host_that_the_user_named_may_be_private_but_not_where_it_redirects_to(site, tmp_path, names):
    port = site.url.rpartition(":")[2]
    site.pages = {
        "/a.md": (200, {}, b"Cards are free."),
        "/b.md": (302, {"Location": f"http://inside.example:{port}/a.md"}, b""),
        "/c.md": (302, {"Location": "/a.md"}, b""),
    }
    trusted = (f"127.0.0.1:{port}",)
    assert download(f"{site.url}/a.md", tmp_path, trusted_hosts=trusted).read_text() == "Cards are free."
    assert download(f"{site.url}/c.md", tmp_path, trusted_hosts=trusted).read_text() == "Cards are free."
    assert "inside.example is the private address" in str(
        told_of(lambda: download(f"{site.url}/b.md", tmp_path, trusted_hosts=trusted))
    )
    assert site.hits == ["/a.md", "/c.md", "/a.md", "/b.md"]


def test_the_connection_goes_to_the_address_that_was_checked(tmp_path, names, monkeypatch):
    connected = []

    def connect(address, *_, **__):
        connected.append(address)
        raise ConnectionRefusedError("refused")

    monkeypatch.setattr(socket, "create_connection", connect)
    told_of(lambda: download("http://public.example/x", tmp_path))
    assert connected == [("93.184.216.34", 80)]
    assert names.lookups == ["public.example"]


def test_a_chain_of_redirects_ends(site, tmp_path):
    site.pages = {f"/{number}": (302, {"Location": f"/{number + 1}"}, b"") for number in range(20)}
    fault = told_of(lambda: download(f"{site.url}/0", tmp_path, allow_private_hosts=True))
    assert "HTTP 302" in str(fault)
    assert len(site.hits) == 6


@pytest.mark.parametrize(
    "url",
    [
        "http://[/x",
        "http://",
        "http:///x",
        "http://a:b/x",
        "http://exa mple/x",
        "http://\ud800/x",
        "http://" + "a" * 300 + "/x",
    ],
)
def test_an_address_that_is_none_is_told(tmp_path, url):
    assert told_of(lambda: download(url, tmp_path))
