"""The documents of a workflow: files, URLs, and collections of services, which are copied once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

from pytest_evalstudio.asking.existing_collections import is_collection
from pytest_evalstudio.contrib.validation.workflow.collection_copies import (
    CollectionCopy,
    copy_collection,
    existing_copy,
)
from pytest_evalstudio.contrib.validation.workflow.documents import digest
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.scoring.tasks import resolved

CopyOf = Callable[[str, Path, Configuration, Registry], CollectionCopy | None]


class WorkflowCorpus:
    """The documents that a workflow file names.

    Args:
        documents: as the file names them.
        path: of the file.
        config: what applies to the file.

    Attributes:
        locations: absolute paths, URLs, and collections that are not copied yet.
        notes: sentences about the collections for people.

    Raises:
        DataError: if there is no such file, connection or model, or a copy is damaged.
    """

    def __init__(
        self, documents: Sequence[str], path: Path, config: Configuration, registry: Registry
    ) -> None:
        self._documents = documents
        self._path = path
        self._config = config
        self._registry = registry
        self.locations, self.notes = self._located(existing_copy)
        for location in self.locations:
            if "://" not in location and not Path(location).is_file():
                raise self._wrong("documents", f"there is no file {location}")

    def copy_collections(self) -> None:
        """Read the collections that have no copy yet from their services.

        Raises:
            EvalStudioError: if one cannot be read.
        """
        if any(map(is_collection, self.locations)):
            self.locations, self.notes = self._located(copy_collection)
            # The digests so far are of the addresses of the collections.
            self.__dict__.pop("digests", None)

    @cached_property
    def digests(self) -> list[list[str]]:
        """The digests of the documents, as they are at the first call."""
        return [digest(location) for location in self.locations]

    def _located(self, copy_of: CopyOf) -> tuple[tuple[str, ...], list[str]]:
        """Return locations and notes.

        Args:
            copy_of: returns the copy of a collection, None if there is none; the collection then stays.
        """
        locations: list[str] = []
        notes: list[str] = []
        folder = self._path.parent
        for index, document in enumerate(self._documents):
            copy = None
            if is_collection(document):
                try:
                    copy = copy_of(document, folder, self._config, self._registry)
                except ConfigurationError as exc:
                    raise self._wrong(f"documents/{index}", str(exc)) from None
            if copy is None:
                locations.append(resolved(document, str(folder.absolute())))
            else:
                locations += copy.files
                notes += copy.notes
        return tuple(locations), notes

    def _wrong(self, location: str, message: str) -> DataError:
        return DataError(message, source=str(self._path), pointer=f"/evalstudio_workflow/{location}")
