"""Images and files of test cases, in suites, labs and data sets."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar

from msgspec import structs
from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from pytest_evalstudio.core.attachments import (
    IMAGE_TYPES,
    MAX_ATTACHMENTS,
    MEDIA_TYPES,
    Attachment,
    Detail,
    facts_of,
)
from pytest_evalstudio.core.errors import ConfigurationError, DataError, nearest
from pytest_evalstudio.formats.fields import FormatModel, Text, one_of, shown
from pytest_evalstudio.formats.source import Source, pointer

_SHA256 = re.compile(r"(?:[0-9a-f]{64})?")
_SHOWN_CHARS = 300
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def _or_path(schema: dict[str, Any]) -> None:
    """Describe the short form besides the object."""
    described = {**schema, "required": ["path"], "additionalProperties": False}
    schema.clear()
    schema |= {"anyOf": [{"type": "string"}, described]}


class AttachedFile(FormatModel):
    """Image or file of a test case; in a file, its path alone is the short form.

    Attributes:
        path: relative to the folder of the file that names it, and below that folder.
        detail: resolution at which a service looks at an image: "low", "high" or "auto"; "" for its default.
        media_type: by content; labs have it.
        size: bytes; labs have it.
        sha256: of the content. Where it is given, the file must have it.
    """

    model_config = ConfigDict(json_schema_extra=_or_path)
    optional_keys: ClassVar[frozenset[str]] = frozenset({"detail", "media_type", "size", "sha256"})

    path: str
    detail: Annotated[Detail, one_of("low", "high", "auto")] = ""
    media_type: Text = ""
    size: Annotated[int, Field(ge=0)] = 0
    sha256: Text = ""

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, data: object) -> object:
        if isinstance(data, str | Path):
            data = {"path": str(data)}
        if isinstance(data, AttachedFile):
            return data
        if not isinstance(data, Mapping):
            raise ValueError(f"expected a path, or an object with `path`, found {shown(data)}")
        _check_object(data, list(cls.model_fields))
        return data

    @property
    def is_recorded(self) -> bool:
        """Return True if type, size and digest are known without the file."""
        return bool(self.sha256 and self.media_type in MEDIA_TYPES)


def _check_object(data: Mapping[str, object], names: Sequence[str]) -> None:
    for name in data:
        if name not in names:
            hint = nearest(str(name), names) or f"There are: {', '.join(names)}."
            raise ValueError(f"{name!r} is not a key here. {hint}")
    if isinstance(path := data.get("path"), str):
        _check_path(path)
    digest = data.get("sha256") or ""
    if not isinstance(digest, str) or not _SHA256.fullmatch(digest):
        raise ValueError(f"sha256: expected 64 hexadecimal digits in lower case, found {shown(digest)}")


def _check_path(path: str) -> None:
    if path != path.encode("utf-8", "replace").decode("utf-8"):
        raise ValueError("the path contains an unpaired surrogate, which is not a character; correct it")
    if not path.strip():
        raise ValueError("the path is blank; write the path of a file")
    if path.startswith("data:"):
        raise ValueError("it is a data URL; save it as a file and write its path")
    if _ADDRESS.match(path):
        raise ValueError(f"{_shown(path)} is an address; download the file and write its path")


def _shown(path: str) -> str:
    # A part of a long text could be a part of a secret, which masking no longer recognises.
    return repr(path) if len(path) <= _SHOWN_CHARS else f"a path of {len(path):,} characters"


def _listed(value: object) -> object:
    if value is None or value == "":
        return []
    return [value] if isinstance(value, str | Path | Mapping) else value


AttachedFiles = Annotated[list[AttachedFile], BeforeValidator(_listed)]
"""Images or files; a single path is a list of one."""


def attachment_of(item: AttachedFile, folder: Path | None, *, is_image: bool) -> Attachment:
    """Return an image or file as the engine takes it.

    Args:
        item: as a file names it.
        folder: folder of that file; None where there is none, e.g. for a suite from a URL.
        is_image: whether it is named under `images`.

    Raises:
        ValueError: if there is no such file, or it cannot be an attachment; the message is a sentence with
            the path. A file whose digest is recorded may be missing.
    """
    from pytest_evalstudio.core.paths import path_below  # most suites name no file

    try:
        path = None
        if folder is not None:
            path = path_below(folder, item.path)
            _check_visible(item, path, folder)
        # A recorded file may have been deleted since: its digest and type suffice to score the answer.
        if path is not None and (os.path.exists(path) or not item.is_recorded):
            return _checked(item, path, is_image=is_image)
    except OSError as exc:
        raise ValueError(f"{_shown(item.path)} cannot be read: {exc.strerror or exc}; {_REMEDY}") from None
    if not item.is_recorded:
        raise ValueError(
            f"{_shown(item.path)}: this suite has no folder, so its local files cannot be found; save"
            " it in the folder of its files"
        )
    return _without_file(item)


def _without_file(item: AttachedFile) -> Attachment:
    return Attachment(
        name=item.path,
        media_type=item.media_type,
        size=item.size,
        sha256=item.sha256,
        detail=item.detail,
    )


def _check_visible(item: AttachedFile, path: Path, folder: Path) -> None:
    """Refuse hidden files: a suite of others must not send `.env` or `.git` to a model."""
    below = os.path.relpath(os.path.realpath(path), os.path.realpath(folder))
    if any(part.startswith(".") for part in below.split(os.sep)):
        raise ValueError(
            f"{_shown(item.path)} is hidden or in a hidden folder, and hidden files are not sent; move"
            " it to a name without a leading dot"
        )


_REMEDY = "correct the path, or add the file"


def _checked(item: AttachedFile, path: Path, *, is_image: bool) -> Attachment:
    try:
        facts = facts_of(path)
    except ValueError as exc:
        raise ValueError(f"{_shown(item.path)} {exc}") from None
    if item.sha256 and facts.sha256 != item.sha256:
        if not item.is_recorded:
            raise ValueError(
                f"{_shown(item.path)} does not match its sha256; restore the file, or correct the digest"
            )
        # The recorded answer was given to the content of the digest, not to what the file holds now.
        return _without_file(item)
    if (facts.media_type in IMAGE_TYPES) != is_image:
        key, other = ("images", "files") if is_image else ("files", "images")
        raise ValueError(
            f"{_shown(item.path)} contains {facts.media_type}, which `{key}` does not accept; move it"
            f" to `{other}`, or convert it"
        )
    return Attachment(
        name=item.path,
        media_type=facts.media_type,
        size=facts.size,
        sha256=facts.sha256,
        location=os.path.abspath(path),
        detail=item.detail,
    )


def local_attachments(images: object, files: object) -> tuple[Attachment, ...]:
    """Return images and files that Python code names: any paths, relative ones to the current folder.

    Args:
        images, files: a path, or several.

    Raises:
        ConfigurationError: if one of them cannot be used.
    """
    attachments = []
    for name, paths in (("images", images), ("files", files)):
        for path in [paths] if isinstance(paths, str | Path) else _path_list(paths, name):
            location = Path(path)
            target = Path(os.path.realpath(location))  # Python code may follow links to any folder
            # Without validation: names such as "data:x" are refused in files, and fine for a path of Python.
            item = AttachedFile.model_construct(path=target.name)
            try:
                attachment = attachment_of(item, target.parent, is_image=name == "images")
            except ValueError as exc:
                raise ConfigurationError(f"{name}: {path}: {exc}") from None
            attachments.append(
                structs.replace(attachment, name=location.name if location.is_absolute() else str(path))
            )
    return tuple(attachments)


def _path_list(paths: object, name: str) -> list[str | Path]:
    if not isinstance(paths, Iterable) or isinstance(paths, bytes):
        raise ConfigurationError(f"{name}: expected paths, found {paths!r}")
    listed = list(paths)
    if wrong := [path for path in listed if not isinstance(path, str | Path)]:
        raise ConfigurationError(f"{name}: expected paths, found {wrong[0]!r}")
    return listed


def attachments_of(
    images: Sequence[AttachedFile], files: Sequence[AttachedFile], folder: str | Path | None
) -> tuple[Attachment, ...]:
    """Return the images and files of a message, images first.

    Args:
        images, files: as a test case, turn or row names them.
        folder: folder of its file; a URL, or None, where it has none.

    Raises:
        DataError: if one of them cannot be used.
    """
    base = None if folder is None or "://" in str(folder) else Path(folder)
    try:
        return (
            *(attachment_of(item, base, is_image=True) for item in images),
            *(attachment_of(item, base, is_image=False) for item in files),
        )
    except ValueError as exc:
        raise DataError(str(exc)) from None


def attached_paths(images: Sequence[AttachedFile], files: Sequence[AttachedFile]) -> list[list[str]]:
    """Return the paths of a message's images and files as JSON values for a derived key."""
    paths = [item.path for item in (*images, *files)]
    return [["attached", *paths]] if paths else []


def named_files(case: Any) -> list[AttachedFile]:
    """Return the images and files of a test case or row, those of its turns included."""
    return [item for message in (case, *case.turns) for item in (*message.images, *message.files)]


def recorded(attachments: Sequence[Attachment], *, is_image: bool) -> list[AttachedFile]:
    """Return the images or the files of a message as a lab has them: without their bytes."""
    return [
        AttachedFile(
            path=attachment.name,
            detail=attachment.detail,
            media_type=attachment.media_type,
            size=attachment.size,
            sha256=attachment.sha256,
        )
        for attachment in attachments
        if attachment.is_image == is_image
    ]


def check_attachments(source: Source, message: Any, *at: object, needs_files: bool = False) -> None:
    """Check the images and files of a test case, row or turn on the disk.

    Args:
        source: of the file; nothing is read where it has no folder.
        message: with `images` and `files`.
        at: its place in the file.
        needs_files: whether a file whose digest is recorded must be there too, since a model is to be asked.

    Raises:
        DataError: for the first that cannot be used, at its place.
    """
    if len(message.images) + len(message.files) > MAX_ATTACHMENTS:
        raise source.error(
            pointer(*at), f"has more than {MAX_ATTACHMENTS} images and files; leave some of them out"
        )
    if source.is_remote and not all(item.is_recorded for item in (*message.images, *message.files)):
        raise source.error(
            pointer(*at),
            "has images or files, which are not read for a suite from a URL; download the suite and"
            " save it beside them",
        )
    if source.folder is None or source.is_remote:
        return
    for name in ("images", "files"):
        for index, item in enumerate(getattr(message, name)):
            try:
                attachment = attachment_of(item, source.folder, is_image=name == "images")
            except ValueError as exc:
                raise source.error(pointer(*at, name, index), str(exc)) from None
            if needs_files and not attachment.location:
                raise source.error(
                    pointer(*at, name, index),
                    f"{_shown(item.path)} is missing, or does not match its sha256; restore the file",
                )
