"""A scored table is read as it was written, and nothing incomplete is taken for a table."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from pytest_evalstudio.contrib.tables.scored_record import MetricAggregate, ScoredManifest, WorstRow
from pytest_evalstudio.contrib.tables.table.columns import answer_schema, score_schema
from pytest_evalstudio.contrib.tables.table.reader import ScoredTable
from pytest_evalstudio.contrib.tables.table.recognition import is_scored_table
from pytest_evalstudio.contrib.tables.table.storage import Location
from pytest_evalstudio.contrib.tables.table.writer import LOCK, BatchResult, Job, TableWriter
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.record.schema import Tool

GROUPS = ("topic",)
JOB = Job(
    run_id="r",
    started="2026-01-01T00:00:00+00:00",
    sources=(),
    mapping={"actual_output": "answer"},
    groups={"topic": "topic"},
    evaluators=(),
    texts="all",
    batch_rows=2,
    sample=None,
    by=(),
    seed=0,
)


def parquet(rows: list[dict[str, object]], schema: pa.Schema) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), sink)
    return bytes(sink.getvalue())


def result(batch: int) -> BatchResult:
    """Return a scored batch of two answers and one metric."""
    ids = [2 * batch, 2 * batch + 1]
    scores = [
        {
            "row_id": id,
            "model": "m",
            "evaluator": "rouge",
            "metric": "rouge1",
            "value": id / 10,
            "status": "passed",
            "weight": 1.0,
            "topic": "fees",
        }
        for id in ids
    ]
    answers = [
        {
            "row_id": id,
            "source": 0,
            "source_row": id,
            "key": str(id),
            "model": "m",
            "actual_output": f"answer {id}",
            "context": ["a", "b"],
            "case_digest": id,
            "context_digest": 7,
            "topic": "fees",
        }
        for id in ids
    ]
    aggregate = MetricAggregate(
        evaluator="rouge",
        metric="rouge1",
        model="m",
        better="higher",
        scored=2,
        weight=2.0,
        max=float("inf"),
        worst=(WorstRow(ids[0], 0.1),),
    )
    return BatchResult(
        batch=batch,
        source=0,
        last_source_row=ids[1],
        answers=2,
        rows=2,
        first_row=ids[0],
        last_row=ids[1],
        score_file=parquet(scores, score_schema(GROUPS)),
        answer_file=parquet(answers, answer_schema(GROUPS)),
        answer_rows=2,
        models=("m",),
        aggregates=(aggregate,),
    )


def write_table(url: str, batches: int = 3) -> ScoredManifest:
    """Write a table of some batches and return its manifest."""
    writer = TableWriter(Location.of(url))
    job = writer.begin(JOB)
    entries = [writer.add(result(batch)) for batch in range(batches)]
    manifest = ScoredManifest(
        schema_version=1,
        producer=Tool(name="t", version="1"),
        run_id=job.run_id,
        started=job.started,
        finished=job.started,
        sources=(),
        mapping=job.mapping,
        groups=GROUPS,
        evaluators=(),
        models=(),
        answers=2 * batches,
        rows=2 * batches,
        texts="all",
        sampling=None,
        aggregates=entries[0].aggregates,
        scores=tuple(entry.scores for entry in entries),
        answer_parts=tuple(entry.answer_part for entry in entries if entry.answer_part),
    )
    writer.finish(manifest)
    return manifest


@pytest.fixture(params=["file", "memory"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return (
        str(tmp_path / "out.parquet") if request.param == "file" else f"memory://{tmp_path.name}/out.parquet"
    )


def test_a_table_is_read_as_it_was_written(url: str) -> None:
    manifest = write_table(url)
    table = ScoredTable.open(url)
    assert table.manifest == manifest
    values = [value for batch in table.scores(["row_id", "value"]) for value in batch["value"].to_pylist()]
    assert values == [id / 10 for id in range(6)]
    above = [batch.num_rows for batch in table.scores(filter=pc.field("value") > 0.35)]
    assert sum(above) == 2
    answers = table.answers_of([1, 4])
    assert {id: answer.actual_output for id, answer in answers.items()} == {1: "answer 1", 4: "answer 4"}
    assert answers[4].context == ("a", "b")
    assert answers[4].groups == {"topic": "fees"}
    assert not table.location.child(".progress").exists()


def test_a_table_without_a_manifest_is_incomplete_for_every_reader(url: str) -> None:
    writer = TableWriter(Location.of(url))
    writer.begin(JOB)
    writer.add(result(0))
    assert is_scored_table(url)
    with pytest.raises(DataError, match=r"is incomplete: it has no manifest\.json; .* --resume"):
        ScoredTable.open(url)


def test_a_folder_of_another_kind_is_not_a_table(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("mine")
    assert not is_scored_table(tmp_path)
    with pytest.raises(DataError, match="is not a scored table"):
        ScoredTable.open(tmp_path)
    with pytest.raises(ConfigurationError, match="is not a scored table; choose another folder"):
        TableWriter(Location.of(str(tmp_path))).begin(JOB, overwrite=True)
    assert (tmp_path / "note.txt").exists()


def test_an_interrupted_run_knows_its_finished_batches(url: str) -> None:
    writer = TableWriter(Location.of(url))
    writer.begin(JOB)
    entries = [writer.add(result(batch)) for batch in (0, 2)]
    second_writer = TableWriter(Location.of(url))
    assert second_writer.begin(msgspec.structs.replace(JOB, run_id="other"), resume=True) == JOB
    assert list(second_writer.finished()) == entries


@pytest.mark.parametrize(
    ("options", "change", "message"),
    [
        ({}, {}, "is an incomplete scored table; use --resume to continue it or --overwrite"),
        ({"resume": True}, {"seed": 7}, "was begun with other --seed"),
        ({"resume": True}, {"mapping": {}}, "was begun with other --map"),
    ],
)
def test_an_incomplete_table_is_continued_only_by_the_same_job(
    options: dict[str, bool], change: dict[str, object], message: str, tmp_path: Path
) -> None:
    location = Location.of(str(tmp_path / "out.parquet"))
    TableWriter(location).begin(JOB)
    with pytest.raises(ConfigurationError, match=message):
        TableWriter(location).begin(msgspec.structs.replace(JOB, **change), **options)


def test_a_complete_table_is_replaced_only_on_request(url: str) -> None:
    write_table(url)
    with pytest.raises(ConfigurationError, match="is a complete scored table; use --overwrite"):
        TableWriter(Location.of(url)).begin(JOB, resume=True)
    TableWriter(Location.of(url)).begin(JOB, overwrite=True)
    with pytest.raises(DataError, match="is incomplete"):
        ScoredTable.open(url)


def test_a_table_of_another_version_is_refused(tmp_path: Path) -> None:
    write_table(str(tmp_path / "out.parquet"))
    manifest = tmp_path / "out.parquet" / "manifest.json"
    manifest.write_bytes(manifest.read_bytes().replace(b'"schema_version": 1', b'"schema_version": 9'))
    with pytest.raises(DataError, match="has version 9; this program reads version 1"):
        ScoredTable.open(tmp_path / "out.parquet")


@pytest.mark.parametrize("sketch", ["!", "x", "AAAA", "QUJDREVGR0g="])
def test_a_damaged_sketch_is_named(sketch: str, tmp_path: Path) -> None:
    url = str(tmp_path / "out.parquet")
    manifest = write_table(url)
    aggregate = msgspec.structs.replace(manifest.aggregates[0], sketch=sketch)
    damaged = msgspec.structs.replace(manifest, aggregates=(aggregate,))
    TableWriter(Location.of(url)).finish(damaged)
    with pytest.raises(DataError, match=r"a sketch of the values of rouge\.rouge1 is damaged; run"):
        ScoredTable.open(url)


def test_the_lock_is_one_file_for_all_processes(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    writer = TableWriter(Location.of(str(tmp_path / "out.parquet")))
    with writer.locked():
        waiting = (tmp_path / "out.parquet" / LOCK).open("a+b")
    # The process that waited has the lock now, and a third one must see it.
    with waiting:
        fcntl.flock(waiting, fcntl.LOCK_EX)
        with pytest.raises(ConfigurationError, match="another process writes this table"), writer.locked():
            pass
