"""Merges the records of shards into the record of the whole run."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.record.codec import encode_line
from pytest_evalstudio.record.reader import RecordReader
from pytest_evalstudio.record.schema import FAILED_NAMES, JudgeSpend, Run, SessionEnd, Shards, Tables
from pytest_evalstudio.record.writer import RecordWriter


def merge(readers: Sequence[RecordReader], folder: Path, *, allow_partial: bool = False) -> Path:
    """Write the record of all items in the order of the whole run, and return its path.

    Args:
        readers: of the shards.
        folder: where `record.jsonl` is written.
        allow_partial: whether shards of the run may be missing; the merged record then says which it has.

    Raises:
        ConfigurationError: if an item is in two records, two records describe an evaluator differently, or
            a shard is missing.
    """
    runs = [reader.run for reader in readers]
    first = runs[0]
    _check(runs)
    shards = _shards(readers)
    if shards is not None and not allow_partial:
        missing = [str(number) for number in range(1, shards.total + 1) if number not in shards.numbers]
        raise ConfigurationError(
            f"the records are {shards}: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing;"
            " give the record of each shard, or merge those that there are by --allow-partial"
        )
    writer = RecordWriter(
        folder,
        # Without the tables, which `_copy` collects from all records.
        msgspec.structs.replace(first, evaluators={}, models={}, files=(), steps={}, documents={}, spans={}),
    )
    with closing(writer):
        _copy(readers, writer)
    return writer.finish(msgspec.structs.replace(_merged(runs), shards=shards))


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
                causes=run.causes,
                holdout=run.holdout,
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


def _shards(readers: Sequence[RecordReader]) -> Shards | None:
    """Return the shards that records have together, None if they are all of a run, or of no shards.

    Raises:
        ConfigurationError: if the records cannot be shards of one run.
    """
    total = next((reader.run.shards.total for reader in readers if reader.run.shards is not None), None)
    if total is None:
        return None
    owners: dict[int, Path] = {}
    for reader in readers:
        shards = reader.run.shards
        if shards is None or shards.total != total:
            fact = f"has {shards}" if shards is not None else "is not a shard"
            raise ConfigurationError(
                f"{reader.path}: {fact}, but another record is one of {total} shards; give the shards of"
                " one run"
            )
        for number in shards.numbers:
            if number in owners:
                raise ConfigurationError(
                    f"shard {number} of {total}: is in {owners[number]} and {reader.path}; give each shard"
                    " once"
                )
            owners[number] = reader.path
    return Shards(numbers=tuple(sorted(owners)), total=total) if len(owners) < total else None


def _check(runs: Sequence[Run]) -> None:
    evaluators: dict[str, object] = {}
    for run in runs:
        for id, entry in run.evaluators.items():
            # Scores under other options are not comparable, and the merged header has one entry for each id.
            if evaluators.setdefault(id, entry) != entry:
                raise ConfigurationError(
                    f"evaluator {id}: has other options in the run of {run.created}; the records are not"
                    " shards of one run"
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
        # The worst: 0 is a session that passed.
        exit_status=max((run.exit_status for run in runs if run.exit_status is not None), default=None),
        judging=judging if spent else None,
        uncollected=tuple(dict.fromkeys(nodeid for run in runs for nodeid in run.uncollected)),
        deselected=any(run.deselected for run in runs),
        session=_session(runs),
    )


def _session(runs: Sequence[Run]) -> SessionEnd | None:
    """Return the tests of all sessions together; None where one of the runs was no session."""
    ends = [run.session for run in runs if run.session is not None]
    # A sum over some of the shards would look like that of the whole run.
    if len(ends) < len(runs):
        return None
    names = (name for end in ends for name in end.failed_names)
    return SessionEnd(
        collected=sum(end.collected for end in ends),
        ended=sum(end.ended for end in ends),
        failed_besides=sum(end.failed_besides for end in ends),
        failed_names=tuple(dict.fromkeys(names))[:FAILED_NAMES],
    )
