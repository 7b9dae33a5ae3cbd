"""WordNet: found on the machine, read by NLTK, never downloaded.

Source: Miller, 1995 (WordNet: a lexical database for English). Debian's package wordnet-base has version 3.0.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

NOUN, VERB, ADJECTIVE, ADVERB = "n", "v", "a", "r"
PARTS = (NOUN, VERB, ADJECTIVE, ADVERB)

HOW_TO_GET = (
    "there is no WordNet here: run `apt-get install wordnet-base` (Debian, Ubuntu), `brew install wordnet`"
    " (macOS) or `python -m nltk.downloader wordnet` (Windows and others), or give the folder that holds"
    " data.noun as the option `wordnet`"
)

_MARK = "data.noun"
_OF_HOMEBREW = ("opt/wordnet/dict", "opt/wordnet/share/wordnet", "share/wordnet", "share/wordnet/dict")
_SYSTEM = (
    "/usr/share/wordnet",
    "/usr/share/wordnet/dict",
    "/usr/local/WordNet-3.0/dict",
    *(f"{prefix}/{folder}" for prefix in ("/opt/homebrew", "/usr/local") for folder in _OF_HOMEBREW),
)
_IN_NLTK = ("corpora/wordnet", "corpora/wordnet.zip/wordnet/", "corpora/wordnet31", "corpora/wordnet2021")
# Of WordNet 3; Debian's package lacks the table that names them, and NLTK needs one.
_LEXICOGRAPHER_FILES = 45


@dataclass(frozen=True, slots=True)
class Sense:
    """Sense of a word.

    Attributes:
        part: n, v, a or r.
        base: its dictionary form.
        count: frequency of its senses of that part of speech in WordNet's tagged texts.
        antonyms: in dictionary form, the most usual first.
    """

    part: str
    base: str
    count: int
    antonyms: tuple[str, ...]


@dataclass(slots=True)
class WordNet:
    """A word's senses by part of speech, each word looked up once.

    Attributes:
        plurals: irregular plurals by their singular.
        degrees: irregular comparatives and superlatives, by base.
        irregular: words with irregular inflections, by part of speech.
    """

    reader: Any
    plurals: dict[str, str] = field(default_factory=dict)
    degrees: dict[str, tuple[str, ...]] = field(default_factory=dict)
    irregular: dict[str, frozenset[str]] = field(default_factory=dict)
    _known: dict[str, dict[str, Sense]] = field(default_factory=dict)

    def senses(self, word: str) -> dict[str, Sense]:
        """Return the senses of a word by part of speech; {} for a word that is not in WordNet.

        Args:
            word: in lower case.
        """
        senses = self._known.get(word)
        if senses is None:
            senses = self._known[word] = dict(self._senses(word)) if word.isascii() and word.isalpha() else {}
        return senses

    def are_synonyms(self, word: str, other: str, part: str) -> bool:
        """Return whether two words have a sense in common."""
        return any(other in synset.lemma_names() for synset in self.reader.synsets(word, part))

    def is_irregular(self, word: str, part: str) -> bool:
        """Return whether a word in its dictionary form has irregular inflections."""
        return word in self.irregular[part]

    def _senses(self, word: str) -> Iterator[tuple[str, Sense]]:
        for part in PARTS:
            base = self.reader.morphy(word, part)
            synsets = self.reader.synsets(base, part) if base else []
            # A synset has the lemmas of all its synonyms; only those of this word say how often it is used.
            lemmas_of_synsets = [
                lemma for synset in synsets for lemma in synset.lemmas() if lemma.name().lower() == base
            ]
            if lemmas_of_synsets:
                opposites = (lemmas for lemma in lemmas_of_synsets if (lemmas := lemma.antonyms()))
                yield (
                    part,
                    Sense(
                        part,
                        base,
                        sum(lemma.count() for lemma in lemmas_of_synsets),
                        _usual(next(opposites, [])),
                    ),
                )


def _usual(lemmas: list[Any]) -> tuple[str, ...]:
    """Return the names of one sense's lemmas, the most frequent first, single words before phrases.

    Names of persons and places are left out.
    """
    names = [
        (" " in name, -lemma.count(), index, name)
        for index, lemma in enumerate(lemmas)
        if (name := lemma.name().replace("_", " ")).islower()
    ]
    return tuple(name for *_, name in sorted(names))


def find_wordnet(folder: str = "") -> str:
    """Return the folder or archive of WordNet, or "" if there is none; nothing is downloaded.

    Args:
        folder: where it must be; "" to look for it: WordNet's own environment variable WNSEARCHDIR, the
            system's folders, NLTK's data.
    """
    if folder:
        return next(
            (
                str(path)
                for path in (Path(folder), Path(folder) / "dict", Path(folder) / "corpora/wordnet")
                if (path / _MARK).is_file()
            ),
            "",
        )
    paths = [os.environ.get("WNSEARCHDIR", ""), *_SYSTEM]
    return next((path for path in paths if path and (Path(path) / _MARK).is_file()), "") or _in_nltk()


def _in_nltk() -> str:
    import nltk.data

    for name in _IN_NLTK:
        try:
            return str(nltk.data.find(name))
        except LookupError:
            continue
    return ""


@lru_cache(maxsize=4)
def open_wordnet(path: str) -> WordNet:
    """Open WordNet at a place from `find_wordnet`; takes about two seconds, once."""
    import nltk.data
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class Reader(WordNetCorpusReader):  # type: ignore[misc]
        """Reads the plain database files; what only NLTK's own edition brings is made up."""

        def open(self, file: str) -> Any:
            try:
                return super().open(file)
            except OSError:
                if file != "lexnames":
                    raise
                return io.StringIO(
                    "".join(f"{number:02d}\tfile-{number}\t0\n" for number in range(_LEXICOGRAPHER_FILES))
                )

        def map_wn(self, version: str = "wordnet") -> None:
            """Map nothing: no other edition is read."""

    # NLTK finds its data inside of an archive that `nltk.downloader` did not unpack.
    if ".zip" in path:
        archive, _, inside = path.partition(".zip")
        root: Any = nltk.data.ZipFilePathPointer(f"{archive}.zip", inside.strip("/") + "/")
    else:
        if path not in nltk.data.path:
            nltk.data.path.append(path)  # NLTK reads below its data folders only
        root = nltk.data.FileSystemPathPointer(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there are no other languages
        reader = Reader(root, None)
    exceptions = reader._exception_map
    # Reversed, so that the first plural of a noun with several is kept.
    plurals = {bases[0]: word for word, bases in reversed(exceptions[NOUN].items()) if bases}
    degrees: dict[str, tuple[str, ...]] = {}
    for word, bases in exceptions[ADJECTIVE].items():
        degrees[bases[0]] = (*degrees.get(bases[0], ()), word)
    irregular = {
        part: frozenset(base for bases in exceptions[part].values() for base in bases) for part in PARTS
    }
    return WordNet(reader, plurals, degrees, irregular)
