"""Killed and interrupted runs are continued, dead workers are replaced, and nothing is scored twice."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.contrib.tables.engines.local import score_in_pool
from pytest_evalstudio.contrib.tables.score import score_table
from pytest_evalstudio.contrib.tables.scoring.scorer import ScorerSetup
from pytest_evalstudio.contrib.tables.table.reader import ScoredTable
from pytest_evalstudio.core.errors import EvalStudioError
from pytest_evalstudio.formats.config import configuration
from support import noting_plugin
from support.children import Child, Children, wait_until
from support.kills import children_of
from support.openai_server import OpenAIServer, Reply, serve
from support.tables_of_answers import MAP, answers, values_of, write_parquet

pytestmark = pytest.mark.slow
BATCH = 10
HELD_FROM = 60
"""First row that waits for the end of `hold`."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(noting_plugin.__file__, tmp_path / "noting.py")
    (tmp_path / "evalstudio.toml").write_text('evaluators = ["noting"]\n')
    return tmp_path


def rows_that_wait(folder: Path) -> list[dict[str, Any]]:
    """Write 200 answers, of which all after the sixth batch wait; return their rows."""
    rows = answers(200)
    for row in rows[HELD_FROM:]:
        row["answer"] = f"wait for {row['id']}"
    write_parquet(folder / "log.parquet", rows)
    (folder / "hold").touch()
    return rows


def score(*more: str) -> list[str]:
    command = [sys.executable, "-m", "pytest_evalstudio.cli", "score", "log.parquet", "-o", "out.parquet"]
    command += ["--map", "actual_output=answer,key=id", "--plugin-module", "noting.py"]
    return [*command, "--batch-rows", str(BATCH), "--workers", "2", *more]


def finished_batches(folder: Path) -> set[int]:
    progress = folder / "out.parquet" / ".progress"  # it may not be there yet
    return {int(path.name[6:14]) for path in progress.glob("batch-*.msgpack")}


def wait_for_batches(folder: Path, process: Child) -> None:
    """Wait until all batches before the held ones are scored, and both workers score held ones."""

    def is_held() -> bool:
        is_scored = len(finished_batches(folder)) == HELD_FROM // BATCH
        return is_scored and len(counts(folder)) == HELD_FROM + 2 * BATCH

    process.wait_until(is_held, "the held batches")


def counts(folder: Path) -> Counter[str]:
    return Counter((folder / "scored.txt").read_text().split())


def wait_for_end(pids: list[int]) -> None:
    wait_until(lambda: all(is_gone(pid) for pid in pids), f"end of the workers {pids}")


def is_gone(pid: int) -> bool:
    """Return True for a process that has ended, also if nobody has asked for its exit status."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_a_killed_run_is_continued_without_scoring_a_batch_twice(folder: Path, children: Children) -> None:
    rows = rows_that_wait(folder)
    process = children.start(score(), folder)
    wait_for_batches(folder, process)
    workers = children_of(process.pid)
    process.send_signal(signal.SIGKILL)
    process.finish()
    wait_for_end(workers)
    batches = finished_batches(folder)
    assert batches == set(range(HELD_FROM // BATCH))
    refused = children.start(score(), folder)
    assert "is an incomplete scored table; use --resume" in refused.finish().err
    (folder / "hold").unlink()
    second_run = children.start(score("--resume"), folder).finish()
    assert second_run.returncode == 0, second_run.err
    assert f"200 answers, 200 scores; {200 - HELD_FROM} answers scored" in second_run.out
    scored = counts(folder)
    assert len(scored) == 200
    assert {scored[f"row-{row}"] for row in range(HELD_FROM)} == {1}
    table = ScoredTable.open(folder / "out.parquet")
    assert values_of(table, "length") == {i: float(len(row["answer"])) for i, row in enumerate(rows)}
    assert sum(entry.scored for entry in table.manifest.aggregates) == 200
    assert not (folder / "out.parquet" / ".progress").exists()


def test_ctrl_c_ends_with_130_and_names_the_remedy(folder: Path, children: Children) -> None:
    rows_that_wait(folder)
    process = children.start(score(), folder)
    wait_for_batches(folder, process)
    second = children.start(score("--resume"), folder)
    assert "another process writes this table" in second.finish().err
    workers = children_of(process.pid)
    process.send_signal(signal.SIGINT)
    result = process.finish()
    assert result.returncode == 130, result.err
    assert "the same command with --resume continues" in result.err
    assert "Traceback" not in result.err
    wait_for_end(workers)


def test_a_dead_worker_is_replaced_and_its_batch_scored_again(folder: Path, children: Children) -> None:
    rows_that_wait(folder)
    process = children.start(score(), folder)
    wait_for_batches(folder, process)
    # The first child of a spawned pool may be the tracker of resources.
    workers = [
        pid for pid in children_of(process.pid) if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]
    os.kill(workers[0], signal.SIGKILL)
    (folder / "hold").unlink()
    result = process.finish()
    assert result.returncode == 0, result.err
    assert "200 answers, 200 scores" in result.out
    table = ScoredTable.open(folder / "out.parquet")
    assert sum(entry.scored for entry in table.manifest.aggregates) == 200
    assert max(counts(folder).values()) == 2


def test_a_batch_that_kills_its_worker_twice_is_errors_and_the_others_are_scored(
    folder: Path, children: Children
) -> None:
    rows = answers(60)
    rows[25]["answer"] = "die"
    write_parquet(folder / "log.parquet", rows)
    result = children.start(score(), folder).finish()
    assert result.returncode == 0, result.err
    lines = [row for batch in ScoredTable.open(folder / "out.parquet").scores() for row in batch.to_pylist()]
    failed = {row["row_id"]: (row["code"], row["reason"]) for row in lines if row["status"] == "error"}
    assert set(failed) == set(range(20, 30))
    assert {code for code, _ in failed.values()} == {"worker_failed"}
    assert "died again and again" in failed[25][1]
    assert counts(folder)["row-25"] == 2


def score_with_judge(folder: Path, url: str, **options: Any) -> ScoredTable:
    """Score 40 answers by a judge that may be asked 30 times."""
    judge = {"host": "openai_compatible", "url": url, "llm_model_name": "m", "max_calls": 30}
    rows = [{**row, "answer": f"Answer {i}."} for i, row in enumerate(answers(40))]
    return score_table(
        write_parquet(folder / "log.parquet", rows),
        ["fit"],
        folder / "out.parquet",
        mapping=MAP,
        config={
            "evaluator": {"fit": {"type": "byop", "prompt": "Is {actual_output} good?"}},
            "judge": judge,
        },
        folder=folder,
        batch_rows=5,
        **options,
    )


@pytest.fixture
def judge() -> Iterator[OpenAIServer]:
    with serve() as service:
        service.default = Reply(json.dumps({"reason": "it fits", "verdict": "true"}))
        yield service


def over_budget(table: ScoredTable) -> int:
    entries = [entry for entry in table.manifest.aggregates if entry.metric == "model_passes"]
    return sum(entry.errors.get("budget_exhausted", 0) for entry in entries)


def test_workers_share_the_budget_of_judges(judge: OpenAIServer, tmp_path: Path) -> None:
    table = score_with_judge(tmp_path, judge.url, workers=2)
    assert over_budget(table) == 10
    assert len(judge.requests) == 30


def test_a_continued_run_has_what_is_left_of_the_budget(judge: OpenAIServer, tmp_path: Path) -> None:
    def stop(count: int, total: int | None) -> None:
        if count == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        score_with_judge(tmp_path, judge.url, workers=1, progress=stop)
    assert len(judge.requests) == 20
    table = score_with_judge(tmp_path, judge.url, workers=1, resume=True)
    assert over_budget(table) == 10
    assert len(judge.requests) == 30


SCRIPT = """
from pytest_evalstudio import score_table

columns = {"actual_output": "answer"}
score_table("log.parquet", ["rouge"], "out.parquet", mapping=columns, workers=2, batch_rows=9)
"""


def test_a_script_without_a_main_guard_is_told_so(folder: Path, children: Children) -> None:
    write_parquet(folder / "log.parquet", answers(20))
    (folder / "script.py").write_text(SCRIPT)
    result = children.start([sys.executable, "script.py"], folder).finish()
    assert result.returncode == 1
    assert "the worker processes do not start; a script calls score_table below" in result.err


def test_no_worker_remains_of_a_pool_that_cannot_start(tmp_path: Path) -> None:
    config = configuration({"evaluators": ["rouge"]}, folder=tmp_path)
    setup = ScorerSetup(config=config, plugin_modules=(str(tmp_path / "missing.py"),), workers=2)
    with pytest.raises(EvalStudioError, match=r"missing\.py"):
        next(score_in_pool([], setup))
    # A worker that was told to end may take a moment; one that goes on does not end at all.
    for child in multiprocessing.active_children():
        child.join(timeout=30)
    assert multiprocessing.active_children() == []
