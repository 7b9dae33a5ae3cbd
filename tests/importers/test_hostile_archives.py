"""Archives of Inspect from strangers: each fault is one sentence, and memory is bounded."""

from __future__ import annotations

import json
import random
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.cli import main
from pytest_evalstudio.formats.dataset import LlmDataset
from pytest_evalstudio.importers import inspect_archive

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 14) and not pytest.importorskip("backports.zstd"), reason="needs zstd"
)
HEAD = {"eval": {"task": "fees", "model": "m"}}
SAMPLE = {"id": "a", "epoch": 1, "input": "Fee?", "target": "5", "output": {"completion": "5 EUR"}}
FIRST = "samples/a_epoch_1.json"
SECOND = "samples/b_epoch_1.json"
Run = Callable[[Path], tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(log: Path) -> tuple[int, str]:
        status = main(["import", "inspect", str(log), "--to", "dataset", "-o", str(tmp_path / "out.json")])
        output = capsys.readouterr()
        assert "Traceback" not in output.out + output.err
        return status, output.out + output.err

    return run


def archive(
    path: Path, members: dict[str, bytes | str] | list[tuple[str, bytes | str]], compression: int = 8
) -> Path:
    log = path / "log.eval"
    pairs = members.items() if isinstance(members, dict) else members
    with zipfile.ZipFile(log, "w", compression) as out:
        for name, content in pairs:
            out.writestr(name, content)
    return log


def with_sample(path: Path, content: str | bytes) -> Path:
    return archive(path, {"header.json": json.dumps(HEAD), FIRST: content})


def changed(**values: Any) -> str:
    return json.dumps({**SAMPLE, **values})


@pytest.mark.parametrize(
    ("content", "fact"),
    [
        ("[" * 100_000 + "]" * 100_000, "is nested too deeply"),
        ('{"a":' * 100_000, "is nested too deeply"),
        ('{"id": "a"', "is not JSON"),
        ("", "is not JSON"),
        (b"\xff\xfe\x00", "is not"),
        ('{"id": "\xe9"}'.encode("latin-1"), "is not UTF-8"),
        (changed(total_time="@").replace('"@"', "9" * 10_000), "a number of too many digits"),
    ],
)
def test_a_member_that_cannot_be_read_is_named(
    run: Run, tmp_path: Path, content: str | bytes, fact: str
) -> None:
    status, output = run(with_sample(tmp_path, content))
    assert status == 2
    assert f"log.eval {FIRST}" in output
    assert fact in output
    assert len(output.splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "fact"),
    [
        ("[]", "expected an object, found a list"),
        ("null", "expected an object, found null"),
        ("7", "expected an object, found"),
        (changed(metadata=json.loads("[" * 200 + "]" * 200)), "/metadata: expected an object"),
        (changed(metadata={"a": json.loads("[" * 200 + "]" * 200)}), "/metadata: is nested more than 100"),
        (changed(metadata={"a": float("nan")}), "/metadata: nan is not a JSON number"),
        (changed(total_time=float("inf")), "/total_time: inf is not a JSON number"),
        (changed(total_time=-1), "/actual_duration"),
        (changed(id=[1]), "/id: expected a text or a whole number"),
        (changed(epoch="1"), "/epoch: expected a whole number"),
        (changed(epoch=True), "/epoch: expected a whole number"),
        (changed(input=5), "/input: expected a question"),
        (changed(input=None), "/input: expected a question"),
        (changed(input=[5]), "/input/0: expected a message"),
        (changed(input=[]), "/input: has no message of a user"),
        (changed(target={"a": 1}), "/target: expected a text or a list"),
        (changed(output=[1]), "/output: expected an object"),
        (changed(error="late"), "/error: expected an object"),
        (changed(error={"message": 5}), "/error/message: expected a text"),
        (changed(metadata=[1]), "/metadata: expected an object"),
    ],
)
def test_a_sample_with_a_wrong_value_is_left_out(run: Run, tmp_path: Path, content: str, fact: str) -> None:
    log = archive(tmp_path, {"header.json": json.dumps(HEAD), FIRST: content, SECOND: changed(id="b")})
    status, output = run(log)
    assert status == 1
    assert f"log.eval /samples/0{fact}" in output or f"log.eval /samples/0: {fact}" in output
    assert [row.key for row in LlmDataset.load(tmp_path / "out.json").inputs] == ["b"]


@pytest.mark.parametrize(
    ("head", "fact"),
    [
        ("[]", "header.json: expected an object, found a list"),
        ("null", "header.json: expected an object, found null"),
        ('{"eval": []}', "/eval: expected an object, found a list"),
        ('{"eval": {"model": []}}', "/eval/model: expected a text, found a list"),
        ('{"eval": {"task": 5}}', "/eval/task: expected a text"),
        ("[" * 100_000, "header.json: is nested too deeply"),
    ],
)
def test_a_wrong_header_is_named(run: Run, tmp_path: Path, head: str, fact: str) -> None:
    status, output = run(archive(tmp_path, {"header.json": head, FIRST: changed()}))
    assert status == 2
    assert fact in output


@pytest.mark.parametrize("key", ["choices", "files", "sandbox", "scores", "store", "events"])
@pytest.mark.parametrize("value", [None, 5, [], "text", {"a": [1]}])
def test_keys_that_are_not_read_may_hold_anything(run: Run, tmp_path: Path, key: str, value: Any) -> None:
    assert run(with_sample(tmp_path, changed(**{key: value})))[0] == 0


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_equal_names_and_names_that_lead_out_are_refused(run: Run, tmp_path: Path) -> None:
    head = ("header.json", json.dumps(HEAD))
    status, output = run(archive(tmp_path, [head, (FIRST, changed()), (FIRST, changed())]))
    assert (status, "two members of the archive have this name" in output) == (2, True)
    status, output = run(archive(tmp_path, [head, head, (FIRST, changed())]))
    assert (status, "two members of the archive have this name" in output) == (2, True)
    status, output = run(archive(tmp_path, [head, ("samples/../../evil.json", changed())]))
    assert (status, "leads out of the archive" in output) == (2, True)
    assert not (tmp_path.parent / "evil.json").exists()


@pytest.mark.parametrize("compression", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_unsupported_compression_is_named(run: Run, tmp_path: Path, compression: int) -> None:
    log = archive(tmp_path, {"header.json": json.dumps(HEAD), FIRST: changed()}, compression)
    status, output = run(log)
    assert (status, "unsupported compression" in output) == (2, True)


def patched(log: Path, offset_in_local: int, offset_in_directory: int, value: int) -> Path:
    """Set a field of two bytes in the local header and the directory entry of the last member."""
    content = bytearray(log.read_bytes())
    for signature, offset in ((b"PK\x03\x04", offset_in_local), (b"PK\x01\x02", offset_in_directory)):
        struct.pack_into("<H", content, content.rindex(signature) + offset, value)
    log.write_bytes(content)
    return log


def test_an_encrypted_member_is_named(run: Run, tmp_path: Path) -> None:
    status, output = run(patched(with_sample(tmp_path, changed()), 6, 8, 1))
    assert (status, f"log.eval {FIRST}: is encrypted" in output) == (2, True)


def test_an_unknown_compression_is_named(run: Run, tmp_path: Path) -> None:
    status, output = run(patched(with_sample(tmp_path, changed()), 8, 10, 77))
    assert (status, "unsupported compression 77" in output) == (2, True)


@pytest.mark.slow
@pytest.mark.parametrize("compression", [0, 8, 93])
def test_a_damaged_archive_is_one_sentence(run: Run, tmp_path: Path, compression: int) -> None:
    """Each byte that is changed, and each length that remains, is a sentence or no damage to what is read."""
    zipfile93 = inspect_archive._zipfile("log")
    log = tmp_path / "log.eval"
    with zipfile93.ZipFile(log, "w", compression) as out:
        out.writestr("header.json", json.dumps(HEAD))
        out.writestr(FIRST, changed())
    content_bytes = log.read_bytes()
    refused = 0
    for place in range(0, len(content_bytes), 3):
        for content in (
            content_bytes[:place] + bytes([content_bytes[place] ^ 0xFF]) + content_bytes[place + 1 :],
            content_bytes[:place],
        ):
            log.write_bytes(content)
            status, output = run(log)
            assert status in (0, 1, 2)
            assert len(output.splitlines()) <= 3
            refused += status == 2
    assert refused > len(content_bytes) / 3


LIMITS = ("MAX_MEMBERS", "MAX_MEMBER_BYTES", "MAX_BYTES", "MAX_MEMBER_VALUES", "MAX_KEPT_BYTES", "MAX_RATIO")


@pytest.mark.parametrize("limit", LIMITS)
def test_each_limit_is_a_sentence(
    run: Run, tmp_path: Path, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = with_sample(tmp_path, changed(metadata={"texts": ["a b"] * 1_000}))
    assert run(log)[0] == 0
    monkeypatch.setattr(inspect_archive, limit, 1)
    monkeypatch.setattr(inspect_archive, "_RATIO_FROM_BYTES", 1)
    status, output = run(log)
    assert (status, " more than 1 " in output) == (2, True)


def test_the_limits_are_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "write" / "import-export.md").read_text(encoding="utf-8")
    assert all(f"{getattr(inspect_archive, limit):,}" in page for limit in LIMITS)


PEAK = """
import re, sys
from pathlib import Path
from pytest_evalstudio.cli import main
print(main(["import", "inspect", sys.argv[1], "-o", sys.argv[1] + ".json"]))
print(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux")
@pytest.mark.parametrize(
    ("samples", "pieces", "noise", "status", "max_mb"),
    [
        pytest.param(1, 600, 0, 2, 300, id="180 MB of brackets in 175 kB"),
        pytest.param(1, 9, 100_000, 0, 300, id="below all limits"),
        pytest.param(30, 9, 100_000, 2, 800, id="many samples"),
    ],
)
def test_memory_is_bounded(
    tmp_path: Path, samples: int, pieces: int, noise: int, status: int, max_mb: int
) -> None:
    """The first archive took 4.4 GB; text that does not compress keeps the others below the ratio."""
    log = tmp_path / "log.eval"
    texts = random.Random(1).randbytes(noise).hex()
    with zipfile.ZipFile(log, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("header.json", json.dumps(HEAD))
        for number in range(samples):
            with out.open(f"samples/{number}.json", "w") as stream:
                stream.write(json.dumps(SAMPLE)[:-1].encode() + b', "metadata": {"x": [')
                for _ in range(pieces):
                    stream.write(b"[]," * 50_000 if noise else b"[]," * 100_000)
                stream.write(f'"{texts}"]}}}}'.encode())
    result = subprocess.run(
        [sys.executable, "-c", PEAK, str(log)], capture_output=True, text=True, timeout=120, check=True
    )
    exit_status, peak_kb = map(int, result.stdout.split()[-2:])
    assert exit_status == status, result.stdout + result.stderr
    assert peak_kb < 1_000 * max_mb
