"""Words and punctuation marks in the style of the Penn Treebank, as NLTK's `word_tokenize` divides sentences.

NLTK is the reference of the tests. It is not imported, since that takes two seconds where scipy and
scikit-learn are installed, in each process; and its rules change between versions, which would change BLEU.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain


def word_tokens(text: str, split_sentences: Callable[[str], list[tuple[int, int]]]) -> tuple[str, ...]:
    """Split a text into words and punctuation marks in the style of the Penn Treebank.

    Args:
        text: any text.
        split_sentences: returns start and end of each sentence.

    Source: Marcus et al., 1993; each sentence has the tokens of `word_tokenize` of NLTK 3.10.

    >>> word_tokens("He didn't pay.", lambda text: [(0, len(text))])
    ('He', 'did', "n't", 'pay', '.')
    """
    return tuple(
        chain.from_iterable(_sentence_words(text[start:end]) for start, end in split_sentences(text))
    )


_CLOSERS = "])}>\"'»”’"
_MAX_CACHED_CHARS = 40


def _sentence_words(sentence: str) -> Iterable[str]:
    """Return the tokens of a sentence, each part between spaces by itself.

    No rule of the tokenizer reads across a space, but those of the beginning and the end of a sentence.
    """
    parts = sentence.split(" ")
    end = len(parts) - 1
    while end and (not (rest := parts[end].strip(_CLOSERS)) or rest.isspace()):
        end -= 1  # closing signs may follow the last full stop
    if not end:
        return _words(sentence)
    return chain(
        _part_words(parts[0], is_first=True),
        chain.from_iterable(map(_part_words, parts[1:end])),
        _part_words(" ".join(parts[end:]), is_last=True),
    )


def _part_words(part: str, is_first: bool = False, is_last: bool = False) -> Sequence[str]:
    return (_cached_words if len(part) <= _MAX_CACHED_CHARS else _new_words)(part, is_first, is_last)


def _new_words(part: str, is_first: bool, is_last: bool) -> Sequence[str]:
    """Return the tokens of a part of a sentence between two words."""
    words = _words(("" if is_first else "x ") + part + ("" if is_last else " x"))
    return words[not is_first : len(words) - (not is_last)]


_cached_words = functools.lru_cache(maxsize=16_384)(_new_words)
"""Tokens of short parts, which are mostly the same words."""

_SPACE = r"[^\S\x1c-\x1f]"
"""White space of the Unicode standard; Python's own class counts four control characters, too."""
_RARE = re.compile(
    r"""["`*\x1c-\x1f«»“”‘’„\u2012-\u2015]|--|\.\.|[:,][:,]|''|(?<!\w)'|'(?!\w)"""
    r"""|(?i:\b(?:cannot|d'ye|gimme|gonna|gotta|lemme|more'n|wanna))"""
)
"""Parts of a sentence that need all rules."""
_PADDED_SIGNS = ";@#$%&?![](){}<>"
_PADDED_MARK = re.compile(r"[:,](?!\d)")
_FINAL_STOP = re.compile(r"(?<=[^.])\.(?=[\])}> ]*+\s*+$)")
_CLITICS = (
    re.compile(r"([^' ])('[sS]|'[mM]|'[dD]) "),
    re.compile(r"([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) "),
)
_RULES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"[«“‘„]|`+", r" \g<0> "),
        (r'^"', "``"),
        ("``", r" \g<0> "),
        (r"""([ (\[{<])(?:"|'')""", r"\1 `` "),
        (r"(?<!\w)'(?!(?i:re|ve|ll|m|t|s|d|n)\b)(?=\w)", "' "),
        (rf"""([^.])\.([\])}}>"'»”’ ]*+){_SPACE}*+$""", r"\1 . \2 "),
        (r"([:,])(\D)", r" \1 \2"),
        (r"[:,]$", r" \g<0> "),
        (r"\.{2,}", r" \g<0> "),
        (r"[;@#$%&]", r" \g<0> "),
        (r"[\u2012-\u2015]", r" \g<0> "),
        (rf"""([^.])\.([\])}}>"']*+){_SPACE}*+$""", r"\1 .\2 "),
        (r"[?!]", r" \g<0> "),
        (r"([^'])' ", r"\1 ' "),
        (r"[*\]\[(){}<>]", r" \g<0> "),
        (r"--", r" -- "),
        (r"\A|\Z", " "),
        (r"[»”’]", r" \g<0> "),
        (r"""''|\"""", " '' "),
        (rf"{_SPACE}+", " "),
        (r"([^' ])('[sS]|'[mM]|'[dD]|') ", r"\1 \2 "),
        (_CLITICS[1].pattern, r"\1 \2 "),
        (
            r"(?i)\b(can(?=not)|d(?='ye)|gim(?=me)|gon(?=na)|got(?=ta)|lem(?=me)|more(?='n)"
            r"|wan(?=na\s))(not|'ye|me|na|ta|'n)\b",
            r" \1 \2 ",
        ),
        (r"(?i) ('t)(is|was)\b", r" \1 \2 "),
    )
)
"""Rules for any sentence. Each works on the result of the one before, so that their order matters."""


def _words(sentence: str) -> list[str]:
    """Return the tokens of a sentence.

    A sentence without quotes and other rare parts needs few rules, which are applied here in a tenth of the
    time of all of them.
    """
    if _RARE.search(sentence):
        for pattern, replacement in _RULES:
            sentence = pattern.sub(replacement, sentence)
        return sentence.split()
    padded = sentence
    for sign in _PADDED_SIGNS:
        if sign in padded:
            padded = padded.replace(sign, f" {sign} ")
    if "," in padded or ":" in padded:
        padded = _PADDED_MARK.sub(r" \g<0> ", padded)
    padded = _FINAL_STOP.sub(" .", padded)
    if "'" in padded:
        padded = f"{' '.join(padded.split())} "
        for clitic in _CLITICS:
            padded = clitic.sub(r"\1 \2 ", padded)
    return padded.split()
