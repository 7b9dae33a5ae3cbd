"""Statements of what something is: subject, form of be, and complement."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_evalstudio.contrib.questions.words import word_set

_BE = word_set("is are was were")
_OTHER_VERBS = word_set(
    "can may must will should costs cost takes take carries carry says covers cover needs need requires"
    " require includes include contains contain means pays"
)
"""Verbs before which a form of be belongs to the complement: "the fee covers what is lost"."""
_STATEMENT = re.compile(
    rf"(?P<subject>[A-Z][^,;:()]*?)\s(?P<verb>{'|'.join(sorted(_BE | _OTHER_VERBS))})\s(?P<rest>.+)"
)
_DEPENDENT_START = re.compile(
    r"(?i)(?:he|her|here|his|how|it|its|she|that|their|there|these|they|this|those|we|what|when|where|which"
    r"|who|why|you|and|but|or|so|then|also|otherwise|however|therefore|after|before|if|for|in|on|at|by|with)\b"
)
"""First words of sentences that depend on the sentence before."""
_UNCLEAR_SUBJECT = re.compile(
    r"(?i)\b(?:that|which|who|whom|because|there|if|when|while|where|we|you|it|they|this)\b"
)
_NEGATIVE = re.compile(r"(?i)\b(?:no|not|never|nothing|nobody|none|neither|nor|cannot|without|\w+n't)\b")
_SECTION = re.compile(r"^\s*(?:(?:§\s?)?\d{1,2}(?:\.\d{1,2}){1,3}\.?|\(\d{1,2}\)|\d{1,2}\.)\s(?=[A-Z])")
_JOINED = re.compile(
    r"^\d{1,2}\.\s(?P<heading>[A-Z][\w’'-]*(?:,?\s(?:[a-z][\w’'-]*|[A-Z]{2,}))*?)"
    r"(?<!\sof)(?<!\sthe)(?<!\sand)(?<!\sfor)(?<!\sto)(?<!\sin)(?<!\sa)(?<!\sat)(?<!\swith)(?<!\son)(?<!\sor)"
    r"\s(?P<rest>[A-Z][\w’'-]*,?\s[a-z(].*)$",
    re.DOTALL,
)
"""A numbered heading that the reader of a document has joined with the sentence after it."""
_REPEATED = re.compile(r"^(?P<heading>[A-Z][a-z]+)\s(?P<rest>(?P=heading)\s[a-z].*)$", re.DOTALL)
_BEFORE_NUMBER = re.compile(r"^\d{1,2}\.\s[^.|]{2,60}?\s(?=\d{1,2}\.\d{1,2}\s[A-Z])")
"""A numbered heading before the number of its first paragraph."""
_LABEL = re.compile(r"^[A-Z][\w’' ,-]{2,40}:\s(?=[A-Z])")
"""A label before a sentence: "Pregnancy: Do not …"."""
_MAX_HEADING_WORDS = 8
_MAX_SUBJECT_WORDS = 9
_NUMBER_OF_WORDS = range(4, 41)


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence as subject, form of be and the rest, which ends at a semicolon or full stop."""

    subject: str
    verb: str
    rest: str

    @property
    def is_negative(self) -> bool:
        """Report whether the statement has a negation."""
        return bool(_NEGATIVE.search(f"{self.subject} {self.rest}"))


def without_number(sentence: str) -> str:
    """Return a sentence without the number of its section, and without a heading that was joined with it.

    >>> without_number("5.2 The permit costs £65.")
    'The permit costs £65.'
    """
    return _SECTION.sub("", split_heading(_BEFORE_NUMBER.sub("", sentence))[1])


def bare_statement(sentence: str) -> str:
    """Return a sentence without number, heading and label.

    >>> bare_statement("Pregnancy: The tablets are not suitable.")
    'The tablets are not suitable.'
    """
    return _LABEL.sub("", without_number(" ".join(sentence.lstrip("¹²³*† ").split())))


def split_heading(sentence: str) -> tuple[str, str]:
    """Return the numbered heading that begins a sentence, "" for none, and the rest.

    >>> split_heading("4. Luggage Each passenger may bring one suitcase.")
    ('Luggage', 'Each passenger may bring one suitcase.')
    """
    match = _JOINED.match(sentence) or _REPEATED.match(sentence)
    if match is None or len(match["heading"].split()) > _MAX_HEADING_WORDS:
        return "", sentence
    return match["heading"], match["rest"]


def statement(sentence: str) -> Statement | None:
    """Return subject, form of be and rest of a plain statement; None for any other sentence.

    >>> statement("A draft is a cheque of the bank; it costs £15.")
    Statement(subject='A draft', verb='is', rest='a cheque of the bank')
    >>> statement("A draft costs £15.") is None
    True
    """
    match = _STATEMENT.fullmatch(sentence.removesuffix(".")) if _is_independent(sentence) else None
    if (
        match is None
        or match["verb"] not in _BE
        or len(match["subject"].split()) > _MAX_SUBJECT_WORDS
        or _UNCLEAR_SUBJECT.search(match["subject"])
    ):
        return None
    return Statement(match["subject"], match["verb"], match["rest"].partition(";")[0])


def _is_independent(sentence: str) -> bool:
    """Report whether a sentence is complete, of ordinary length, and independent of the one before."""
    return (
        len(sentence.split()) in _NUMBER_OF_WORDS
        and sentence[0].isupper()
        and sentence[-1] == "."
        and not _DEPENDENT_START.match(sentence)
    )
