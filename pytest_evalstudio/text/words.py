"""Words of texts in any script: what measures of overlap count."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from pytest_evalstudio.text.folding import fold

if TYPE_CHECKING:
    import regex

UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\U00020000-\U0003ffff"
)
"""Inside of a character class: scripts without spaces (Thai, Lao, Burmese, Khmer, kana, Han)."""
_SIGNS_OF_TEXTS = r"\u00a9\u00ae\u2122\u203c\u2049\u2139\u2190-\u21ff"
"""Pictographs that ordinary texts have as signs, such as those of copyright and trade mark, and arrows."""


@functools.cache
def _word() -> regex.Pattern[str]:
    import regex  # half as slow as `re`; ASCII texts do not need it

    return regex.compile(
        rf"[{UNSPACED}]\p{{M}}*"
        r"|\p{RI}\p{RI}"
        rf"|(?![{_SIGNS_OF_TEXTS}])\p{{Extended_Pictographic}}\p{{Emoji_Modifier}}?"
        rf"|(?:(?![{UNSPACED}])[\p{{L}}\p{{N}}\p{{M}}])+"
    )


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case: runs of letters, digits and marks of any script.

    In scripts without spaces each letter is a word, as each emoji is anywhere. Look-alikes are folded.

    Args:
        text: any text; time is linear in its length.

    >>> words_of("Gebühren: 5 USD 👍"), words_of("卖掉iPhone")
    (['gebühren', '5', 'usd', '👍'], ['卖', '掉', 'iphone'])
    """
    folded = fold(text).lower()
    if not any(map(_is_special, {char for char in set(folded) if not char.isascii()})):
        return _PLAIN_WORD.findall(folded)
    return [match[0] for match in _word().finditer(folded)]


_PLAIN_WORD = re.compile(r"[^\W_]+")
"""The same words as `_word()` in texts without special characters, in half the time."""


@functools.lru_cache(maxsize=4096)
def _is_special(char: str) -> bool:
    """Return True for a character that `_PLAIN_WORD` treats otherwise than `_word()` does."""
    import regex

    if regex.match(r"[\p{M}\p{RI}]", char) or _unspaced_letter().match(char):
        return True
    return bool(_word().match(char)) != char.isalnum()


@functools.cache
def _unspaced_letter() -> regex.Pattern[str]:
    import regex

    return regex.compile(f"[{UNSPACED}]")


def signs_of(text: str) -> list[str]:
    """Return all visible characters of a text, for one without words.

    >>> signs_of("?! …")
    ['?', '!', '…']
    """
    return [char for char in fold(text) if not char.isspace()]


def split_unspaced(token: str) -> list[str]:
    """Divide a token into the letters of scripts without spaces, and the stretches between them.

    >>> split_unspaced("买iPhone"), split_unspaced("don't")
    (['买', 'iPhone'], ["don't"])
    """
    return [token] if token.isascii() else [match[0] for match in _unspaced().finditer(token)]


@functools.cache
def _unspaced() -> regex.Pattern[str]:
    import regex

    return regex.compile(rf"[{UNSPACED}]\p{{M}}*|[^{UNSPACED}]+")
