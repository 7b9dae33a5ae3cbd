"""Files with a line for each answer are the same whether this process or another one writes them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from pytest_evalstudio.report import row_files
from pytest_evalstudio.report.build import build_report
from support.records import RecordBuilder, evaluator, score
from support.small_run import small_run


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Processes that write files: one for each record, whatever its size, although no core may be free."""
    running: list[subprocess.Popen[bytes]] = []

    class Started(subprocess.Popen[bytes]):
        def __init__(self, *args: object, **keywords: object) -> None:
            super().__init__(*args, **keywords)  # type: ignore[call-overload]
            running.append(self)

    monkeypatch.setattr(row_files, "MIN_RECORD_BYTES", 0)
    monkeypatch.setattr(row_files, "_has_free_core", lambda: True)
    monkeypatch.setattr(subprocess, "Popen", Started)
    yield running
    assert all(process.poll() is not None for process in running), "a process is left"


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """A run with a judge of Agent Evaluation and half a surrogate pair."""
    builder = RecordBuilder(evaluator("rouge"), evaluator("correctness_judge"))
    builder.add("a", "one", {"outcomes": {"rouge": score(0.25), "correctness_judge": score(1.0)}})
    builder.add("b", "one", {"question": "\ud800", "outcomes": {"rouge": score(0.5)}})
    return builder.write(tmp_path)


def test_another_process_writes_the_same_report(
    record: Path, tmp_path: Path, processes: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = build_report(record, tmp_path / "shared", {})
    monkeypatch.setattr(row_files, "MIN_RECORD_BYTES", 10**9)
    local = build_report(record, tmp_path / "local", {})

    assert [process.returncode for process in processes] == [0]
    assert shared.warnings == local.warnings == ()
    assert contents(tmp_path / "shared") == contents(tmp_path / "local")
    assert {"agent_evaluation.json", "agent_evaluation.jsonl"} <= contents(tmp_path / "local").keys()


@pytest.mark.parametrize("executable", ["absent", "failing", "silent"])
def test_a_process_that_fails_costs_no_file(
    record: Path,
    tmp_path: Path,
    executable: str,
    processes: list[subprocess.Popen[bytes]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = tmp_path / executable
    if executable != "absent":
        program.write_text(f"#!/bin/sh\nexit {int(executable == 'failing')}\n")
        program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    shared = build_report(record, tmp_path / "shared", {})
    monkeypatch.setattr(row_files, "MIN_RECORD_BYTES", 10**9)
    build_report(record, tmp_path / "local", {})

    assert len(processes) == (executable != "absent")
    assert shared.warnings == ()
    assert contents(tmp_path / "shared") == contents(tmp_path / "local")


def test_a_fault_of_the_analysis_ends_the_process(
    tmp_path: Path, processes: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr("pytest_evalstudio.report.build.analyse", interrupted)

    with pytest.raises(KeyboardInterrupt):
        build_report(small_run().write(tmp_path), tmp_path / "out", {})

    assert len(processes) == 1


def test_a_small_record_starts_no_process(
    record: Path, tmp_path: Path, processes: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_files, "MIN_RECORD_BYTES", record.stat().st_size + 1)

    build_report(record, tmp_path / "out", {})

    assert not processes
