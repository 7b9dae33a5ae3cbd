"""Systematic damages of a sound file: each is applied to each kind of file, at the place that it names."""

from __future__ import annotations

import copy
import json
import os
import random
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Write = Callable[[Path, bytes], None]
HUGE_NUMBER = 10**400
DEPTH = 100_000


@dataclass(frozen=True, slots=True)
class Damage:
    """A damage.

    Attributes:
        name: distinct for a file.
        write: puts the damaged file at a path, from its sound content.
    """

    name: str
    write: Write


def damages(content: bytes, form: str) -> Iterator[Damage]:
    """Yield the damages that suit a file.

    Args:
        content: of the sound file.
        form: "json", "object" (JSON without rows), "jsonl", "csv", "toml", "yaml", "zip", "pdf" or
            "text".
    """
    yield from (Damage(name, _bytes(change)) for name, change in BYTES.items())
    if sys.platform != "win32":
        yield from (Damage(name, write) for name, write in PATHS.items())
    if form in ("json", "object", "jsonl"):
        yield from (Damage(name, _bytes(change)) for name, change in JSON.items())
        yield from _keys(content)
    if form == "csv":
        yield from (Damage(name, _bytes(change)) for name, change in CSV.items())
    if form == "toml":
        yield from _settings(content)


def _bytes(change: Callable[[bytes], bytes]) -> Write:
    return lambda path, content: _write(path, change(content))


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")


BYTES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "blank": lambda content: b" \n\t\r\n",
    "half": lambda content: content[: len(content) // 2],
    "without its end": lambda content: content[:-3],
    "zeros": lambda content: b"\x00" * max(64, len(content)),
    "a zero in the middle": lambda content: _inserted(content, b"\x00"),
    "byte-order mark": lambda content: b"\xef\xbb\xbf" + content,
    "two byte-order marks": lambda content: b"\xef\xbb\xbf" * 2 + content,
    "UTF-16": lambda content: _text(content).encode("utf-16"),
    "UTF-32": lambda content: _text(content).encode("utf-32"),
    "Latin-1": lambda content: _inserted(content, b"\xe9"),
    "random bytes": lambda content: random.Random(1).randbytes(max(64, len(content))),
    "gzip": lambda content: b"\x1f\x8b\x08" + content,
    "zip": lambda content: b"PK\x03\x04" + content,
    "carriage returns": lambda content: content.replace(b"\n", b"\r"),
    "control characters": lambda content: _inserted(content, b"\x1b[31m\x07"),
    "twice": lambda content: content * 2,
    "one long line": lambda content: b"a" * max(70_000, len(content)),
    "brackets": lambda content: b"[" * DEPTH,
}


def _inserted(content: bytes, piece: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + piece + content[middle:]


def _folder(path: Path, content: bytes) -> None:
    path.mkdir()


def _pipe(path: Path, content: bytes) -> None:
    os.mkfifo(path)


def _link(target: str) -> Write:
    return lambda path, content: path.symlink_to(target.replace("{name}", path.name))


def _unreadable(path: Path, content: bytes) -> None:
    _write(path, content)
    path.chmod(0)


PATHS: dict[str, Write] = {
    "a folder": _folder,
    "a pipe": _pipe,
    "a link to an endless device": _link("/dev/zero"),
    "a link to an empty device": _link("/dev/null"),
    "a link to itself": _link("{name}"),
    "a link to nothing": _link("nothing"),
    "a link to another file": _link("/etc/passwd"),
    "no permission": _unreadable,  # an administrator may read it
}
JSON: dict[str, Callable[[bytes], bytes]] = {
    "null": lambda content: b"null\n",
    "a number": lambda content: b"7\n",
    "a text": lambda content: b'"x"\n',
    "a list": lambda content: b"[" + content.strip().replace(b"\n", b" ") + b"]\n",
    "nested lists": lambda content: _replaced(content, "[" * DEPTH + "]" * DEPTH),
    "nested objects": lambda content: _replaced(content, '{"a":' * DEPTH + "1" + "}" * DEPTH),
    "NaN": lambda content: _replaced(content, "NaN"),
    "infinity": lambda content: _replaced(content, "-Infinity"),
    "a number beyond floats": lambda content: _replaced(content, "1e999"),
    "a number of 400 digits": lambda content: _replaced(content, str(HUGE_NUMBER)),
    "a lone surrogate": lambda content: _replaced(content, '"\\ud800"'),
    "escaped control characters": lambda content: _replaced(content, '"\\u001b[2J\\u202e\\u0000"'),
    "a trailing comma": lambda content: content.rstrip()[:-1] + b",}",
    "comments": lambda content: b"// x\n" + content,
    "single quotes": lambda content: content.replace(b'"', b"'"),
    "each key twice": lambda content: content.replace(
        b"{", b'{"name": 1, "name": 2, "key": "", "key": null, ', 1
    ),
    "unknown keys": lambda content: content.replace(
        b"{", b'{"\\u001b[1m": 1, "__proto__": {}, "x y": [], ', 1
    ),
}
CSV: dict[str, Callable[[bytes], bytes]] = {
    "header alone": lambda content: content.splitlines(keepends=True)[0],
    "no header": lambda content: b"".join(content.splitlines(keepends=True)[1:]),
    "each column twice": lambda content: b"".join(
        line.rstrip(b"\r\n") + b"," + line for line in content.splitlines(keepends=True)
    ),
    "more cells": lambda content: content.replace(b"\n", b",,,\n").replace(b",,,\n", b"\n", 1),
    "fewer cells": lambda content: content.splitlines(keepends=True)[0] + b"x\n" * 20,
    "an open quote": lambda content: _inserted(content, b'"'),
    "semicolons": lambda content: content.replace(b",", b";"),
    "a large cell": lambda content: content + b"x" * 140_000 + b"\n",
    "formulas": lambda content: content.replace(b"\n", b"\n=cmd()", 3),
    "many columns": lambda content: b",".join([content.splitlines()[0], *[b"c"] * 20_000]) + b"\n" + content,
    "huge numbers": lambda content: b",".join([b"9" * 5000] * 12).join([content, b"\n"]),
}


def _replaced(content: bytes, value: str) -> bytes:
    """Replace the value of the first key by a text of JSON."""
    start = content.find(b":") + 1
    end = min((at for mark in (b",", b"}") if (at := content.find(mark, start)) >= 0), default=len(content))
    return content[:start] + value.encode() + content[end:]


WRONG: tuple[Any, ...] = ([], {}, -1, "\x1b[31mx", None, True, 1e308, [None], {"a": {}}, "../../etc/passwd")


def _keys(content: bytes) -> Iterator[Damage]:
    """Yield a file without each key, with null for it, and with values of other types in turn."""
    lines = [content] if _is_json(content) else content.splitlines()
    position = 0
    for number, line in enumerate(lines[:3]):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        for steps in _paths(value):
            name = "/".join(map(str, (number, *steps)))
            others = [WRONG[(position + offset) % len(WRONG)] for offset in (0, 1)]
            position += 1
            yield Damage(f"null at {name}", _changed(number, steps, None))
            yield Damage(f"nothing at {name}", _changed(number, steps, ...))
            for other in others:
                yield Damage(f"{json.dumps(other)} at {name}", _changed(number, steps, other))


def _is_json(content: bytes) -> bool:
    try:
        json.loads(content)
    except ValueError:
        return False
    return True


def _paths(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each key; of a list only the first value is looked at."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*before, key)
            yield from _paths(inner, (*before, key))
    elif isinstance(value, list) and value:
        yield from _paths(value[0], (*before, 0))


def _changed(number: int, steps: tuple[Any, ...], value: Any) -> Write:
    def write(path: Path, content: bytes) -> None:
        is_one = _is_json(content)
        lines = [content] if is_one else content.splitlines()
        document = json.loads(lines[number])
        parent = document
        for step in steps[:-1]:
            parent = parent[step]
        if value is ...:
            del parent[steps[-1]]
        else:
            parent[steps[-1]] = copy.deepcopy(value)
        lines[number] = json.dumps(document).encode()
        _write(path, b"\n".join(lines) + b"\n")

    return write


SETTINGS = (
    "[]",
    "{}",
    "-1",
    "nan",
    "1979-05-27",
    '"\\u001b[31mx"',
    '"../../x"',
    "true",
    "1e400",
    str(HUGE_NUMBER),
)


def _settings(content: bytes) -> Iterator[Damage]:
    """Yield a TOML file with each value replaced by others."""
    lines = _text(content).splitlines()
    for number, line in enumerate(lines):
        name, equals, _ = line.partition(" = ")
        if equals:
            for value in SETTINGS:
                text = "\n".join([*lines[:number], f"{name} = {value}", *lines[number + 1 :]])
                yield Damage(
                    f"{name} = {value[:20]} in line {number + 1}", _bytes(lambda _, text=text: text.encode())
                )  # type: ignore[misc]
    yield Damage(
        "a table twice", _bytes(lambda content: content + b"\n[evaluator.rouge]\n[evaluator.rouge]\n")
    )
    yield Damage("nested arrays", _bytes(lambda content: b"x = " + b"[" * 5000 + b"]" * 5000))
    yield Damage("nested tables", _bytes(lambda content: b"[" + b".".join([b"a"] * 5000) + b"]\nx = 1\n"))


def remove(path: Path) -> None:
    """Remove a damaged file, of whatever kind it is."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif path.is_symlink() or path.exists():
        path.unlink()
