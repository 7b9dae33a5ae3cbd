"""Spans of the running test: when they are complete, late, missing, or those of others."""

from __future__ import annotations

import threading

import pytest

from pytest_evalstudio.traces import collecting
from pytest_evalstudio.traces.collecting import SpanStore
from pytest_evalstudio.traces.spans import Span

PREFIX = "0123456789abcdef"
TRACE, OTHER = PREFIX + "0" * 16, PREFIX + "1" * 16
ROOT = Span(id="a", parent="q", is_server=True)
CHILD = Span(id="b", parent="a")


def received(*spans: Span, receives: bool = True) -> SpanStore:
    store = SpanStore(PREFIX, receives=receives)
    store.add((TRACE, span, 1) for span in spans)
    return store


def status(store: SpanStore, wait_s: float = 0.0) -> str:
    return store.collect(TRACE, ["q"], wait_s).status


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ((), "missing"),
        ((CHILD, ROOT), "complete"),
        ((CHILD,), "incomplete"),  # its parent has not arrived
        ((Span(id="c", parent="b"), ROOT), "incomplete"),
        ((Span(id="a", parent="elsewhere"),), "incomplete"),
    ],
)
def test_spans_are_complete_when_the_server_and_all_parents_are_there(
    spans: tuple[Span, ...], expected: str
) -> None:
    assert status(received(*spans)) == expected


def test_a_question_waits_for_the_span_that_is_missing() -> None:
    store = received(CHILD)
    timer = threading.Timer(0.05, lambda: store.add([(TRACE, ROOT, 1)]))
    timer.start()
    assert status(store, 600) == "complete"
    timer.join()


def test_without_a_span_of_a_server_a_pause_ends_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "QUIET_S", 0.01)
    assert status(received(Span(id="a", parent="q")), 600) == "complete"


def test_spans_that_run_in_this_process_are_awaited() -> None:
    store = SpanStore(PREFIX, receives=False)
    store.begin(TRACE)
    timer = threading.Timer(0.05, lambda: store.end(TRACE, Span(id="a", parent="q")))
    timer.start()
    assert status(store, 600) == "complete"
    timer.join()
    store.begin(OTHER)
    store.end(OTHER, Span(id="a", parent="q"))
    store.begin(OTHER)
    assert store.collect(OTHER, ["q"], 0).status == "incomplete"


def test_nothing_is_awaited_that_cannot_come() -> None:
    """A question would wait for ten minutes here."""
    assert status(SpanStore(PREFIX, receives=False), 600) == "missing"
    silent = SpanStore(PREFIX, receives=True)
    for _ in range(collecting.SILENT_QUESTIONS):
        silent.collect(OTHER, ["q"], 0)
    assert status(silent, 600) == "missing"


def test_late_spans_and_those_of_others_are_counted_and_not_kept() -> None:
    store = received(ROOT)
    assert status(store) == "complete"
    assert store.add([(TRACE, CHILD, 1), ("f" * 32, CHILD, 1), ("f" * 32, CHILD, 1)]) == 0
    assert (store.late, store.foreign) == (1, 2)
    assert status(store) == "missing"


def test_a_span_that_is_sent_again_counts_once() -> None:
    assert len(received(ROOT, CHILD, ROOT).collect(TRACE, ["q"], 0).spans) == 2


def test_large_spans_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "MAX_TRACE_BYTES", 10)
    store = received(ROOT)
    assert store.add([(TRACE, CHILD, 10)]) == 1
    collected = store.collect(TRACE, ["q"], 0)
    assert (collected.status, collected.lost) == ("incomplete", 1)


def test_a_cycle_of_parents_ends_the_wait_only_by_time() -> None:
    store = received(Span(id="a", parent="b"), Span(id="b", parent="a"))
    assert status(store) == "incomplete"
