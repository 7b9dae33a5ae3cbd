"""Words replaced by others that WordNet names, with as much of the grammar as rules keep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from pytest_evalstudio.core.plugins.perturbator import Change
from pytest_evalstudio.perturbations._characters import picked
from pytest_evalstudio.perturbations._grammar import (
    BEFORE_VERBS,
    FUNCTION_WORDS,
    article,
    bent,
    cased,
    inflected,
    part_of_speech,
)
from pytest_evalstudio.perturbations._synonyms import PARTICLES, SYNONYMS, TAKE_INFINITIVES
from pytest_evalstudio.perturbations._wordnet import (
    ADJECTIVE,
    HOW_TO_GET,
    NOUN,
    VERB,
    Sense,
    WordNet,
    find_wordnet,
    open_wordnet,
)
from pytest_evalstudio.perturbations._words import WORDS

_ARTICLES = frozenset({"a", "an", "A", "An", "AN"})
_SENTENCE_ENDS = frozenset(".!?:\n")


def lacks(folder: str) -> str:
    """Return what is missing if WordNet is not available, or "" if it is."""
    if find_wordnet(folder):
        return ""
    return f"{folder}: does not contain WordNet; the folder must contain data.noun" if folder else HOW_TO_GET


def exchange(text: str, kind: str, share: float, seed: int, folder: str) -> Change:
    """Return a text in which a share of the replaceable words is replaced.

    Args:
        kind: "synonyms" or "antonyms".
    """
    folder_path = _found(folder)
    if not folder_path:
        return Change.none(lacks(folder))
    pieces = WORDS.split(text)
    content = _content(pieces, text)
    candidates = [
        (index, new)
        for index, word, before, after in content
        if (new := _replacement(folder_path, kind, word, before, after))
    ]
    if not candidates:
        return Change.none(f"WordNet knows no {kind} for its words")
    selected = picked(candidates, share, seed)
    for index, new in selected:
        # The article follows the sound of the new word: "a car", but "an automobile".
        if index > 2 and pieces[index - 2] in _ARTICLES and pieces[index - 1].isspace():
            pieces[index - 2] = cased(article(new), pieces[index - 2])
        pieces[index] = cased(new, pieces[index])
    return Change("".join(pieces), len(selected))


def tagged(text: str, folder: str = "") -> list[tuple[str, str]]:
    """Return each word with its part of speech (n, v, a, r).

    The part is "" for a function word, a name, and a word that is not in WordNet.
    """
    folder_path = _found(folder)
    pieces = WORDS.split(text)
    parts = {
        index: sense.part
        for index, *neighbours in _content(pieces, text)
        if (sense := _sense(folder_path, *neighbours)) is not None
    }
    return [(pieces[index], parts.get(index, "")) for index in range(1, len(pieces), 2)]


def _content(pieces: Sequence[str], text: str) -> Iterator[tuple[int, str, str, str]]:
    """Yield index, word, previous word and next word, in lower case, of each content word.

    Function words and names are left out.

    Args:
        pieces: alternately separators and words.
    """
    words = pieces[1::2]
    lower = [*map(str.lower, words), ""]
    shouts = text.isupper()
    for number, word in enumerate(lower):
        if word in FUNCTION_WORDS or len(word) < 3:
            continue
        # Even pieces are separators: this one is before the word.
        between = pieces[2 * number]
        begins = not number or (between != " " and not _SENTENCE_ENDS.isdisjoint(between))
        # A capital within a sentence marks a name, except where all of the text is in capitals.
        if words[number] == word or shouts or (begins and not words[number].isupper()):
            yield 2 * number + 1, word, "" if begins else lower[number - 1], lower[number + 1]


@lru_cache(maxsize=8)
def _found(folder: str) -> str:
    return find_wordnet(folder)


# Questions of a suite share their words, and perturbations of several intensities repeat them.
@lru_cache(maxsize=100_000)
def _replacement(folder_path: str, kind: str, word: str, before: str, after: str) -> str:
    """Return the replacement of a word between its neighbours, or ""; all in lower case."""
    sense = _sense(folder_path, word, before, after)
    if sense is None:
        return ""
    wordnet = open_wordnet(folder_path)
    if kind == "synonyms":
        return _synonym(wordnet, sense, word, before, after)
    for base in sense.antonyms:
        new = bent(wordnet, sense, word, base)
        if new and new != word:
            return new
    return ""


def _synonym(wordnet: WordNet, sense: Sense, word: str, before: str, after: str) -> str:
    """Return the reviewed synonym of a word in the same form, or "".

    A verb or adjective before "to" is left alone if its synonym is built otherwise. So is a verb before a
    particle, and a word that may be a noun where no subject or auxiliary shows a verb ("a felling permit").
    """
    new = SYNONYMS[sense.part].get(sense.base, "")
    if not new or (sense.part in (VERB, ADJECTIVE) and after == "to" and sense.base not in TAKE_INFINITIVES):
        return ""
    may_be_noun = word == sense.base and before not in BEFORE_VERBS and NOUN in wordnet.senses(word)
    if sense.part == VERB and (after in PARTICLES or may_be_noun):
        return ""
    if not wordnet.are_synonyms(sense.base, new, sense.part):
        return ""
    return inflected(wordnet, sense, word, new)


def _sense(folder_path: str, word: str, before: str, after: str) -> Sense | None:
    """Return the sense of a word between its neighbours, or None if it is not in WordNet."""
    wordnet = open_wordnet(folder_path)
    senses = wordnet.senses(word)
    return (
        senses[part_of_speech(senses, word, before, wordnet.senses(after) if after else {})]
        if senses
        else None
    )
