"""Baselines: records that later runs are compared with."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.writing import replacing
from pytest_evalstudio.record.codec import encode_line
from pytest_evalstudio.record.reader import RecordReader, record_path
from pytest_evalstudio.record.schema import Baseline, Item, RecordRow, Run
from pytest_evalstudio.record.writer import FILE
from pytest_evalstudio.text.figures import counted

_MAX_UNPACKED = 4 * 1024**3  # bounds what a small ZIP of a stranger can unpack to


@contextmanager
def opened(file_path: str | Path) -> Iterator[RecordReader]:
    """Open a baseline: a record, the folder of a report, or its ZIP archive.

    Raises:
        DataError: if there is none, or it is damaged or of a later version.
    """
    path = Path(file_path)
    if not (path.is_file() and zipfile.is_zipfile(path)):
        yield RecordReader(record_path(path))
        return
    with tempfile.TemporaryDirectory(prefix="evalstudio-") as folder:
        yield RecordReader(_unpacked(path, Path(folder)))


def save(
    reader: RecordReader, path: Path, *, saved: str, with_answers: bool = True, compared_with: str = ""
) -> int:
    """Write a baseline in place of the file, and return the number of its items.

    Kept are outcomes, scores, questions, expectations, answers and contexts; marks and details are not.

    Args:
        reader: of the record.
        path: of the baseline.
        saved: time, ISO 8601.
        with_answers: False leaves out answers and contexts; questions and expectations are kept.
        compared_with: the baseline that the run was compared with, for a history.
    """
    count = 0
    run = msgspec.structs.replace(
        reader.run,
        baseline=Baseline(saved=saved, has_answers=with_answers),
        compared_with=compared_with,
        steps={},
        arena={},
        causes={},
    )
    with replacing(path) as file:
        file.write(encode_line(run) + b"\n")
        for item in reader.items():
            file.write(encode_line(compact(item, with_answers=with_answers)) + b"\n")
            count += 1
    return count


def baseline_key(run: Run) -> str:
    """Return the identity of a baseline; one that was saved or accepted anew is another one."""
    saved = run.baseline.saved if run.baseline is not None else ""
    return f"{run.run_id} {saved}".strip()


def missing_parts(run: Run, outcomes: Mapping[str, int]) -> tuple[str, ...]:
    """Return why a run is only a part of its suites; () for a whole one.

    Args:
        outcomes: number of its items by outcome.
    """
    unended = run.session.collected - run.session.ended if run.session is not None else 0
    counts = {
        "was interrupted": run.interrupted or run.finished is None,
        "left out test cases (-k, -m, --lf, a node id)": run.deselected,
        f"is {run.shards}": run.shards is not None,
        f"did not end {counted(unended, 'test')}": unended,
        f"could not collect {counted(len(run.uncollected), 'file or test case', 'files or test cases')}": (
            run.uncollected
        ),
        f"did not run {counted(outcomes.get('not_run', 0), 'test case')}": outcomes.get("not_run", 0),
    }
    return tuple(text for text, is_so in counts.items() if is_so)


def compact(item: Item, *, with_answers: bool) -> Item:
    """Return an item as a baseline keeps it: without marks, details and, if they are left out, answers."""
    rows = tuple(_row(row, with_answers=with_answers) for row in item.rows)
    return msgspec.structs.replace(item, rows=rows)


def _row(row: RecordRow, *, with_answers: bool) -> RecordRow:
    outcomes = {id: _outcome(outcome) for id, outcome in row.outcomes.items()}
    if with_answers:
        return msgspec.structs.replace(row, outcomes=outcomes)
    answer = msgspec.structs.replace(row.answer, context=(), text="")
    return msgspec.structs.replace(row, outcomes=outcomes, answer=answer)


def _outcome(outcome: Outcome) -> Outcome:
    return Outcome(status=outcome.status, code=outcome.code, scores=outcome.scores)


def _unpacked(archive: Path, folder: Path) -> Path:
    """Return the record of a report's archive, copied into a folder."""
    with zipfile.ZipFile(archive) as files:
        name = next((name for name in files.namelist() if Path(name).name == FILE), None)
        if name is None:
            raise DataError(f"the archive holds no {FILE}; give the archive of a report", source=str(archive))
        if files.getinfo(name).file_size > _MAX_UNPACKED:
            raise DataError(f"{name} is larger than 4 GiB when unpacked", source=str(archive))
        target = folder / FILE
        try:
            with files.open(name) as packed, open(target, "wb") as file:
                shutil.copyfileobj(packed, file)
        except (zipfile.BadZipFile, EOFError, ValueError) as exc:
            raise DataError(f"the archive is damaged: {exc}", source=str(archive)) from None
    return target
