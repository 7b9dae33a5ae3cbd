"""Sentences that state a quantity for each of several cases: "£11 online and £13 on board"."""

from __future__ import annotations

import re
from itertools import pairwise

from pytest_evalstudio.contrib.questions.grammar.clauses import Clause, clauses
from pytest_evalstudio.contrib.questions.grammar.noun_phrases import PREPOSITIONS, is_plural
from pytest_evalstudio.contrib.questions.grammar.verbs import AUXILIARIES, forms, third_person
from pytest_evalstudio.contrib.questions.quantities import Quantity, quantities, unit_of
from pytest_evalstudio.contrib.questions.words import word_set

_CASE = re.compile(
    r"\s(?P<first>abroad|daily|in|for|on|at|from|to|during|if|when|with|without|per|under|over|between|online|by)\b(?P<rest>.*)"
)
_CONNECTOR = re.compile(
    r"(?:,\s(?:and\s|or\s)?|\sand\s|\sor\s)(?:(?:for|at|by|to|of|within|after|from|about|up to|around)\s)?$"
)
_MEMBER = re.compile(
    r"^(?P<adjunct>(?:\sof\s[^,]+?)?)(?:,\s(?:and\s)?|\sand\s)"
    r"(?P<subject>(?:(?:the|a|an)\s)?[a-z][\w-]*(?:,?\s(?:and\s)?[\w-]+){0,5}?)\s(?P<prep>(?:for|at|by|to|within)\s)?$"
)
"""Subject of a further member without a verb: ", public subsidy £1.48 million"."""
_NO_SUBJECTS = PREPOSITIONS | word_set(
    "up down compared including then plus about all others nearly almost only just more less later which"
)
_END = re.compile(
    r"\.$|,\s(?:which|who|where|because|since|so|and)\b.*|\sand\s(?:is|are|may|must|can|will|has|have)\b.*"
)
_MAX_WORDS = 9
_ALIKE = ({"online", "on", "at", "in", "by"},)
_MIN_CASES = 2


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
    for hit, following in pairwise([*hits, None]):
        assert hit is not None
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
    if len(first_words) > 1 and not any(first_words <= group for group in _ALIKE):
        return []
    return [f"{head}{quantity}{adjunct}." for quantity, adjunct in cases]


def sentences_of_members(text: str) -> list[str]:
    """Return a sentence for each subject of a sentence whose verb is not repeated; [] in doubt.

    >>> sentences_of_members("A new key costs £18 and a new fob £35.")
    ['A new key costs £18.', 'A new fob costs £35.']
    """
    hits = _alike(quantities(text))
    parsed = clauses(text)
    if len(hits) < _MIN_CASES or len(parsed) != 1 or parsed[0].voice == "copula":
        return []
    clause = parsed[0]
    start = f"{clause.subject} {clause.form} "
    plain = text[text.find(start) :]
    hits = _alike(quantities(plain))
    prefix = plain[len(start) : hits[0].start] if hits and plain.startswith(start) else "?"
    if prefix not in ("", "for ", "at ", "by ", "to ", "within "):
        return []
    sentences: list[str] = []
    adjunct = ""
    for hit, following in pairwise(hits):
        member = _MEMBER.match(plain[hit.end : following.start])
        if member is None or member["subject"].split()[0] in _NO_SUBJECTS or (member["prep"] or "") != prefix:
            return []
        adjunct = adjunct or member["adjunct"]
        # A member with a verb is a clause of its own: "and the indoor unit weighs 74 kg".
        if any(word in AUXILIARIES or "s" in forms(word) for word in member["subject"].split()[1:]):
            return []
        if not sentences:
            sentences.append(f"{start}{prefix}{hit.text}{adjunct}.")
        subject = member["subject"]
        form = clause.form if clause.aux not in ("does", "do") else _agreeing(clause, subject)
        sentences.append(f"{subject[0].upper()}{subject[1:]} {form} {prefix}{following.text}{adjunct}.")
    is_end = re.match(r"\.$|;|\s(?:each|per)\b", plain[hits[-1].end :])
    return sentences if is_end else []


def _agreeing(clause: Clause, subject: str) -> str:
    """Return the verb of a clause in the number of another subject."""
    return clause.verb if is_plural(subject.split()) else third_person(clause.verb)


def _alike(hits: list[Quantity]) -> list[Quantity]:
    """Return the quantities of the unit of the first amount, "" where a number counts nothing."""
    first = next((hit for hit in hits if hit.kind in ("money", "percent", "period", "measure")), None)
    if first is None:
        return []
    return [hit for hit in hits if hit.kind == first.kind and unit_of(hit.text) == unit_of(first.text)]


def _is_case(adjunct: str) -> bool:
    words = adjunct.split()
    is_plain = not any(word.lower() in AUXILIARIES for word in words) and "," not in adjunct
    return bool(_CASE.match(adjunct)) and is_plain and len(words) <= _MAX_WORDS
