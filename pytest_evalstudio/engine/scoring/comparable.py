"""Texts as evaluators compare them: in Unicode's composed form, without invisible characters.

The record, the page and judges have the texts as they are. Places in a compared text are mapped back.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
import unicodedata
from array import array
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.outcomes import Fragment, Outcome
from pytest_evalstudio.text.folding import ZERO_WIDTH

if TYPE_CHECKING:
    import regex

MAX_MARKS = 30
"""Marks that are normalised together, as in Unicode's stream-safe format.

Normalising a run of marks takes time that grows with the square of its length.
"""
_ASKS_FOR_INVISIBLE = re.compile(rf'["(][{ZERO_WIDTH}]+[")]')
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_CACHED_TEXTS = 512  # evaluators of one chunk ask for the same texts one after another


class ComparableText(Struct, frozen=True):
    """A text as it is compared.

    Attributes:
        text: the compared text.
        starts: place of each of its characters in the original, and the end of that; None where both are
            equal.
    """

    text: str
    starts: array[int] | None = None

    def place(self, index: int) -> int:
        """Return the place in the original of a place in the compared text."""
        return index if self.starts is None else self.starts[min(index, len(self.starts) - 1)]


class ComparableCase(Struct, frozen=True):
    """A case as it is compared.

    Attributes:
        case: with compared texts.
        answer: the compared answer.
        context: the compared chunks.
    """

    case: Case
    answer: ComparableText
    context: tuple[ComparableText, ...]

    def original(self, outcome: Outcome) -> Outcome:
        """Return an outcome whose fragments are places in the original texts."""
        if self.answer.starts is None and all(chunk.starts is None for chunk in self.context):
            return outcome
        return dataclasses.replace(outcome, fragments=tuple(map(self._fragment, outcome.fragments)))

    def _fragment(self, fragment: Fragment) -> Fragment:
        kind, _, number = fragment.part.partition(":")
        text = self.answer
        if kind == "context":
            if not (number.isdecimal() and int(number) < len(self.context)):
                return fragment
            text = self.context[int(number)]
        return dataclasses.replace(fragment, start=text.place(fragment.start), end=text.place(fragment.end))


def comparable_case(case: Case) -> ComparableCase:
    """Return a case as evaluators compare it.

    Invisible characters stay where a term of the condition consists of them: it asks for them.
    """
    texts = (case.question, case.actual_output, case.expected_output, case.condition)
    lists = (case.context, case.accepted_outputs, case.expected_facts, case.guidelines)
    if case.counterpart is None and not any(map(_may_differ, itertools.chain(texts, *lists))):
        return ComparableCase(case, ComparableText(case.actual_output), ())
    keeps = _ASKS_FOR_INVISIBLE.search(case.condition) is not None
    answer = comparable_text(case.actual_output, keeps_invisible=keeps)
    context = tuple(comparable_text(chunk, keeps_invisible=keeps) for chunk in case.context)

    def compared(text: str) -> str:
        return comparable_text(text, keeps_invisible=keeps).text

    comparable = dataclasses.replace(
        case,
        answer=dataclasses.replace(
            case.answer, text=answer.text, context=tuple(chunk.text for chunk in context)
        ),
        question=compared(case.question),
        expected_output=compared(case.expected_output),
        accepted_outputs=tuple(map(compared, case.accepted_outputs)),
        condition=compared(case.condition),
        expected_facts=tuple(map(compared, case.expected_facts)),
        guidelines=tuple(map(compared, case.guidelines)),
        counterpart=None if case.counterpart is None else comparable_case(case.counterpart).case,
    )
    return ComparableCase(case if comparable == case else comparable, answer, context)


def comparable_text(text: str, *, keeps_invisible: bool = False) -> ComparableText:
    """Return a text in the composed form (NFC) and without invisible characters, in linear time.

    Compatibility forms (width, ligatures) and case are not folded.

    >>> comparable_text("Sazba u\u0301ve\u030cru").text == "Sazba \u00fav\u011bru"
    True
    """
    return _compared(text, keeps_invisible) if _may_differ(text) else ComparableText(text)


def _may_differ(text: str) -> bool:
    """Return whether a text has marks, invisible characters, or characters with another composed form."""
    return not text.isascii() and _has_special(text)


@functools.cache
def _special() -> regex.Pattern[str]:
    """Return the pattern of what may be compared in another form; ASCII texts need no such pattern."""
    import regex

    return regex.compile(
        rf"(?P<invisible>[{ZERO_WIDTH}]+)|[^\p{{M}}]?(?:(?![{ZERO_WIDTH}])[\p{{M}}\u1160-\u11ff])+"
    )


@functools.lru_cache(maxsize=_CACHED_TEXTS)
def _has_special(text: str) -> bool:
    # A text has few distinct characters beyond ASCII; to search all of it takes ten times as long.
    characters = set("".join(_NOT_ASCII.findall(text)))
    return any(map(_is_special, characters)) or not unicodedata.is_normalized("NFC", text)


@functools.lru_cache(maxsize=4096)
def _is_special(character: str) -> bool:
    return _special().match(character) is not None


@functools.lru_cache(maxsize=_CACHED_TEXTS)
def _compared(text: str, keeps_invisible: bool) -> ComparableText:
    pieces: list[str] = []
    starts = array("L")
    end = 0
    for match in _special().finditer(text):
        _add_plain(text[end : match.start()], end, pieces, starts)
        end = match.end()
        if match["invisible"] is None or keeps_invisible:
            _add_marked(match.group(), match.start(), pieces, starts)
    _add_plain(text[end:], end, pieces, starts)
    compared = "".join(pieces)
    if compared == text:
        return ComparableText(text)
    starts.append(len(text))
    return ComparableText(compared, starts)


def _add_plain(part: str, at: int, pieces: list[str], starts: array[int]) -> None:
    """Add a part without marks."""
    if unicodedata.is_normalized("NFC", part):
        pieces.append(part)
        starts.extend(range(at, at + len(part)))
        return
    for index, char in enumerate(part, at):  # a single character has another form, such as the ohm sign
        composed = unicodedata.normalize("NFC", char)
        pieces.append(composed)
        starts.extend([index] * len(composed))


def _add_marked(part: str, at: int, pieces: list[str], starts: array[int]) -> None:
    for begin in range(0, len(part), MAX_MARKS + 1):
        piece = part[begin : begin + MAX_MARKS + 1]
        composed = unicodedata.normalize("NFC", piece)
        pieces.append(composed)
        if composed == piece:
            starts.extend(range(at + begin, at + begin + len(piece)))
        else:
            starts.extend([at + begin] * len(composed))


def differs_in_form(text: str) -> bool:
    """Return whether a text is compared in another form than it has."""
    return comparable_text(text).starts is not None
