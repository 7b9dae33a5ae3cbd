"""The Ray engine gives the table of the local one, and survives lost actors."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from pytest_evalstudio.contrib.tables.score import score_table
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from support import noting_plugin
from support.openai_server import Reply, serve
from support.tables_of_answers import MAP, answers, values_of, write_jsonl, write_parquet

ray = pytest.importorskip("ray")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """A cluster of two cores on this machine, with a third logical one for the reader."""
    options = {"include_dashboard": False, "log_to_driver": False, "logging_level": "ERROR"}
    ray.init(num_cpus=3, **options)
    yield
    ray.shutdown()


def test_the_table_is_that_of_the_local_engine(tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "log.jsonl", answers(200))
    options = {"mapping": MAP, "keep": ["topic"], "batch_rows": 30}
    local = score_table(source, ["rouge"], tmp_path / "local.parquet", workers=1, **options)
    table = score_table(source, ["rouge"], tmp_path / "ray.parquet", engine="ray", workers=2, **options)
    assert values_of(table, "rouge_l") == values_of(local, "rouge_l")
    assert table.manifest.sources == local.manifest.sources
    for first, second in zip(local.manifest.aggregates, table.manifest.aggregates, strict=True):
        assert (first.identity, first.scored, first.worst) == (second.identity, second.scored, second.worst)
        assert first.mean == pytest.approx(second.mean)


def test_a_run_that_was_interrupted_here_is_continued_in_the_cluster(tmp_path: Path) -> None:
    source = write_parquet(tmp_path / "log.parquet", answers(100))
    options = {"mapping": MAP, "batch_rows": 10}

    def stop(count: int, total: int | None) -> None:
        if count == 40:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        score_table(source, ["rouge"], tmp_path / "out.parquet", workers=1, progress=stop, **options)
    progress: list[int] = []
    table = score_table(
        source,
        ["rouge"],
        tmp_path / "out.parquet",
        engine="ray",
        workers=2,
        resume=True,
        progress=lambda count, total: progress.append(count),
        **options,
    )
    assert progress == [50, 60, 70, 80, 90, 100]
    assert len(values_of(table, "rouge_l")) == 100


def test_lost_actors_are_replaced_and_a_batch_that_always_loses_its_actor_is_errors(tmp_path: Path) -> None:
    shutil.copy(noting_plugin.__file__, tmp_path / "noting.py")
    rows = answers(60)
    rows[25]["answer"], rows[45]["answer"] = "die", "once"
    table = score_table(
        write_parquet(tmp_path / "log.parquet", rows),
        ["noting"],
        tmp_path / "out.parquet",
        mapping={**MAP, "key": "id"},
        plugin_modules=[str(tmp_path / "noting.py")],
        engine="ray",
        workers=2,
        batch_rows=10,
    )
    lines = [row for batch in table.scores() for row in batch.to_pylist()]
    failed = {row["row_id"]: row["code"] for row in lines if row["status"] == "error"}
    assert failed == dict.fromkeys(range(20, 30), "worker_failed")
    assert sum(entry.scored for entry in table.manifest.aggregates) == 50
    attempts = Counter((tmp_path / "scored.txt").read_text().split())
    assert attempts["row-25"] > 1
    assert attempts["row-45"] > 1, "the batch that lost its actor once was scored again"


def test_bad_input_in_a_task_is_the_same_sentence(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "log.jsonl", answers(1_500))
    path.write_text(path.read_text() + "{broken\n")
    with pytest.raises(DataError, match=r"log\.jsonl:1501: is not JSON"):
        score_table(
            path, ["rouge"], tmp_path / "out.parquet", mapping=MAP, engine="ray", workers=2, batch_rows=500
        )
    assert not (tmp_path / "out.parquet" / "manifest.json").exists()


def test_actors_share_the_budget_of_judges(tmp_path: Path) -> None:
    with serve() as service:
        service.default = Reply(json.dumps({"reason": "it fits", "verdict": "true"}))
        judge = {"host": "openai_compatible", "url": service.url, "llm_model_name": "m", "max_calls": 30}
        rows = [{**row, "answer": f"Answer {i}."} for i, row in enumerate(answers(40))]
        score_table(
            write_parquet(tmp_path / "log.parquet", rows),
            ["fit"],
            tmp_path / "out.parquet",
            mapping=MAP,
            config={
                "evaluator": {"fit": {"type": "byop", "prompt": "Is {actual_output} good?"}},
                "judge": judge,
            },
            folder=tmp_path,
            engine="ray",
            workers=2,
            batch_rows=5,
        )
        assert len(service.requests) == 30


def test_a_cluster_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    ray.shutdown()
    with pytest.raises(ConfigurationError, match="the Ray cluster cannot be reached"):
        score_table(
            write_parquet(tmp_path / "log.parquet", answers(4)),
            ["rouge"],
            tmp_path / "out.parquet",
            mapping=MAP,
            engine="ray",
            address="127.0.0.1:1",
            workers=2,
        )
