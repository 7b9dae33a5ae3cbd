"""No file that a run or a command leaves has an address or a secret of any text or key of its sources."""

from __future__ import annotations

import base64
import gzip
import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from pyarrow import parquet

from support.canaries import Canaries
from support.canary_sources import write_sources
from support.command import evalstudio
from support.project import Project


def files_below(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a folder with those inside of archives."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield from _contents(str(path.relative_to(folder)), path.read_bytes())


def _contents(name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    yield name, content
    if name.endswith(".html"):
        for block in re.findall(rb"H4sI[A-Za-z0-9+/=]+", content):
            yield f"{name} (block)", gzip.decompress(base64.b64decode(block))
    if name.endswith(".parquet"):
        yield f"{name} (rows)", str(parquet.read_table(io.BytesIO(content)).to_pylist()).encode()
    if name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for member in archive.namelist():
                yield from _contents(f"{name}/{member}", archive.read(member))


def leaks(project: Project, canaries: Canaries) -> list[str]:
    """Return where a position of the sources is in clear, in all files but the sources."""
    sources = {"evalstudio.toml", "app.py", "data.json", "sums_suite.json", "answers_lab.json"}
    return [
        f"{name}: {position}"
        for name, content in files_below(project.folder)
        if name not in sources
        for position in canaries.leaks(content)
    ]


def test_a_run_and_what_is_made_of_it_have_no_text_of_the_sources_in_clear(project: Project) -> None:
    canaries = Canaries()
    write_sources(project, canaries)

    result = project.run(
        *("sums_suite.json", "answers_lab.json", "-rA", "-v", "--junitxml=junit.xml"),
        *("-o", "evalstudio_code_quality=quality.json", "-o", "evalstudio_sarif=run.sarif"),
        "-o",
        "evalstudio_history=history",
    )
    project.write("output.txt", result.stdout.str() + result.stderr.str())
    assert "INTERNALERROR" not in result.stdout.str()
    for arguments in (
        ("baseline", "save", "-o", "baseline.jsonl", "--allow-errors"),
        ("freeze", "evalstudio-report", "-o", "frozen_suite.json"),
        ("history", "history"),
        ("compare", "baseline.jsonl", "evalstudio-report"),
        ("report", "evalstudio-report", "-o", "second-report", "--parquet"),
    ):
        command = evalstudio(*arguments, folder=project.folder)
        assert command.returncode == 0, (arguments, command.stderr, command.stdout)
        project.write(f"{arguments[0]}.txt", command.stdout + command.stderr)

    names = [name for name, _ in files_below(project.folder)]
    assert {"evalstudio-report/record.jsonl", "evalstudio-report/evalstudio-report.zip/record.jsonl"} < {
        *names
    }
    assert any("(block)" in name for name in names)
    assert any("(rows)" in name for name in names)
    assert leaks(project, canaries) == []


def test_a_leak_in_any_file_is_seen(project: Project) -> None:
    canaries = Canaries()
    write_sources(project, canaries)
    assert leaks(project, canaries) == []
    project.write("copy.zip", packed({"data.json": (project.folder / "data.json").read_bytes()}))
    positions = {position.partition(": ")[2] for position in leaks(project, canaries)}
    assert {"host: answer", "host: call 0 arguments, nested", "host: turn: kind of tokens"} < positions
    assert len(positions) > 50


def packed(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()
