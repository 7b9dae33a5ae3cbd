"""Archives of Inspect (`.eval`): a zip of JSON members, read one by one within limits.

An archive may come from a stranger. Members are unpacked in small pieces, and the limits are checked before
the next piece; of each sample only the keys that the importer reads stay in memory.
"""

from __future__ import annotations

import importlib
import json
import struct
import sys
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any

from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.core.reading import open_file
from pytest_evalstudio.core.text import excerpt
from pytest_evalstudio.formats.fields import shown
from pytest_evalstudio.formats.source import Source
from pytest_evalstudio.text.unicode import valid_json_bytes

MAX_MEMBERS = 100_000
MAX_MEMBER_BYTES = 50_000_000
"""Maximum size of an unpacked member."""
MAX_BYTES = 1_000_000_000
"""Maximum size of all unpacked members together."""
MAX_RATIO = 500
"""Maximum ratio of the sizes of an unpacked and a packed member; checked above 1 MB."""
MAX_MEMBER_VALUES = 1_000_000
"""Maximum number of brackets, braces and commas in a member; a value takes up to 100 times its text."""
MAX_KEPT_BYTES = 500_000_000
"""Maximum memory of all values that are imported."""
_RATIO_FROM_BYTES = 1_000_000  # small members of repeated text compress as well as bombs
_PIECE_BYTES = 65_536
_HEADS = ("header.json", "_journal/start.json")
_SAMPLES = "samples/"
_ENCRYPTED = 0x1  # bit of the ZIP format's general purpose flag
_REMEDY = "write the log as JSON: inspect log convert --to json"


def open_log(path: Path, name: str, keys: frozenset[str]) -> Source:
    """Return an archive as the data of a JSON log.

    Args:
        path: the archive.
        name: the archive in messages.
        keys: keys of a sample that are kept.

    Raises:
        DataError: if it is no archive, is damaged, encrypted or too large, or a member is not JSON.
        ConfigurationError: if its compression needs an extra that is not installed.
    """
    zipfile = _zipfile(name)
    # What zipfile raises for damaged archives, depending on where the damage is.
    faults = (zipfile.BadZipFile, zlib.error, struct.error, ValueError, EOFError, OSError, RuntimeError)
    try:
        with open_file(path) as file, zipfile.ZipFile(file) as archive:
            members = _members(archive, zipfile, name)
            head, samples = None, []
            budget = _Budget(name)
            for member in members:
                value = _parsed(budget.read(archive, member), f"{name} {excerpt(member.filename)}")
                if head is None:
                    head = _head(value, f"{name} {member.filename}")
                else:
                    samples.append(budget.kept(value, keys))
    except (*faults, NotImplementedError, *_zstd_errors()) as exc:
        fact = excerpt(str(exc)) or type(exc).__name__
        raise DataError(
            f"cannot be read as a log of Inspect: {fact}; copy the log again, or {_REMEDY}", source=name
        ) from None
    return Source(name=name, text="", data={**(head or {}), "samples": samples})


def _members(archive: Any, zipfile: ModuleType, name: str) -> list[Any]:
    """Return the header and the samples.

    Raises:
        DataError: if there is no header, or one of them is no plain member that can be read.
    """
    infos = archive.infolist()
    if len(infos) > MAX_MEMBERS:
        raise DataError(f"has more than {MAX_MEMBERS:,} members; split the log", source=name)
    by_name = {info.filename: info for info in infos}
    head = next((member for member in _HEADS if member in by_name), None)
    if head is None:
        raise DataError(f"is not a log of Inspect: it has no member {_HEADS[0]!r}", source=name)
    members = [
        by_name[head],
        *(info for info in infos if info.filename.startswith(_SAMPLES) and not info.filename.endswith("/")),
    ]
    supported = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, getattr(zipfile, "ZIP_ZSTANDARD", 93)}
    names: set[str] = set()
    for info in members:
        location = f"{name} {excerpt(info.filename)}"
        if info.filename in names:
            raise DataError(f"two members of the archive have this name; {_REMEDY}", source=location)
        names.add(info.filename)
        if ".." in PurePosixPath(info.filename).parts:
            raise DataError(
                "the name of a member leads out of the archive; names have no '..'", source=location
            )
        if info.flag_bits & _ENCRYPTED:
            raise DataError("is encrypted; write the archive without a password", source=location)
        if info.compress_type not in supported:
            raise DataError(
                f"has the unsupported compression {info.compress_type}; use deflate or zstd", source=location
            )
    if sum(info.filename == head for info in infos) > 1:
        raise DataError(f"two members of the archive have this name; {_REMEDY}", source=f"{name} {head}")
    return members


class _Budget:
    """Limits of an archive, used up member by member."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._read_bytes = 0
        self._kept_bytes = 0

    def read(self, archive: Any, member: Any) -> bytes:
        """Return an unpacked member.

        Raises:
            DataError: as soon as a limit is exceeded.
        """
        location = f"{self._name} {excerpt(member.filename)}"
        pieces: list[bytes] = []
        size = values = 0
        with archive.open(member) as stream:
            while piece := stream.read(_PIECE_BYTES):
                pieces.append(piece)
                size += len(piece)
                self._read_bytes += len(piece)
                # An estimate before parsing: each value but the first has one of these signs before it.
                values += sum(map(piece.count, (b"[", b"{", b",")))
                if size > MAX_MEMBER_BYTES:
                    raise DataError(
                        f"unpacks to more than {MAX_MEMBER_BYTES:,} bytes; {_REMEDY}", source=location
                    )
                if size > _RATIO_FROM_BYTES and size > MAX_RATIO * max(1, member.compress_size):
                    raise DataError(
                        f"unpacks to more than {MAX_RATIO} times its size, as no log does; {_REMEDY}",
                        source=location,
                    )
                if values > MAX_MEMBER_VALUES:
                    raise DataError(f"has more than {MAX_MEMBER_VALUES:,} values; {_REMEDY}", source=location)
                if self._read_bytes > MAX_BYTES:
                    raise DataError(
                        f"the archive unpacks to more than {MAX_BYTES:,} bytes; split the log",
                        source=self._name,
                    )
        return b"".join(pieces)

    def kept(self, value: Json, keys: frozenset[str]) -> Json:
        """Return a sample with only these keys; other values as they are, for the message on them.

        Raises:
            DataError: if all samples together need too much memory.
        """
        if not isinstance(value, dict):
            return value if value is None or isinstance(value, str | int | float) else []
        sample = {key: part for key, part in value.items() if key in keys}
        self._kept_bytes += sum(sys.getsizeof(part) for part, _ in walk(sample))
        if self._kept_bytes > MAX_KEPT_BYTES:
            raise DataError(
                f"its samples take more than {MAX_KEPT_BYTES:,} bytes of memory; split the log",
                source=self._name,
            )
        return sample


def walk(value: Json) -> Iterator[tuple[Json, int]]:
    """Yield a value and all values inside of it, with their depth from 0; any depth is possible."""
    pending: list[tuple[Json, int]] = [(value, 0)]
    while pending:
        part, depth = pending.pop()
        yield part, depth
        inner: Iterable[Any] = ()
        if isinstance(part, dict):
            inner = part.values()
        elif isinstance(part, list):
            inner = part
        pending += [(item, depth + 1) for item in inner]


def _parsed(content: bytes, location: str) -> Json:
    try:
        value: Json = json.loads(valid_json_bytes(content))
    except RecursionError:
        raise DataError(f"is nested too deeply to be read; {_REMEDY}", source=location) from None
    except UnicodeDecodeError:
        raise DataError(f"is not UTF-8; {_REMEDY}", source=location) from None
    except json.JSONDecodeError as exc:
        raise DataError(
            f"is not JSON: {exc.msg[0].lower()}{exc.msg[1:]}; copy the log again",
            source=location,
            line=exc.lineno,
            column=exc.colno,
        ) from None
    except ValueError:  # a limit of Python against quadratic time
        raise DataError("has a number of too many digits; write it as a text", source=location) from None
    return value


def _head(value: Json, location: str) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise DataError(f"expected an object, found {shown(value)}", source=location)
    return {key: part for key, part in value.items() if key == "eval"}


def _zstd_errors() -> tuple[type[Exception], ...]:
    module = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    return (importlib.import_module(module).ZstdError,)


def _zipfile(name: str) -> ModuleType:
    """Return a zipfile module that reads zstd, with which Inspect compresses."""
    if sys.version_info >= (3, 14):
        return importlib.import_module("zipfile")
    try:
        return importlib.import_module("backports.zstd.zipfile")
    except ImportError:
        raise ConfigurationError(
            f"{name}: reading .eval needs zstd: pip install 'pytest-evalstudio[inspect]', or {_REMEDY}"
        ) from None
