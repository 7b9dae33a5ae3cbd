"""Sentences that ask for a fact, by the kind of the fact; English.

A sentence asks where a question or a request has the fact as its object: "could you give me your booking code
once more?", "I'll need your e-mail address", "when would you like to travel?". Offers ("shall I repeat your
booking code?"), statements, and questions about something else of the same word ("what would you like to
change about your booking?") do not ask. All quantifiers are bounded, so that time is linear.
"""

from __future__ import annotations

import functools
import re
from typing import Literal

Kind = Literal[
    "identifier", "amount", "date", "birth_date", "email", "phone", "postal_address", "name", "declared"
]

TOPICS: dict[str, re.Pattern[str]] = {
    name: re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    for name, words in {
        "travel": (
            r"fly|flying|travel(?:l?ing)?|depart(?:ing|ure)?|leav(?:e|ing)|go(?:ing)?|check(?:ing)?[- ]?out"
        ),
        "arrival": r"arriv(?:e|es|ing|al)|check(?:ing)?[- ]?in|com(?:e|ing)",
        "return": r"return(?:ing)?|back",
        "payment": r"paid|pay|charged?|cost|spent|spend|billed|invoiced",
    }.items()
}
"""Topics of dates and amounts, by the words around them; a question of another topic does not ask for one."""

_SUFFIX = r"(?: (?:number|code|id|reference|no\.?)){1,2}"
_DETERMINER = r"(?:(?:your|the|that|a|an|its) )?"
_OWN = r"(?:your|the|an?|that) "
_MODAL = (
    r"(?:(?:could|can|may|might|would|will) (?:you|i|we)\b|would it be (?:possible|ok|okay)\b|please\b"
    r"|kindly\b|to continue\b)"
)
_VERB = (
    r"(?:provid|giv|shar|tell|resend|send|enter|specify|repeat|stat|confirm|supply|get|hav|ask(?:ing)? for"
    r"|know|let (?:me|us) know|need|requir|quot|typ|past|insert|submit|verify|tak"
    r"|spell out)(?:e|ing)?(?: in)?"
)
_REQUEST = rf"{_MODAL}[^.?!]{{0,40}}?\b{_VERB}(?: me| us)?(?: with)? {_DETERMINER}"
_NEED = (
    r"\b(?:i|we)(?:'ll|'d| will| would)?(?: (?:also|still|first|just|only))? (?:need|require|like)"
    rf"(?: to know| to have| to get)? {_DETERMINER}"
)
_LOST = (
    r"(?:(?:did not|didn't) (?:quite )?(?:catch|get|hear|note)|lost|misplaced"
    rf"|(?:don't|do not|can't|cannot|couldn't) (?:see|find|have|seem to have)"
    rf"|(?:i'm|i am|we're|we are) (?:still )?missing) {_DETERMINER}"
)
_BEGINS = (
    r"(?:\A|[,:;] ?)\s*(?:(?:and|so|then|now|just|also) )?(?:mind )?(?:leave|enter|provide|give|share|send"
    r"|type|tell|state|add|insert|paste|submit|sharing|giving|telling|repeating|sending)(?: me| us)?(?: in)? "
    rf"{_DETERMINER}"
)
_ONCE = rf"\b(?:once|when|if|as soon as|until|unless) (?:i|we) (?:have|get|know|had) {_DETERMINER}"
_WHAT_IS = r"\bwhat(?:'s| is| was)(?: (?:your|the|that))(?: (?:best|full|current))? ?"
_END = (
    r"(?=\s*(?:[?.,!:;]|\Z|(?:again|please|once|one more|here|below|first|handy|at hand|ready|so"
    r"|to|for|with|before|now|and|where|at which|you)\b))"
)
_BARE_END = r"(?=\s*(?:[?.,!:;]|\Z|(?:again|please|once|one more|first)\b))"
_OFFER = re.compile(
    r"\b(?:would you like (?:me|us) to|do you want (?:me|us) to|shall (?:i|we)"
    r"|should (?:i|we) (?:send|repeat|give)|(?:i|we) (?:can|could) (?:send|repeat|give)"
    r"|(?:i|we)(?:'ll| will) (?:send|repeat|give))\b",
    re.IGNORECASE,
)

_OBJECTS: dict[str, str] = {
    "email": r"e-?mail(?: address)?",
    "phone": (
        r"(?:(?:best )?(?:phone|telephone|mobile|cell|contact) number"
        r"|number (?=where|at which|to reach|we can))"
    ),
    "name": r"(?:full |first |last )?name",
    "birth_date": r"(?:date of birth|birth ?date|birthday)",
    "postal_address": r"(?:(?:home|postal|shipping|delivery|mailing|street|billing) )?(?<!mail )address",
    "amount": r"(?:(?:total|exact) )?(?:amount|price|sum)(?: of the (?:charge|payment|invoice|bill))?",
    "date": (
        r"(?:(?:travel|arrival|departure|return|check[- ]?in) )?date"
        r"(?: of (?:travel|arrival|departure|return))?"
    ),
}
_FURTHER: dict[str, str] = {
    "email": r"\b(?:what|which) e-?mail(?: address)? (?:should|can|do|may|is)\b",
    "phone": (
        r"\b(?:what|which) (?:phone |telephone |mobile )?number (?:should|can|do|may) (?:i|we)"
        r" (?:call|reach|use)\b|\bhow (?:can|may|should|do) (?:i|we) (?:reach|call) you by (?:tele)?phone\b"
    ),
    "name": (
        r"\bwhom? (?:am i|are we|do i have the pleasure of) (?:speaking|talking|chatting) (?:with|to)\b"
        r"|\bwhat (?:should|may|can|shall) (?:i|we) call you\b|\b(?:under|in) (?:what|which) name\b"
    ),
    "birth_date": r"\bwhen were you born\b",
    "postal_address": (
        r"\bwhere do you live\b|\b(?:tell me|confirm|say) where you live\b"
        r"|\b(?:what|which) address (?:should|can|do|may|shall)\b"
        r"|\bwhere (?:should|shall|can|do) (?:i|we) (?:ship|deliver)\b"
    ),
    "amount": (
        r"\bhow much (?:did|have|were|was|do)\b(?! you (?:expect|want|like|plan|intend))[^?]{0,40}\?"
        r"|\bwhat did (?:you|it|they) (?:pay|cost|charge)\b|\b(?:what|which) (?:amount|price|sum)\b"
    ),
    "date": (
        r"\b(?:what|which) (?:date|day)\b(?! of birth)"
        r"|\bwhen (?:exactly )?(?:would|will|do|are|is|did|you)\b"
    ),
}


def asks(sentence: str, kind: Kind, label: str, topic: str = "") -> bool:
    """Return True if a sentence asks for a fact.

    Args:
        sentence: of the assistant, with look-alikes folded.
        kind: of the fact; not "declared".
        label: word that names an identifier, in lower case.
        topic: of a date or an amount, of TOPICS; "" where the user's words say none.

    >>> asks("Could you give me your booking code once more?", "identifier", "booking")
    True
    >>> asks("Shall I repeat your booking code?", "identifier", "booking")
    False
    """
    if _OFFER.search(sentence):
        return False
    pattern = _identifier_request(label) if kind == "identifier" else _request(kind)
    if pattern.search(sentence) is None:
        return False
    return kind not in ("date", "amount") or _is_about(sentence, topic, kind)


def topic_of(text: str) -> str:
    """Return what a date or an amount in a text is about, "" where its words say nothing, or several."""
    topics = [name for name, pattern in TOPICS.items() if pattern.search(text)]
    return topics[0] if len(topics) == 1 else ""


def _is_about(sentence: str, topic: str, kind: Kind) -> bool:
    """Return True if a question about a date or an amount is not about another one."""
    if re.search(r"\bwhat time\b", sentence, re.IGNORECASE):
        return False
    sentence_topic = topic_of(sentence)
    if kind == "amount":
        return sentence_topic in ("", topic) and not re.search(r"\bback\b", sentence, re.IGNORECASE)
    if re.search(r"\b(?:date|day)\b", sentence, re.IGNORECASE):
        return not sentence_topic or not topic or sentence_topic == topic
    return bool(sentence_topic) and sentence_topic == topic


@functools.lru_cache(maxsize=256)
def _identifier_request(label: str) -> re.Pattern[str]:
    """Return the pattern of a sentence that asks for an identifier: the naming word is its object."""
    bare, numbered = rf"{re.escape(label)}s?", rf"{re.escape(label)}s?{_SUFFIX}"
    object_pattern = rf"(?:{numbered}{_END}|{bare}{_BARE_END})"
    verbs = "is|are|was|do|did|does|would|should|can|you"
    ways = (
        rf"\bwhich (?:{numbered}|{bare})(?=\s*(?:[?.,!:]|\Z|(?:{verbs})\b))",
        *(frame + object_pattern for frame in (_WHAT_IS, _REQUEST, _NEED)),
        rf"\bwhat(?:'s| is) the (?:number|code|id|reference) of (?:your|the) {bare}{_BARE_END}",
        *(rf"{frame}{numbered}{_END}" for frame in (_LOST, _BEGINS, _ONCE)),
        *_general(numbered),
    )
    return re.compile("|".join(ways), re.IGNORECASE)


def _general(name: str) -> tuple[str, ...]:
    """Return the questions that every kind of fact may be the object of."""
    return (
        rf"\bdo you (?:happen to )?(?:have|know) {_OWN}{name}{_END}",
        rf"\bwhat {_OWN}{name} (?:is|was)\b",
        rf"(?:\A|[,:;] ?|\band )\s*your {name}(?:,? please\b|,? again\b| (?:is|was)\s*\?|\s*\?)",
    )


@functools.cache
def _request(kind: Kind) -> re.Pattern[str]:
    """Return the pattern of a sentence that asks for a fact of a kind other than identifiers."""
    name = _OBJECTS[kind]
    ways = (
        *(rf"{frame}{name}{_END}" for frame in (_WHAT_IS, _REQUEST, _NEED, _LOST, _BEGINS, _ONCE)),
        *_general(name),
        _FURTHER[kind],
    )
    if kind == "date":
        ways = (*ways, rf"{_MODAL}[^.?!]{{0,20}}\b(?:tell|let) (?:me|us)(?: know)? when\b")
    return re.compile("|".join(ways), re.IGNORECASE)
