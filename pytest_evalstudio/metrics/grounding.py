"""Lexical support of a text by its sources: content words, pairs of content words and numbers."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeVar

from pytest_evalstudio.metrics.function_words import FUNCTION_WORDS
from pytest_evalstudio.text.cache import cached_by_text
from pytest_evalstudio.text.claims import stated_figures, statements_of
from pytest_evalstudio.text.folding import ZERO_WIDTH, fold_characters
from pytest_evalstudio.text.numbers import Figure, FigureIndex, figure_index

_T = TypeVar("_T")

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SPELLED = {word: str(value) for value, word in enumerate(_UNITS.split())} | {
    word: str(10 * ten) for ten, word in enumerate(_TENS.split(), start=2)
}

_TOKEN = re.compile(
    r"(?P<number>(?<![^\W\d_])[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?|\.[0-9]+)(?P<suffix>st|nd|rd|th|s|k|mn?|bn?|tn)?(?![^\W_])"
    r"|(?P<ideograph>[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0e7f])"
    r"|(?P<word>(?:(?![\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0e7f])[^\W_])+(?:['’][^\W\d_]+)?)"
)
_ASCII_TOKEN = re.compile(
    r"(?P<number>(?<![^\W\d_])[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?|\.[0-9]+)(?P<suffix>st|nd|rd|th|s|k|mn?|bn?|tn)?(?![^\W_])"
    r"|(?P<word>[^\W_]+(?:'[^\W\d_]+)?)"
)
"""The same for ASCII texts, in a third of the time."""
_SCALE = re.compile(
    r"\s?-?(?:(?P<bn>billion|bn|b)|(?P<mn>million|mn|m)|(?P<k>thousand|k)|(?P<tn>trillion|tn))\b",
    re.IGNORECASE,
)
MAX_STEMMED_CHARS = 100
"""Longest word that is stemmed; the longest words of dictionaries have half of it."""
MAX_CACHED_CHARS = 40
"""Longest part of a text without blanks that is cached: most parts of texts are the same words."""
CACHED_PARTS = 16_384
_SCALED_PARTS = re.compile(r"[0-9] -?[bkmt]", re.IGNORECASE)
"""A text without it has no number whose scale, such as "million", is another part."""
_FACTORS = {"k": 3, "mn": 6, "bn": 9, "tn": 12}  # powers of ten, for `scaleb`


class Token(NamedTuple):
    """Content word or number of a text.

    Attributes:
        kind: word or number.
        keys: stem of a word, followed by its value if it is a numeral; possible values of a number, the most
            likely first.
        start: index of the first character.
        end: index after the last character.
    """

    kind: Literal["word", "number"]
    keys: tuple[str, ...]
    start: int
    end: int

    def moved(self, position: int) -> Token:
        """Return the token of a part in the text that has the part at a position."""
        return Token(self.kind, self.keys, position + self.start, position + self.end)


class TextPart(NamedTuple):
    """Content words and numbers of a part of a text that a space ends.

    Attributes:
        tokens: with positions in the part.
        keys: first key of each token.
        all_keys: all keys of all tokens.
        words: stems of words.
        numbers: values of numbers and numerals.
        capitals: whether each token begins with a capital letter.
        size: number of characters.
        ends_in_number: a number is the end of the part, so that "million" may follow.
    """

    tokens: tuple[Token, ...]
    keys: tuple[str, ...]
    all_keys: tuple[str, ...]
    words: tuple[str, ...]
    numbers: tuple[str, ...]
    capitals: tuple[bool, ...]
    size: int
    ends_in_number: bool


@dataclass
class SourceVocabulary:
    """Vocabulary of source texts.

    Attributes:
        texts: the sources.
        words: stems of content words.
        numbers: canonical values of numbers and numerals.
        bigrams: pairs of adjacent stems or values.
    """

    texts: Sequence[str] = ()
    words: set[str] = field(default_factory=set)
    numbers: set[str] = field(default_factory=set)
    bigrams: set[tuple[str, str]] = field(default_factory=set)

    @functools.cached_property
    def figures(self) -> FigureIndex:
        """Numbers with their units, dates and expressions; read when an answer has some."""
        return figure_index(self.texts)

    def has_word(self, token: Token) -> bool:
        """Return True if the sources contain the stem of a word, or the value of a numeral."""
        return token.keys[0] in self.words or (len(token.keys) > 1 and token.keys[1] in self.numbers)


def read_source(texts: Iterable[str], *, with_bigrams: bool = True) -> SourceVocabulary:
    """Collect the vocabulary of source texts.

    Args:
        texts: sources; a pair never spans two of them.
        with_bigrams: collect the pairs, too, which takes as long as the words and numbers.

    >>> source = read_source(["Rates rose to 5.25 percent."])
    >>> sorted(source.words), source.numbers
    (['percent', 'rate', 'rose'], {'5.25'})
    """
    source = SourceVocabulary(tuple(texts))
    for text in source.texts:
        words, numbers = _vocabulary(text)
        source.words |= words
        source.numbers |= numbers
        if with_bigrams:
            source.bigrams |= _bigrams(text)
    return source


@functools.lru_cache(maxsize=1024)
def _vocabulary(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return words and numbers of a text; chunks of a corpus are the sources of many answers."""
    text = fold_characters(text)
    strings = text.split(" ")
    distinct = set(strings)
    if _SCALED_PARTS.search(text):
        ends = {
            string for string, part in zip(distinct, _parts(distinct), strict=True) if part.ends_in_number
        }
        rows = _scaled_rows(strings, [index for index, string in enumerate(strings) if string in ends])
        distinct = set(_joined(strings, rows, [" ".join(strings[start:end]) for start, end in rows]))
    parts = _parts(distinct)
    words = frozenset(word for part in parts for word in part.words)
    return words, frozenset(number for part in parts for number in part.numbers)


@functools.lru_cache(maxsize=1024)
def _bigrams(text: str) -> frozenset[tuple[str, str]]:
    return frozenset(pairwise([key for part in text_parts(text) for key in part.keys]))


def bigram_support(sentence: str, source: SourceVocabulary) -> tuple[int, int]:
    """Count the pairs of adjacent content words and numbers that the sources contain.

    Args:
        sentence: any text.
        source: vocabulary of the sources.

    Returns:
        Number of supported pairs and number of all pairs.

    >>> bigram_support("Rates rose quickly.", read_source(["Rates rose."]))
    (1, 2)
    """
    keys = [key for part in text_parts(sentence) for key in part.keys]
    return sum(map(source.bigrams.__contains__, pairwise(keys))), max(0, len(keys) - 1)


def tokens_of(text: str) -> list[Token]:
    """Split a text into content words and numbers.

    Args:
        text: any text; time is linear in its length.

    Returns:
        Tokens in order; ideographs are words of one character.

    >>> [token.keys[0] for token in tokens_of("The company's revenues grew by 12.50% to $1.5 million.")]
    ['compani', 'revenu', 'grew', '12.5', '1500000']
    """
    tokens: list[Token] = []
    position = 0
    for part in text_parts(text):
        tokens += [token.moved(position) for token in part.tokens]
        position += part.size + 1
    return tokens


@cached_by_text
def text_parts(text: str) -> Sequence[TextPart]:
    """Split a text at its spaces, and each part into content words and numbers.

    >>> [part.keys for part in text_parts("The bank lends 5 million.")]
    [(), ('bank',), ('lend',), ('5000000',)]
    """
    text = fold_characters(text)
    strings = text.split(" ")
    parts = _parts(strings)
    if not _SCALED_PARTS.search(text):
        return parts
    rows = _scaled_rows(strings, [index for index, part in enumerate(parts) if part.ends_in_number])
    return _joined(parts, rows, _parts([" ".join(strings[start:end]) for start, end in rows]))


def _scaled_rows(strings: Sequence[str], numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Return start and end of each row of strings that begins with a number and its scale.

    A row such as "5 million" or "5 m-2 m" is read once: reading a number together with all those before it
    takes time that grows with the square of the length.

    Args:
        strings: parts of a text that spaces end.
        numbers: indices of those that end in a number.
    """
    rows: list[tuple[int, int]] = []
    for index in numbers:
        after = index + 1
        if after < len(strings) and _SCALE.match(f" {strings[after]}"):
            continues = bool(rows) and rows[-1][1] == after
            rows[len(rows) - continues :] = [(rows[-1][0] if continues else index, after + 1)]
    return rows


def _joined(parts: Sequence[_T], rows: Sequence[tuple[int, int]], replacements: Sequence[_T]) -> list[_T]:
    """Replace rows of parts by one part each."""
    joined: list[_T] = []
    position = 0
    for (start, end), replacement in zip(rows, replacements, strict=True):
        joined += parts[position:start]
        joined.append(replacement)
        position = end
    return [*joined, *parts[position:]]


def _parts(strings: Iterable[str]) -> list[TextPart]:
    return [
        _cached_part(string) if len(string) <= MAX_CACHED_CHARS else _new_part(string) for string in strings
    ]


def _new_part(text: str) -> TextPart:
    tokens = tuple(_scanned(text)) if text.isascii() or not _HIDDEN.search(text) else tuple(_unhidden(text))
    words = [token for token in tokens if token.kind == "word"]
    numbers = [key for token in tokens for key in token.keys[token.kind == "word" :]]
    return TextPart(
        tokens=tokens,
        keys=tuple(token.keys[0] for token in tokens),
        all_keys=tuple(key for token in tokens for key in token.keys),
        words=tuple(token.keys[0] for token in words),
        numbers=tuple(numbers),
        capitals=tuple(text[token.start].isupper() for token in tokens),
        size=len(text),
        ends_in_number=bool(tokens) and tokens[-1].kind == "number" and tokens[-1].end == len(text),
    )


_cached_part = functools.lru_cache(maxsize=CACHED_PARTS)(_new_part)


_HIDDEN = re.compile(f"[{ZERO_WIDTH}]")


def _unhidden(text: str) -> Iterator[Token]:
    """Yield the tokens of a part with characters of zero width, which belong to no word."""
    origins = [index for index, char in enumerate(text) if not _HIDDEN.match(char)]
    for kind, keys, start, end in _scanned(_HIDDEN.sub("", text)):
        yield Token(kind, keys, origins[start], origins[end - 1] + 1)


def _scanned(text: str) -> Iterator[Token]:
    reached = 0
    for match in (_ASCII_TOKEN if text.isascii() else _TOKEN).finditer(text):
        start, end = match.span()
        if match["number"]:
            keys, scaled = _values(match["number"], text, match.end("number"))
            reached = max(scaled, end)
            yield Token("number", keys, start, reached)
        elif start >= reached:
            word = match[0].casefold()
            # A cache of long words would keep gigabytes.
            keys = _new_word_keys(word) if len(word) > MAX_STEMMED_CHARS else _word_keys(word)
            if keys:
                yield Token("word", keys, start, end)


def _new_word_keys(word: str) -> tuple[str, ...]:
    """Return the stem of a word, followed by its value if it is a numeral; () for a function word."""
    base = re.sub(r"['’]s?$", "", re.sub(r"['’]s$", "", word)).replace("'", "").replace("’", "")
    if base in FUNCTION_WORDS or not base or (len(base) == 1 and base.isascii()):
        return ()
    key = stem(base)
    return (key, _SPELLED[base]) if base in _SPELLED else (key,)


_word_keys = functools.lru_cache(maxsize=65_536)(_new_word_keys)


def stem(word: str) -> str:
    """Return the English Snowball stem of a word in lower case.

    A word of more than `MAX_STEMMED_CHARS` (100) characters is its own stem: the stemmer's time is quadratic
    in the length of a word.

    >>> stem("revenues")
    'revenu'
    """
    return word if len(word) > MAX_STEMMED_CHARS else stem_of_short(word)


@functools.lru_cache(maxsize=65_536)
def stem_of_short(word: str) -> str:
    """Return the stem of a word of at most `MAX_STEMMED_CHARS` characters."""
    return str(_stemmer().stemWord(word))


def _values(digits: str, text: str, end: int) -> tuple[tuple[str, ...], int]:
    """Return the canonical values of a number and its end; 1.5 million is 1500000 or 1.5."""
    from decimal import Decimal

    value = Decimal(digits.replace(",", ""))
    plain = _canonical(value)
    scale = _SCALE.match(text, end)
    if scale is None or scale.lastgroup is None:
        return (plain,), end
    return (_canonical(value.scaleb(_FACTORS[scale.lastgroup])), plain), scale.end()


def _canonical(value: Any) -> str:
    shown = format(value, "f")
    return (shown.rstrip("0").rstrip(".") if "." in shown else shown).lstrip("0") or "0"


@functools.lru_cache(maxsize=1)
def _stemmer() -> Any:
    # NLTK's differs for one word in 400, and importing it takes a second where scikit-learn is installed.
    from snowballstemmer.english_stemmer import EnglishStemmer

    return EnglishStemmer()


def tokens_outside(tokens: Iterable[Token], figures: Sequence[Figure]) -> Iterator[Token]:
    """Yield the tokens that belong to no figure: units are a part of their numbers."""
    index = 0
    for token in tokens:
        while index < len(figures) and figures[index].end <= token.start:
            index += 1
        if index == len(figures) or token.end <= figures[index].start:
            yield token


@dataclass(frozen=True, slots=True)
class Support:
    """Lexical support of an answer by its sources.

    Attributes:
        unsupported_words: words that occur in no source, in order.
        unsupported_numbers: numbers that occur in no source, in order.
        supported_words: fraction of the words that occur in a source; of the numbers in an answer without
            words.
        supported_numbers: fraction of the numbers that occur in a source; None without numbers.
        supported_bigrams: fraction of the pairs that occur in a source; None without pairs.
        worst_sentence_bigrams: lowest fraction of any sentence with pairs; None without pairs.
        worst_sentence: index of that sentence; None if it is fully supported or the only one with pairs.
    """

    unsupported_words: tuple[Token, ...]
    unsupported_numbers: tuple[Figure, ...]
    supported_words: float
    supported_numbers: float | None
    supported_bigrams: float | None
    worst_sentence_bigrams: float | None
    worst_sentence: int | None


def lexical_support(text: str, spans: Sequence[tuple[int, int]], source: SourceVocabulary) -> Support | None:
    """Measure the share of words, word pairs and numbers of a text that its sources contain.

    Args:
        text: the answer.
        spans: start and end of its sentences.
        source: vocabulary of the sources.

    Returns:
        Fractions from 0.0 to 1.0, higher is better; None for a text of function words alone.

    Source: K-Precision of Adlakha et al., 2023 (Evaluating Correctness and Faithfulness of
        Instruction-Following Models), over stems, pairs and numbers.

    >>> source = read_source(["The bank raised its rate to 5.25 percent."])
    >>> lexical_support("The bank cut its rate to 5.25.", [(0, 30)], source).supported_words
    0.6666666666666667
    """
    figures = stated_figures(text)
    right: list[Figure] = []
    wrong: list[Figure] = []
    for figure in figures:
        (right if source.figures.has(figure) else wrong).append(figure)
    # Words within a supported figure are units, in whatever notation.
    tokens = tokens_outside(tokens_of(statements_of(text)), right)
    words = [token for token in tokens if token.kind == "word"]
    unknown = [token for token in words if not source.has_word(token)]
    if not words and not figures:
        return None
    bigrams = [bigram_support(text[start:end], source) for start, end in spans]
    counted = [(hits, total, index) for index, (hits, total) in enumerate(bigrams) if total]
    all_bigrams = sum(total for _, total, _ in counted)
    worst = min(counted, key=lambda item: item[0] / item[1], default=None)
    is_marked = worst is not None and worst[0] < worst[1] and len(counted) > 1
    return Support(
        unsupported_words=tuple(unknown),
        unsupported_numbers=tuple(wrong),
        supported_words=1 - len(unknown) / len(words) if words else 1 - len(wrong) / len(figures),
        supported_numbers=1 - len(wrong) / len(figures) if figures else None,
        supported_bigrams=sum(hits for hits, _, _ in counted) / all_bigrams if all_bigrams else None,
        worst_sentence_bigrams=worst[0] / worst[1] if worst else None,
        worst_sentence=worst[2] if worst and is_marked else None,
    )
