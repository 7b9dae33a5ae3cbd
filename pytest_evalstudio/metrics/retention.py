"""Facts that a user gave in a conversation, and what the assistant does with them later."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_evalstudio.formats.patterns import compiled

Kind = Literal["identifier", "amount", "date", "address", "name", "declared"]
LapseKind = Literal["asked_again", "contradicted"]
Messages = Sequence[tuple[str, str]]
"""Role and content of each message, in order."""

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:t(?:ember)?)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_PATTERNS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("address", re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,4}")),
    (
        "date",
        re.compile(
            rf"\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}}(?:st|nd|rd|th)? {_MONTH}\b"
            rf"|\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b"
        ),
    ),
    (
        "amount",
        re.compile(
            r"[£$€] ?\d(?:[\d,.]{0,20}\d)?"
            r"|\b\d(?:[\d,.]{0,20}\d)? ?(?:USD|EUR|GBP|CHF|dollars?|euros?|pounds?)\b"
        ),
    ),
    ("name", re.compile(r"(?<=\b[Mm]y name is )[A-Z][\w'-]{1,30}(?: [A-Z][\w'-]{1,30}){0,3}")),
    (
        "identifier",
        re.compile(
            r"\b(?=[A-Za-z_-]{0,20}\d)(?=[\d_-]{0,20}[A-Za-z])[A-Za-z0-9][A-Za-z0-9_-]{1,30}\b|\b\d{6,20}\b"
        ),
    ),
)
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")
_BEFORE_VALUE_CHARS = 60
"""Characters before a value in which the word that names it is looked for."""
_NEAR_CHARS = 30
"""Characters after a naming word in which another value contradicts the user's."""
_NAMING_NOTHING = frozenset(
    _WORD.findall(
        "a an and am are as at be by code codes for from has have here i i'm id ids in is it it's its my no"
        " number numbers of on one ones or our please ref reference thanks that the their this to under was"
        " were which with you your"
    )
)
_QUESTIONS: dict[Kind, re.Pattern[str]] = {
    "date": re.compile(r"\b(?:what|which) (?:date|day)\b(?! of birth)", re.IGNORECASE),
    "amount": re.compile(r"\bhow much\b[^?]{0,80}\?|\b(?:what|which) amount\b", re.IGNORECASE),
    "address": re.compile(r"\byour e-?mail\b(?! (?:has|is|was|will))[^.!]{0,40}(?:\?|\Z)", re.IGNORECASE),
    "name": re.compile(
        r"\b(?:what(?:'s| is)|have|provide|tell me|give me|know|need) your (?:full |first |last )?name\b",
        re.IGNORECASE,
    ),
}
_PATTERN_TIMEOUT_S = 2.0
MAX_OTHER_FACTS = 50
"""Facts that are looked for in each sentence: those of four kinds, and declared ones."""
_SENTENCE = re.compile(r"[^.!?\n]*[.!?\n]?")


@dataclass(frozen=True, slots=True, kw_only=True)
class UserFact:
    """Value that a user gave.

    Attributes:
        label: word that names an identifier in the user's message, in lower case, e.g. "booking"; the kind of
            other values.
        message: index of the message in the conversation.
        asked_by: pattern of sentences that ask for a declared value, "" for those of its kind and label.
    """

    kind: Kind
    value: str
    label: str
    message: int
    asked_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lapse:
    """Fact that the assistant did not retain.

    Attributes:
        message: index of the assistant's message.
        sentence: of that message.
    """

    fact: UserFact
    kind: LapseKind
    message: int
    sentence: str


def user_facts(messages: Messages) -> list[UserFact]:
    """Return the identifiers, amounts, dates, e-mail addresses and names that a user gives, each once.

    >>> [(fact.label, fact.value) for fact in user_facts([("user", "My booking is E1, of May 3.")])]
    [('date', 'May 3'), ('booking', 'E1')]
    """
    facts: dict[str, UserFact] = {}
    for index, (role, content) in enumerate(messages):
        for kind, start, value in _values(content) if role == "user" else ():
            label = _label(content, start) if kind == "identifier" else kind
            if label:
                fact = UserFact(kind=kind, value=value, label=label, message=index)
                facts.setdefault(value.lower(), fact)
    return list(facts.values())


def declared_fact(messages: Messages, value: str, asked_by: str) -> UserFact | None:
    """Return a declared fact, None where the user does not give its value."""
    for index, (role, content) in enumerate(messages):
        if role == "user" and value.lower() in content.lower():
            return UserFact(kind="declared", value=value, label=value, message=index, asked_by=asked_by)
    return None


def lapses(messages: Messages, facts: Iterable[UserFact], known: str = "") -> list[Lapse]:
    """Return the facts that the assistant asks for again or contradicts, each once.

    A fact counts as asked for again where a later sentence of the assistant asks for what the user's word
    names, without the value. An identifier counts as contradicted where its word is followed by another
    identifier that nobody has named before. Words that name several values of the user are left out.

    Args:
        messages: the conversation.
        facts: of the user.
        known: further text whose values contradict nothing, e.g. results of tools.

    Raises:
        TimeoutError: if the pattern of a declared fact takes longer than 2 s.

    >>> talk = [("user", "Cancel booking E1"), ("assistant", "Which booking?")]
    >>> [(lapse.kind, lapse.sentence) for lapse in lapses(talk, user_facts(talk))]
    [('asked_again', 'Which booking?')]
    """
    by_label: dict[str, list[UserFact]] = {}
    for fact in facts:
        by_label.setdefault(fact.label, []).append(fact)
    single = {label: group[0] for label, group in by_label.items() if len(group) == 1}
    other_kinds = [fact for fact in single.values() if fact.kind != "identifier"][:MAX_OTHER_FACTS]
    kept: dict[str, Lapse] = {}
    named = known.lower()
    for index, (role, content) in enumerate(messages):
        for sentence in _sentences(content) if role == "assistant" else ():
            words = {word.lower().rstrip("s") for word in _WORD.findall(sentence)}
            named_here = (single[label] for label in words & single.keys())
            for fact in (*(fact for fact in named_here if fact.kind == "identifier"), *other_kinds):
                if fact.label in kept or fact.message > index:
                    continue
                if (kind := _lapse(sentence, fact, named)) is not None:
                    kept[fact.label] = Lapse(fact=fact, kind=kind, message=index, sentence=sentence.strip())
        named += "\n" + content.lower()
    return list(kept.values())


def _lapse(sentence: str, fact: UserFact, named: str) -> LapseKind | None:
    if fact.value.lower() in sentence.lower():
        return None
    if _asks(sentence, fact):
        return "asked_again"
    if fact.kind != "identifier" or fact.label not in sentence.lower():
        return None
    position = sentence.lower().find(fact.label) + len(fact.label)
    near = _values(sentence[position : position + _NEAR_CHARS])
    other = next((value for kind, _, value in near if kind == "identifier"), None)
    return "contradicted" if other is not None and other.lower() not in named else None


def _asks(sentence: str, fact: UserFact) -> bool:
    if fact.asked_by:
        return compiled(fact.asked_by).search(sentence, timeout=_PATTERN_TIMEOUT_S) is not None
    pattern = _question_for(fact.label) if fact.kind == "identifier" else _QUESTIONS[fact.kind]
    return pattern.search(sentence) is not None


@functools.lru_cache(maxsize=256)
def _question_for(label: str) -> re.Pattern[str]:
    """Return the pattern of a sentence that asks for an identifier: the naming word is its object."""
    return re.compile(
        r"\b(?:which|what(?:'s| is) (?:your|the)"
        r"|(?:provide|give|share|tell|send|enter|specify|need|have|get)(?: me| us)?(?: with)?(?: your| the))"
        rf" {re.escape(label)}s?(?: (?:number|code|id|reference))?"
        r"(?=\s*(?:[?.,!:]|\Z|please\b|first\b|so\b|to\b|you\b))",
        re.IGNORECASE,
    )


def _values(text: str) -> Iterator[tuple[Kind, int, str]]:
    """Yield the values of a text; a stretch has the first kind that it matches."""
    taken: set[int] = set()
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if taken.isdisjoint(range(match.start(), match.end())):
                taken.update(range(match.start(), match.end()))
                yield kind, match.start(), match[0]


def _label(text: str, start: int) -> str:
    """Return the word before a value that names it, "" for none."""
    before = text[max(0, start - _BEFORE_VALUE_CHARS) : start]
    clause = re.split(r"[.!?;\n]", before)[-1]
    words = [word.lower() for word in _WORD.findall(clause)]
    return next((word.rstrip("s") for word in reversed(words[-5:]) if word not in _NAMING_NOTHING), "")


def _sentences(text: str) -> Iterator[str]:
    return (match[0] for match in _SENTENCE.finditer(text) if match[0].strip())
