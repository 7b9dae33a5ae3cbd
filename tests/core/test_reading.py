"""Files by name: pipes, devices and folders are refused, and nothing waits for them."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import pytest

from pytest_evalstudio.core.paths import path_below
from pytest_evalstudio.core.reading import check_file, file_sha256, open_file, read_bytes, read_utf8

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="pipes and devices of POSIX")


@POSIX
@pytest.mark.parametrize("read", [open_file, check_file, read_bytes, read_utf8, file_sha256])
def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path, read: object) -> None:
    os.mkfifo(tmp_path / "p")

    with pytest.raises(OSError, match="a pipe, a device or a socket"):
        read(tmp_path / "p")  # type: ignore[operator]


@POSIX
def test_an_endless_device_behind_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").symlink_to("/dev/zero")

    with pytest.raises(OSError, match="a pipe, a device or a socket"):
        read_bytes(tmp_path / "x")


def test_a_folder_is_refused_by_the_name_of_its_fault(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        read_bytes(tmp_path)


def test_the_content_of_a_file_is_that_which_python_reads(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes("ä\r\nb\rc\n".encode())

    assert read_bytes(path) == path.read_bytes()
    assert read_utf8(path) == path.read_text(encoding="utf-8")
    assert file_sha256(path) == hashlib.sha256(path.read_bytes()).hexdigest()


@POSIX
def test_a_link_to_itself_is_a_path_below_its_folder_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "x").symlink_to("x")

    path = path_below(tmp_path, "x")

    with pytest.raises(OSError, match="symbolic links"):
        read_bytes(path)


@pytest.mark.part("validation")
def test_a_state_of_a_step_that_is_nested_too_deeply_is_none(tmp_path: Path) -> None:
    from pytest_evalstudio.contrib.validation.workflow.states import read_state

    (tmp_path / "step.json").write_text("[" * 100_000)

    assert read_state(tmp_path) is None
