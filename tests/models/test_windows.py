"""Numbers of tokens of many texts, by a tokenizer of words that remembers its calls."""

from __future__ import annotations

from typing import Any

from pytest_evalstudio.models.windows import token_counts

MAX_CHARS = 200_000


class WordTokenizer:
    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def __call__(self, texts: list[str], **options: Any) -> dict[str, list[list[int]]]:
        assert options["add_special_tokens"] is False
        assert options["truncation"] is False
        self.calls.append(texts)
        return {"input_ids": [[0] * len(text.split()) for text in texts]}


def test_short_texts_are_counted_in_one_call() -> None:
    tokenizer = WordTokenizer()
    texts = [" ".join(["word"] * (number % 7)) for number in range(2_000)]
    assert token_counts(tokenizer, texts) == [number % 7 for number in range(2_000)]
    assert tokenizer.calls == [texts]


def test_a_call_has_a_limited_number_of_characters_and_the_order_stays() -> None:
    tokenizer = WordTokenizer()
    sizes = [10, 30_000, 0, 50_000, 1, 200_000, 3, 20_000, 19_999, 7]
    texts = ["a " * size for size in sizes]
    assert token_counts(tokenizer, texts) == sizes
    assert [text for call in tokenizer.calls for text in call] == texts
    assert all(len(call) == 1 or sum(map(len, call)) <= MAX_CHARS for call in tokenizer.calls)
    assert [len(call) for call in tokenizer.calls] == [5, 1, 4]


def test_no_text_needs_no_call() -> None:
    tokenizer = WordTokenizer()
    assert token_counts(tokenizer, []) == []
    assert tokenizer.calls == []
