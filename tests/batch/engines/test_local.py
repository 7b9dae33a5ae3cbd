"""Killed and interrupted runs are continued, dead workers are replaced, and nothing is scored twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.batch.score import score_table
from pytest_evalstudio.batch.table.reader import ScoredTable
from support.kills import children_of
from support.openai_server import OpenAIServer, Reply, serve
from support.tables_of_answers import MAP, answers, values_of, write_parquet

pytestmark = pytest.mark.slow
BATCH = 10
PLUGIN = '''
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator

HERE = Path(__file__).parent


@evaluator("noting", name="Noting", domain="generation", needs=("actual_output",))
@dataclass(frozen=True)
class Noting:
    """Notes each answer that it scores; an answer "die" ends its process."""

    metrics: ClassVar = (Metric("length", primary=True, range=(0.0, 1e9), threshold=1.0),)
    seconds: float = 0.0

    def score(self, cases, tools):
        with open(HERE / "scored.txt", "a") as file:
            file.write("".join(case.key + "\\n" for case in cases))
        if any(case.actual_output == "die" for case in cases):
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(self.seconds * len(cases))
        return [Outcome.score({"length": float(len(case.actual_output))}) for case in cases]


def pytest_evalstudio_register(registry):
    registry.add_evaluator(Noting)
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "noting.py").write_text(PLUGIN)
    (tmp_path / "evalstudio.toml").write_text('evaluators = ["noting"]\n[evaluator.noting]\nseconds = 0.02\n')
    write_parquet(tmp_path / "log.parquet", answers(200))
    return tmp_path


def start(folder: Path, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "pytest_evalstudio.cli", "score", "log.parquet", "-o", "out.parquet"]
    command += ["--map", "actual_output=answer,key=id", "--plugin-module", "noting.py"]
    command += ["--batch-rows", str(BATCH), "--workers", "2", *more]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finished_batches(folder: Path) -> set[int]:
    names = os.listdir(folder / "out.parquet" / ".progress") if (folder / "out.parquet").is_dir() else []
    return {int(name[6:14]) for name in names if name.startswith("batch-") and name.endswith(".msgpack")}


def wait_for_batches(folder: Path, count: int, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 60
    while len(finished_batches(folder)) < count and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)


def counts(folder: Path) -> Counter[str]:
    return Counter((folder / "scored.txt").read_text().split())


def wait_for_end(pids: list[int]) -> list[int]:
    """Return the processes that are still there after ten seconds."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        pids = [pid for pid in pids if Path(f"/proc/{pid}/stat").exists() and not is_zombie(pid)]
        if not pids:
            break
        time.sleep(0.05)
    return pids


def is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_a_killed_run_is_continued_without_scoring_a_batch_twice(folder: Path) -> None:
    process = start(folder)
    wait_for_batches(folder, 5, process)
    workers = children_of(process.pid)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not wait_for_end(workers), "workers outlive their parent"
    done = finished_batches(folder)
    assert 5 <= len(done) < 20
    refused = start(folder)
    assert "is an incomplete scored table; use --resume" in refused.communicate()[1]
    again = start(folder, "--resume")
    output, errors = again.communicate(timeout=60)
    assert again.returncode == 0, errors
    assert f"200 answers, 200 scores; {200 - BATCH * len(done)} answers scored" in output
    scored = counts(folder)
    assert len(scored) == 200
    assert {
        scored[f"row-{row}"] for batch in done for row in range(batch * BATCH, batch * BATCH + BATCH)
    } == {1}
    table = ScoredTable.open(folder / "out.parquet")
    assert values_of(table, "length") == {i: float(len(row["answer"])) for i, row in enumerate(answers(200))}
    assert sum(entry.scored for entry in table.manifest.aggregates) == 200
    assert not (folder / "out.parquet" / ".progress").exists()


def test_ctrl_c_ends_with_130_and_names_the_remedy(folder: Path) -> None:
    process = start(folder)
    wait_for_batches(folder, 2, process)
    second = start(folder, "--resume")
    assert "another process writes this table" in second.communicate(timeout=30)[1]
    workers = children_of(process.pid)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130, errors
    assert "the same command with --resume continues" in errors
    assert "Traceback" not in errors
    assert not wait_for_end(workers)


def test_a_dead_worker_is_replaced_and_its_batch_scored_again(folder: Path) -> None:
    process = start(folder)
    wait_for_batches(folder, 3, process)
    # The first child of a spawned pool may be the tracker of resources.
    workers = [
        pid for pid in children_of(process.pid) if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]
    os.kill(workers[0], signal.SIGKILL)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert "200 answers, 200 scores" in output
    table = ScoredTable.open(folder / "out.parquet")
    assert sum(entry.scored for entry in table.manifest.aggregates) == 200
    assert max(counts(folder).values()) <= 2


def test_a_batch_that_kills_its_worker_twice_is_errors_and_the_others_are_scored(folder: Path) -> None:
    rows = answers(60)
    rows[25]["answer"] = "die"
    write_parquet(folder / "log.parquet", rows)
    process = start(folder)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    lines = [row for batch in ScoredTable.open(folder / "out.parquet").scores() for row in batch.to_pylist()]
    failed = {row["row_id"]: (row["code"], row["reason"]) for row in lines if row["status"] == "error"}
    assert set(failed) == set(range(20, 30))
    assert {code for code, _ in failed.values()} == {"worker_failed"}
    assert "died again and again" in failed[25][1]
    assert counts(folder)["row-25"] == 2


def judged(folder: Path, url: str, **options: Any) -> ScoredTable:
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
    table = judged(tmp_path, judge.url, workers=2)
    assert over_budget(table) == 10
    assert len(judge.requests) == 30


def test_a_continued_run_has_what_is_left_of_the_budget(judge: OpenAIServer, tmp_path: Path) -> None:
    def stop(done: int, total: int | None) -> None:
        if done == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        judged(tmp_path, judge.url, workers=1, progress=stop)
    assert len(judge.requests) == 20
    table = judged(tmp_path, judge.url, workers=1, resume=True)
    assert over_budget(table) == 10
    assert len(judge.requests) == 30


SCRIPT = """
from pytest_evalstudio import score_table

columns = {"actual_output": "answer"}
score_table("log.parquet", ["rouge"], "out.parquet", mapping=columns, workers=2, batch_rows=9)
"""


def test_a_script_without_a_main_guard_is_told_so(folder: Path) -> None:
    (folder / "script.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=folder, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert "the worker processes do not start; a script calls score_table below" in done.stderr
