"""Tables of a language: the labels of its pipeline, and the words and patterns of its questions."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType

from pytest_evalstudio.contrib.questions.words import data_text, parsed_tables

_CODE = re.compile(r"[a-z]{2,3}")


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """The table of one language, `data/languages/<code>.txt`, where its content is described.

    Attributes:
        code: as a spaCy pipeline names its language.
        tables: text of each table by its name.
    """

    code: str
    tables: Mapping[str, str]

    def words(self, name: str) -> frozenset[str]:
        """Return the words of a table."""
        return _words(self, name)

    def entries(self, name: str) -> Mapping[str, str]:
        """Return the lines "key = text" of a table."""
        return _entries(self, name)

    def phrase(self, key: str) -> str:
        """Return a question phrase."""
        return self.entries("question phrases")[key]


@functools.lru_cache(maxsize=256)
def _words(language: Language, name: str) -> frozenset[str]:
    return frozenset(language.tables.get(name, "").split())


@functools.lru_cache(maxsize=64)
def _entries(language: Language, name: str) -> Mapping[str, str]:
    lines = (line.partition(" = ") for line in language.tables.get(name, "").splitlines())
    return MappingProxyType({key: text for key, _, text in lines})


@functools.cache
def language(code: str) -> Language | None:
    """Return the table of a language; None where there is none."""
    folder = files("pytest_evalstudio.contrib.questions").joinpath("data", "languages")
    if not _CODE.fullmatch(code) or not folder.joinpath(f"{code}.txt").is_file():
        return None
    return Language(code, parsed_tables(data_text(f"languages/{code}.txt")))
