"""Words replaced by others that WordNet names, with as much of the grammar as rules keep."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from pytest_evalstudio.core.perturbators import Change
from pytest_evalstudio.perturbations._characters import picked
from pytest_evalstudio.perturbations._grammar import FUNCTION_WORDS, article, bent, cased, part_of_speech
from pytest_evalstudio.perturbations._wordnet import HOW_TO_GET, Sense, find_wordnet, open_wordnet
from pytest_evalstudio.perturbations._words import WORD

_SENTENCE_ENDS = ".!?:\n"


def lacks(folder: str) -> str:
    """What is missing where there is no WordNet, "" where there is."""
    if find_wordnet(folder):
        return ""
    return f"{folder}: there is no WordNet in it; the folder must hold data.noun" if folder else HOW_TO_GET


def exchange(text: str, kind: str, share: float, seed: int, folder: str) -> Change:
    """A text with a share of the words replaced that can be.

    Args:
        kind: "synonyms" or "antonyms".
    """
    place = _found(folder)
    if not place:
        return Change.none(lacks(folder))
    spans = [found.span() for found in WORD.finditer(text)]
    words = [text[start:end] for start, end in spans]
    candidates = [(index, new) for index, *neighbours in _content(text, spans, words) if (new := _replacement(place, kind, *neighbours))]
    if not candidates:
        return Change.none(f"WordNet knows no {kind} for its words")
    chosen = sorted(picked(candidates, share, seed))
    return Change(_put(text, spans, words, chosen), len(chosen))


def tagged(text: str, folder: str = "") -> list[tuple[str, str]]:
    """Each word with its part of speech (n, v, a, r), "" for a word of grammar, a name, and what is not in WordNet."""
    place = _found(folder)
    spans = [found.span() for found in WORD.finditer(text)]
    words = [text[start:end] for start, end in spans]
    parts = {index: sense.part for index, *neighbours in _content(text, spans, words) if (sense := _sense(place, *neighbours)) is not None}
    return [(word, parts.get(index, "")) for index, word in enumerate(words)]


def _content(text: str, spans: list[tuple[int, int]], words: list[str]) -> Iterator[tuple[int, str, str, str]]:
    """Number, word, word before and word behind, in lower case, of each word that is none of grammar and no name."""
    lower = ["", *(word.lower() for word in words), ""]
    shouts = text.isupper()
    for index, word in enumerate(words):
        if len(word) < 3 or lower[index + 1] in FUNCTION_WORDS:
            continue
        begins = not index or any(char in _SENTENCE_ENDS for char in text[spans[index - 1][1] : spans[index][0]])
        if word[0].islower() or shouts or (begins and not word.isupper()):
            yield index, lower[index + 1], "" if begins else lower[index], lower[index + 2]


def _put(text: str, spans: list[tuple[int, int]], words: list[str], chosen: list[tuple[int, str]]) -> str:
    parts, end = [], 0
    for index, new in chosen:
        start, stop = spans[index]
        if index and words[index - 1].lower() in ("a", "an") and spans[index - 1][0] >= end:
            before = spans[index - 1]
            parts += [text[end : before[0]], cased(article(new), words[index - 1]), text[before[1] : start]]
        else:
            parts.append(text[end:start])
        parts.append(cased(new, words[index]))
        end = stop
    parts.append(text[end:])
    return "".join(parts)


@lru_cache(maxsize=8)
def _found(folder: str) -> str:
    return find_wordnet(folder)


@lru_cache(maxsize=100_000)
def _replacement(place: str, kind: str, word: str, before: str, after: str) -> str:
    """What stands for a word between its neighbours, "" for nothing; all in lower case."""
    sense = _sense(place, word, before, after)
    if sense is None:
        return ""
    wordnet = open_wordnet(place)
    for base in getattr(sense, kind):
        new = bent(wordnet, sense, word, base)
        if new and new != word:
            return new
    return ""


def _sense(place: str, word: str, before: str, after: str) -> Sense | None:
    """What a word is between its neighbours, None for one that is not in WordNet."""
    wordnet = open_wordnet(place)
    senses = wordnet.senses(word)
    return senses[part_of_speech(senses, word, before, wordnet.senses(after) if after else {})] if senses else None
