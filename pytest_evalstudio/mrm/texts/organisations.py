"""The organisation that a document is of, for documents that say "we"."""

from __future__ import annotations

import re
from collections.abc import Sequence

_GENERIC = re.compile(
    r"(?i)\b(?:report|accounts?|annual|yearly|terms|handbook|policy|manual|guide|review|rules|letter|statement|conditions"
    r"|leaflet|information|instructions|chapter|questions|fees|sheet|by-laws|year|quarter|edition|version)\b"
)
_SEPARATOR = re.compile(r"\s[–—|-]\s|:\s|,\s|\(")
_SMALL = frozenset({"of", "the", "and", "for", "in", "on"})
_HEADINGS = 3
_MIN_MENTIONS = 3
"""Minimum number of sentences with a name of one word."""
_MIN_WE = 3
_WE_BY_YOU = 4
_PERSON = re.compile(
    r"(?i)\b(?:(?P<aux>do|did|have|are|were|will|can|may|must|should)\s)?(?P<word>yourselves|yours|your|you)\b"
)
_SINGULAR = {"do": "does", "have": "has", "are": "is", "were": "was"}


def organisation_of(sentences: Sequence[str]) -> str:
    """Return the name of the organisation that heads a document and that its text has, "" if there is none.

    >>> organisation_of(["TARN WATER", "Annual Report", "Tarn Water serves the north."])
    'Tarn Water'
    """
    text = [sentence for sentence in sentences if sentence[-1:] in (".", "!", "?")]
    for heading in sentences[:_HEADINGS]:
        title = _SEPARATOR.split(heading)[0].strip()
        words = title.split()
        if title.endswith((".", "!", "?")) or not 0 < len(words) <= 12:
            continue
        for end in range(len(words), 0, -1):
            name = _capitalised(words[:end])
            if _GENERIC.search(name) or words[end - 1].lower() in _SMALL or words[0].lower() in _SMALL:
                continue
            mentions = sum(
                re.search(rf"(?<!\w){re.escape(name)}(?!\w)", sentence) is not None for sentence in text
            )
            if mentions >= (1 if end > 1 else _MIN_MENTIONS):
                return name
    return ""


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
        own = ("its" if is_named else possessive) if word != "you" else ("it" if is_named else name)
        is_named = True
        return f"{aux}{own}"

    return _PERSON.sub(named, question)


def _capitalised(words: Sequence[str]) -> str:
    """Return words with the capitals of a name, also from a heading in capitals."""
    return " ".join(
        (word.lower() if word.lower() in _SMALL else word.capitalize())
        if len(word) > 1 and word.isupper()
        else word
        for word in words
    )
