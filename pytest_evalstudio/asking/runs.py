"""The run that stored answers belong to, and the mark of a run that has not ended."""

from __future__ import annotations

import datetime
import enum
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from pytest_evalstudio.core.reading import file_sha256, read_bytes
from pytest_evalstudio.core.writing import write_whole

MAX_AGE_S = 24 * 3600.0
"""Seconds after which an unfinished run is not continued: its answers may not be those of today's service."""


class CacheMode(enum.StrEnum):
    """Use of the stored answers of a model.

    Attributes:
        NEVER: answers are not stored.
        RESUME: they serve the continuation of a run that was interrupted; a run that ended is not replayed.
        ALWAYS: they are replayed from run to run.
    """

    NEVER = "never"
    RESUME = "resume"
    ALWAYS = "always"


class AskingRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run in which models are asked.

    Attributes:
        id: stored answers belong to it; a run and its continuation have the same one.
        began: seconds since the epoch at which this process's run began. Answers stored before are stored
            answers of an earlier run.
        first_began: the same of the run that this one continues; equal to `began` for a new one.
        replays: whether answers of runs that ended are used too.
        refreshes: whether answers stored before this run are ignored, also those of models that keep theirs.
        spans_at: secret address at which workers take the spans of their questions; "" for none.
    """

    id: str
    began: float
    first_began: float
    replays: bool = False
    refreshes: bool = False
    spans_at: str = ""

    @classmethod
    def new(cls, *, replays: bool = False, refreshes: bool = False) -> AskingRun:
        """Return a run that begins now."""
        now = time.time()
        return cls(id=uuid.uuid4().hex, began=now, first_began=now, replays=replays, refreshes=refreshes)

    @property
    def is_continuation(self) -> bool:
        """Return whether the run continues an unfinished one."""
        return self.first_began != self.began  # the clock may have been set back between the two


RunSource = Callable[[], AskingRun]
"""Returns the run of a process, which workers learn after their models were opened."""


def fixed_run(run: AskingRun | None = None) -> RunSource:
    """Return the source of a run that is known; of a new one where it is not given."""
    fixed = run or AskingRun.new()
    return lambda: fixed


class RunInputs(msgspec.Struct, frozen=True, kw_only=True):
    """Inputs that a run and its continuation have in common.

    Attributes:
        configuration: digest of the configurations that apply.
        files: name of each file to the digest of its content. A continuation may leave files out.
        commit: of the tested project, "" where it is not known.
    """

    configuration: str
    files: Mapping[str, str] = {}
    commit: str = ""

    def continues(self, earlier: RunInputs) -> bool:
        """Return whether a run with these inputs may continue one with the earlier inputs."""
        return (
            self.configuration == earlier.configuration
            and self.commit == earlier.commit
            and all(earlier.files.get(name) == digest for name, digest in self.files.items())
        )


class _Mark(msgspec.Struct, frozen=True, kw_only=True):
    """Content of the file that marks an unfinished run."""

    run: str
    began: float
    inputs: RunInputs


class UnfinishedRun:
    """File that exists from the start of a run until it has ended.

    A run that is interrupted, killed or stopped by a budget leaves the file. The next run with the same
    inputs continues it: the answers that it stored are used.

    Args:
        path: of the file.
        max_age_s: seconds after which the run is not continued.
    """

    def __init__(self, path: Path, *, max_age_s: float = MAX_AGE_S) -> None:
        self.path = path
        self._max_age_s = max_age_s

    def planned(self, inputs: RunInputs, *, replays: bool = False, refreshes: bool = False) -> AskingRun:
        """Return the run that `begin` would start; nothing is written.

        Args:
            inputs: of the run.
            replays: as of `AskingRun`.
            refreshes: as of `AskingRun`; an unfinished run is then not continued.
        """
        run = AskingRun.new(replays=replays, refreshes=refreshes)
        mark = None if refreshes else self._mark()
        if (
            mark is None
            or abs(run.began - mark.began) > self._max_age_s  # the clock may have been set back
            or not inputs.continues(mark.inputs)
        ):
            return run
        # `began` stays that of this process: answers stored before count as those of an earlier run.
        return msgspec.structs.replace(run, id=mark.run, first_began=mark.began)

    def begin(self, inputs: RunInputs, *, replays: bool = False, refreshes: bool = False) -> AskingRun:
        """Start a run, or continue the unfinished one, and mark it; see `planned`.

        A folder that cannot be written to makes a run that cannot be continued.
        """
        run = self.planned(inputs, replays=replays, refreshes=refreshes)
        mark = _Mark(run=run.id, began=run.first_began, inputs=inputs)
        with suppress(OSError):  # a full or read-only disk costs the continuation, not the run
            write_whole(self.path, msgspec.json.encode(mark) + b"\n")
        return run

    def end(self) -> None:
        """Remove the mark: the run has ended, and is not continued."""
        with suppress(OSError):  # a mark that stays is void after a day
            self.path.unlink(missing_ok=True)

    def _mark(self) -> _Mark | None:
        try:
            return msgspec.json.decode(read_bytes(self.path), type=_Mark)
        except (OSError, msgspec.MsgspecError, RecursionError):
            # a damaged mark is that of no run: questions are asked anew
            return None


def file_digests(paths: Iterable[Path], names_from: Path) -> dict[str, str]:
    """Return the SHA-256 of each file, by its path relative to a folder where it is below that.

    A file that cannot be read has the digest "".
    """
    digests = {}
    for path in dict.fromkeys(paths):
        name = path.relative_to(names_from) if path.is_relative_to(names_from) else path
        try:
            digests[name.as_posix()] = file_sha256(path)
        except OSError:
            digests[name.as_posix()] = ""
    return digests


def clock_time(seconds: float, now: float | None = None) -> str:
    """Return a local time as people read it: "12:03", with the date where it is not today's.

    Args:
        seconds: since the epoch.
        now: the current time; that of the clock where not given.
    """
    moment = datetime.datetime.fromtimestamp(seconds)
    today = datetime.datetime.fromtimestamp(time.time() if now is None else now).date()
    return moment.strftime("%H:%M" if moment.date() == today else "%Y-%m-%d %H:%M")


def continuation_line(run: AskingRun, stored: int, total: int | None = None) -> str:
    """Return the sentence that announces a continuation.

    Args:
        run: the continuation.
        stored: number of answers that the unfinished run stored.
        total: number of questions that this run asks at least; None where that is not counted.
    """
    count = f"{stored:,}" if total is None else f"{min(stored, total):,} of {total:,}"
    return f"continues the run of {clock_time(run.first_began)}: {count} answers stored"
