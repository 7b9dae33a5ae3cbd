"""Sentences that state a quantity for each of several cases: "£11 online and £13 on board"."""

from __future__ import annotations

import re
from itertools import pairwise

from pytest_evalstudio.contrib.questions.quantities import Quantity, quantities, unit_of
from pytest_evalstudio.contrib.questions.words import word_set

_CASE = re.compile(
    r"\s(?:abroad|daily|in|for|on|at|from|to|during|if|when|with|without|per|under|over|between|online|by"
    r"|within)\b.*"
)
_CONNECTOR = re.compile(
    r"(?:,\s(?:and\s|or\s)?|\sand\s|\sor\s)(?:(?:for|at|by|to|of|within|after|from|about|up to|around)\s)?$"
)
_STATEMENT = re.compile(
    r"(?P<subject>[A-Z][^,;:()]{1,60}?)\s(?P<verb>costs?|weighs?|lasts?|takes?|(?:is|are)\skept|holds?|covers?)"
    r"\s(?P<prep>(?:for|at|by|within)\s)?$"
)
_MEMBER = re.compile(
    r"^(?P<adjunct>(?:\s(?:of|a|per)\s[^,]+?)?)(?:,\s(?:and\s|while\s)?|\sand\s)"
    r"(?P<subject>(?:(?:the|a|an)\s)?[a-z][\w-]*(?:,?\s(?:and\s)?[\w-]+){0,5}?)\s(?P<prep>(?:for|at|by|within)\s)?$"
)
"""Subject of a further member without a verb: "and a new fob £35"."""
_NO_SUBJECTS = word_set(
    """
    of for in on at to with from by under between after before during per than as over through about
    up down compared including then plus all others nearly almost only just more less later which
    """
)
_VERBS = word_set("is are was were has have had can may must should will does do")
_END = re.compile(
    r"\.$|,\s(?:which|who|where|because|since|so|and)\b.*|\sand\s(?:is|are|may|must|can|will|has|have)\b.*"
)
_MAX_WORDS = 9
_ALIKE = word_set("online on at in by within")
_MIN_CASES = 2
_KINDS = ("money", "percent", "period", "measure")


def single_statements(text: str) -> list[str]:
    """Return a sentence for each case or member of a sentence with several quantities, or the sentence."""
    return sentences_of_cases(text) or sentences_of_members(text) or [text]


def sentences_of_cases(text: str) -> list[str]:
    """Return a sentence for each case of a sentence with several quantities of one unit; [] in doubt.

    >>> sentences_of_cases("A ticket costs £11 online and £13 on board.")
    ['A ticket costs £11 online.', 'A ticket costs £13 on board.']
    """
    hits = _alike(quantities(text))
    if len(hits) < _MIN_CASES:
        return []
    head = text[: hits[0].start]
    cases = []
    for hit, following in zip(hits, [*hits[1:], None], strict=True):
        if following is not None:
            between = text[hit.end : following.start]
            connector = _CONNECTOR.search(between)
            if connector is None:
                return []
            adjunct = between[: connector.start()]
        else:
            adjunct = _END.sub("", text[hit.end :])
        if not _is_case(adjunct):
            return []
        cases.append((hit.text, adjunct))
    first_words = {adjunct.split()[0] for _, adjunct in cases}
    if len(first_words) > 1 and not first_words <= _ALIKE:
        return []
    return [f"{head}{quantity}{adjunct}." for quantity, adjunct in cases]


def sentences_of_members(text: str) -> list[str]:
    """Return a sentence for each subject of a sentence whose verb is not repeated; [] in doubt.

    >>> sentences_of_members("A new key costs £18 and a new fob £35.")
    ['A new key costs £18.', 'A new fob costs £35.']
    """
    hits = _alike(quantities(text))
    start = _STATEMENT.fullmatch(text[: hits[0].start]) if len(hits) >= _MIN_CASES else None
    if start is None:
        return []
    adjunct, subjects = "", [start["subject"]]
    for hit, following in pairwise(hits):
        member = _MEMBER.match(text[hit.end : following.start])
        if (
            member is None
            or member["subject"].split()[0] in _NO_SUBJECTS
            or (member["prep"] or "") != (start["prep"] or "")
            or _VERBS & set(member["subject"].split())
        ):
            return []
        adjunct = adjunct or member["adjunct"]
        subjects.append(member["subject"][0].upper() + member["subject"][1:])
    tail = text[hits[-1].end :]
    if not re.match(r"\.$|;|\s(?:each|per|a)\b[^,]*\.$", tail):
        return []
    adjunct = adjunct or tail.removesuffix(".").partition(";")[0]
    return [
        f"{subject} {_agreeing(start['verb'], subject)} {start['prep'] or ''}{hit.text}{adjunct}."
        for subject, hit in zip(subjects, hits, strict=True)
    ]


def _agreeing(verb: str, subject: str) -> str:
    """Return the verb of a statement in the number of another subject."""
    is_plural = subject.split()[-1].endswith("s") and not subject.lower().startswith(("a ", "an "))
    if verb.endswith(" kept"):
        return "are kept" if is_plural else "is kept"
    base = verb.removesuffix("s")
    return base if is_plural else f"{base}s"


def _alike(hits: list[Quantity]) -> list[Quantity]:
    """Return the quantities of the unit of the first amount."""
    first = next((hit for hit in hits if hit.kind in _KINDS), None)
    if first is None:
        return []
    return [hit for hit in hits if hit.kind == first.kind and unit_of(hit.text) == unit_of(first.text)]


def _is_case(adjunct: str) -> bool:
    words = adjunct.split()
    is_plain = not any(word.lower() in _VERBS for word in words) and "," not in adjunct
    return bool(_CASE.match(adjunct)) and is_plain and len(words) <= _MAX_WORDS
