"""A stranger's file with gates opens nothing but tables below its own folder."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_evalstudio.cli import main
from pytest_evalstudio.contrib.tables.gates.access import TableAccess
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.config import configuration
from support.project import Project


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    """A web server on loopback, and the paths that were requested from it."""
    requested: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requested.append(self.path)
            self.send_response(404)
            self.end_headers()

        def do_HEAD(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}", requested
        running.shutdown()


def hostile_tables(folder: Path, url: str) -> list[str]:
    """Return tables that would run code, send a request or read a file elsewhere."""
    code = "{{ ''.__class__.__mro__[1].__subclasses__() }}"
    reference = folder / "reference.json"
    reference.write_text(
        json.dumps({"version": 1, "templates": {"u": code}, "refs": {"manifest.json": ["{{u}}"]}})
    )
    return [
        f"reference://manifest.json::file://{reference}",
        f"reference://?fo={reference}",
        f"{url}/table",
        f"simplecache::{url}/table",
        f"zip://manifest.json::{url}/table.zip",
        f"filecache::{url}/table",
        "memory://table",
        "s3://bucket/table",
        f"file://{folder}",
        "/etc",
        "../elsewhere",
        "inside/../../elsewhere",
    ]


def test_collection_and_validation_open_nothing_else(
    pytester: pytest.Pytester, server: tuple[str, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    url, requested = server
    project = Project(pytester, with_app=False)
    (pytester.path.parent / "elsewhere").mkdir(exist_ok=True)
    for table in hostile_tables(project.folder, url):
        path = project.write("x_scores.json", json.dumps({"table": table, "gates": ["rouge.rouge_l >= 0.1"]}))
        assert main(["validate", str(path)]) == 1, table
        output = capsys.readouterr().out
        assert "table '" in output, table
        assert "permit" in output or "chains protocols" in output, table
        result = project.run("--collect-only", "x_scores.json")
        assert result.ret == pytest.ExitCode.USAGE_ERROR, table
    assert requested == []


def test_the_baseline_of_a_file_has_the_same_rules(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is a URL, which a scores file may use only if"):
        TableAccess().location("s3://bucket/base", tmp_path)


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "link").symlink_to(tmp_path)
    with pytest.raises(DataError, match="is not below the folder"):
        TableAccess().location("link", tmp_path / "suite")


def test_the_configuration_permits_folders_and_protocols(tmp_path: Path) -> None:
    config = configuration({"scores": {"protocols": ["s3"], "folders": ["tables"]}}, folder=tmp_path)
    access = TableAccess.of(config)
    folder = tmp_path / "suite"
    assert access.location("s3://bucket/table", folder) == "s3://bucket/table"
    assert access.location("../tables/new.parquet", folder) == str(tmp_path / "tables" / "new.parquet")
    assert access.location("new.parquet", folder) == str(folder / "new.parquet")
    for table in ("gs://bucket/table", "simplecache::s3://bucket/table", "../other/new.parquet"):
        with pytest.raises(DataError):
            access.location(table, folder)


def test_a_private_web_address_needs_its_own_permission(tmp_path: Path) -> None:
    table = "http://127.0.0.1:9/table"
    with pytest.raises(DataError, match="not public"):
        TableAccess(protocols=("http",)).location(table, tmp_path)
    assert TableAccess(protocols=("http",), allow_private_hosts=True).location(table, tmp_path) == table
