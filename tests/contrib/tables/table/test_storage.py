"""Tables in an S3-compatible store are read and written like local ones."""

from __future__ import annotations

import secrets
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_evalstudio.contrib.tables.score import score_table
from pytest_evalstudio.contrib.tables.table.reader import ScoredTable
from pytest_evalstudio.contrib.tables.table.recognition import is_scored_table
from pytest_evalstudio.contrib.tables.table.storage import reaching
from pytest_evalstudio.core.errors import DataError
from support import noting_plugin
from support.children import Children
from support.tables_of_answers import MAP, answers, values_of, write_parquet

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Return the URL of a bucket of a server on loopback."""
    s3fs = pytest.importorskip("s3fs")
    server_module = pytest.importorskip("moto.server")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    server = server_module.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    s3fs.S3FileSystem.clear_instance_cache()
    bucket = f"logs-{secrets.token_hex(4)}"  # the server keeps its buckets as long as this process
    s3fs.S3FileSystem().mkdir(bucket)
    yield f"s3://{bucket}"
    server.stop()
    s3fs.S3FileSystem.clear_instance_cache()


def test_a_table_is_scored_from_a_bucket_to_a_bucket(s3: str, tmp_path: Path) -> None:
    import s3fs

    for name in ("a", "b"):
        path = write_parquet(tmp_path / f"{name}.parquet", answers(60))
        s3fs.S3FileSystem().put_file(str(path), f"{s3}/day/{name}.parquet")
    options = {"mapping": MAP, "batch_rows": 25}
    table = score_table(f"{s3}/day", ["rouge"], f"{s3}/out.parquet", workers=2, **options)
    local = score_table(
        [tmp_path / "a.parquet", tmp_path / "b.parquet"], ["rouge"], tmp_path / "out", **options
    )
    assert values_of(ScoredTable.open(f"{s3}/out.parquet"), "rouge_l") == values_of(local, "rouge_l")
    assert table.answers_of([70])[70].actual_output == answers(11)[10]["answer"]
    assert is_scored_table(f"{s3}/out.parquet")
    assert not table.location.child(".progress").exists()


def test_a_killed_run_in_a_bucket_is_continued(s3: str, tmp_path: Path, children: Children) -> None:
    import s3fs

    shutil.copy(noting_plugin.__file__, tmp_path / "noting.py")
    rows = [{**row, "answer": "wait" if i >= 60 else row["answer"]} for i, row in enumerate(answers(200))]
    write_parquet(tmp_path / "log.parquet", rows)
    (tmp_path / "hold").touch()
    command = [sys.executable, "-m", "pytest_evalstudio.cli", "score", "log.parquet"]
    command += ["-o", f"{s3}/out.parquet", "-e", "noting", "--plugin-module", "noting.py"]
    command += ["--map", "actual_output=answer", "--batch-rows", "20", "--workers", "1"]
    process = children.start(command, tmp_path)
    store = s3fs.S3FileSystem(use_listings_cache=False)
    process.wait_until(lambda: len(store.glob(f"{s3}/out.parquet/.progress/batch-*")) == 3, "three batches")
    process.send_signal(signal.SIGKILL)
    process.finish()
    with pytest.raises(DataError, match="is incomplete"):
        ScoredTable.open(f"{s3}/out.parquet")
    (tmp_path / "hold").unlink()
    result = children.start([*command, "--resume"], tmp_path).finish()
    assert result.returncode == 0, result.err
    assert "200 answers, 200 scores; 140 answers scored" in result.out


def test_an_unreachable_bucket_is_one_sentence(s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import s3fs

    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    s3fs.S3FileSystem.clear_instance_cache()
    with pytest.raises(DataError, match=r"a\.parquet: the store cannot be reached: Endpoint"):
        score_table(f"{s3}/a.parquet", ["rouge"], "out.parquet", workers=1)


def test_a_missing_bucket_is_one_sentence(s3: str) -> None:
    with pytest.raises(DataError, match="there is no such file or folder"):
        score_table("s3://nothing/a.parquet", ["rouge"], "out.parquet", workers=1)


def test_messages_of_a_store_are_masked_before_they_are_cut() -> None:
    message = "x" * 280 + f" key sk-proj-{'a1B2' * 10}"
    with pytest.raises(DataError, match="the store cannot be reached") as raised, reaching("logs"):
        raise RuntimeError(message)
    assert "a1B2" not in str(raised.value)
