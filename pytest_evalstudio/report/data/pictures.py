"""Images of test cases in the page: small ones, read from the disk when the report is built."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pytest_evalstudio.core.attachments import IMAGE_TYPES, Attachment, media_type_of
from pytest_evalstudio.core.paths import path_below
from pytest_evalstudio.core.reading import open_file
from pytest_evalstudio.record.schema import Item

MAX_PICTURE_BYTES = 256_000
"""Larger images are named in the page, not shown."""
MAX_PICTURES_BYTES = 10_000_000
"""Bytes of all images of a page together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """Image in the page.

    Attributes:
        sha256: of its content, by which cases name it.
        media_type: by its content.
        data: in Base64.
    """

    sha256: str
    media_type: str
    data: str


class EmbeddedPictures:
    """Gathers the images of cases, each once, within the limits of a page.

    An image is taken only if its content has the digest in the record: a record from elsewhere shows no other
    file of this machine.

    Args:
        root: folder where the paths of node ids start.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._pictures: dict[str, Picture] = {}
        self._tried: set[tuple[str, str, str]] = set()
        self._size = 0

    def add(self, item: Item) -> None:
        """Take the images of an item."""
        for row in item.rows:
            for each in (
                *row.attachments,
                *(entry for turn in row.answer.turns for entry in turn.attachments),
            ):
                self._add(item.file, each)

    def __iter__(self) -> Iterator[Picture]:
        return iter(self._pictures.values())

    def _add(self, file: str, entry: Attachment) -> None:
        identity = (file, entry.name, entry.sha256)
        if entry.sha256 in self._pictures or identity in self._tried:
            return
        self._tried.add(identity)
        limit = min(MAX_PICTURE_BYTES, MAX_PICTURES_BYTES - self._size)
        if entry.media_type not in IMAGE_TYPES or entry.size > limit:
            return
        content = self._content(file, entry)
        if content is None or len(content) > limit:  # a record from elsewhere may lie about the size
            return
        self._size += len(content)
        self._pictures[entry.sha256] = Picture(
            sha256=entry.sha256,
            media_type=media_type_of(content, entry.name),
            data=base64.b64encode(content).decode("ascii"),
        )

    def _content(self, file: str, entry: Attachment) -> bytes | None:
        """Return the content of an image, None where no file below the root has it."""
        for name in (str(PurePosixPath(file).parent / entry.name), entry.name):
            try:
                with open_file(path_below(self._root, name)) as opened:
                    content = opened.read(MAX_PICTURE_BYTES + 1)
            except (OSError, ValueError):
                continue
            is_image = media_type_of(content, name) in IMAGE_TYPES
            if is_image and hashlib.sha256(content).hexdigest() == entry.sha256:
                return content
        return None
