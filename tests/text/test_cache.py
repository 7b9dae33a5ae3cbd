"""Results that are kept for texts."""

from __future__ import annotations

import threading

import pytest

from pytest_evalstudio.text import cache as text_cache
from pytest_evalstudio.text.cache import cached_by_text


def test_a_text_is_read_once_until_others_fill_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_cache, "MAX_CHARS", 10)
    monkeypatch.setattr(text_cache, "ENTRY_CHARS", 0)
    texts: list[str] = []

    @cached_by_text
    def length(text: str) -> int:
        texts.append(text)
        return len(text)

    assert [length(text) for text in ("four", "four", "three", "four", "again", "four")] == [4, 4, 5, 4, 5, 4]
    assert texts == ["four", "three", "again", "four"]


def test_a_text_longer_than_the_cache_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_cache, "MAX_CHARS", 10)
    monkeypatch.setattr(text_cache, "ENTRY_CHARS", 0)
    calls: list[str] = []

    @cached_by_text
    def none(text: str) -> None:
        calls.append(text)

    none("a" * 11)
    none("a" * 11)

    assert len(calls) == 2, "None is a result, too"
    none("b")
    none("b")
    assert len(calls) == 3


def test_short_texts_are_bounded_by_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_cache, "MAX_CHARS", 10)
    monkeypatch.setattr(text_cache, "ENTRY_CHARS", 4)
    texts: list[str] = []
    read = cached_by_text(lambda text: texts.append(text))
    for text in ("a", "b", "b", "c", "a"):
        read(text)
    assert texts == ["a", "b", "c", "a"], "two entries of one character fit, three do not"


def test_results_are_kept_until_they_are_cleared() -> None:
    calls: list[str] = []

    @cached_by_text
    def length(text: str) -> int:
        calls.append(text)
        return len(text)

    assert (length("abc"), length("abc"), calls) == (3, 3, ["abc"])
    length.clear()
    assert (length("abc"), calls) == (3, ["abc", "abc"])


def test_a_result_that_was_begun_before_is_not_kept_after_clearing() -> None:
    states = ["old"]
    begun, go_on = threading.Event(), threading.Event()

    @cached_by_text
    def current(text: str) -> str:
        result = states[-1]
        begun.set()
        assert go_on.wait(30)
        return result

    thread = threading.Thread(target=current, args=("a",))
    thread.start()
    assert begun.wait(30)
    states.append("new")
    current.clear()
    go_on.set()
    thread.join()
    assert current("a") == "new"
