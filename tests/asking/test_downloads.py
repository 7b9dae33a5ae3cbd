from __future__ import annotations

import functools
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from pytest_evalstudio.asking import downloads
from pytest_evalstudio.asking.downloads import base_of, fetch_suite
from pytest_evalstudio.core.errors import DataError


@pytest.fixture
def file_server(tmp_path):
    """A folder and the address at which it is served."""
    folder = tmp_path / "served"
    folder.mkdir()

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_suite_is_stored_once_under_a_name_that_reads_well(file_server, tmp_path):
    folder, url = file_server
    (folder / "my suite.yaml").write_text("tests: []", encoding="utf-8")
    path = fetch_suite(f"{url}/my%20suite.yaml?version=1", tmp_path / "cache")
    assert path.name.startswith("my_20suite-")
    assert path.suffix == ".yaml"
    (folder / "my suite.yaml").write_text("tests: [{}]", encoding="utf-8")
    assert (
        fetch_suite(f"{url}/my%20suite.yaml?version=1", tmp_path / "cache").read_text(encoding="utf-8")
        == "tests: []"
    )
    assert (
        fetch_suite(f"{url}/my%20suite.yaml?version=1", tmp_path / "cache", refresh=True).read_text(
            encoding="utf-8"
        )
        == "tests: [{}]"
    )
    assert sorted(result.name for result in (tmp_path / "cache").iterdir()) == [path.name, f"{path.name}.url"]


def test_a_url_without_a_known_ending_is_json(file_server, tmp_path):
    folder, url = file_server
    (folder / "export").write_text('{"tests": []}', encoding="utf-8")
    (folder / "index.html").write_text('{"tests": []}', encoding="utf-8")
    assert fetch_suite(f"{url}/export", tmp_path).suffix == ".json"
    assert fetch_suite(url + "/", tmp_path).name.startswith("suite-")


def test_relative_documents_of_a_fetched_suite_start_at_its_url(file_server, tmp_path):
    folder, url = file_server
    (folder / "sub").mkdir()
    (folder / "sub" / "s.json").write_text("{}", encoding="utf-8")
    assert base_of(fetch_suite(f"{url}/sub/s.json", tmp_path)) == f"{url}/sub"
    assert base_of(tmp_path / "own.json") == str(tmp_path)


def test_what_cannot_be_fetched_is_told(file_server, tmp_path):
    _, url = file_server
    with pytest.raises(DataError) as exc_info:
        fetch_suite(f"{url}/gone.json", tmp_path)
    assert (
        str(exc_info.value) == f"{url}/gone.json: cannot be fetched: {url}/gone.json: HTTP 404 File not found"
    )


def test_a_suite_that_is_too_large_is_refused(file_server, tmp_path, monkeypatch):
    folder, url = file_server
    (folder / "big.json").write_text("x" * 11, encoding="utf-8")
    monkeypatch.setattr(downloads, "MAX_SUITE_BYTES", 10)
    with pytest.raises(DataError, match="larger than 10 bytes"):
        fetch_suite(f"{url}/big.json", tmp_path)
    assert not list(tmp_path.glob("big-*.json"))


@pytest.mark.parametrize("killed_at", ["write the note", "move the file"])
def test_a_killed_download_is_not_taken_for_a_local_file(file_server, tmp_path, monkeypatch, killed_at):
    folder, url = file_server
    (folder / "s.json").write_text('{"tests": []}', encoding="utf-8")
    cache = tmp_path / "cache"

    def kill(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        if killed_at == "write the note":
            patched.setattr(downloads, "write_whole", kill)
        else:
            patched.setattr(downloads.os, "replace", kill)
        with pytest.raises(KeyboardInterrupt):
            fetch_suite(f"{url}/s.json", cache)
    assert not [path for path in cache.glob("*.json") if not path.with_name(path.name + ".url").is_file()]
    path = fetch_suite(f"{url}/s.json", cache)
    assert base_of(path) == url


def test_a_file_without_its_note_is_fetched_again(file_server, tmp_path):
    folder, url = file_server
    (folder / "s.json").write_text('{"tests": []}', encoding="utf-8")
    path = fetch_suite(f"{url}/s.json", tmp_path / "cache")
    path.with_name(path.name + ".url").unlink()
    fetch_suite(f"{url}/s.json", tmp_path / "cache")
    assert base_of(path) == url
