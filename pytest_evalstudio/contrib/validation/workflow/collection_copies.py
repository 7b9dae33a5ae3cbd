"""Copies of collections as text files beside a workflow or suite, so that later runs need no network."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_evalstudio.asking.existing_collections import Collection, documents_of, find_collection
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.paths import path_below
from pytest_evalstudio.core.plugins.host import CollectionDocument
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.reading import file_sha256
from pytest_evalstudio.core.text import excerpt
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.formats.fields import FormatModel, validate
from pytest_evalstudio.formats.source import parse, read_text
from pytest_evalstudio.scoring.masking import masked
from pytest_evalstudio.text.figures import counted

FOLDER = "collections"
"""Folder of the copies, beside the workflow or suite."""
MANIFEST = "collection.json"
VERSION = 1
MAX_NAME_CHARS = 50  # 200 bytes at most, of the 255 that file systems allow
MAX_NAMED = 5
"""Documents without text that a note names."""


class CopiedDocument(FormatModel):
    """A document in a copy.

    Attributes:
        file: name in the folder of the copy.
        name: at the service.
    """

    file: str
    name: str
    sha256: str


class Manifest(FormatModel):
    """`collection.json`: the content of a copy.

    Attributes:
        collection: id at the service.
        read_at: time of the copy, ISO 8601 in UTC.
        without_text: names of documents that have no text and therefore no file.
    """

    version: int
    connection: str
    host: str
    collection: str
    read_at: str
    documents: list[CopiedDocument]
    without_text: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionCopy:
    """The texts of a collection on the disk.

    Attributes:
        files: absolute paths, in the order of the collection.
        notes: sentences for people.
    """

    files: Sequence[str]
    notes: Sequence[str]


def existing_copy(
    document: str, folder: Path, config: Configuration, registry: Registry
) -> CollectionCopy | None:
    """Return the copy of a collection beside a workflow or suite; None if there is none.

    Args:
        document: "collection://NAME/ID".
        folder: of the workflow's or suite's file.

    Raises:
        ConfigurationError: as `find_collection`.
        DataError: if the copy is damaged, or was changed.
    """
    collection = find_collection(config, document, registry)
    return _read(_folder_of(collection, folder), collection)


def copy_collection(document: str, folder: Path, config: Configuration, registry: Registry) -> CollectionCopy:
    """Return the copy of a collection; it is read from the service if there is none.

    Raises:
        ConfigurationError: as `find_collection`.
        DataError: if the copy is damaged or was changed, or no document has a text.
        EvaluationError: if the service does not return the documents.
    """
    collection = find_collection(config, document, registry)
    target = _folder_of(collection, folder)
    if (copy := _read(target, collection)) is not None:
        return copy
    documents = documents_of(config, collection, registry)
    if not any(each.text.strip() for each in documents):
        fact = f"none of its {counted(len(documents), 'document')} has a text"
        raise DataError(f"{fact}; wait for their ingestion, or name another collection", source=document)
    try:
        _write(target, collection, documents)
    except OSError as exc:
        raise DataError(
            f"the texts of {document} cannot be written: {exc.strerror}", source=str(target)
        ) from None
    copy = _read(target, collection)
    assert copy is not None
    return copy


def _folder_of(collection: Collection, folder: Path) -> Path:
    """Return the folder of a copy; another service under the same name has another one."""
    identity = [collection.connection, collection.host, collection.url, collection.id]
    digest = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:8]
    name = "_".join(_safe(part)[: MAX_NAME_CHARS // 2] for part in (collection.connection, collection.id))
    return folder.absolute() / FOLDER / f"{name}_{digest}"


def _read(folder: Path, collection: Collection) -> CollectionCopy | None:
    path = folder / MANIFEST
    if not folder.exists():
        return None
    remedy = f"restore it, or remove the folder {folder.name} to read the collection again"
    if not path.is_file():
        raise DataError(f"there is no such file; {remedy}", source=str(path))
    try:
        source = parse(read_text(path), str(path))
        manifest = validate(Manifest, source.data, source)
    except DataError as exc:
        message = f"{exc.message}; {remedy}"
        raise DataError(
            message, source=exc.source, pointer=exc.pointer, line=exc.line, column=exc.column
        ) from None
    if manifest.version != VERSION:
        raise DataError(f"has version {manifest.version}, not {VERSION}; {remedy}", source=str(path))
    files = []
    for document in manifest.documents:
        try:
            file = path_below(folder, document.file)
            is_same = file_sha256(file) == document.sha256
        except ValueError as exc:
            raise DataError(str(exc), source=str(path)) from None
        except OSError as exc:
            fact = f"the document cannot be read: {exc.strerror}"
            raise DataError(f"{fact}; {remedy}", source=str(folder / document.file)) from None
        if not is_same:
            raise DataError(f"was changed since it was read from the service; {remedy}", source=str(file))
        files.append(str(file))
    if not files:
        raise DataError(f"has no documents; {remedy}", source=str(path))
    return CollectionCopy(files=files, notes=tuple(_notes(folder, manifest, collection)))


def _notes(folder: Path, manifest: Manifest, collection: Collection) -> list[str]:
    notes = [
        f"texts of collection {collection.id} ({counted(len(manifest.documents), 'document')}, read"
        f" {manifest.read_at}) are in {FOLDER}/{folder.name}; a [[model]] with"
        f' {collection.option} = "{collection.id}" asks the collection itself'
    ]
    if names := manifest.without_text:
        more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
        listed = ", ".join(excerpt(masked(name)) for name in names[:MAX_NAMED])
        notes.append(f"without text and therefore left out: {listed}{more}")
    return notes


def _write(target: Path, collection: Collection, documents: Sequence[CollectionDocument]) -> None:
    """Write a copy whole or not at all; that of another process stays."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    unfinished.mkdir()
    try:
        entries = []
        names: set[str] = set()
        for document in documents:
            if not document.text.strip():
                continue
            content = _encoded(document.text)
            file = _file_name(document.name, names)
            (unfinished / file).write_bytes(content)
            digest = hashlib.sha256(content).hexdigest()
            entries.append(CopiedDocument(file=file, name=_encoded(document.name).decode(), sha256=digest))
        manifest = Manifest(
            version=VERSION,
            connection=collection.connection,
            host=collection.host,
            collection=collection.id,
            read_at=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            documents=entries,
            without_text=[
                _encoded(document.name).decode() for document in documents if not document.text.strip()
            ],
        )
        text = json.dumps(manifest.model_dump(), indent=2) + "\n"
        (unfinished / MANIFEST).write_bytes(text.encode())
        try:
            os.rename(unfinished, target)
        except OSError:
            if not target.exists():
                raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _encoded(text: str) -> bytes:
    """Return a text in UTF-8; half of a surrogate pair, which JSON can hold, becomes a question mark."""
    return text.encode("utf-8", "replace")


def _file_name(name: str, names: set[str]) -> str:
    """Return a safe file name that no other document of the collection has, and note it.

    The text of Markdown keeps its marks; all others are plain text, whatever the document was.

    >>> [_file_name(name, {MANIFEST}) for name in ("Fees.md", "../../a b.pdf", "")]
    ['Fees.md', 'a_b.pdf.txt', 'document.txt']
    """
    safe = _safe(re.split(r"[/\\]", name)[-1])
    stem, suffix = os.path.splitext(safe)
    if suffix.lower() not in (".md", ".markdown", ".txt"):
        stem, suffix = safe, ".txt"
    stem = stem[:MAX_NAME_CHARS] or "document"
    unique, number = stem, 1
    while f"{unique}{suffix}".casefold() in names:  # disks may ignore case
        number += 1
        unique = f"{stem}-{number}"
    names.add(f"{unique}{suffix}".casefold())
    return f"{unique}{suffix}"


def _safe(name: str) -> str:
    """Return a name without separators, control characters and a leading dot."""
    return re.sub(r"[^\w.-]+", "_", name).strip("._-")
