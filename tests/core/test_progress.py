"""Words and times of progress by a clock of the test, and the thread that shows them."""

from __future__ import annotations

import io
import threading
import time

import pytest

from pytest_evalstudio.core import progress
from pytest_evalstudio.core.progress import (
    DisplayTimes,
    ProgressDisplay,
    ProgressMeter,
    StreamOutput,
    progress_text,
    report_progress,
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Output:
    """Keeps what is shown."""

    def __init__(self, *, is_rewritten: bool) -> None:
        self.is_rewritten = is_rewritten
        self.texts: list[str] = []
        self.cleared = 0

    def show(self, text: str) -> None:
        self.texts.append(text)

    def clear(self) -> None:
        self.cleared += 1


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def display(output: Output | None, clock: Clock | None = None) -> ProgressDisplay:
    return ProgressDisplay(output, label="app", beginning="evaluating", clock=clock or time.monotonic)


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "evalstudio-progress"]


@pytest.mark.parametrize(
    ("count", "total", "elapsed_s", "text"),
    [
        (0, 1, 0.5, "asking 1 question"),
        (0, 40, 3.2, "asking 40 questions, 3 s"),
        (1, 40, 4.0, "1/40 answers, 4 s"),
        (12, 40, 0.0, "12/40 answers"),
        (12, 40, 20.0, "12/40 answers, 0.6 per s, about 47 s left"),
        (3, 1203, 60.0, "3/1,203 answers, 3 per min, about 6 h 40 min left"),
        (40, 40, 20.0, "40/40 answers, 2 per s"),
        (41, 40, 20.0, "41/40 answers, 2 per s"),
        (5000, None, 10.0, "5,000 answers, 500 per s"),
        (0, None, 0.0, "0 answers"),
        (0, 0, 0.0, "0/0 answers"),
    ],
)
def test_a_state_in_words(count: int, total: int | None, elapsed_s: float, text: str) -> None:
    assert progress_text(count, total, "answers", elapsed_s) == text


def test_what_earlier_runs_scored_does_not_count_for_the_rate() -> None:
    text = progress_text(1_010, 1_110, "answers", 10.0, earlier=1_000)
    assert text == "1,010/1,110 answers, 1 per s, about 1 min 40 s left"


def test_each_kind_of_object_has_its_own_rate() -> None:
    meter = ProgressMeter(0.0, "evaluating")
    assert meter.text(2.0) == "evaluating, 2 s"
    meter.update(0, 4, "answers", 2.0)
    meter.update(4, 4, "answers", 22.0)
    meter.update(0, 4, "judgements (faithfulness)", 30.0)
    meter.update(3, 4, "judgements (faithfulness)", 33.0)
    assert meter.text(33.0) == "3/4 judgements (faithfulness), 1 per s, about 1 s left"


def test_a_second_round_of_questions_begins_anew() -> None:
    meter = ProgressMeter(0.0, "evaluating")
    for count in range(5):
        meter.update(count, 4, "answers", float(count))
    meter.update(0, 2, "answers", 10.0)
    assert meter.text(12.0) == "asking 2 questions, 2 s"


def test_embedding_beside_a_judge_does_not_replace_its_count() -> None:
    meter = ProgressMeter(0.0, "evaluating")
    meter.update(1, 4, "judgements", 1.0)
    assert not meter.update(0, 64, "texts embedded", 2.0)
    assert not meter.update(64, 64, "texts embedded", 3.0)
    assert meter.text(3.0).startswith("1/4 judgements")
    assert meter.update(32, 64, "texts embedded", 3.0)


def test_a_kind_that_was_interrupted_by_another_keeps_its_rate() -> None:
    meter = ProgressMeter(0.0, "scoring")
    meter.update(0, 100, "answers scored", 0.0)
    meter.update(10, 100, "answers scored", 10.0)
    meter.update(1, 5, "judgements", 19.0)
    meter.update(20, 100, "answers scored", 20.0)
    assert meter.text(20.0) == "20/100 answers scored, 1 per s, about 1 min 20 s left"


def test_a_terminal_shows_news_at_once_and_the_time_each_second() -> None:
    times = DisplayTimes(0.0, is_rewritten=True)
    assert times.is_due(0.0, has_news=True)
    assert not times.is_due(0.4, has_news=False)
    assert times.is_due(0.5, has_news=False)
    times.shown(0.5, has_news=False)
    assert times.is_due(0.6, has_news=True)
    times.shown(0.6, has_news=True)
    assert not times.is_due(0.7, has_news=True)
    assert times.is_due(0.85, has_news=True)
    assert times.wait_s(1.1) == 0.5
    assert times.wait_s(9.0) == 0.0


def test_a_log_has_a_line_every_20_seconds() -> None:
    times = DisplayTimes(0.0, is_rewritten=False)
    assert not any(times.is_due(19.9, has_news=has_news) for has_news in (False, True))
    assert times.is_due(20.0, has_news=False)
    times.shown(20.1, has_news=False)
    assert not times.is_due(40.0, has_news=True)
    assert times.is_due(40.1, has_news=True)


def test_news_are_shown_and_removed_at_the_end() -> None:
    output, clock = Output(is_rewritten=True), Clock()
    with display(output, clock) as show:
        show(0, 3)
        show(1, 3)
        clock.now += 0.1
        show(2, 3)
        clock.now += 0.2
        show(3, 3)
    assert output.texts == ["app: 1/3 answers", "app: 3/3 answers"]
    assert output.cleared == 1


def test_the_time_moves_while_nothing_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "FIRST_S", 0.01)
    monkeypatch.setattr(progress, "TICK_S", 0.01)
    output, clock = Output(is_rewritten=True), Clock()
    with display(output, clock) as show:
        show(0, 40)
        for _ in range(300):
            clock.now += 1.0
            time.sleep(0.01)
            if len(set(output.texts)) >= 3:
                break
    assert output.texts[0].startswith("app: asking 40 questions")
    assert len(set(output.texts)) >= 3


@pytest.mark.parametrize("fault", [ValueError, KeyboardInterrupt, None])
def test_the_thread_ends_with_the_work(fault: type[BaseException] | None) -> None:
    def work() -> None:
        with display(Output(is_rewritten=True)):
            assert threads()
            if fault is not None:
                raise fault

    if fault is None:
        work()
    else:
        with pytest.raises(fault):
            work()
    assert not threads()
    assert not report_progress(1, 2, "answers")


def test_nothing_is_shown_after_the_end() -> None:
    output = Output(is_rewritten=True)
    with display(output) as show:
        pass
    show(1, 2)
    assert not output.texts


def test_without_output_there_is_no_thread() -> None:
    with display(None) as show:
        show(1, 2)
        assert not threads()
        assert not report_progress(1, 2, "answers")


def test_a_closed_output_does_not_end_the_work() -> None:
    stream = Terminal()
    with ProgressDisplay(StreamOutput(stream), label="evalstudio", beginning="scoring") as show:
        stream.close()
        show(1, 2)


def test_work_without_a_new_thread_is_shown_as_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    output = Output(is_rewritten=True)
    with display(output) as show:
        show(1, 2)
    assert output.texts == ["app: 1/2 answers"]


def test_deep_work_reports_to_the_display_that_is_shown() -> None:
    output = Output(is_rewritten=True)
    with display(output):
        assert report_progress(4, 9, "texts embedded")
    assert output.texts == ["app: 4/9 texts embedded"]


def test_a_text_replaces_the_one_before_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    output = StreamOutput(stream)
    output.show("longer text")
    output.show("short")
    output.clear()
    assert stream.getvalue() == "\rlonger text\rshort      \r     \r"


def test_a_text_never_wraps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    StreamOutput(stream).show("x" * 200)
    assert len(stream.getvalue()) == 80


@pytest.mark.parametrize(("stream", "term"), [(io.StringIO(), "xterm"), (Terminal(), "dumb")])
def test_elsewhere_each_text_is_a_line(
    stream: io.StringIO, term: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", term)
    output = StreamOutput(stream)
    assert not output.is_rewritten
    output.show("one")
    output.show("two")
    output.clear()
    assert stream.getvalue() == "one\ntwo\n"


def test_control_characters_are_shown_as_escapes() -> None:
    output = Output(is_rewritten=True)
    with ProgressDisplay(output, label="a\x1b[31m\n", beginning="evaluating") as show:
        show(1, 2)
    assert output.texts == [r"a\x1b[31m\n: 1/2 answers"]
