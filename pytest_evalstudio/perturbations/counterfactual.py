"""Counterfactuals: the same question about a person of another group."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from pytest_evalstudio.core.plugins.perturbator import Change, Intensity, perturbator
from pytest_evalstudio.perturbations._demographics import BEFORE_PEOPLE, PEOPLE, TERMS
from pytest_evalstudio.perturbations._grammar import BEFORE_VERBS, FUNCTION_WORDS, article, cased

Group = Literal["all", "gender", "race", "age", "income", "religion"]

_YEARS = r"(?P<years>\d{1,3})(?=[- ]years?[- ]old\b|[- ]year-olds?\b)"
_PRONOUN = r"(?P<pronoun>his|him|hers|her)(?=\W|$)(?=(?:\s+(?P<after>\w+))?)"
_LETTERS = re.compile(r"[^\W\d_]+")
_PRONOUNS, _AGES = frozenset({"his", "him", "her", "hers"}), frozenset({"year", "years"})
_MIDDLE_AGE, _YOUNG, _OLD = 45, "25", "75"


@perturbator(
    "counterfactual",
    name="Counterfactual",
    intensities=(),
    relationships=("counterfactual_source",),
    unprotected=("name", "number"),
)
@dataclass(frozen=True)
class Counterfactual:
    """Swaps terms for people: gender, race and ethnicity, age, income or religion.

    Attributes:
        group: which terms; "all" for every group that the text names.
    """

    group: Group = "all"

    def perturb(self, text: str, intensity: Intensity, seed: int) -> Change:
        edits, swapped = 0, []
        # One cheap search decides which patterns are built: most texts name no person.
        words = _LETTERS.findall(text.lower())
        groups: tuple[str, ...] = ()
        if not _words("all").isdisjoint(words):
            groups = tuple(TERMS) if self.group == "all" else (self.group,)
        for group in groups:
            text, number = _swapped(group, text, _words(group).intersection(words), seed)
            if number:
                edits += number
                swapped.append(f"counterfactual:{group}")
        if not edits:
            return Change.none(
                "it names no "
                + ("gender, race, age, income or religion" if self.group == "all" else self.group)
            )
        return Change(text, edits, categories=tuple(swapped))


def _swapped(group: str, text: str, words: frozenset[str], seed: int) -> tuple[str, int]:
    """Swap the terms of a group that begin with these words; return the text and the number of swaps."""
    if not words:
        return text, 0
    pattern, others = _reader(group, words)
    edits = 0

    def swap(match: re.Match[str]) -> str:
        nonlocal edits
        edits += 1
        space = match["space"] or ""
        if match["term"] is None:
            return (
                (match["article"] or "")
                + space
                + (_years(match["years"]) if match["years"] else _pronoun(match))
            )
        alternatives = others[match["term"].lower()]
        new = cased(alternatives[seed % len(alternatives)], match["term"])
        begin = cased(article(new), match["article"]) if match["article"] else ""
        return begin + space + new

    return pattern.sub(swap, text), edits


@lru_cache(maxsize=10_000)
def _reader(group: str, words: frozenset[str]) -> tuple[re.Pattern[str], dict[str, tuple[str, ...]]]:
    """Return the pattern of a group's terms that begin with these words, and the alternatives of each term.

    Terms are in lower case.
    """
    others: dict[str, tuple[str, ...]] = {}
    for terms in (*TERMS[group], *BEFORE_PEOPLE.get(group, ())):
        for term in terms:
            others.setdefault(term.lower(), tuple(other for other in terms if other != term))
    patterns = [
        _any(TERMS[group], words),
        rf"(?:{_any(BEFORE_PEOPLE.get(group, ()), words)})(?=\s+(?:{PEOPLE})\b)",
    ]
    arms = [f"(?P<term>{'|'.join(patterns)})"]
    # `(?!)` never matches; the names of the groups must be there, since `swap` reads them.
    arms += [_YEARS] if words & _AGES else [r"(?P<years>(?!))"]
    arms += [_PRONOUN] if words & _PRONOUNS else [r"(?P<pronoun>(?!))(?P<after>(?!))"]
    return re.compile(
        rf"\b(?:(?P<article>an?)(?P<space>\s+))?(?:{'|'.join(arms)})(?!\w)", re.IGNORECASE
    ), others


@cache
def _words(group: str) -> frozenset[str]:
    """Return the first words of the terms of a group, or of all groups.

    A text without any of them needs no further search.
    """
    if group == "all":
        return frozenset().union(*map(_words, TERMS))
    terms = [term for terms in (*TERMS[group], *BEFORE_PEOPLE.get(group, ())) for term in terms]
    return frozenset(map(_first, terms)).union({"gender": _PRONOUNS, "age": _AGES}.get(group, ()))


def _first(term: str) -> str:
    return str(_LETTERS.findall(term.lower())[0])


def _any(entries: Iterable[Iterable[str]], words: frozenset[str]) -> str:
    """Return a pattern of the terms that begin with one of the words, the longest first.

    Without such terms the pattern matches nothing.
    """
    terms = {term for terms in entries for term in terms if _first(term) in words}
    # The longest first: else "African" would match at the beginning of "African American".
    return "|".join(re.escape(term) for term in sorted(terms, key=lambda term: (-len(term), term))) or "(?!)"


def _years(digits: str) -> str:
    return _YOUNG if int(digits) >= _MIDDLE_AGE else _OLD


def _pronoun(match: re.Match[str]) -> str:
    """Swap his and her.

    "Her" before a noun becomes "his", else "him"; "his" before a noun becomes "her", else "hers".
    """
    word, after = match["pronoun"], match["after"]
    possesses = bool(after) and after.lower() not in _NOT_OWNED
    swap = {
        "his": "her" if possesses else "hers",
        "him": "her",
        "her": "his" if possesses else "him",
        "hers": "his",
    }
    return cased(swap[word.lower()], word)


_NOT_OWNED = (FUNCTION_WORDS | BEFORE_VERBS) - {
    "own",
    "one",
    "two",
    "three",
    "four",
    "few",
    "many",
    "several",
}
