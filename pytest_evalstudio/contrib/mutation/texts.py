"""Known ways to damage an answer: each gives a text that says something else, or None."""

from __future__ import annotations

import functools
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pytest_evalstudio.metrics.grounding import text_parts
from pytest_evalstudio.text.refusals import is_refusal
from pytest_evalstudio.text.sentences import split_sentences

_NUMBER = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w])|(?<![\w.,-])\d+(?:\.\d+)?(?![\w-])")
# Numbers of list items, which say nothing.
_ITEM_NUMBER = re.compile(r"^[^\S\n]*(\d[\d.,]*)[.)] ", re.MULTILINE)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_MONTH = re.compile(rf"\b(?:{'|'.join(_MONTHS)})\b")
_DATE = re.compile(
    rf"\b(?:(?:{'|'.join(_MONTHS)})\s\d{{1,2}}|\d{{1,2}}\s(?:{'|'.join(_MONTHS)})|\d{{4}}-\d\d-\d\d|(?:{'|'.join(_MONTHS)}))\b"
)
_UNITS = {
    "minutes": "hours",
    "hours": "days",
    "days": "weeks",
    "weeks": "months",
    "months": "years",
    "years": "months",
    "minute": "hour",
    "hour": "day",
    "day": "week",
    "week": "month",
    "month": "year",
    "year": "month",
    "monthly": "yearly",
    "yearly": "monthly",
    "annual": "monthly",
    "USD": "EUR",
    "EUR": "USD",
    "GBP": "EUR",
    "$": "€",
    "€": "$",
    "£": "€",
    "km": "miles",
    "miles": "km",
    "kg": "lb",
    "MB": "GB",
    "GB": "TB",
    "grams": "kilograms",
    "metres": "kilometres",
    "percent": "percentage points a day",
}
_UNIT = re.compile(
    # The sign of a currency has no word boundary beside it.
    rf"\b(?:{'|'.join(unit for unit in _UNITS if re.fullmatch('[a-zA-Z ]+', unit))})\b"
    rf"|[{''.join(unit for unit in _UNITS if len(unit) == 1)}]"
)
_QUANTIFIERS = {
    "all": "some",
    "every": "hardly any",
    "each": "hardly any",
    "always": "sometimes",
    "never": "sometimes",
    "no": "some",
    "none": "some",
    "only": "not only",
    "at least": "at most",
    "at most": "at least",
    "up to": "more than",
    "more than": "less than",
    "less than": "more than",
    "before": "after",
    "after": "before",
    "within": "after",
    "any": "no",
    "both": "neither",
    "must": "may",
    "free": "charged for",
}
_QUANTIFIER = re.compile(rf"\b(?:{'|'.join(_QUANTIFIERS)})\b", re.IGNORECASE)
# Longer ones first, since a pattern takes the first that matches: "is not" before "is".
_NEGATED = (
    *(
        (f"{verb} never", verb)
        for verb in ("is", "are", "was", "were", "can", "may", "must", "will", "has", "have")
    ),
    ("cannot", "can"),
    ("can't", "can"),
    ("is not", "is"),
    ("isn't", "is"),
    ("are not", "are"),
    ("aren't", "are"),
    ("does not", "does"),
    ("doesn't", "does"),
    ("do not", "do"),
    ("don't", "do"),
    ("must not", "must"),
    ("will not", "will"),
    ("won't", "will"),
    ("yes", "no"),
    ("no,", "yes,"),
    ("can", "cannot"),
    ("is", "is not"),
    ("are", "are not"),
    ("was", "was not"),
    ("were", "were not"),
    ("must", "need not"),
    ("may", "may not"),
    ("will", "will not"),
    ("has", "has not"),
    ("have", "have not"),
    ("costs", "does not cost"),
    ("takes", "does not take"),
)
# Not a word boundary at the end: one of them ends with a comma.
_NEGATION = re.compile(rf"\b(?:{'|'.join(re.escape(word) for word, _ in _NEGATED)})(?!\w)", re.IGNORECASE)
_NAME = re.compile(r"(?<![.!?…:]\s)(?<!^)\b[A-Z][\w'’-]*(?:\s[A-Z][\w'’-]*)*")
_NOT_NAMES = frozenset(
    {*_MONTHS, "I", "If", "The", "A", "An", "In", "It", "Yes", "No", "USD", "EUR", "GBP", "You", "We"}
)
_REFUSAL = "I am sorry, but I cannot help with that."
_ADDED = (
    "A further charge of 12.50 applies on public holidays.",
    "This has to be confirmed in writing by the regional office in Lisbon within nine days.",
    "Members of staff are exempt from it since a decision of the board in 2019.",
    "The amount doubles if the request comes from a third person.",
)
_GERMAN = "Nach den vorliegenden Unterlagen verhält es sich so"
_LEAD = 12
_BETWEEN = re.compile(r"\bbetween\W*$", re.IGNORECASE)
"""Before two numbers whose order says nothing."""
_MIN_WORDS = 6
"""Words from which a sentence can be truncated, and still say something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """A damaged text.

    Attributes:
        removed, added: the words that differ; "" where the whole text does.
    """

    text: str
    removed: str = ""
    added: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MutationMaterial:
    """Material for damage, beside the answer itself.

    Attributes:
        question: that the answer is for.
        expected: answer that the case expects, "" for none.
        others: answers to other questions of the same suite.
        names: names in them.
    """

    question: str = ""
    expected: str = ""
    others: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def asked(self) -> str:
        """Return the expected answer and the question, whose words tell the sentence that answers."""
        return f"{self.expected} {self.question}"


Mutator = Callable[[str, MutationMaterial, random.Random], Damage | None]


def names_in(texts: Sequence[str]) -> list[str]:
    """Return the names in texts, in order: words in capitals within a sentence.

    >>> names_in(["Ask Jane Doe in Paris. Call her."])
    ['Jane Doe', 'Paris']
    """
    names = (match[0] for text in texts for match in _NAME.finditer(text))
    # Words all in capitals are abbreviations, such as units and currencies.
    return list(dict.fromkeys(name for name in names if name not in _NOT_NAMES and name.upper() != name))


def _replaced(text: str, match: re.Match[str], other: str) -> Damage:
    shown = other.capitalize() if match[0][:1].isupper() and match[0][1:].islower() else other
    return Damage(text=f"{text[: match.start()]}{shown}{text[match.end() :]}", removed=match[0], added=shown)


def _matches(pattern: re.Pattern[str], text: str, material: MutationMaterial) -> list[re.Match[str]]:
    """Return the matches in the sentence that answers the question, if there are any; else all.

    Damage to a sentence that is beside the question says nothing of a suite.
    """
    matches = list(pattern.finditer(text))
    start, end = _answering_sentence(text, material.asked)
    return [match for match in matches if start <= match.start() < end] or matches


def _keys_in(text: str) -> Iterator[str]:
    """Yield the stems and numbers of a text, whose positions do not count."""
    return (token.keys[0] for part in text_parts(text) for token in part.tokens)


@functools.lru_cache(maxsize=4_096)
def _keys_of(text: str) -> frozenset[str]:
    return frozenset(_keys_in(text))


# Each way to damage an answer asks for its sentence again.
@functools.lru_cache(maxsize=64)
def _answering_sentence(text: str, asked: str) -> tuple[int, int]:
    """Return the sentence that has most words of the expected answer and the question."""
    question_keys = Counter(_keys_in(asked))
    spans = split_sentences(text)

    def weight(span: tuple[int, int]) -> int:
        return sum(question_keys[key] for key in _keys_of(text[span[0] : span[1]]))

    return max(spans, key=weight, default=(0, len(text)))


def _number(text: str, material: MutationMaterial, rng: random.Random) -> Damage | None:
    """Change the first digit of a number, a near miss."""
    # Dates have a damage of their own.
    in_dates = {place for date in _DATE.finditer(text) for place in range(*date.span())}
    item_numbers = {match.start(1) for match in _ITEM_NUMBER.finditer(text)}
    candidates = [
        match
        for match in _matches(_NUMBER, text, material)
        if not _YEAR.fullmatch(match[0])
        and match.start() not in in_dates
        and match.start() not in item_numbers
    ]
    if not candidates:
        return None
    # A number that the question names is not what was asked for.
    unasked = [match for match in candidates if match[0] not in material.question]
    match = rng.choice(unasked or candidates)
    digit = int(match[0][0])
    # The number of digits stays, for a near miss.
    step = 1 if digit < 9 else -1
    return _replaced(text, match, f"{digit + step}{match[0][1:]}")


def _date(text: str, material: MutationMaterial, rng: random.Random) -> Damage | None:
    """Move a year or a month."""
    years = _matches(_YEAR, text, material)
    if years:
        match = rng.choice(years)
        return _replaced(text, match, str(int(match[0]) - 1))
    months = _matches(_MONTH, text, material)
    if not months:
        return None
    match = rng.choice(months)
    return _replaced(text, match, _MONTHS[(_MONTHS.index(match[0]) + 2) % 12])


def _unit(text: str, material: MutationMaterial, rng: random.Random) -> Damage | None:
    matches = _matches(_UNIT, text, material)
    if not matches:
        return None
    match = rng.choice(matches)
    return _replaced(text, match, _UNITS[match[0]])


def _name(text: str, material: MutationMaterial, rng: random.Random) -> Damage | None:
    names = [name for name in names_in([text]) if name not in material.question]
    others = [
        name for name in material.names if name not in text and not any(part in text for part in name.split())
    ]
    if not names or not others:
        return None
    name = rng.choice(names)
    other = rng.choice(others)
    # Everywhere, since a name that stays elsewhere would meet a condition on it.
    return Damage(text=text.replace(name, other), removed=name, added=other)


def _negation(text: str, material: MutationMaterial, rng: random.Random) -> Damage | None:
    """Negate the first verb, or take a negation away."""
    matches = _matches(_NEGATION, text, material)
    if not matches:
        return None
    match = matches[0]
    return _replaced(text, match, dict(_NEGATED)[match[0].lower()])


def _quantifier(text: str, material: MutationMaterial, rng: random.Random) -> Damage | None:
    matches = _matches(_QUANTIFIER, text, material)
    if not matches:
        return None
    match = rng.choice(matches)
    return _replaced(text, match, _QUANTIFIERS[match[0].lower()])


def _dropped_sentence(text: str, material: MutationMaterial, rng: random.Random) -> Damage | None:
    """Drop the sentence that answers the question."""
    if len(split_sentences(text)) < 2:
        return None
    start, end = _answering_sentence(text, material.asked)
    return Damage(text=f"{text[:start]}{text[end:]}".strip(), removed=text[start:end])


def _added_sentence(text: str, material: MutationMaterial, rng: random.Random) -> Damage | None:
    sentence = rng.choice(_ADDED)
    end = "" if text.rstrip().endswith((".", "!", "?", "…", ":")) else "."
    return Damage(text=f"{text.rstrip()}{end} {sentence}", added=sentence)


def _other_answer(text: str, material: MutationMaterial, rng: random.Random) -> Damage | None:
    """Take the answer to another question that has the fewest words in common."""
    words = _keys_of(text)
    # An answer whose words are all in this one may say the same.
    candidates = [other for other in material.others if other.strip() and not words >= _keys_of(other)]
    if not candidates:
        return None
    other = min(candidates, key=lambda other: len(words & _keys_of(other)))
    return Damage(text=other)


def _truncated(text: str, material: MutationMaterial, rng: random.Random) -> Damage | None:
    """Break off in the middle of the sentence that answers the question."""
    start, end = _answering_sentence(text, material.asked)
    words = list(re.finditer(r"\S+", text[start:end]))
    if len(words) < _MIN_WORDS:
        return None
    cut = start + words[len(words) // 2 - 1].end()
    return Damage(text=text[:cut], removed=text[cut:].strip())


def _refusal(text: str, material: MutationMaterial, rng: random.Random) -> Damage | None:
    return None if is_refusal(text) else Damage(text=_REFUSAL)


def _language(text: str, material: MutationMaterial, rng: random.Random) -> Damage | None:
    """Answer in German, with the numbers and names of the answer."""
    kept = [match[0] for match in _matches(_NUMBER, text, material)] + names_in([text])
    return Damage(text=f"{_GERMAN}: {', '.join(kept)}." if kept else f"{_GERMAN} wie beschrieben.")


def _swapped(text: str, material: MutationMaterial, rng: random.Random) -> Damage | None:
    """Swap two numbers, else two names."""
    numbers = _matches(_NUMBER, text, material)
    pairs = [
        (one, other)
        for one, other in pairwise(numbers)
        # "Between 3 and 5" says the same with both swapped.
        if one[0] != other[0] and not _BETWEEN.search(text[max(0, one.start() - _LEAD) : one.start()])
    ]
    if not pairs:
        full_names = set(names_in([text]))
        names = [match for match in _matches(_NAME, text, material) if match[0] in full_names]
        pairs = [(one, other) for one, other in pairwise(names) if one[0] != other[0]]
    if not pairs:
        return None
    first, second = rng.choice(pairs)
    middle = text[first.end() : second.start()]
    return Damage(
        text=f"{text[: first.start()]}{second[0]}{middle}{first[0]}{text[second.end() :]}",
        removed=f"{first[0]}{middle}{second[0]}",
        added=f"{second[0]}{middle}{first[0]}",
    )


MUTATORS: Mapping[str, Mutator] = {
    "number": _number,
    "date": _date,
    "unit": _unit,
    "name": _name,
    "negation": _negation,
    "quantifier": _quantifier,
    "swapped": _swapped,
    "dropped_sentence": _dropped_sentence,
    "added_sentence": _added_sentence,
    "other_answer": _other_answer,
    "truncated": _truncated,
    "refusal": _refusal,
    "language": _language,
}
"""Kinds of damage to a text."""
