"""Progress of long work in words, shown in place on a terminal and line by line elsewhere.

Nothing here knows pytest: the output is given, see `ProgressOutput`. Work that runs deep below a command or
an item, e.g. embedding, reports to the display that is shown at the time; see `report_progress`.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, Self, TextIO

from pytest_evalstudio.core.display import printable, visible
from pytest_evalstudio.text.figures import counted

ANSWERS = "answers"
MIN_FOR_RATE = 3
"""Objects that are done before a rate is shown: the first ones say little about the others."""
FIRST_S = 0.5
"""Seconds until the first sign on a terminal, if nothing arrives before."""
TICK_S = 1.0
"""Seconds after which the elapsed time is shown anew on a terminal."""
REWRITE_S = 0.2
"""Seconds between two signs on a terminal, which need not show each of 10,000 answers."""
LINE_S = 20.0
"""Seconds between two lines where there is no terminal."""


def duration_text(seconds: float) -> str:
    """Return a duration with at most two units.

    >>> duration_text(0.2), duration_text(45), duration_text(59.7), duration_text(125), duration_text(4000)
    ('0 s', '45 s', '1 min', '2 min 5 s', '1 h 7 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        minutes, rest = divmod(whole, 60)
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours:,} h {minutes} min" if minutes else f"{hours:,} h"


def rate_text(per_s: float) -> str:
    """Return a rate above zero, per minute or hour where it is small.

    >>> rate_text(0.61), rate_text(1234.5), rate_text(0.05), rate_text(0.001)
    ('0.6 per s', '1,234 per s', '3 per min', '3.6 per h')
    """
    for unit, seconds in (("s", 1), ("min", 60)):
        if per_s * seconds >= 0.1:
            return f"{_short(per_s * seconds)} per {unit}"
    return f"{_short(per_s * 3600)} per h"


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}".removesuffix(".0")


def progress_text(done: int, total: int | None, what: str, elapsed_s: float, *, earlier: int = 0) -> str:
    """Return the state of a work.

    Args:
        done: number of objects that are done.
        total: number of all objects, None where it is not known.
        what: name of the objects.
        elapsed_s: seconds since the work began.
        earlier: objects of `done` that were done before it began.

    >>> progress_text(0, 40, "answers", 3.0)
    'asking 40 questions, 3 s'
    >>> progress_text(12, 40, "answers", 20.0)
    '12/40 answers, 0.6 per s, about 47 s left'
    >>> progress_text(1, 3, "judgements (faithfulness)", 0.1)
    '1/3 judgements (faithfulness)'
    """
    added = done - earlier
    elapsed = f", {duration_text(elapsed_s)}" if elapsed_s >= 1 else ""
    if done <= 0 and total and what == ANSWERS:
        return f"asking {counted(total, 'question')}{elapsed}"
    counts = f"{done:,} {what}" if total is None else f"{done:,}/{total:,} {what}"
    if added < MIN_FOR_RATE or not elapsed:
        return counts + elapsed
    per_s = added / elapsed_s
    if total is None or done >= total:
        return f"{counts}, {rate_text(per_s)}"
    left = duration_text(max(1.0, (total - done) / per_s))
    return f"{counts}, {rate_text(per_s)}, about {left} left"


def cut_to_width(text: str, columns: int) -> str:
    """Return the beginning of a text that fits on a terminal.

    Args:
        columns: of the terminal; wide characters take two.

    >>> cut_to_width("answers", 3), cut_to_width("\u7b54\u6848", 3) == "\u7b54"
    ('ans', True)
    """
    if text.isascii():
        return text[:columns]
    for index, char in enumerate(text):
        columns -= 2 if unicodedata.east_asian_width(char) in "WF" else 1
        if columns < 0:
            return text[:index]
    return text


@dataclass(slots=True)
class _Phase:
    """Objects of one kind; `began` is the time at which `earlier` of them were done."""

    what: str
    done: int
    total: int | None
    earlier: int
    began: float

    @property
    def is_unfinished(self) -> bool:
        return self.done > 0 and (self.total is None or self.done < self.total)


class ProgressMeter:
    """State of a work whose kinds of objects follow one another: answers, then judgements.

    Args:
        now: time in seconds.
        beginning: what is done before the first object is counted, e.g. "asking the models".
    """

    def __init__(self, now: float, beginning: str) -> None:
        self._beginning = beginning
        self._since = now
        self._phase: _Phase | None = None
        self._phases: dict[str, _Phase] = {}

    def update(self, done: int, total: int | None, what: str, now: float, *, earlier: int = 0) -> bool:
        """Take a state; return False if it is ignored.

        Embedding goes on beside judges: its begin and its end do not replace a count that is not finished.
        """
        shown = self._phase
        if shown is not None and shown.what != what and shown.is_unfinished and done in (0, total):
            return False
        phase = self._phases.get(what)
        if phase is not None and phase.done <= done:
            phase.done, phase.total = done, total
        else:
            begins_now = done <= earlier and shown is not None
            phase = _Phase(what, done, total, earlier, now if begins_now else self._since)
        self._phase = self._phases[what] = phase
        self._since = now
        return True

    def text(self, now: float) -> str:
        """Return the state in words."""
        phase = self._phase
        if phase is None:
            elapsed_s = now - self._since
            return self._beginning + (f", {duration_text(elapsed_s)}" if elapsed_s >= 1 else "")
        return progress_text(phase.done, phase.total, phase.what, now - phase.began, earlier=phase.earlier)


class DisplayTimes:
    """Times at which a state is shown.

    Args:
        now: time in seconds at which the work begins.
        is_rewritten: whether a state replaces the one before it, as on a terminal.
    """

    def __init__(self, now: float, *, is_rewritten: bool) -> None:
        self._is_rewritten = is_rewritten
        self._every_s = TICK_S if is_rewritten else LINE_S
        self._between_s = REWRITE_S if is_rewritten else LINE_S
        self._next = now + (FIRST_S if is_rewritten else LINE_S)
        self._next_with_news = now if is_rewritten else self._next

    def is_due(self, now: float, *, has_news: bool) -> bool:
        """Return whether the state is shown now.

        Args:
            has_news: whether an object has just been done.
        """
        return now >= (self._next_with_news if has_news else self._next)

    def shown(self, now: float, *, has_news: bool) -> None:
        """Note that the state was shown; on a terminal, the first news need not wait for the time."""
        self._next = now + self._every_s
        if has_news or not self._is_rewritten:
            self._next_with_news = now + self._between_s

    def wait_s(self, now: float) -> float:
        """Return the seconds until the state is shown without news."""
        return max(0.0, self._next - now)


class ProgressOutput(Protocol):
    """Stream that a display writes to.

    Attributes:
        is_rewritten: whether a text replaces the one before it; elsewhere each is a line.
    """

    @property
    def is_rewritten(self) -> bool: ...

    def show(self, text: str) -> None: ...

    def clear(self) -> None: ...


class StreamOutput:
    """A stream, e.g. standard error; on a terminal the texts replace one another in its last line."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._width = 0
        self._is_rewritten = stream.isatty() and os.environ.get("TERM") != "dumb"

    @property
    def is_rewritten(self) -> bool:
        """Return whether a text replaces the one before it."""
        return self._is_rewritten

    def show(self, text: str) -> None:
        """Write a text, cut to the width of a terminal."""
        text = printable(text, self._stream.encoding)
        if not self._is_rewritten:
            self._write(f"{text}\n")
            return
        text = cut_to_width(text, self._columns() - 1)
        self._write("\r" + text.ljust(self._width))
        self._width = len(text)

    def clear(self) -> None:
        """Remove the text from a terminal."""
        if self._width:
            self._write("\r" + " " * self._width + "\r")
            self._width = 0

    def _columns(self) -> int:
        with contextlib.suppress(OSError, ValueError):
            return os.get_terminal_size(self._stream.fileno()).columns or 80
        return 80

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


class ProgressDisplay:
    """Shows the progress of the work in its context; can be called from several threads.

    A thread shows the elapsed time while nothing is done. It ends with the context, whatever ends that.

    Args:
        output: None to show nothing.
        label: written before each state.
        beginning: what is done before the first object is counted.
        clock: time in seconds.
    """

    def __init__(
        self,
        output: ProgressOutput | None,
        *,
        label: str,
        beginning: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._output = output
        self._label = visible(label)
        self._clock = clock
        now = clock()
        self._meter = ProgressMeter(now, beginning)
        self._times = DisplayTimes(now, is_rewritten=output is not None and output.is_rewritten)
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        if self._output is None:
            return self
        _shown.append(self)
        self._thread = threading.Thread(target=self._tick, name="evalstudio-progress", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # no further thread can be started: states are shown as objects are done
            self._thread = None
        return self

    def __call__(self, done: int, total: int | None, what: str = ANSWERS, *, earlier: int = 0) -> None:
        """Take the state of the work, and show it if it is due.

        Args:
            done: number of objects that are done; with 0 the state is only shown after a while.
            total: number of all objects, None where it is not known.
            what: name of the objects.
            earlier: objects of `done` that were done before the work began.
        """
        if self._output is None:
            return
        with self._lock:
            now = self._clock()
            if self._meter.update(done, total, what, now, earlier=earlier):
                self._show_if_due(now, has_news=done > earlier)

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        if self._output is None:
            return
        _shown.remove(self)
        with self._lock:
            self._write(self._output.clear)

    def _tick(self) -> None:
        while not self._ended.wait(self._times.wait_s(self._clock())):
            with self._lock:
                self._show_if_due(self._clock(), has_news=False)

    def _show_if_due(self, now: float, *, has_news: bool) -> None:
        output = self._output
        if output is None or self._ended.is_set() or not self._times.is_due(now, has_news=has_news):
            return
        self._times.shown(now, has_news=has_news)
        text = visible(self._meter.text(now))
        self._write(lambda: output.show(f"{self._label}: {text}"))

    def _write(self, write: Callable[[], None]) -> None:
        # A closed output is no reason to end the work.
        with contextlib.suppress(OSError, ValueError):
            write()


_shown: list[ProgressDisplay] = []
"""Displays whose context is entered, the innermost last."""


def report_progress(done: int, total: int | None, what: str) -> bool:
    """Report progress to the display that is shown; return False if there is none.

    Args:
        done: number of objects that are done.
        total: number of all objects, None where it is not known.
        what: name of the objects.
    """
    display = _shown[-1] if _shown else None
    if display is None:
        return False
    display(done, total, what)
    return True
