"""Reads JSON and YAML text into data, and locates each value in the text.

Trailing commas and a byte-order mark are repaired. Broken syntax, invalid UTF-8, NaN, and names used twice in
one object are errors. YAML is limited to values of JSON; a date is its text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from pytest_evalstudio.core.collecting import uncollected
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.reading import read_bytes
from pytest_evalstudio.formats.json_rows import parse_rows
from pytest_evalstudio.formats.yaml_text import compose, load_yaml, locate, node_lines, node_span
from pytest_evalstudio.text.unicode import valid_data, valid_json

JSON_SUFFIXES = (".json",)
YAML_SUFFIXES = (".yaml", ".yml")
CSV_SUFFIXES = (".csv", ".tsv")
SUFFIXES = (*JSON_SUFFIXES, *YAML_SUFFIXES, *CSV_SUFFIXES)

_DECODER = json.JSONDecoder(strict=False)
_BLANKS = re.compile(r"[ \t\r\n]*")
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]', re.DOTALL)
MAX_LOCATED = 200
"""Places that are looked up in one file; each takes time in proportion to the file. Later messages name the
pointer alone.
"""
_CONSTANTS = re.compile(r'"(?:[^"\\]|\\.)*"|-?Infinity|NaN', re.DOTALL)
_TRAILING_COMMA = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=[ \t\r\n]*[}\]])', re.DOTALL)


CaseIdentity: TypeAlias = tuple[str, str, int]
"""Key, model key ("" in a suite) and number of the repeat of a test case or row."""


@dataclass(slots=True)
class Source:
    """A parsed file.

    Attributes:
        name: path or URL as messages show it.
        text: its text, for places in messages.
        data: the parsed value.
        warnings: repairs of the text.
        row_lines: lines of the rows of a CSV text, whose places are not found otherwise.
        lines: (key, model key, repeat) of each test case or row to its line, from 1; filled by the readers.
        folder: folder of the file, where its relative paths start; None for a text that is no file.
        is_remote: whether the file was fetched from a URL; it then names no local image or file.
        root: pointer at which `data` contains the content of the text, for a text that is only a part of a
            suite.
    """

    name: str
    text: str
    data: Any
    yaml: bool = False
    row_lines: tuple[int, ...] = ()
    warnings: list[str] = field(default_factory=list)
    lines: dict[CaseIdentity, int] = field(default_factory=dict)
    root: str = ""
    folder: Path | None = None
    is_remote: bool = False
    _located: int = field(default=0, init=False, repr=False)
    _root: Any = field(default=None, init=False, repr=False)

    def error(self, pointer: str, message: str) -> DataError:
        """Return an error at a JSON pointer, with line and column if they can be determined."""
        line, column = self.locate(pointer)
        return DataError(message, source=self.name, pointer=self.in_text(pointer), line=line, column=column)

    def in_text(self, pointer: str) -> str:
        """Return the pointer into the text for a pointer into `data`."""
        return pointer.removeprefix(self.root)

    def locate(self, pointer: str) -> tuple[int, int]:
        """Return the 1-based line and column of the value at a JSON pointer, or of its nearest ancestor."""
        # "~1" first (RFC 6901): "~01" stands for "~1", and not for "/".
        steps = [step.replace("~1", "/").replace("~0", "~") for step in self.in_text(pointer).split("/")[1:]]
        if not self.text or self._located >= MAX_LOCATED:
            return 0, 0
        self._located += 1
        if not self.yaml:
            return _line_column(self.text, _locate_json(self.text, steps) or 0)
        if self._root is None:
            self._root = compose(self.text)
        return locate(self._root, steps)

    def span(self, pointer: str) -> tuple[int, int]:
        """Return the beginning and the end of the value at a JSON pointer into the text, as indices.

        Raises:
            DataError: if there is no such value.
        """
        steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
        if self.yaml:
            if self._root is None:
                self._root = compose(self.text)
            span = node_span(self._root, steps, self.text)
        else:
            start = _locate_json(self.text, steps, is_exact=True)
            span = None if start is None else (start, _DECODER.raw_decode(self.text, start)[1])
        if span is None:
            raise self.error(pointer, "there is no such value")
        return span

    def element_lines(self, *steps: str) -> dict[str, int]:
        """Return the lines of all values below a path, in one pass over the text.

        Args:
            steps: names of members; "*" means each element of an array.

        Returns:
            JSON pointer to line, from 1; {} for a text without places.
        """
        if self.row_lines:
            return {pointer("inputs", number): line for number, line in enumerate(self.row_lines)}
        if not self.text:
            return {}
        steps = steps[self.root.count("/") :]
        if self.yaml:
            if self._root is None:
                self._root = compose(self.text)
            return {self.root + pointer(*at): line for at, line in node_lines(self._root, steps)}
        lines: dict[str, int] = {}
        line, last = 1, 0
        for at, index in _positions(self.text, _skip(self.text, 0), steps):
            line += self.text.count("\n", last, index)
            last = index
            lines[self.root + pointer(*at)] = line
        return lines


def pointer(*steps: object) -> str:
    """Return a JSON pointer (RFC 6901).

    >>> pointer("tests", 0, "a/b")
    '/tests/0/a~1b'
    """
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def read_text(path: Path, name: str = "") -> str:
    """Return the text of a UTF-8 file, without its byte-order mark.

    Raises:
        DataError: if it cannot be read, or is not UTF-8.
    """
    name = name or str(path)
    try:
        raw = read_bytes(path)
    except (OSError, ValueError) as exc:
        raise DataError(f"cannot be read: {getattr(exc, 'strerror', None) or exc}", source=name) from exc
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        before = exc.object[: exc.start].decode("utf-8")
        line, column = _line_column(before, len(before))
        byte = exc.object[exc.start]
        raise DataError(
            f"byte 0x{byte:02x} is not UTF-8; save the file as UTF-8", source=name, line=line, column=column
        ) from exc


def parse(text: str, name: str, *, yaml: bool = False, packs_rows: bool = False) -> Source:
    """Parse JSON or YAML text.

    Args:
        text: of the file.
        name: of the file in messages.
        yaml: whether the text is YAML.
        packs_rows: whether rows of JSON become `PackedRows`.

    Raises:
        DataError: at the position where the text violates its format.
    """
    if yaml:
        return Source(name=name, text=text, data=valid_data(load_yaml(text, name)), yaml=True)
    # Lone surrogates are replaced first, since no file in UTF-8 could be written with them.
    return _parse_json(valid_json(text), name, packs_rows)


@uncollected()
def _parse_json(text: str, name: str, packs_rows: bool) -> Source:
    warnings: list[str] = []
    try:
        data = _load_json(text, name, packs_rows)
    # Repaired only after a failure, as the repair reads the whole text once more.
    except json.JSONDecodeError as first:
        # Strings match as a whole, so that commas in them stay; a blank keeps the positions of the rest.
        repaired = _TRAILING_COMMA.sub(lambda match: " " if match[0] == "," else match[0], text)
        if repaired == text:
            raise _syntax_error(first, name) from None
        try:
            data = _load_json(repaired, name, packs_rows)
        except json.JSONDecodeError as exc:
            raise _syntax_error(exc, name) from None
        first_comma = next(match for match in _TRAILING_COMMA.finditer(text) if match[0] == ",")
        line, _ = _line_column(text, first_comma.start())
        warnings.append(f"{name}:{line}: trailing commas are not JSON; they were ignored")
        text = repaired
    return Source(name=name, text=text, data=data, warnings=warnings)


def _load_json(text: str, name: str, packs_rows: bool) -> object:
    def reject(constant: str) -> object:
        constant_match = next(token for token in _CONSTANTS.finditer(text) if token[0] == constant)
        line, column = _line_column(text, constant_match.start())
        raise DataError(
            f"{constant} is not a JSON number; leave the value out or write null",
            source=name,
            line=line,
            column=column,
        )

    try:
        if packs_rows:
            decoder = json.JSONDecoder(parse_constant=reject, object_pairs_hook=_unique_names)
            with suppress(ValueError):  # the parser of the whole text says what is wrong
                return parse_rows(text, decoder)
        return json.loads(text, parse_constant=reject, object_pairs_hook=_unique_names)
    # The hook does not know positions; they are searched only in this case.
    except _NameTwice:
        position, key = _second_use(text)
        line, column = _line_column(text, position)
        raise DataError(
            f"the name {key!r} is duplicated in one object; keep one", source=name, line=line, column=column
        ) from None
    except RecursionError:
        raise DataError("is nested too deeply to be read", source=name) from None
    # It is a ValueError as well, but has a position, which the caller reports.
    except json.JSONDecodeError:
        raise
    except ValueError as exc:
        # E.g. an integer of more digits than Python converts.
        raise DataError(f"cannot be read: {exc}", source=name) from None


class _NameTwice(Exception):
    pass


def _unique_names(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _NameTwice
    return members


def _second_use(text: str) -> tuple[int, str]:
    """Return position and name of the first member that repeats another one of its object."""
    open_names: list[set[str]] = []
    last: re.Match[str] | None = None
    for token in _TOKENS.finditer(text):
        mark = token[0]
        if mark in "{[":
            open_names.append(set())
        elif mark in "}]":
            open_names.pop()
        elif mark == ":" and last is not None:
            key = json.loads(last[0], strict=False)
            if key in open_names[-1]:
                return last.start(), key
            open_names[-1].add(key)
        last = token
    raise AssertionError("no name is used twice")


def _syntax_error(exc: json.JSONDecodeError, name: str) -> DataError:
    return DataError(
        f"is not JSON: {exc.msg[0].lower()}{exc.msg[1:]}", source=name, line=exc.lineno, column=exc.colno
    )


def _line_column(text: str, index: int) -> tuple[int, int]:
    return text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index)


def _locate_json(text: str, steps: list[str], *, is_exact: bool = False) -> int | None:
    """Return the index of a value, else that of its nearest ancestor; of an exact one alone, else None."""
    index = _skip(text, 0)
    for step in steps:
        child = _member(text, index, step) if text[index : index + 1] == "{" else _element(text, index, step)
        if child is None:
            return None if is_exact else index
        index = child
    return index


def _positions(
    text: str, index: int, steps: Sequence[str], at: tuple[object, ...] = ()
) -> Iterator[tuple[tuple[object, ...], int]]:
    """Yield path and position of all values that match the steps below the value at an index."""
    if not steps:
        yield at, index
        return
    first, rest = steps[0], steps[1:]
    if first != "*":
        child = _member(text, index, first) if text[index : index + 1] == "{" else None
        if child is not None:
            yield from _positions(text, child, rest, (*at, first))
        return
    if text[index : index + 1] != "[":
        return
    index = _skip(text, index + 1)
    number = 0
    while text[index : index + 1] not in ("]", ""):
        yield from _positions(text, index, rest, (*at, number))
        index = _next(text, index)
        number += 1


def _member(text: str, index: int, name: str) -> int | None:
    index = _skip(text, index + 1)
    while text[index : index + 1] == '"':
        # The text was parsed before, so values are skipped without checks.
        key, index = _DECODER.raw_decode(text, index)
        index = _skip(text, _skip(text, index) + 1)
        if key == name:
            return index
        index = _next(text, index)
    return None


def _element(text: str, index: int, step: str) -> int | None:
    if text[index : index + 1] != "[" or not step.isdigit():
        return None
    index = _skip(text, index + 1)
    for _ in range(int(step)):
        if text[index : index + 1] in ("]", ""):
            return None
        index = _next(text, index)
    return None if text[index : index + 1] in ("]", "") else index


def _next(text: str, index: int) -> int:
    """Start of the value after the one that starts here."""
    _, index = _DECODER.raw_decode(text, index)
    index = _skip(text, index)
    return _skip(text, index + 1) if text[index : index + 1] == "," else index


def _skip(text: str, index: int) -> int:
    match = _BLANKS.match(text, index)
    return match.end() if match else index
