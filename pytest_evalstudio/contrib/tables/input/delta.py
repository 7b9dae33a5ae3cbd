"""Active files of a Delta table, by its transaction log.

The folder of a Delta table keeps the files of removed and rewritten rows. Which files count is in
`_delta_log`: commits (`00000000000000000007.json`), and checkpoints that stand for all commits before them.
What this reader does not follow is refused, since rows would be counted that the table does not have.

Source: Delta transaction log protocol, https://github.com/delta-io/delta/blob/master/PROTOCOL.md
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from pytest_evalstudio.contrib.tables.table.storage import EXTRA, PURPOSE, Location, reaching
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.extras import import_extra

LOG = "_delta_log"
_COMMIT = re.compile(r"([0-9]{20})\.json")
# Checkpoints named by a UUID (version 2) refer to further files and are not read here.
_CHECKPOINT = re.compile(r"([0-9]{20})\.checkpoint(?:\.([0-9]{10})\.([0-9]{10}))?\.parquet")
_ACTIONS = ("add", "remove", "metaData", "protocol")
_READ_FEATURES = frozenset({"timestampNtz", "vacuumProtocolCheck", "typeWidening", "deletionVectors"})
"""Features of tables that need no other reading of active files; a deletion vector in use is refused."""
_PURGE = "write the table anew without them, e.g. by REORG TABLE … APPLY (PURGE)"


@dataclass(frozen=True, slots=True)
class ActiveFile:
    """A file of the table.

    Attributes:
        path: below the folder of the table.
        partitions: value of each partition column; None where it is absent.
    """

    path: str
    partitions: Mapping[str, str | None]


@dataclass(slots=True)
class _State:
    """Actions that count so far."""

    active: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    configuration: Mapping[str, Any] = field(default_factory=dict)
    features: frozenset[str] = frozenset()

    def apply(self, action: Mapping[str, Any]) -> None:
        if isinstance(add := action.get("add"), Mapping):
            self.active[str(add.get("path"))] = add
        if isinstance(remove := action.get("remove"), Mapping):
            self.active.pop(str(remove.get("path")), None)
        if isinstance(metadata := action.get("metaData"), Mapping):
            self.configuration = dict(metadata.get("configuration") or {})
        if isinstance(protocol := action.get("protocol"), Mapping):
            self.features = frozenset(protocol.get("readerFeatures") or ())


def is_delta_table(folder: Location) -> bool:
    """Return whether a folder is a Delta table."""
    return folder.child(LOG).is_folder()


def active_files(folder: Location) -> list[ActiveFile]:
    """Return the files whose rows a Delta table has, in the order of their paths.

    Raises:
        DataError: if the log is incomplete or damaged, or the table needs what is not read here.
    """
    log = folder.child(LOG)
    names = log.names()
    commits = {int(match[1]): name for name in names if (match := _COMMIT.fullmatch(name))}
    state = _State()
    version = -1
    # Older commits are removed once a checkpoint stands for them; with the first commit the log is whole.
    if 0 not in commits:
        version, parts = _last_checkpoint(names, folder)
        for name in parts:
            for action in _checkpoint_actions(log.child(name)):
                state.apply(action)
    for number in sorted(number for number in commits if number > version):
        if number != version + 1:
            raise DataError(
                f"its log has no commit {version + 1}, so that its rows are not known; copy {LOG} whole",
                source=folder.name,
            )
        for action in _commit_actions(log.child(commits[number])):
            state.apply(action)
        version = number
    _check(state, folder)
    return [_file(add, folder) for _, add in sorted(state.active.items())]


def _last_checkpoint(names: Sequence[str], folder: Location) -> tuple[int, list[str]]:
    """Return the version and the files of the last whole checkpoint."""
    parts: dict[tuple[int, int], list[str]] = {}
    for name in names:
        if match := _CHECKPOINT.fullmatch(name):
            parts.setdefault((int(match[1]), int(match[3] or 1)), []).append(name)
    whole = [(version, files) for (version, count), files in parts.items() if len(files) == count]
    if not whole:
        raise DataError(
            f"its log {LOG} has neither the first commit nor a checkpoint that is read here (Parquet, named"
            f" by its version); copy {LOG} whole, or write the table as plain Parquet",
            source=folder.name,
        )
    version, files = max(whole)
    return version, sorted(files)


def _checkpoint_actions(file: Location) -> Iterator[Mapping[str, Any]]:
    parquet = import_extra("pyarrow.parquet", PURPOSE, extra=EXTRA)
    pa = import_extra("pyarrow", PURPOSE, extra=EXTRA)
    with reaching(file.name):
        try:
            reader = parquet.ParquetFile(file.open())
            columns = [name for name in reader.schema_arrow.names if name in _ACTIONS]
            for batch in reader.iter_batches(columns=columns):
                # "lossy": a map with a repeated key keeps the last value; "strict" would fail.
                yield from batch.to_pylist(maps_as_pydicts="lossy")
        except pa.ArrowException as exc:
            fact = str(exc).splitlines()[0]
            raise DataError(f"cannot be read as a checkpoint: {fact}", source=file.name) from None


def _commit_actions(file: Location) -> Iterator[Mapping[str, Any]]:
    for number, line in enumerate(file.read().splitlines(), 1):
        if not line.strip():
            continue
        try:
            action = json.loads(line)
        except (ValueError, RecursionError):
            action = None
        if not isinstance(action, dict):
            raise DataError(
                "is not an action of a Delta table; restore the log", source=f"{file.name}:{number}"
            )
        yield action


def _check(state: _State, folder: Location) -> None:
    unread = sorted(state.features - _READ_FEATURES)
    mapping = state.configuration.get("delta.columnMapping.mode", "none")
    if mapping != "none" or unread:
        what = "columnMapping" if mapping != "none" else ", ".join(unread)
        raise DataError(
            f"is a Delta table with the feature {what}, which is not read here; write it as plain Parquet",
            source=folder.name,
        )
    if any(add.get("deletionVector") for add in state.active.values()):
        raise DataError(
            f"is a Delta table with deletion vectors, whose removed rows are not recognised here; {_PURGE}",
            source=folder.name,
        )
    if not state.active:
        raise DataError("is a Delta table without rows; give a folder with data", source=folder.name)


def _file(add: Mapping[str, Any], folder: Location) -> ActiveFile:
    # The log has paths in URL encoding.
    path = unquote(str(add.get("path")))
    # Shallow clones name files of another table by absolute paths.
    if path.startswith("/") or "://" in path or ".." in path.split("/"):
        raise DataError(
            f"its log names a file of another folder, {path!r}; copy the table whole, or write it as plain"
            " Parquet",
            source=folder.name,
        )
    values = add.get("partitionValues") or {}
    # The protocol writes an absent value as an empty text.
    partitions = {str(name): None if value in (None, "") else str(value) for name, value in values.items()}
    return ActiveFile(path, partitions)
