"""Questions that are answered by yes or no."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt, generator
from pytest_evalstudio.questions.grammar.clauses import Clause, clauses
from pytest_evalstudio.questions.grammar.statements import without_number
from pytest_evalstudio.questions.grammar.wording import as_customer, uncapitalised
from pytest_evalstudio.questions.quantities import (
    Quantity,
    changed,
    is_identifier,
    quantities,
    unit_of,
    value_of,
)
from pytest_evalstudio.questions.rules.conditions import first_word_condition
from pytest_evalstudio.questions.rules.qualifiers import condition_after, has_exception, has_second_case
from pytest_evalstudio.questions.words import word_set

_MORE, _LESS = 1.5, 0.5
_AT_MOST = re.compile(
    r"(?i)\b(?:within|up to|at most|no more than|not more than|a maximum of|no later than|not exceed|below"
    r"|under)\s(?:\w+\s)?$"
)
_DEADLINE = re.compile(r"(?i)\b(?:within|no later than)\s(?:\w+\s)?$")
_AT_LEAST = re.compile(r"(?i)\b(?:at least|a minimum of|no less than|no fewer than)\s$")
_UNCLEAR = re.compile(
    r"(?i)\b(?:more|less|fewer|over|than|above|exceed\w*|between|about|around|approximately|nearly|almost|from|until|to|maximum"
    r"|minimum|limit\w*|or|if|unless|except|only|before|after|by|every|once|twice)\b"
)
_CONDITION = re.compile(r"(?i)\b(?:when|whenever|while|where|because)\b")
"""Beginning of a condition: a statement whose condition has another quantity may be true as well."""
_SUBORDINATE = re.compile(r",\s|\s(?:because|which|who)\s")
_LIST = re.compile(r",\s[^,;]*(?:,\s[^,;]*)*\s(?:and|or)\s")
"""Further members of a list: without them the statement would be of the first member alone."""
_AIMING = word_set("aim ask apply look plan")
"""Verbs whose "for" names an object, which other sentences explain."""
_OBLIGED, _ALLOWED = word_set("must should"), word_set("can may could")
_LIMITS = {"%": 100, "hour": 24}
_MAX_WORDS = 20


@generator(
    "yes_or_no",
    name="Yes or no",
    instruction=(
        "Each question can be answered by yes or no. Of two questions one is to be answered by yes, the other"
        " by no. The answer begins with “Yes.” or “No.” and gives the reason in one sentence."
    ),
)
@dataclass(frozen=True)
class YesOrNo:
    """Ask for confirmation of a statement as it is (yes), or with a quantity that makes it false (no)."""

    def drafts(self, excerpt: Excerpt, corpus: Corpus, rng: random.Random) -> Iterable[Draft]:
        """Yield drafts of questions on an excerpt.

        Every second suitable sentence of the documents gets the answer no, so that neither answer is more
        frequent.
        """
        pairs = _pairs(corpus)
        for sentence in excerpt.sentences:
            if sentence not in pairs:
                continue
            number, pair = pairs[sentence]
            answer = "No" if number % 2 else "Yes"
            yield Draft(
                question=pair.false if answer == "No" else pair.true,
                answer=f"{answer}. {without_number(sentence)}",
                condition=first_word_condition(answer),
                evidence=sentence,
            )


class _Pair(NamedTuple):
    """A question to be answered by yes, and one to be answered by no."""

    true: str
    false: str


@functools.lru_cache(maxsize=1)
def _pairs(corpus: Corpus) -> dict[str, tuple[int, _Pair]]:
    """Return the questions by the sentences of the documents that both can be made of, numbered in order."""
    pairs: dict[str, tuple[int, _Pair]] = {}
    for sentence in dict.fromkeys(corpus.sentences):
        if pair := _pair(sentence, corpus):
            pairs[sentence] = (len(pairs), pair)
    return pairs


def _pair(sentence: str, corpus: Corpus) -> _Pair | None:
    """Return the questions for a sentence of one clause with one quantity; None in doubt."""
    parsed = clauses(sentence)
    if len(parsed) != 1 or len(sentence.split()) > _MAX_WORDS or has_exception(sentence):
        return None
    clause = parsed[0]
    rest = _SUBORDINATE.split(clause.rest)[0]
    tail = clause.rest[len(rest) :]
    if clause.is_negative or clause.kind == "command" or condition_after(tail) != "" or _LIST.match(tail):
        return None
    hits = quantities(rest)
    if len(hits) != 1 or not _is_suitable(clause, hits[0], rest, tail):
        return None
    quantity = hits[0]
    before, after = rest[: quantity.start], rest[quantity.end :]
    factor = _within_limit(_false_factor(clause, before, after), quantity, clause)
    other = changed(quantity.text, factor) if factor else ""
    if not other:
        return None
    subject = uncapitalised(clause.subject, corpus)
    pair = _Pair(_question(clause, subject, rest), _question(clause, subject, before + other + after))
    return pair if pair.true != pair.false else None


def _is_suitable(clause: Clause, quantity: Quantity, rest: str, tail: str) -> bool:
    """Report whether another quantity makes a statement false: it is no date, code, object or case of two."""
    before = rest[: quantity.start]
    is_object = clause.verb in _AIMING and before.endswith("for ")
    return not (
        quantity.kind == "date"
        or is_object
        or has_second_case(unit_of(quantity.text), tail)
        or is_identifier(quantity, f"{clause.subject} {clause.form} {before}", rest[quantity.end :])
    )


def _within_limit(factor: float, quantity: Quantity, clause: Clause) -> float:
    """Return a factor that keeps shares below 100 % and hours below 24."""
    value = value_of(quantity.text)
    if factor != _MORE or value is None or clause.aux in _OBLIGED | _ALLOWED:
        return factor
    limit = _LIMITS.get("%" if quantity.kind == "percent" else unit_of(quantity.text))
    return _LESS if limit is not None and value * _MORE > limit else factor


def _false_factor(clause: Clause, before: str, after: str) -> float:
    """Return the factor that makes the statement false, 0.0 where no factor surely does.

    An obligation to act within a period is false for a shorter one and follows from a longer one. A
    permission of up to an amount is false for a larger one, and a minimum only if it is set as an obligation.
    """
    if _CONDITION.search(before):
        return 0.0
    if _AT_MOST.search(before):
        if _UNCLEAR.search(_AT_MOST.sub("", before)) or _UNCLEAR.search(after):
            return 0.0
        if clause.aux in _OBLIGED:
            return _LESS
        return _MORE if clause.aux in _ALLOWED and not _DEADLINE.search(before) else 0.0
    if _AT_LEAST.search(before):
        return _MORE if clause.aux in _OBLIGED and not _UNCLEAR.search(_AT_LEAST.sub("", before)) else 0.0
    if _UNCLEAR.search(before.removesuffix("by ").removesuffix("to ")) or _UNCLEAR.search(after):
        return 0.0
    is_limit = re.search(r"(?i)\b(?:within|up|most|least)\b", before)
    return 0.0 if clause.aux in _ALLOWED or is_limit else _MORE


def _question(clause: Clause, subject: str, rest: str) -> str:
    question = clause.ask("", subject, rest)
    return as_customer(question[0].upper() + question[1:])
