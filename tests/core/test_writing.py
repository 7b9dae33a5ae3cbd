"""Files are written whole, and what a killed process left is removed by the next one."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from pytest_evalstudio.core import writing
from support.children import Children

PROGRAM = """
import sys, time
from pathlib import Path
from pytest_evalstudio.core.writing import replacing

with replacing(Path("out.json")) as file:
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    time.sleep(600)
"""
HOUR_S = 3_600


def drafts(folder: Path) -> list[Path]:
    return list(folder.glob(".out.json.*.tmp"))


def make_old(folder: Path) -> None:
    for path in drafts(folder):
        os.utime(path, (path.stat().st_atime - HOUR_S, path.stat().st_mtime - HOUR_S))
    writing._drafts_in.cache_clear()


def test_the_draft_of_a_killed_process_is_removed_by_the_next_write(
    tmp_path: Path, children: Children
) -> None:
    process = children.start([sys.executable, "-c", PROGRAM], tmp_path)
    process.wait_until(lambda: "writing" in process.out, "the draft")
    make_old(tmp_path)
    writing.write_whole(tmp_path / "out.json", b"first")
    assert len(drafts(tmp_path)) == 1  # its process lives
    process.send_signal(signal.SIGKILL)
    process.finish()
    make_old(tmp_path)
    writing.write_whole(tmp_path / "other.json", b"other")
    assert len(drafts(tmp_path)) == 1
    writing.write_whole(tmp_path / "out.json", b"second")
    assert (drafts(tmp_path), (tmp_path / "out.json").read_bytes()) == ([], b"second")


def test_a_failing_block_leaves_the_earlier_file(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    target.write_bytes(b"before")
    try:
        with writing.replacing(target) as file:
            file.write(b"half")
            raise RuntimeError
    except RuntimeError:
        pass
    assert (target.read_bytes(), drafts(tmp_path)) == (b"before", [])
