"""The organisation that a document is of, for documents that say "we"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytest_evalstudio.contrib.questions.words import word_set

_GENERIC = re.compile(
    r"(?i)\b(?:report|accounts?|annual|yearly|terms|handbook|policy|manual|guide|review|rules|letter|statement|conditions"
    r"|leaflet|information|instructions|chapter|questions|fees|sheet|by-laws|year|quarter|edition|version)\b"
)
_SEPARATOR = re.compile(r"\s[–—|-]\s|:\s|,\s|\(")
_SMALL = word_set("of the and for in on")
"""Words of a name that have no capital."""
_AUXILIARIES = word_set("can may must should will is are was were has have had")
_HEADINGS = 3
_LONGEST_NAME = 4
_LONGEST_TITLE = 12
_MIN_MENTIONS = 3
"""Minimum number of sentences with a name of one word."""
_MIN_WE = 3
_WE_BY_YOU = 4
_PERSON = re.compile(
    r"(?i)\b(?:(?P<aux>do|did|have|are|were|will|can|may|must|should)\s)?(?P<word>yourselves|yours|your|you)\b"
)
_SINGULAR = {"do": "does", "have": "has", "are": "is", "were": "was"}


def organisation_of(sentences: Sequence[str]) -> str:
    """Return the name of the organisation that heads a document, "" if there is none.

    It is the line above the kind of document ("Annual Report"), or the beginning of a title if the text
    has it, too; a single word must be the subject of several sentences.

    >>> organisation_of(["TARN WATER", "Annual Report", "Tarn Water serves the north."])
    'Tarn Water'
    """
    first, others = sentences[:1], sentences[1:_HEADINGS]
    if first and not _GENERIC.search(first[0]) and any(map(_GENERIC.search, others)):
        words = _SEPARATOR.split(first[0])[0].split()
        if 1 < len(words) <= _LONGEST_NAME and all(word[0].isupper() or word in _SMALL for word in words):
            return _capitalised(words)
    title = first[0] if first else ""
    kind = _GENERIC.search(title)
    text = [sentence for sentence in sentences if sentence[-1:] in (".", "!", "?")]
    if kind is not None and title[: kind.start()].strip():
        name = _capitalised(title[: kind.start()].split())
        if 1 < len(name.split()) <= _LONGEST_NAME and _is_name(name) and _is_mentioned(name, text):
            return name
    for heading in sentences[:_HEADINGS]:
        words = _SEPARATOR.split(heading)[0].split()
        if heading.endswith((".", "!", "?")) or len(words) > _LONGEST_TITLE:
            continue
        for end in range(len(words), 0, -1):
            name = _capitalised(words[:end])
            if _is_name(name) and _is_mentioned(name, text):
                return name
    return ""


def _is_name(name: str) -> bool:
    words = name.lower().split()
    return not (_GENERIC.search(name) or re.search(r"\d", name) or {words[0], words[-1]} & _SMALL)


def _is_mentioned(name: str, text: Sequence[str]) -> bool:
    """Report whether sentences have a name of several words, or a name of one word as their subject."""
    if " " in name:
        pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        return any(map(pattern.search, text))
    pattern = re.compile(rf"(?<!\w){re.escape(name)}\s(?P<verb>[a-z]+)")
    matches = [match for match in map(pattern.search, text) if match is not None]
    return sum(_is_verb(match["verb"]) for match in matches) >= _MIN_MENTIONS


def _is_verb(word: str) -> bool:
    return word in _AUXILIARIES or (len(word) > 3 and word.endswith(("s", "ed")))


def speaks_of_itself(sentences: Sequence[str]) -> bool:
    """Report whether a document says "we" of its organisation without addressing its readers."""
    text = " ".join(sentences)
    we = len(re.findall(r"(?i)\b(?:we|us|our|ours)\b", text))
    you = len(re.findall(r"(?i)\b(?:you|your|yours)\b", text))
    return we >= _MIN_WE and you * _WE_BY_YOU < we


def of_organisation(question: str, name: str) -> str:
    """Return a question to an organisation as one about it.

    >>> of_organisation("How much did you invest in your network?", "Tarn Water")
    'How much did Tarn Water invest in its network?'
    >>> of_organisation("Do you employ 50 people?", "Tarn Water")
    'Does Tarn Water employ 50 people?'
    """
    is_named = False

    def named(match: re.Match[str]) -> str:
        nonlocal is_named
        aux, word = match["aux"] or "", match["word"].lower()
        if aux:
            singular = _SINGULAR.get(aux.lower(), aux.lower()) if word == "you" else aux.lower()
            aux = f"{singular.capitalize() if aux[0].isupper() else singular} "
        possessive = f"{name}’s" if "’" in question else f"{name}'s"
        owner = ("its" if is_named else possessive) if word != "you" else ("it" if is_named else name)
        is_named = True
        return f"{aux}{owner}"

    return _PERSON.sub(named, question)


def _capitalised(words: Sequence[str]) -> str:
    """Return words with the capitals of a name, also from a heading in capitals."""
    return " ".join(
        (word.lower() if word.lower() in _SMALL else word.capitalize())
        if len(word) > 1 and word.isupper()
        else word
        for word in words
    )
