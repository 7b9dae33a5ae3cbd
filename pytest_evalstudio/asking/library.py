"""Libraries of suites: a folder or URL with an index that names each suite's licence and source."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pytest_evalstudio.asking.downloads import fetch_suite
from pytest_evalstudio.core.errors import ConfigurationError, DataError, unknown_name
from pytest_evalstudio.core.locking import locked
from pytest_evalstudio.core.paths import path_below
from pytest_evalstudio.core.reading import read_utf8
from pytest_evalstudio.formats.attachments import named_files
from pytest_evalstudio.formats.fields import fact, write_json
from pytest_evalstudio.formats.files import read
from pytest_evalstudio.formats.kinds import read_source
from pytest_evalstudio.formats.suite import Test, TestCase, TestSuite

INDEX = "library.json"
_WORDS = re.compile(r"\w+")


class LibraryEntry(BaseModel):
    """A suite of a library.

    Attributes:
        name: by which people choose it; unique in the library.
        file: path from the index, with slashes.
        description: what it tests.
        licence: SPDX identifier, or words.
        source: where it comes from: a URL, or words.
        cases: number of test cases when it was added.
    """

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1)
    file: str = Field(min_length=1)
    description: str = ""
    licence: str = ""
    source: str = ""
    cases: int = Field(default=0, ge=0)


class _Index(BaseModel):
    model_config = ConfigDict(extra="forbid")

    suites: list[LibraryEntry] = Field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """A test case that a search found.

    Attributes:
        suite: name of its suite.
        key: of the case.
        prompt: the question.
    """

    suite: str
    key: str
    prompt: str


class Library:
    """A library.

    Args:
        place: folder or URL of the index; a path or URL that ends in .json is the index itself.
        cache: folder of downloads.

    Raises:
        DataError: if there is no index, or it is malformed.
    """

    def __init__(self, location: str | Path, *, cache: Path = Path(".evalstudio")) -> None:
        self._is_remote = "://" in str(location)
        self._cache = cache / "library"
        whole = str(location)
        self._index = whole if whole.endswith(".json") else f"{whole.rstrip('/')}/{INDEX}"
        self.entries: tuple[LibraryEntry, ...] = tuple(_read_index(self._path(self._index)))

    @property
    def folder(self) -> Path:
        """Return the folder of a local library."""
        return Path(self._index).parent

    def suite(self, name: str) -> TestSuite:
        """Return a suite.

        Raises:
            ConfigurationError: if there is none of this name.
            DataError: if it cannot be read.
        """
        entry = self.entry(name)
        path = self._file(entry)
        file = read(read_source(path, entry.file))
        if file.errors:
            raise file.errors[0]
        if not isinstance(file.content, TestSuite):
            raise DataError(f"is a {file.kind}, and a library has suites", source=entry.file)
        return file.content

    def entry(self, name: str) -> LibraryEntry:
        """Return the entry of a suite.

        Raises:
            ConfigurationError: if there is none of this name.
        """
        for entry in self.entries:
            if entry.name == name:
                return entry
        names = [entry.name for entry in self.entries]
        raise unknown_name("suite of the library", name, names, f"Suites: {', '.join(names)}.")

    def search(self, words: str, names: Sequence[str] = ()) -> Iterator[SearchHit]:
        """Yield the test cases that have all words in their prompt, categories or the suite's description.

        Args:
            words: separated by blanks; upper and lower case are the same.
            names: only these suites; all where empty.
        """
        query_words = {word.lower() for word in _WORDS.findall(words)}
        for name in names or [entry.name for entry in self.entries]:
            entry = self.entry(name)
            for test, case in self.suite(name).cases():
                text = " ".join([case.prompt, *case.categories, *test.categories, name, entry.description])
                if query_words <= {word.lower() for word in _WORDS.findall(text)}:
                    yield SearchHit(suite=name, key=case.key, prompt=case.prompt)

    def sample(self, count: int, names: Sequence[str] = (), *, seed: int = 0) -> TestSuite:
        """Return a suite of test cases that are drawn at random, with the licence and source of each.

        Documents of local suites keep their place. Cases with images or files are not drawn: their paths are
        those of their suite.

        Args:
            count: number of cases; all where there are fewer.
            names: suites to draw from; all where empty.
            seed: of the draw.

        Raises:
            ConfigurationError: if the count is not positive, or a suite is unknown.
        """
        if count < 1:
            raise ConfigurationError(f"count = {count}: must be 1 or more")
        pool: list[tuple[LibraryEntry, Test, TestCase]] = []
        for name in names or [entry.name for entry in self.entries]:
            entry = self.entry(name)
            cases = self.suite(name).cases()
            pool += [(entry, test, case) for test, case in cases if not named_files(case)]
        drawn = random.Random(seed).sample(range(len(pool)), min(count, len(pool)))
        suite = TestSuite(name="Sample", description=f"{len(drawn)} test cases of {self._index}.")
        tests: dict[tuple[str, int], Test] = {}
        for path in sorted(drawn):
            entry, test, case = pool[path]
            # The pool keeps all tests alive, so that no two of them have the same id.
            if (entry.name, id(test)) not in tests:
                documents = [self._document(entry, document) for document in test.documents]
                tests[entry.name, id(test)] = suite.add_test(documents, categories=test.categories)
            extra = {"library_suite": entry.name, "licence": entry.licence, "source": entry.source}
            fields = {**case.to_dict(), **{key: value for key, value in extra.items() if value}}
            # The case that a relationship names may not be drawn.
            fields.pop("relationships", None)
            tests[entry.name, id(test)].add_case(**fields)
        return suite

    def add(self, path: Path, *, name: str = "", licence: str, source: str) -> LibraryEntry:
        """Copy a suite with its documents, images and files into a local library and add it to the index.

        Args:
            path: of the suite.
            name: in the library; the suite's own where not given.
            licence: SPDX identifier, or words.
            source: URL, or words.

        Raises:
            ConfigurationError: if the library is at a URL, the name is taken, or licence or source is empty.
            DataError: if the file is no suite, or a document lies outside of its folder.
        """
        if self._is_remote:
            raise ConfigurationError(f"{self._index}: a library at a URL cannot be changed from here")
        if not licence.strip() or not source.strip():
            raise ConfigurationError(
                "give a licence and a source, so that others know how they may use the suite"
            )
        suite = TestSuite.load(path)
        folder = self.folder / path.stem
        # Before anything is copied, so that a missing document leaves no half of a suite.
        documents = _documents(suite, path)
        entry = LibraryEntry(
            name=name or suite.name,
            file=f"{path.stem}/{path.name}",
            description=suite.description,
            licence=licence.strip(),
            source=source.strip(),
            cases=len(suite.cases()),
        )
        # The index is read again under the lock: another process may have added a suite.
        with locked(self.folder / f".{INDEX}.lock"):
            entries = list(_read_index(Path(self._index)))
            if any(entry.name == other.name or entry.file == other.file for other in entries):
                raise ConfigurationError(
                    f"{self._index}: has a suite {entry.name!r} or a file {entry.file!r} already; choose"
                    " another --name or file name"
                )
            attached = dict.fromkeys(item.path for _, case in suite.cases() for item in named_files(case))
            for name_of_file in (path.name, *documents, *attached):
                target = folder / name_of_file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path.parent / name_of_file, target)
            # Last, so that a suite is listed only when all its files are there.
            _write_index(Path(self._index), [*entries, entry])
        self.entries = (*entries, entry)
        return entry

    def _path(self, path: str) -> Path:
        # Fetched each time: a suite at a URL may have changed since.
        return fetch_suite(path, self._cache, refresh=True) if self._is_remote else Path(path)

    def _file(self, entry: LibraryEntry) -> Path:
        # An index of others must not lead to files elsewhere on this machine, or to another server.
        if "://" in entry.file or entry.file.startswith("/") or ".." in entry.file.split("/"):
            raise DataError(
                f"suite {entry.name!r}: its file {entry.file!r} must be a relative path below the folder"
                " of the index"
            )
        return self._path(f"{self._index.rpartition('/')[0] or '.'}/{entry.file}")

    def _document(self, entry: LibraryEntry, document: str) -> str:
        if "://" in document:
            return document
        base = f"{self._index.rpartition('/')[0] or '.'}/{entry.file}".rpartition("/")[0]
        return f"{base}/{document}" if self._is_remote else str((Path(base) / document).absolute())


def _documents(suite: TestSuite, path: Path) -> list[str]:
    """Return the local documents of a suite, relative to its folder.

    Raises:
        DataError: if one lies elsewhere, or is not there.
    """
    documents: dict[str, None] = {}
    for document in [name for test in suite.tests for name in test.documents if "://" not in name]:
        try:
            is_there = path_below(path.parent, document).is_file()
        except ValueError:
            is_there = False
        if not is_there:
            raise DataError(
                f"document {document!r} is not a file below the suite's folder; copy it there, or name it by"
                " a URL",
                source=str(path),
            )
        documents[document] = None
    return list(documents)


def create_library(folder: Path) -> Library:
    """Make an empty library in a folder, where there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / INDEX).exists():
        _write_index(folder / INDEX, [])
    return Library(folder)


def _read_index(path: Path) -> list[LibraryEntry]:
    try:
        data: Any = json.loads(read_utf8(path))
    except OSError as exc:
        raise DataError(
            f"there is no library here: {exc.strerror or exc}; `evalstudio library add` makes one",
            source=str(path),
        ) from None
    except (ValueError, RecursionError) as exc:
        raise DataError(f"is not JSON: {exc}", source=str(path)) from None
    try:
        index = _Index.model_validate(data)
    except ValidationError as exc:
        error = exc.errors(include_url=False)[0]
        location = ".".join(map(str, error["loc"]))
        raise DataError(f"{location}: {fact(error)}", source=str(path)) from None
    names = [entry.name for entry in index.suites]
    if len(set(names)) < len(names):
        raise DataError("two suites have the same name", source=str(path))
    return index.suites


def _write_index(path: Path, entries: Sequence[LibraryEntry]) -> None:
    write_json(path, {"suites": [entry.model_dump() for entry in entries]})
