"""Questions that are answered by yes or no."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt, generator
from pytest_evalstudio.mrm.generators._conditions import begins_with
from pytest_evalstudio.mrm.generators._qualifiers import condition_after, has_exception, has_second_case
from pytest_evalstudio.mrm.texts.clauses import Clause, clauses
from pytest_evalstudio.mrm.texts.quantities import changed, is_identifier, quantities, unit_of, value_of
from pytest_evalstudio.mrm.texts.statements import as_customer, inside, without_number

_MORE, _LESS = 1.5, 0.5
_AT_MOST = re.compile(
    r"(?i)\b(?:within|up to|at most|no more than|not more than|a maximum of|no later than|not exceed|below"
    r"|under)\s(?:\w+\s)?$"
)
_AT_LEAST = re.compile(r"(?i)\b(?:at least|a minimum of|no less than|no fewer than)\s$")
_UNCLEAR = re.compile(
    r"(?i)\b(?:more|less|fewer|over|than|above|exceed\w*|between|about|around|approximately|nearly|almost|from|until|to|maximum"
    r"|minimum|limit\w*|or|if|unless|except|only|before|after|by|every|once|twice)\b"
)
_CONDITION = re.compile(r"(?i)\b(?:when|whenever|while|where|because)\b")
"""Beginning of a condition: a statement whose condition has another quantity may be true as well."""
_CUT = re.compile(r",\s|\s(?:because|which|who)\s")
_LIST = re.compile(r",\s[^,;]*(?:,\s[^,;]*)*\s(?:and|or)\s")
"""Further members of a list: without them the statement would be of the first member alone."""
_AIMING = frozenset({"aim", "ask", "apply", "look", "plan"})
"""Verbs whose "for" names an object, which other sentences explain."""
_OBLIGED, _ALLOWED = ("must", "should"), ("can", "may", "could")


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
        numbers = _numbers(corpus)
        for sentence in excerpt.sentences:
            if sentence not in numbers:
                continue
            pair = _pair(sentence, corpus)
            assert pair is not None
            answer = "No" if numbers[sentence] % 2 else "Yes"
            yield Draft(
                question=pair.false if answer == "No" else pair.true,
                answer=f"{answer}. {without_number(sentence)}",
                condition=begins_with(answer),
                evidence=sentence,
            )


class _Pair(NamedTuple):
    """A question to be answered by yes, and one to be answered by no."""

    true: str
    false: str


@functools.lru_cache(maxsize=1)
def _numbers(corpus: Corpus) -> dict[str, int]:
    """Number the sentences of the documents that both kinds of question can be made of."""
    usable = dict.fromkeys(sentence for sentence in corpus.sentences if _pair(sentence, corpus) is not None)
    return {sentence: number for number, sentence in enumerate(usable)}


def _pair(sentence: str, corpus: Corpus) -> _Pair | None:
    parsed = clauses(sentence)
    if len(parsed) != 1 or has_exception(sentence) or parsed[0].is_negative or parsed[0].kind == "command":
        return None
    clause = parsed[0]
    rest = _CUT.split(clause.rest)[0]
    if _LIST.match(clause.rest, len(rest)) or condition_after(clause.rest[len(rest) :]) != "":
        return None
    stated = quantities(rest)
    if any(has_second_case(unit_of(quantity.text), clause.rest[len(rest) :]) for quantity in stated):
        return None
    if len(stated) != 1 or stated[0].kind == "date" or len(sentence.split()) > 20:
        return None
    if is_identifier(
        stated[0], f"{clause.subject} {clause.form} {rest[: stated[0].start]}", rest[stated[0].end :]
    ):
        return None
    if clause.verb in _AIMING and rest[: stated[0].start].endswith("for "):
        return None
    factor = _false_factor(clause, rest[: stated[0].start], rest[stated[0].end :])
    value = value_of(stated[0].text)
    if factor == _MORE and value is not None and clause.aux not in (*_OBLIGED, *_ALLOWED):
        is_limited = stated[0].kind == "percent" or unit_of(stated[0].text) in ("hour", "%")
        factor = (
            _LESS if is_limited and value * _MORE > (100 if stated[0].kind == "percent" else 24) else factor
        )
    false = changed(stated[0].text, factor) if factor else ""
    if not false:
        return None
    subject = inside(clause.subject, corpus)
    wrong = rest[: stated[0].start] + false + rest[stated[0].end :]
    questions = _Pair(_asked(clause, subject, rest), _asked(clause, subject, wrong))
    return questions if questions.true != questions.false else None


def _false_factor(clause: Clause, before: str, after: str) -> float:
    """Return the factor that makes the statement false, 0.0 where no factor surely does.

    An obligation to act within a period is false for a shorter one and follows from a longer one. A
    permission of up to an amount is false for a larger one, and a minimum only if it is set as an obligation.
    """
    if _CONDITION.search(before):
        return 0.0
    if _AT_MOST.search(before):
        beyond = _AT_MOST.sub("", before)
        if _UNCLEAR.search(beyond) or _UNCLEAR.search(after):
            return 0.0
        if clause.aux in _OBLIGED:
            return _LESS
        is_amount = not re.search(r"(?i)\b(?:within|no later than)\s(?:\w+\s)?$", before)
        return _MORE if clause.aux in _ALLOWED and is_amount else 0.0
    if _AT_LEAST.search(before):
        return _MORE if clause.aux in _OBLIGED and not _UNCLEAR.search(_AT_LEAST.sub("", before)) else 0.0
    if _UNCLEAR.search(before.removesuffix("by ").removesuffix("to ")) or _UNCLEAR.search(after):
        return 0.0
    if clause.aux in _ALLOWED or re.search(r"(?i)\b(?:within|up|most|least)\b", before):
        return 0.0
    return _MORE


def _asked(clause: Clause, subject: str, rest: str) -> str:
    question = clause.ask("", subject, rest)
    return as_customer(question[0].upper() + question[1:])
