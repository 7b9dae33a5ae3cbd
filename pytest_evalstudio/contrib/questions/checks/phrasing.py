"""Questions that nobody would type: too long, with leftovers of a sentence, or about things not named."""

from __future__ import annotations

import re

from pytest_evalstudio.contrib.questions.checks.retrieval import SECTION, bare_question
from pytest_evalstudio.contrib.questions.corpus import singular
from pytest_evalstudio.contrib.questions.words import pattern_tables, word_table

_MAX_WORDS = 18
_MAX_WORDS_WITH_CLAUSE = 15
"""Maximum number of words of a question with a relative clause or two genitives."""
_MAX_WORDS_WITH_CONDITION = 22
"""Maximum number of words of a question that ends with a condition."""
_MAX_WORDS_WITH_AND = 14
"""Maximum number of words of a question of yes or no with "and"."""
_YES_OR_NO = re.compile(r"(?i)(?:do|does|did|is|are|was|were|has|have|can|may|must|should|will)\b")
_NUMBER = (
    r"(?:[\d.,]+\S*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|million|billion|half"
    r"|cubic|square)"
)


def _patterns(kind: str) -> tuple[re.Pattern[str], ...]:
    return tuple(
        re.compile("|".join(lines).replace("{number}", _NUMBER), re.IGNORECASE)
        for name, lines in pattern_tables().items()
        if name.startswith(f"{kind}: ")
    )


_UNNATURAL = _patterns("unnatural")
"""Patterns that no question has which a person could type."""
_UNEXPLAINED = _patterns("unexplained")
"""Patterns of questions that a person could type only with the section that they are about."""
_UNIT = re.compile(
    r"(?i)(?<!\bmany)(?<!\bwhat)(?<!\d)\s"
    r"(?<!\bin\s)(?:pounds|euros?|dollars|pence|cents|per\scent|percent|%|kg|km|kw|kwh|°c)\b"
)
"""A unit, which a question has only after a number."""
_ENDS_WITH_NUMBER = re.compile(rf"(?i)\b{_NUMBER}$")
_DANGLING = word_table("dangling ends")
_STRANDED = re.compile(r"(?i)(?:what|how (?:many|much)|who)\b.*\b(?:of|for|against)\?$")
_MODAL_AFTER_DO = re.compile(
    r"(?i)\b(?:do|does|did)\b(?P<between>.*?)\b(?:must|may|can|will|should|shall|is|are|was|were)\b"
)
_CONJUNCTION = re.compile(
    r"(?i)\b(?:if|when|while|that|which|who|where|because|once|until|before|after|and|or)\b"
)
"""Words that may be between two verbs of a question."""
_CONDITION = re.compile(r"(?i)\s(?:if|when)\s(?:you|I|we|the|an?|no|my|your)\s")
_RELATIVE = re.compile(r"(?i)\b(?:who|which|that|whose|whom)\b")
_NOUN_OF_QUESTION = re.compile(r"(?i)\b(?:what|how many|how much)\s(?P<noun>[a-z]{4,})\b")


def needs_section(question: str) -> bool:
    """Report whether only a section explains what a question is about: "Is the speed limit 8 km/h?"."""
    return any(pattern.search(bare_question(question)) for pattern in _UNEXPLAINED)


def is_natural(question: str, *, section: str = "") -> bool:
    """Report whether a person could type a question as it is, or with its section; False in doubt.

    Args:
        question: with or without the title of its document and section.
        section: heading that the question would be asked with, "" for none.

    >>> is_natural("How long does delivery take?"), is_natural("For how long do members pay only?")
    (True, False)
    >>> is_natural("By what percentage did the average bill rise pounds?")
    False
    """
    text = bare_question(question)
    words = text.rstrip("?").split()
    last = words[-1].lower()
    if not section and not question.startswith(SECTION) and needs_section(question):
        return False
    is_cut = last in _DANGLING or (last in ("of", "for", "against") and not _STRANDED.match(text))
    return not (
        len(words) > _max_words(text)
        or is_cut
        or any(pattern.search(text) for pattern in _UNNATURAL)
        or _has_bare_unit(text)
        or _repeats_noun(text)
        or _has_two_verbs(text)
    )


def _max_words(text: str) -> int:
    """Return the maximum number of words of a question, by the clauses and genitives that it has."""
    if _YES_OR_NO.match(text) and " and " in text:
        return _MAX_WORDS_WITH_AND
    if _CONDITION.search(text):
        return _MAX_WORDS_WITH_CONDITION
    # The "who" that asks begins no relative clause.
    clauses = len(_RELATIVE.findall(text)) - text.lower().startswith("who ")
    has_clause = clauses > 0 or len(re.findall(r"\bof\b", text)) > 1
    return _MAX_WORDS_WITH_CLAUSE if has_clause else _MAX_WORDS


def _has_bare_unit(text: str) -> bool:
    return any(not _ENDS_WITH_NUMBER.search(text[: match.start()]) for match in _UNIT.finditer(text))


def _has_two_verbs(text: str) -> bool:
    """Report whether a question of "do" has another verb without a conjunction: a noun was read as a verb."""
    match = _MODAL_AFTER_DO.search(text)
    return match is not None and not _CONJUNCTION.search(match["between"])


def _repeats_noun(text: str) -> bool:
    """Report whether a question has the noun that it asks for twice."""
    match = _NOUN_OF_QUESTION.search(text)
    if match is None:
        return False
    rest = [singular(word) for word in re.findall(r"[a-z]+", text[match.end() :].lower())]
    return singular(match["noun"].lower()) in rest
