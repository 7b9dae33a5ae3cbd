"""Contradictions between an answer and its context that rules can find: values, scope, negations.

Each clause of an answer is aligned with the clauses of the context that share most of its words, rare ones more
than frequent ones. It contradicts them if all of them have another value of the same unit, restrict what it
states of all, or say the opposite. A clause without a counterpart is not judged.
"""

# ruff: noqa: E501  (patterns and examples)

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pytest_evalstudio.metrics.groundedness.denials import Clause, read_clause
from pytest_evalstudio.metrics.grounding import tokens_of
from pytest_evalstudio.text.cache import cached_by_text
from pytest_evalstudio.text.claims import claims_of
from pytest_evalstudio.text.spelled import in_digits
from pytest_evalstudio.text.stated_values import StatedValue, stated_values

ContradictionKind = Literal["value", "scope", "negation"]
MIN_COVERAGE = 0.7
"""Share of a clause's words, by weight, that a clause of the context has if it speaks of the same thing."""
_MARGIN = 0.85
"""Share of the greatest coverage from which another clause may be meant as well."""
_VALUE_MARGIN = 0.5
"""The same for a clause that states the values of the answer's clause."""
_INHERITED = 0.5
"""Weight of the words that a clause takes from the one before it."""
_MAX_CLAUSES = 2_000
"""Clauses of a context that are compared; the first ones of a longer one."""
_SPLIT = re.compile(
    r";\s|,\s(?=(?:and|but|or|while|whereas)\s)|\s(?=(?:but|whereas|while)\s)|\s(?=and\s(?:[0-9£€$]|an?\s(?!half|quarter)|the\s|that\s))"
)
_FREE = re.compile(
    r"\b(?:free of charge|without charge|at no (?:extra )?(?:charge|cost)|for free|no charge)\b",
    re.IGNORECASE,
)
_ALL = re.compile(r"\b(?:all|every|each|always|everybody|everyone|any|entire|whole)\b", re.IGNORECASE)
_SOME = re.compile(
    r"\b(?:some|certain|several|a few|(?<!at )most|sometimes|usually|often|many|not all|not every|selected)\b",
    re.IGNORECASE,
)
_SCOPE_WORDS = frozenset(
    [
        "all",
        "every",
        "each",
        "always",
        "some",
        "certain",
        "several",
        "few",
        "most",
        "mani",
        "select",
        "ani",
        "entir",
        "whole",
    ]
)
_ELLIPTIC = re.compile(r"\s*(?:but\s|and\s)?(?:not|nor|neither|no|none|yes)\b", re.IGNORECASE)
_LEADING = re.compile(r"(?:it|they|this|these|that|those|he|she|later|then|after that)\b", re.IGNORECASE)
_BEFORE = re.compile(r"\b(?:before|until|till|prior to|up to)\b", re.IGNORECASE)
_AFTER = re.compile(r"\b(?:after|since|once|from|following)\b", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]+")
_DIGITS = re.compile(r"[0-9]|once|twice|thrice", re.IGNORECASE)
_FREE_OR_CHARGED = (frozenset({"free"}), frozenset({"charg", "cost", "pai", "fee"}))


class Contradiction(NamedTuple):
    """A clause of an answer that the context contradicts.

    Attributes:
        start: index of the first character of its claim.
        end: index after the last character of its claim.
        clause: the clause.
        counterpart: the clause of the context.
    """

    start: int
    end: int
    kind: ContradictionKind
    clause: str
    counterpart: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Statement:
    """Clause with what is compared.

    Attributes:
        words: stems, without those of values and of scope.
        inherited: stems of the clause before, which this one may continue.
        values: values with a number.
        clause: words and negations.
        has_all: it is said of all; `has_some`: of some.
    """

    text: str
    words: frozenset[str]
    inherited: frozenset[str]
    values: tuple[StatedValue, ...]
    clause: Clause
    has_all: bool
    has_some: bool

    @property
    def is_free(self) -> bool:
        return "free" in self.words and not self.words & _FREE_OR_CHARGED[1]

    @property
    def is_charged(self) -> bool:
        return bool(self.words & _FREE_OR_CHARGED[1]) and "free" not in self.words


def contradictions(answer: str, context: Sequence[str]) -> Iterator[Contradiction]:
    """Yield the clauses of an answer that its context contradicts.

    Args:
        answer: English text; time is linear in its length for a given context.
        context: retrieved chunks.

    >>> chunks = ["The Gold card costs 90 USD, and the Silver card costs 30 USD. Some branches open on Saturdays."]
    >>> [each.kind for each in contradictions("The Gold card costs 30 USD.", chunks)]
    ['value']
    >>> [each.kind for each in contradictions("All branches open on Saturdays.", chunks)]
    ['scope']
    >>> list(contradictions("The Silver card is $30.", chunks))
    []
    """
    sources = [statement for chunk in context for statement in _statements(chunk)][:_MAX_CLAUSES]
    weights = _weights(sources)
    for claim in claims_of(answer):
        for statement in _statements(claim.text):
            if found := _contradiction(statement, sources, weights):
                kind, counterpart = found
                yield Contradiction(
                    claim.start, claim.end, kind, statement.text.strip(), counterpart.text.strip()
                )


@cached_by_text
def _statements(text: str) -> Sequence[_Statement]:
    statements: list[_Statement] = []
    previous: frozenset[str] = frozenset()
    for claim in claims_of(text):
        for number, part in enumerate(_SPLIT.split(_FREE.sub("free", claim.text))):
            continues = number > 0 or _LEADING.match(part) is not None
            statement = _statement(part, previous if continues else frozenset())
            if statement.words or statement.values:
                statements.append(statement)
                previous = statement.words | (statement.inherited if continues else frozenset())
    return tuple(statements)


def _statement(text: str, inherited: frozenset[str]) -> _Statement:
    values = stated_values(text)
    spans = [(value.start, value.end) for value in values]
    words = {
        token.keys[0]
        for token in tokens_of(text)
        if token.kind != "number" and not any(start <= token.start < end for start, end in spans)
    }
    nouns = {token.keys[0] for value in values for token in tokens_of(" ".join(value.noun))}
    return _Statement(
        text=text,
        words=frozenset(words - _SCOPE_WORDS - nouns),
        inherited=inherited - words,
        values=tuple(value for value in values if _numbers(text, value)),
        clause=read_clause(text),
        has_all=bool(_ALL.search(text)),
        has_some=bool(_SOME.search(text)),
    )


def _numbers(text: str, value: StatedValue) -> bool:
    """Return True if a value is a number or a date, and no mere "each week"."""
    return value.kind != "frequency" or bool(_DIGITS.search(in_digits(text[value.start : value.end]).text))


def _weights(sources: Sequence[_Statement]) -> Mapping[str, float]:
    counts = Counter(word for statement in sources for word in statement.words)
    return {word: math.log(1 + len(sources) / count) for word, count in counts.items()}


def _contradiction(
    statement: _Statement, sources: Sequence[_Statement], weights: Mapping[str, float]
) -> tuple[ContradictionKind, _Statement] | None:
    unknown = math.log(1 + len(sources))
    rated = [(_coverage(statement, source, weights, unknown), source) for source in sources]
    best = max((coverage for coverage, _ in rated), default=0.0)
    if best < MIN_COVERAGE:
        return None
    aligned = [source for coverage, source in rated if coverage >= _MARGIN * best]
    if wrong := _other_value(statement, aligned):
        return "value", wrong
    # A clause with the values of the statement may be meant, though another one shares more words.
    aligned += [
        source
        for coverage, source in rated
        if _VALUE_MARGIN * best <= coverage < _MARGIN * best and _states_values(source, statement)
    ]
    if statement.has_all and not statement.has_some and all(_is_restricted(source) for source in aligned):
        return "scope", aligned[0]
    if not _ELLIPTIC.match(statement.text) and all(_is_opposite(statement, source) for source in aligned):
        return "negation", aligned[0]
    return None


def _coverage(
    statement: _Statement, source: _Statement, weights: Mapping[str, float], unknown: float
) -> float:
    """Return the share of a statement's words that a clause of the context has, 0.0 to 1.0."""
    total = covered = 0.0
    for word in statement.words:
        weight = weights.get(word, unknown)
        total += weight
        if word in source.words or (word == "free" and source.is_charged):
            covered += weight
        elif word in source.inherited:
            covered += _INHERITED * weight
    return covered / total if total else 0.0


def _other_value(statement: _Statement, aligned: Sequence[_Statement]) -> _Statement | None:
    """Return a clause that has another value of the same unit where none has the statement's."""
    for value in statement.values:
        others = [
            (source, other) for source in aligned for other in source.values if _is_comparable(value, other)
        ]
        if others and not any(_has_same_number(value, other) for _, other in others):
            return others[0][0]
        if not others and (source := _other_unit(statement, value, aligned)):
            return source
    return None


def _other_unit(
    statement: _Statement, value: StatedValue, aligned: Sequence[_Statement]
) -> _Statement | None:
    """Return a clause that has the number of a value with another unit, e.g. "15 EUR" for "15 USD"."""
    written = _written(statement.text, value)
    if not written or value.dates or not any(unit for _, unit in value.readings):
        return None
    return next(
        (
            source
            for source in aligned
            for other in source.values
            if any(unit for _, unit in other.readings) and _written(source.text, other) == written
        ),
        None,
    )


def _written(text: str, value: StatedValue) -> tuple[str, ...]:
    return tuple(_NUMBER.findall(in_digits(text[value.start : value.end]).text))


def _is_comparable(value: StatedValue, other: StatedValue) -> bool:
    if value.dates or other.dates:
        return bool(value.dates and other.dates)
    units = {unit for _, unit in value.readings}
    other_units = {unit for _, unit in other.readings}
    if any(units) and any(other_units):
        return value.kind == other.kind and bool(units & other_units)
    is_same_noun = not value.noun or not other.noun or value.noun[-1:] == other.noun[-1:]
    return not any(units) and not any(other_units) and is_same_noun and value.kind == other.kind


def _has_same_number(value: StatedValue, other: StatedValue) -> bool:
    if value.equals(other):
        return True
    if value.dates or other.dates:
        return any(date[1:] == stated[1:] for date in value.dates for stated in other.dates)
    has_no_unit = not any(unit for _, unit in value.readings)
    same_bound = not value.bound or not other.bound or value.bound == other.bound
    return (
        has_no_unit
        and same_bound
        and bool({size for size, _ in value.readings} & {size for size, _ in other.readings})
    )


def _states_values(source: _Statement, statement: _Statement) -> bool:
    return bool(statement.values) and all(
        any(value.equals(other) for other in source.values) for value in statement.values
    )


def _is_restricted(source: _Statement) -> bool:
    return source.has_some and not source.has_all


def _is_opposite(statement: _Statement, source: _Statement) -> bool:
    if (statement.is_free and source.is_charged) or (statement.is_charged and source.is_free):
        return not statement.clause.denied and not source.clause.denied
    # "Liable before the report" and "not liable after the report" say the same.
    is_other_time = bool(
        (_BEFORE.search(statement.text) and _AFTER.search(source.text))
        or (_AFTER.search(statement.text) and _BEFORE.search(source.text))
    )
    return not is_other_time and statement.clause.contradicts(source.clause)
