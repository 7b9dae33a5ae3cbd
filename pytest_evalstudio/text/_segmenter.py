"""Sentences of a paragraph by the rules of syntok, in a fraction of its time.

syntok's own tokenizer and tables of words are used; the state machine that decides at each mark is written
anew over indices, because the one of the library takes 2 µs for each character of a text.
"""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import accumulate, chain

from syntok._segmentation_states import State
from syntok.tokenizer import Tokenizer

_MAX_BRACKETED_TOKENS = 50
_MAX_CACHED_CHARS = 40
_MIN_BRACKETED_TOKENS = 3
_OPENING, _CLOSING, _QUOTES = State.opening_brackets, State.closing_brackets, State.closing_quotes
_TERMINALS = State.terminals
_MARKS = _TERMINALS | _OPENING
_AFTER_TERMINAL = _TERMINALS | _CLOSING
_INNER = State.inner_sentence_punctuation
_NUMBER_WORDS = frozenset({"no", "No", "NO"})
_BLANKS = frozenset("\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000").union(
    map(chr, range(0x2000, 0x200C))
)
"""Text that the tokenizer divides next; other blanks of Python, such as U+001C, are characters to it."""
_tokenizer = Tokenizer(replace_not_contraction=False)


def _tokenized(part: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return the tokens of a part of a text without spaces, and the index of their first characters."""
    # The tokenizer divides such a word nowhere; other letters may be two words, e.g. "iPhone".
    if part.isalpha() and (part.islower() or part.istitle() or part.isupper()):
        return (part,), (0,)
    tokens = [token for token in _tokenizer.tokenize(part) if token.value]
    return tuple(token.value for token in tokens), tuple(token.offset for token in tokens)


_cached = functools.lru_cache(maxsize=16_384)(_tokenized)
"""Tokens of short parts, which are mostly the same words."""


def _tokens(part: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    return (_cached if len(part) <= _MAX_CACHED_CHARS else _tokenized)(part)


class Paragraph:
    """Tokens of a paragraph, and the position of the segmenter among them.

    A blank end is an empty token.
    """

    def __init__(self, text: str) -> None:
        parts = text.split(" ")
        # The choice once for all parts saves a call for each word of an ordinary paragraph.
        tokens = list(map(_cached if max(map(len, parts)) <= _MAX_CACHED_CHARS else _tokens, parts))
        ends = accumulate(len(part) + 1 for part in parts)
        self._values = [value for values, _ in tokens for value in values]
        self._starts = [
            start + offset
            for start, (_, offsets) in zip(chain((0,), ends), tokens, strict=False)
            for offset in offsets
        ]
        self._sentence = 0
        """First token of the sentence."""
        self._next = 0
        """Token after those that the sentence has so far."""
        if text[-1] in _BLANKS:
            self._values.append("")
            self._starts.append(len(text))

    def sentences(self) -> Iterator[tuple[int, int]]:
        """Yield start and end of each sentence."""
        size = len(self._values)
        marks = [index for index, value in enumerate(self._values) if value in _MARKS]
        is_first, mark = True, 0
        while self._next < size:
            if is_first:
                if self._is_bracketed_sentence():
                    yield from self._ended()
                    continue
                self._next += self._next < size
                is_first = self._value in _TERMINALS or self._value == "("
                if not is_first:
                    continue
            else:
                mark = bisect_right(marks, self._next, mark)
                self._next = marks[mark] if mark < len(marks) else size
                self._skip_brackets()
                if self._value not in _MARKS:
                    continue
            if self._is_end(is_first):
                yield from self._ended()
                is_first = True
        yield from self._ended()

    @property
    def _value(self) -> str:
        """Value of the next token, "" after the last."""
        return self._values[self._next] if self._next < len(self._values) else ""

    @property
    def _last(self) -> str:
        return self._values[self._next - 1] if self._next > self._sentence else ""

    def _ended(self) -> Iterator[tuple[int, int]]:
        """End the sentence before the next token, and yield it."""
        first, self._sentence = self._sentence, self._next
        if self._next - first > 1 or (self._next > first and self._values[first]):
            yield self._starts[first], self._starts[self._next - 1] + len(self._values[self._next - 1])

    def _is_bracketed_sentence(self) -> bool:
        """Skip brackets at the beginning of a sentence, and return whether they are a sentence alone."""
        skipped = self._skip_brackets()
        return skipped and self._next - self._sentence > _MIN_BRACKETED_TOKENS and not self._is_lower_case()

    def _skip_brackets(self) -> bool:
        """Skip short text in brackets, and longer text that seems to have no sentence inside."""
        if self._value not in _OPENING:
            return False
        closing, has_sentence = self._closing_bracket()
        if not closing or (
            has_sentence
            and self._starts[closing] + len(self._values[closing]) - self._starts[self._next]
            >= State.max_bracket_skipping_length
        ):
            return False
        self._next = closing + 1
        return True

    def _closing_bracket(self) -> tuple[int, bool]:
        """Return the token that closes the next, a bracket, 0 for none, and whether a sentence is inside."""
        first, closing = self._next + 1, self._closing.get(self._next, 0)
        if not 0 < closing < self._next + _MAX_BRACKETED_TOKENS:
            return 0, False
        words = [index for index in range(first, closing) if self._values[index].isalnum()]
        return closing, (
            len(words) > 1 and self._values[words[0]].istitle() and self._values[words[-1] + 1] in _TERMINALS
        )

    @functools.cached_property
    def _closing(self) -> Mapping[int, int]:
        """Index of each opening bracket to that of its closing one, of any kind."""
        pairs: dict[int, int] = {}
        opened: list[int] = []
        for index, value in enumerate(self._values):
            if value in _OPENING:
                opened.append(index)
            elif value in _CLOSING and opened:
                pairs[opened.pop()] = index
        return pairs

    def _is_joined(self) -> bool:
        """Return whether neither a blank nor a hyphen is before the next token."""
        previous = self._next - 1
        end = self._starts[previous] + len(self._values[previous]) if self._next else 0
        return self._next < len(self._values) and self._starts[self._next] == end

    def _at(self, index: int) -> str:
        return self._values[index] if index < len(self._values) else ""

    def _is_lower_case(self) -> bool:
        return self._value[:1].islower()

    def _is_end(self, is_first: bool) -> bool:
        """Move over a mark, and return whether the sentence ends there.

        Args:
            is_first: whether the mark follows the first token of the sentence.
        """
        before, after = self._last, self._token_after_mark()
        value = self._value
        is_single = len(before) == 1 or before in State.roman_numerals
        if value[:1].islower() or value in _INNER:
            return False
        if value in State.starters and not (is_first and is_single):
            return True
        return not (
            (before in State.abbreviations and after not in _CLOSING)
            or (before in _NUMBER_WORDS and value.isalnum() and any(map(str.isnumeric, value)))
            or (
                self._is_joined()
                and (value.isnumeric() or not after.isalpha() or not after.istitle() or len(after) == 1)
            )
            or (value.isnumeric() and (len(value) > 2 or before in State.months))
            or (before.isnumeric() and value in State.months)
            or ("." in before and after != ".")
            or (is_single and (is_first or before.isupper()))
            or (len(before) == 1 and before.isalpha() and before not in State.vowels)
            or (after in _OPENING and not self._is_end_before_bracket())
        )

    def _is_end_before_bracket(self) -> bool:
        closing, has_sentence = self._closing_bracket()
        value = self._at(closing + 1) if closing and not has_sentence else ""
        return value not in _INNER and (self._at(self._next + 1).istitle() or not value[:1].islower())

    def _token_after_mark(self) -> str:
        """Move to the first token that may begin a sentence, and return the one after the mark."""
        size = len(self._values)
        self._next += self._value not in _OPENING
        if self._value in _OPENING and self._last not in _TERMINALS:
            self._skip_brackets()
            return self._value
        first = self._next
        self._skip_ends()
        if self._value in _QUOTES and self._is_joined():
            self._next += 1
        self._skip_ends()
        if self._value in _OPENING or self._next == first:
            return self._value
        # The library forgets a token that it moved over when the paragraph ends there.
        return self._values[first] if first + 1 < size else ""

    def _skip_ends(self) -> None:
        while self._value in _AFTER_TERMINAL:
            self._next += 1
