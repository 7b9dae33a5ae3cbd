"""Results that are kept for texts."""

from __future__ import annotations

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
