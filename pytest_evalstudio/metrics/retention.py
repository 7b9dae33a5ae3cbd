"""Facts that a user gave in a conversation, and what the assistant does with them later."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_evalstudio.formats.patterns import compiled
from pytest_evalstudio.metrics.fact_requests import Kind, asks, topic_of

LapseKind = Literal["asked_again", "contradicted"]
Messages = Sequence[tuple[str, str]]
"""Role and content of each message, in order."""

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:t(?:ember)?)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_PATTERNS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("email", re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,4}")),
    (
        "phone",
        re.compile(r"\+\d[\d ()-]{6,17}\d|(?<!\w)\(?\d{3}\)?[ -]\d{3}[ -]\d{4}\b|\b0\d{2,4}[ /-]\d{3,8}\b"),
    ),
    (
        "postal_address",
        re.compile(
            r"\b\d{1,5}[A-Za-z]? (?:[A-Z][\w'-]{0,30} ){1,3}"
            r"(?:Street|St|Road|Rd|Avenue|Ave|Lane|Drive|Way|Close|Court|Square|Place|Boulevard|Blvd|Terrace)\b"
        ),
    ),
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
_BIRTH = re.compile(r"\b(?:born|birth|birthday)\b", re.IGNORECASE)
_PHONE_LABELS = frozenset({"phone", "telephone", "mobile", "cell"})
_PATTERN_TIMEOUT_S = 2.0
MAX_OTHER_FACTS = 50
"""Facts that are looked for in each sentence: those of other kinds than identifiers, and declared ones."""
_SENTENCE = re.compile(r"[^.!?\n]*[.!?\n]?")


@dataclass(frozen=True, slots=True, kw_only=True)
class UserFact:
    """Value that a user gave.

    Attributes:
        label: word that names an identifier in the user's message, in lower case, e.g. "booking"; the kind of
            other values.
        message: index of the message in the conversation.
        topic: what a date or an amount is about, of `fact_requests.TOPICS`; "" where nothing says so.
        asked_by: pattern of sentences that ask for a declared value, "" for those of its kind and label.
    """

    kind: Kind
    value: str
    label: str
    message: int
    topic: str = ""
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
    """Return the facts that a user gives, each once.

    They are identifiers, amounts, dates, dates of birth, e-mail and postal addresses, phone numbers and
    names.

    >>> [(fact.label, fact.value) for fact in user_facts([("user", "My booking is E1, of May 3.")])]
    [('date', 'May 3'), ('booking', 'E1')]
    """
    facts: dict[str, UserFact] = {}
    for index, (role, content) in enumerate(messages):
        for kind, start, value in _values(content) if role == "user" else ():
            kind = _kind_of(kind, content, start)
            label = _label(content, start) if kind == "identifier" else kind
            if label:
                topic = topic_of(_clause_before(content, start)) if kind in ("date", "amount") else ""
                fact = UserFact(kind=kind, value=value, label=label, message=index, topic=topic)
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
    # Of several values with one name, nobody can tell which one is asked for.
    single = {label: group[0] for label, group in by_label.items() if len(group) == 1}
    other_kinds = [fact for fact in single.values() if fact.kind != "identifier"][:MAX_OTHER_FACTS]
    kept: dict[str, Lapse] = {}
    named = known.lower()
    for index, (role, content) in enumerate(messages):
        for sentence in _sentences(content) if role == "assistant" else ():
            words = {_singular(word.lower()) for word in _WORD.findall(sentence)}
            named_here = (single[label] for label in words & single.keys())
            for fact in (*(fact for fact in named_here if fact.kind == "identifier"), *other_kinds):
                if fact.label in kept or fact.message > index:
                    continue
                if (kind := _lapse(sentence, fact, named)) is not None:
                    kept[fact.label] = Lapse(fact=fact, kind=kind, message=index, sentence=sentence.strip())
        # After the message: what it names first may contradict the user.
        named += "\n" + content.lower()
    return list(kept.values())


def _lapse(sentence: str, fact: UserFact, named: str) -> LapseKind | None:
    if fact.value.lower() in sentence.lower():
        return None
    if _asks(sentence, fact):
        return "asked_again"
    if fact.kind != "identifier":
        return None
    words = _WORD.finditer(sentence)
    named_at = next((word for word in words if _singular(word[0].lower()) == fact.label), None)
    if named_at is None:
        return None
    near = _values(sentence[named_at.end() : named_at.end() + _NEAR_CHARS])
    other = next((value for kind, _, value in near if kind == "identifier"), None)
    return "contradicted" if other is not None and other.lower() not in named else None


def _asks(sentence: str, fact: UserFact) -> bool:
    if fact.asked_by:
        return compiled(fact.asked_by).search(sentence, timeout=_PATTERN_TIMEOUT_S) is not None
    return asks(sentence, fact.kind, fact.label, fact.topic)


def _kind_of(kind: Kind, text: str, start: int) -> Kind:
    """Return the kind of a value by the words before it: a date of birth, a phone number of digits alone."""
    if kind == "date" and _BIRTH.search(_clause_before(text, start)):
        return "birth_date"
    if kind == "identifier" and text[start].isdigit() and _label(text, start) in _PHONE_LABELS:
        return "phone"
    return kind


def _clause_before(text: str, start: int) -> str:
    return re.split(r"[.!?;\n]", text[max(0, start - _BEFORE_VALUE_CHARS) : start])[-1]


def _values(text: str) -> Iterator[tuple[Kind, int, str]]:
    """Yield the values of a text; a stretch has the first kind that it matches."""
    taken: set[int] = set()
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            # The order of the patterns decides: a date or a phone number would be an identifier, too.
            if taken.isdisjoint(range(match.start(), match.end())):
                taken.update(range(match.start(), match.end()))
                yield kind, match.start(), match[0]


def _label(text: str, start: int) -> str:
    """Return the word before a value that names it, "" for none."""
    words = [word.lower() for word in _WORD.findall(_clause_before(text, start))]
    return next((_singular(word) for word in reversed(words[-5:]) if word not in _NAMING_NOTHING), "")


def _singular(word: str) -> str:
    """Return a word without the "s" of its plural.

    >>> [_singular(word) for word in ("bookings", "pass", "passes", "status")]
    ['booking', 'pass', 'pass', 'status']
    """
    if word.endswith("sses"):
        return word[:-2]
    has_plural_s = len(word) > 2 and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if has_plural_s else word


def _sentences(text: str) -> Iterator[str]:
    return (match[0] for match in _SENTENCE.finditer(text) if match[0].strip())
