"""Merges the records of shards into the record of the whole run."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.record.codec import encode_line
from pytest_evalstudio.record.reader import RecordReader
from pytest_evalstudio.record.schema import JudgeSpend, Run, Tables
from pytest_evalstudio.record.writer import RecordWriter


def merge(readers: Sequence[RecordReader], folder: Path) -> Path:
    """Write the record of all items in the order of the whole run, and return its path.

    Args:
        readers: of the shards.
        folder: where `record.jsonl` is written.

    Raises:
        ConfigurationError: if an item is in two records, or two records describe an evaluator differently.
    """
    runs = [reader.run for reader in readers]
    first = runs[0]
    for run in runs[1:]:
        _check(first, run)
    writer = RecordWriter(
        folder,
        msgspec.structs.replace(first, evaluators={}, models={}, files=(), steps={}, documents={}, spans={}),
    )
    with closing(writer):
        _copy(readers, writer)
    return writer.finish(_merged(runs))


def _copy(readers: Sequence[RecordReader], writer: RecordWriter) -> None:
    owners: dict[str, Path] = {}
    for reader in readers:
        run = reader.run
        writer.extend(
            Tables(
                evaluators=run.evaluators,
                models=run.models,
                files={entry.path: entry for entry in run.files},
                steps=run.steps,
                documents=run.documents,
                arena=run.arena,
                spans=run.spans,
            )
        )
        for item in reader.items():
            owner = owners.setdefault(item.identity, reader.path)
            if owner is not reader.path:
                raise ConfigurationError(
                    f"{item.nodeid}: is in {owner} and {reader.path}; give each shard once"
                )
            writer.append(encode_line(item), identity=item.identity, index=item.index)


def _check(first: Run, run: Run) -> None:
    for id, entry in run.evaluators.items():
        if id in first.evaluators and first.evaluators[id] != entry:
            raise ConfigurationError(
                f"evaluator {id}: has other options in the run of {run.created}; the records are no shards of"
                " one run"
            )


def _merged(runs: Sequence[Run]) -> Run:
    """Return the header: the first start, the last end, and the sum of what judges cost."""
    finished = [run.finished for run in runs]
    spent = [run.judging for run in runs if run.judging is not None]
    judging = JudgeSpend(
        calls=sum(each.calls for each in spent),
        cost_usd=sum(each.cost_usd for each in spent),
        input_tokens=sum(each.input_tokens for each in spent),
        output_tokens=sum(each.output_tokens for each in spent),
    )
    return msgspec.structs.replace(
        runs[0],
        created=min(run.created for run in runs),
        finished=max(time for time in finished if time is not None) if all(finished) else None,
        interrupted=any(run.interrupted for run in runs),
        exit_status=max((run.exit_status for run in runs if run.exit_status is not None), default=None),
        judging=judging if spent else None,
    )
