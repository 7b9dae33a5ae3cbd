"""Units of a text: sentences, list items, table rows, headings and blocks of code.

A unit is what an evaluator of sentences judges at once. Structure is read from lines, sentences within it by
`prose`. Markers (bullets, numbers of items, signs of headings) belong to no unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from pytest_evalstudio.text.cache import cached_by_text
from pytest_evalstudio.text.prose import Span, prose_sentences

Kind = Literal["sentence", "item", "row", "header", "heading", "lead", "code"]
"""Kind of a unit: "header" is the first row of a table with names, "lead" ends in a colon before items."""

MARKER = (
    r"(?:[-*+•‣◦▪●○∙·–—✓✔✗✘→►▸☐☑]|(?:\d{1,3}|[a-z]|[ivx]{1,5})[.)]|[A-Z]\)|\((?:\d{1,3}|[a-z]|[ivx]{1,5})\)"
    r"|[①-⑳]|[一二三四五六七八九十]{1,3}、)"
)
"""Sign of a list item, without the blank after it."""
_ITEM = re.compile(rf"[ \t>]*(?:{MARKER}(?:[ \t\u3000]+|(?<=[①-⑳、]))(?:\[[ xX]\][ \t]+)?)+(?=\S)")
_STEP = re.compile(
    r"[ \t>]*(?:\*\*|__)?(?:(?:step|question|part|option)[ \t]+\d{1,3}(?:\*\*|__)?[:.)]"
    r"|(?:note|answer|question|q|a)(?:\*\*|__)?:)[ \t]*(?:\*\*|__)?[ \t]*(?=\S)",
    re.IGNORECASE,
)
_HEADING = re.compile(r"[ \t>]{0,3}#{1,6}[ \t]+(?=\S)")
_QUOTE = re.compile(r"[ \t]*>[ \t>]*")
_FENCE = re.compile(r"[ \t]*(```|~~~)")
_RULE = re.compile(r"[ \t]*(?:[-*_=][ \t]*){3,}$")
_SEPARATOR_ROW = re.compile(r"[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*$")
_BOLD_LINE = re.compile(r"[ \t]*(?:\*\*|__)[^*_\n]{1,80}(?:\*\*|__):?[ \t]*$")
_STARTS_UNIT = re.compile(r"[ \t]*(?:[^\W\d_a-z]|\d|[\"“'(*_$€£¥-])")
_LABEL = re.compile(r"[ \t]*(?:\*\*|__)?[^\W_][^:\n|.!?]{0,40}:(?:\*\*|__)?[ \t]+\S")
_STRUCTURE = re.compile(rf"\n|\A(?:{_ITEM.pattern}|{_HEADING.pattern}|(?i:{_STEP.pattern})|[ \t]*[|>])")
_SHORT_LINE = 50
"""Characters of the longest line that is not taken for one that was wrapped at a margin."""


class Unit(NamedTuple):
    """Sentence or other unit of a text.

    Attributes:
        start: index of its first character.
        end: index after its last character.
        kind: what it is.
        names: of a table row, the names of its columns; () where the table has none.
    """

    start: int
    end: int
    kind: Kind = "sentence"
    names: tuple[str, ...] = ()


class _Line(NamedTuple):
    start: int
    end: int
    text: str


def split_sentences(text: str) -> list[Span]:
    r"""Return the spans of all units of a text, in order, without blanks and markers around them.

    Args:
        text: any language, prose or Markdown; time is linear in its length.

    Returns:
        (start, end) pairs with `text[start:end]` the unit; [] for a blank text.

    >>> text = "1. It is open. Come in.\n2. It is free"
    >>> [text[start:end] for start, end in split_sentences(text)]
    ['It is open.', 'Come in.', 'It is free']
    """
    return [(unit.start, unit.end) for unit in split_units(text)]


@cached_by_text
def split_units(text: str) -> Sequence[Unit]:
    r"""Return the units of a text, in order.

    >>> [(unit.kind, unit.names) for unit in split_units("| Card | Fee |\n|---|---|\n| Gold | 5 USD |")]
    [('header', ()), ('row', ('Card', 'Fee'))]
    """
    # One line of prose, as most texts, needs no search for structure.
    if not _STRUCTURE.search(text):
        return [Unit(start, end) for start, end in prose_sentences(text)]
    units: list[Unit] = []
    for block in _blocks(text):
        if block.kind in ("sentence", "item"):
            units += [
                Unit(block.start + start, block.start + end, block.kind)
                for start, end in prose_sentences(text[block.start : block.end])
            ]
        elif block.kind == "lead":
            *before, (start, end) = prose_sentences(text[block.start : block.end])
            units += [Unit(block.start + first, block.start + last) for first, last in before]
            units.append(Unit(block.start + start, block.start + end, "lead"))
        elif text[block.start : block.end].strip():
            units.append(_stripped(text, block))
    return units


def _stripped(text: str, unit: Unit) -> Unit:
    content = text[unit.start : unit.end]
    start = unit.start + len(content) - len(content.lstrip())
    return unit._replace(start=start, end=start + len(content.strip()))


def _lines(text: str) -> Iterator[_Line]:
    position = 0
    # `splitlines` would divide at other characters too, and the positions below would be wrong.
    for line in text.split("\n"):
        yield _Line(position, position + len(line), line)
        position += len(line) + 1


def _blocks(text: str) -> Iterator[Unit]:
    """Yield items, rows, headings, code and stretches of prose, in order."""
    lines = list(_lines(text))
    index = 0
    while index < len(lines):
        line = lines[index]
        if not line.text.strip() or _RULE.match(line.text):
            index += 1
        elif fence := _FENCE.match(line.text):
            last = _end_of_code(lines, index, fence[1])
            if last > index + 1:
                yield Unit(lines[index + 1].start, lines[last - 1].end, "code")
            index = last + 1
        elif _is_table(lines, index):
            last = _end_of_table(lines, index)
            yield from _rows(lines[index:last])
            index = last
        elif heading := _HEADING.match(line.text):
            yield Unit(line.start + heading.end(), line.end, "heading")
            index += 1
        else:
            last = _end_of_stretch(lines, index)
            yield _stretch(lines, index, last)
            index = last


def _end_of_code(lines: Sequence[_Line], first: int, fence: str) -> int:
    """Return the index of the line that ends a block of code, the number of lines where it is never ended."""
    for index in range(first + 1, len(lines)):
        if lines[index].text.strip().startswith(fence):
            return index
    return len(lines)


def _is_row(line: _Line) -> bool:
    stripped = line.text.strip()
    return stripped.startswith("|") and stripped.count("|") > 1


def _is_table(lines: Sequence[_Line], index: int) -> bool:
    if _is_row(lines[index]):
        return True
    return (
        "|" in lines[index].text
        and index + 1 < len(lines)
        and "|" in lines[index + 1].text
        and bool(_SEPARATOR_ROW.match(lines[index + 1].text))
    )


def _end_of_table(lines: Sequence[_Line], first: int) -> int:
    is_framed = _is_row(lines[first])
    for index in range(first + 1, len(lines)):
        if not (_is_row(lines[index]) if is_framed else "|" in lines[index].text):
            return index
    return len(lines)


def _rows(lines: Sequence[_Line]) -> Iterator[Unit]:
    """Yield the rows of a table; the row before a line of dashes has the names of the columns."""
    has_header = len(lines) > 1 and bool(_SEPARATOR_ROW.match(lines[1].text))
    names = tuple(cells_of(lines[0].text)) if has_header else ()
    for number, line in enumerate(lines):
        if _SEPARATOR_ROW.match(line.text):
            continue
        if has_header and not number:
            yield Unit(line.start, line.end, "header")
        else:
            yield Unit(line.start, line.end, "row", names)


def cells_of(row: str) -> list[str]:
    """Return the texts of the cells of a table row.

    >>> cells_of("| Gold | 5 USD |")
    ['Gold', '5 USD']
    """
    return [cell.strip() for cell in row.strip().removeprefix("|").removesuffix("|").split("|")]


def _marker_end(line: _Line) -> int:
    """Return the length of the marker of a list item or step at the beginning of a line, 0 for none."""
    end = 0
    while marker := (_ITEM.match(line.text, end) or _STEP.match(line.text, end)):
        end = marker.end()
    return end


def _end_of_stretch(lines: Sequence[_Line], first: int) -> int:
    """Return the index after the last line of an item or paragraph."""
    for before, index in pairwise(range(first, len(lines))):
        line = lines[index]
        text = line.text
        if (
            not text.strip()
            or _marker_end(line)
            or _HEADING.match(text)
            or _FENCE.match(text)
            or _RULE.match(text)
            or _is_table(lines, index)
            or _is_line_of_its_own(lines[before].text, text)
        ):
            return index
    return len(lines)


def _is_line_of_its_own(line: str, following: str) -> bool:
    """Return True if a line break ends a unit: the line is too short to be wrapped, or a label follows."""
    # Two blanks or a backslash at the end are a hard line break in Markdown.
    if line.endswith(("  ", "\\")) or _BOLD_LINE.match(line):
        return True
    if _LABEL.match(line) and _LABEL.match(following):
        return True
    return len(line.strip()) < _SHORT_LINE and bool(_STARTS_UNIT.match(following))


def _stretch(lines: Sequence[_Line], first: int, last: int) -> Unit:
    line = lines[first]
    marker = _marker_end(line)
    if not marker and (quote := _QUOTE.match(line.text)):
        marker = quote.end()
    start, end = line.start + marker, lines[last - 1].end
    if last == first + 1 and _BOLD_LINE.match(line.text):
        return Unit(start, end, "heading")
    is_lead = line.text.rstrip(" \t*_").endswith((":", "：")) and last == first + 1
    if is_lead and _leads(lines, last):
        return Unit(start, end, "lead")
    return Unit(start, end, "item" if marker else "sentence")


def _leads(lines: Sequence[_Line], index: int) -> bool:
    """Return True if items, rows or code follow, after at most one blank line."""
    if index < len(lines) and not lines[index].text.strip():
        index += 1
    return index < len(lines) and bool(
        _marker_end(lines[index])
        or _is_table(lines, index)
        or _FENCE.match(lines[index].text)
        or _LABEL.match(lines[index].text)
    )
